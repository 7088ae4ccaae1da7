"""First names, by the pronoun that fits them. A name that is not listed fits both."""

MALE = frozenset(
    "adam adrian alan albert aldo alejandro alexander alfred ali andre andreas andrew andy anthony anton "
    "antonio arthur ben benjamin bernd bill billy bob boris brad brandon brian bruce bruno carl carlos charles "
    "chen chris christian christopher colin craig dan daniel dave david dennis derek diego dieter dirk dmitri "
    "don donald doug douglas dylan ed eddie edward elijah emil enrique eric erik ernst ethan eugene evan felix "
    "fernando florian francisco frank franz fred frederick fritz gabriel gary geoff george gerald gerhard "
    "giovanni glen gordon greg gregory gustav hans harold harry hassan heinz helmut henrik henry herbert "
    "hiroshi howard hugo ian igor isaac ivan jack jacob jake james jan jason javier jeff jeffrey jens jeremy "
    "jerry jesse jim jimmy joachim joe joel johan johann john johnny jon jonas jonathan jorge jose joseph josh "
    "joshua juan justin jürgen karl keith ken kenneth kevin klaus kurt kyle larry lars lawrence lee leo leon "
    "leonard leonardo liam lorenzo louis luca lucas luis lukas luke marc marco marcus mario mark markus martin "
    "marvin mateo matt matthew matthias max michael miguel mike mohamed mohammed moritz muhammad nate nathan "
    "nathaniel neil nicholas nick nico niels nils noah norman oliver omar oscar oskar otto owen pablo patrick "
    "paul paulo pedro pete peter phil philip philipp pierre rafael raj ralf ralph ramon ravi ray raymond "
    "ricardo richard rick rob robert roberto rodrigo roger roland ron ronald ross roy russell ryan sami samuel "
    "scott sean sebastian sergei sergio seth simon stefan stephen steve steven stuart sven ted terry theo "
    "theodore thomas tim timothy tobias todd tom tomas tommy tony travis tristan tyler uwe vernon victor viktor "
    "vincent vladimir walter warren wayne wei werner wilhelm will william wolfgang xavier yusuf zach zachary".split()
)
FEMALE = frozenset(
    "abigail ada adriana agnes aisha alexandra alexis alice alicia alina alison allison amalia amanda amber "
    "amelia amy ana anastasia andrea angela anita anja ann anna anne annette annie antonia april ariana ashley "
    "astrid audrey barbara beatrice becky bella bertha beth betty birgit brenda bridget brigitte camila camille "
    "carla carmen carol caroline carolyn catherine cathy cecilia charlotte chloe christina christine cindy "
    "claire clara claudia cristina cynthia daisy dana daniela danielle daria deborah debra denise diana diane "
    "dolores donna dora doris dorothy edith elaine eleanor elena elisa elisabeth elise eliza elizabeth ella "
    "ellen elsa emilia emily emma erica erika erin esther eva evelyn fatima fiona florence frances francesca "
    "frida gabriela gabriele gina gisela gloria grace greta hanna hannah harriet hazel heather heidi helen "
    "helena helga hilda ida ilse inga ingrid irene irina iris isabel isabella isla jackie jana jane janet "
    "janice jasmine jean jennifer jenny jessica jill joan joanna joyce judith judy julia juliana julie juliet "
    "karen karin katarina kate katharina katherine kathleen kathy katie katrin kelly kim kimberly kristin "
    "kristina lara laura lauren lea leah lena leonie leslie lila lily linda lisa liz lola lucia lucy luisa luna "
    "lydia maggie maja mara margaret margarita maria mariana marie marina marion marlene martha mary maya megan "
    "melanie melissa mia michelle mila mina miriam molly mona monica monika nadia nancy naomi natalia natalie "
    "nicole nina nora olga olivia paige pamela patricia paula pauline penelope petra phoebe priya rachel ramona "
    "rebecca regina renate rita roberta rosa rose rosemary ruby ruth sabine sabrina sandra sara sarah silvia "
    "simone sofia sofie sonia sonja sophia sophie stella stephanie susan susanne suzanne svetlana sylvia tamara "
    "tanja tanya tara tatiana teresa theresa tina ursula uta valentina valeria vanessa vera veronica victoria "
    "viola violet virginia vivian wendy yasmin ying yolanda yuki yvonne zara zoe zoey".split()
)
UNISEX = frozenset(
    "alex avery cameron casey charlie chris jamie jo jordan kai mel morgan noor pat quinn rene riley robin sam "
    "sasha skyler taylor".split()
)
FIRST_NAMES = MALE | FEMALE | UNISEX

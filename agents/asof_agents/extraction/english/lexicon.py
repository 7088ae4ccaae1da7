"""Word lists of English that the rules share: function words, hedges, vague nouns."""

FIRST_PERSON = frozenset({"i", "we"})
SPEAKER_WORDS = frozenset({"i", "my", "we", "our", "me", "mine", "us", "myself"})
HE = frozenset({"he", "his", "him"})
SHE = frozenset({"she", "her"})
SUBJECT_PRONOUNS = frozenset({"i", "we", "he", "she", "they", "you", "it"})
PRONOUNS = frozenset(
    "'s all another anybody anyone anything both each everybody everyone everything he her here hers herself "
    "him himself his i it its itself me mine my myself nobody none nothing one ones other others our ours "
    "ourselves she somebody someone something that their theirs them themselves there these they this those us "
    "we what which who whom whose y'all you your yours yourself yourselves".split()
)
DETERMINERS = frozenset({"a", "an", "the", "my", "our", "some"})
FOREIGN_DETERMINERS = frozenset("any each every her his its no that their these this those whose your yours".split())

PREPOSITIONS = frozenset(
    "about across after against along amid among around as at because before behind beside besides between "
    "beyond by despite down due during except for from in including inside instead into like near of off on "
    "onto out outside over past per regarding since than through throughout till to toward towards under until "
    "up upon via with within without".split()
)
CONJUNCTIONS = frozenset(
    "& 'cause after although and as because before but cause cuz how if nor or plus since so than that then "
    "though unless until what when whenever where wherever whether which while who whom why yet".split()
)
BOUNDARIES = frozenset({";", "-", "–", "—", "but", ":", "(", ")", "..."})
CLAUSE_STARTS = frozenset(
    "'cause ( ) , - : ; after although and as because before but plus since so that though when while – —".split()
)

AUXILIARIES = frozenset(
    "'d 's am are be been being can cannot could did do does gonna gotta had has have is may might must not "
    "ought shall should wanna was were will would".split()
)
ADVERBS = frozenset(
    "absolutely actually all almost already also always anymore apparently basically both btw busy completely "
    "currently deeply definitely especially even eventually ever extremely finally first formerly fortunately "
    "happily honestly immediately incredibly initially instead just kinda last lately literally lmao lol "
    "luckily mainly mostly nearly now officially often once only originally particularly permanently pretty "
    "previously proudly quickly quite rather really recently regularly rn sadly secretly seriously simply so "
    "soon sort sorta still suddenly super tbh temporarily then thrice together too totally truly twice "
    "unfortunately usually very".split()
)

# words that say how others hang together, and hold no content of their own
FUNCTION_WORDS = ADVERBS | AUXILIARIES | CONJUNCTIONS | DETERMINERS | PREPOSITIONS | PRONOUNS

NOT_QUITE = frozenset({"almost", "barely", "hardly", "nearly"})
UNSURE_MODALS = frozenset("'d can cannot could gotta may might must ought shall should wanna would".split())
# anywhere in a sentence, these make all of it unsure
UNSURE_SENTENCE = frozenset(
    "allegedly apparently assume doubt hopefully hypothetically if imagine imagining joking kidding maybe might "
    "perhaps possibly pretend pretending probably rumor rumour seemed seems suppose supposedly unless whether "
    "wish wished wishing".split()
)
# from these up to the next boundary, the words are a thought, a wish or a report
UNSURE_FROM = frozenset(
    "able according ask asked asking asks believe believes bet can claimed claims consider considered "
    "considering could dream dreamed dreaming dreams dreamt expect expecting feel feels hear heard hearing hears hope "
    "hoped hopes hoping mentioned mentions need needed needs offered promise promised recommend recommended "
    "recommends remember reportedly rumored said say saying says seem seems should suggest suggested suggests "
    "swear tell telling tells think thinking thinks thought told tried tries try trying want wanted wanting "
    "wants whichever whoever wonder wondered wondering would".split()
)

VAGUE = frozenset(
    "addition additions advice again age all alone amazing amount another answer answers anything anywhere area "
    "areas attention away awesome back bad balance bed beginning best better big bit blast body bond bonds "
    "boost both break breakfast breath bunch busy call calls care case cases cash challenge challenges chance "
    "change changes charge chat choice comfort confidence connection connections control conversation "
    "conversations cool couple courage course day days deal deals decision decisions difference different "
    "dinner dream dreams drink drinks easy effort efforts end energy everything everywhere excited experience "
    "experiences eye eyes face fact feedback feeling feelings few fine first focus folks food fool form forms "
    "free friend friends full fun game glad go goal goals good great grip group groups guess guy guys hand "
    "handful hands hang happiness happy hard head heart hearts hell help here herself high himself hit hits "
    "hold home hope hour hours hug hugs idea ideas impact impossible inside insight insights inspiration "
    "interest interests issue issues job journey joy kind kinds last laugh laughs lead leg legs less level life "
    "line lines list little long look loss lot lots love low lunch man many meal meals meaning memories memory "
    "men mess message messages mind minds minute mistake mistakes moment moments money month more most "
    "motivation much myself name names nerves new news next nice night none note notes nothing nowhere number "
    "offer ok okay one ones only open opportunities opportunity order others outside own page pages pair part "
    "peace people perfect person perspective photo photos pic pics picture pictures piece pieces place places "
    "plan plans plenty point possible problem problems progress proud purpose question questions range reaction "
    "reactions ready real reason reasons relationship relationships rest result results rid ride right role "
    "roles room rush sad same second self sense set shape short shot shower side sides sight sights situation "
    "situations skill skills sleep small smile smiles some someone something somewhere sorry sort soul sound "
    "sounds space special stage start step steps strength struggle struggles stuff success such support sure "
    "talk thank thanks there thing things third thoughts time times tip tips tired today together toll tomorrow "
    "ton tonight tons touch tough track trouble true try turn turns type types update updates use value values "
    "variety vibe vibes view views voice way ways week weekend well while win wish wishes woman women wonder "
    "wonders word words work world worse wrong year yesterday yourself".split()
)
# gerunds that are empty without an object
VAGUE_GERUNDS = frozenset(
    "adding chilling amazing anything asking becoming being bonding bringing building buying catching challenging "
    "chasing chatting combining coming connecting creating digging discovering discussing doing during ending "
    "enjoying evening everything exciting experiencing exploring facing feeling finding finishing following "
    "getting giving going growing hanging having hearing helping hitting inspiring interesting keeping knowing "
    "learning letting living looking loving making meeting morning moving nothing playing pushing putting "
    "reaching receiving relaxing remembering reminiscing rewarding saying seeing setting sharing showing "
    "something spending starting supporting taking talking telling thinking trying turning using watching "
    "working".split()
)
# gerunds that are empty even with an object
EMPTY_GERUNDS = frozenset(
    "about amazing anything asking being bringing coming connecting doing done during evening everything "
    "exciting feeling getting giving going having hearing inspiring interesting keeping knowing letting looking "
    "making meeting morning nothing off putting ready relaxing rewarding saying seeing sharing showing "
    "something spending taking talking telling thinking".split()
)
# capitalised words that are no names: first words of sentences, days, months, interjections
NOT_NAMES = frozenset(
    "a about absolutely actually after afternoon again agreed ah all already also although always am amazing an "
    "and another any anyone anything anytime anyway appreciate apr april are as asap at aug august aunt autumn "
    "aw awesome aww awww basically be beautiful because been before being believe besides best both bro btw "
    "buddy but by bye can certainly check cheers congrats congratulations cool correct could dad damn dear dec "
    "december definitely did do does doing down dr dude during each earlier eight enjoy enjoying especially etc "
    "even evening ever every everybody everyone everything exactly fall family fantastic father feb february "
    "feels few finally finding first five folks for fortunately four friday fridays friend from fun funny fyi "
    "get getting glad god going gonna good good-bye good-luck goodbye gorgeous gosh got gotcha gotta grandma "
    "grandpa great guess guys ha had hah haha happy has have having he heh hello her here hey hi his hiya hmm "
    "honestly hope hoping how howdy however huh i i'm if image imho imo impressive in incredible indeed instead "
    "interesting into is it its jan january jeez jul july jun june just keep keeping kids last lately later let "
    "lets life like lol look looking looks lots love lovely loving luck luckily madam making mama man many mar "
    "march mate may maybe me meanwhile mhm might minus mom monday mondays month more morning most mother mr mrs ms "
    "much mum must my nah never next nice night nine no nobody none nope not nothing nov november now obviously "
    "oct october of off often oh ok okay omg on once one only oof ooh or other our out over own pal papa people "
    "perfect perhaps personally phew photo pic please plus pm ps really recently remember right sadly same "
    "saturday saturdays second seeing seems sep sept september seven she should since sir six so some someone "
    "something sometimes soon sorry sounds speaking spring still such summer sunday sundays sup sure sweet take "
    "taking talk talking ten than thank thanks that the their then there these they thing things third this "
    "those though three through thursday thursdays time to today tomorrow tonight too totally true trying "
    "tuesday tuesdays tv two ugh uncle under unfortunately until up using very via vs wanna was we wednesday "
    "wednesdays week weekend welcome well were what whatever when whenever where wherever which while who whoa "
    "whoever whose why will winter wishing with without woah wonderful woohoo work working would wow wrong yay "
    "yeah year yep yes yesterday yet yo you your yup".split()
)
# a name after these is addressed
GREETINGS = frozenset(
    "absolutely agreed aw awesome aww bye cheers congrats congratulations cool dear definitely exactly goodbye "
    "great haha hello hey hi hiya job lol luck morning nah nice night no nope oh ok okay one please right so "
    "sorry sounds sure thank thanks thx totally welcome well whoa woah woohoo wow ya yeah yep yes you yup".split()
)

# nouns for an unnamed person, whom "he" or "she" may mean as well
PEOPLE_NOUNS = frozenset(
    "artist aunt author baby boss boy boyfriend brother cat child client coach colleague cousin coworker "
    "customer dad daughter director doctor dog father fiancé fiancée friend girl girlfriend grandfather grandma "
    "grandmother grandpa guy husband kid kitten lady man manager mentor mom mother mum neighbor neighbour "
    "nephew niece partner person pet puppy roommate sibling singer sister somebody someone son student teacher "
    "teammate uncle wife woman".split()
)

# plain words for things read, seen or attended: empty by themselves
BARE = frozenset(
    "activities activity animal animals app article articles book books campaign city class classes club "
    "company country dessert desserts dish dishes drive event events film films game games gift gifts hobbies "
    "hobby item items location meeting movie movies pet pets piece place play plays post posts product program "
    "project projects recipe recipes run school series session sessions shop show shows site skills song songs "
    "sport sports store stories story stuff system talk team teams tool tools topic tour town walk website".split()
)

# words of praise and number; with them one thing would have many names
ORNAMENTS = frozenset(
    "adorable amazing amazing-looking annual another awesome beautiful best big biggest brand-new certain cool "
    "coolest crazy cute decent delicious different eight emotional entire epic exact exciting fancy fantastic "
    "fave favorite favourite few first five four fresh full fun funny good good-looking gorgeous great greatest "
    "huge incredible inspiring intense interesting large last latest little local long lovely many more most "
    "much-needed nearby neat new next nice nicest nine old other own perfect personal quick real recent "
    "rewarding same second seven several short simple six small special stunning such super sweet tasty ten "
    "third three tough two unique upcoming various whole wild wonderful yummy".split()
)

"""What the rules read out of sentences, as a table: the sentence, and every statement that must come out of it."""

import pytest

from asof_agents.extraction.english.explanation import explain
from asof_ontologies.registry import load
from reading import AGENT_MEMORY, DEFAULT, SAID_AT, check, read, shown, talk, turn

STATEMENTS = [
    # where people live and come from
    ("I moved to Berlin in March.", ["I lives_in Berlin 2024-03-01.."]),
    ("I live in Oslo.", ["I lives_in Oslo"]),
    ("I've lived in Porto since 2019.", ["I lives_in Porto 2019-01-01.."]),
    ("I lived in Rome in 2015.", ["I lives_in Rome 2015-01-01..2016-01-01"]),
    ("I used to live in Lisbon.", ["I lives_in Lisbon ended"]),
    ("I no longer live in Lisbon.", ["I lives_in Lisbon ended"]),
    ("I don't live in Lisbon anymore.", ["I lives_in Lisbon ended"]),
    ("I'm moving to Vienna next month.", ["I lives_in Vienna 2024-06-01.."]),
    ("I moved out of Leipzig last year.", ["I lives_in Leipzig ended ..2023-01-01"]),
    ("Actually I never lived in Berlin.", ["I lives_in Berlin denied"]),
    ("I live in Munich, not Berlin.", ["I lives_in Munich", "I lives_in Berlin denied"]),
    ("I was born in Quito.", ["I born_in Quito"]),
    ("I grew up in Ghana.", ["I comes_from Ghana"]),
    ("I'm originally from Peru.", ["I comes_from Peru"]),
    # work
    ("I work at Acme.", ["I works_at Acme"]),
    ("I work in CA.", ["I works_in CA"]),  # no part of "can't"
    ("I work on AI projects.", ["I works_on AI projects"]),  # nor of "ain't"
    ("I ain't working at Acme.", []),
    ("I can't work at Acme.", []),
    ("I left Acme last week.", ["I works_at Acme ended ..2024-05-06"]),
    ("I quit my job at Acme yesterday.", ["I works_at Acme ended ..2024-05-14"]),
    ("I started at Globex in January.", ["I works_at Globex 2024-01-01.."]),
    ("Next month I'll start at Globex.", ["I works_at Globex 2024-06-01.."]),
    ("I got a new job at Globex.", ["I works_at Globex"]),
    ("I stopped working at Globex.", ["I works_at Globex ended"]),
    ("I was laid off from Acme in April.", ["I works_at Acme ended ..2024-04-01"]),
    ("I live in Berlin and work at SAP.", ["I lives_in Berlin", "I works_at SAP"]),
    ("I moved to Berlin and joined a chess club.", ["I lives_in Berlin", "I member_of chess club"]),
    ("I'm a nurse.", ["I is_a nurse"]),
    ("I became a teacher in 2020.", ["I is_a teacher 2020-01-01.."]),
    ("I study physics.", ["I studies physics"]),
    (
        "I graduated from Stanford University.",
        ["I graduated_from Stanford University", "I studies_at Stanford University ended"],
    ),
    ("We decided to use Postgres.", ["I decided_on Postgres"]),
    # people
    ("My sister Ana works at SAP.", ["I sibling_of Ana", "Ana works_at SAP"]),
    ("My sister, Ana, works at SAP.", ["I sibling_of Ana", "Ana works_at SAP"]),
    ("My sister's name is Ana.", ["I sibling_of Ana"]),
    ("I have a brother named Tom.", ["I sibling_of Tom"]),
    ("I've got a cat called Miso and a brother named Tom.", ["I has_pet Miso", "I sibling_of Tom"]),
    ("Ana has a cat called Miso and a brother named Tom.", ["Ana has_pet Miso", "Ana sibling_of Tom"]),
    ("Ana has a brother named Tom.", ["Ana sibling_of Tom"]),
    ("I don't have a brother named Tom.", []),
    ("Ana does not have a brother named Tom.", []),
    ("I hope Ana has a sister named Eva.", []),
    ("I hope that Ana has a sister named Eva.", []),
    ("I no longer have a brother named Tom.", []),
    ("I don't like tea, but I have a brother named Tom.", ["I sibling_of Tom", "I dislikes tea"]),
    ("I can't come because I have a sister named Ana.", ["I sibling_of Ana"]),
    ("I want you to know that I have a brother named Tom.", ["I sibling_of Tom"]),
    ("I had lunch with Tom and a sister named Ann.", []),
    ("I had an argument with Ben and a wife named Eva.", []),
    ("I got a letter and a cousin named Tom.", ["I received letter"]),
    ("Does Ana have a brother named Tom?", []),
    ("I never had a cat called Miso and a brother named Tom.", ["I has_pet Miso denied"]),
    ("Ana is my best friend.", ["I friend_of Ana"]),
    ("My sons Tom and Ben love football.", ["I parent_of Tom", "I parent_of Ben"]),
    ("Ben's mother is Carla.", ["Ben child_of Carla"]),
    ("Did you meet my wife Eva?", ["I married_to Eva"]),
    ("Tom's wife Eva lives in Rome.", ["Tom married_to Eva", "Eva lives_in Rome"]),
    ("I broke up with Ben yesterday.", ["I partner_of Ben ended ..2024-05-14"]),
    ("I'm married to Eva.", ["I married_to Eva"]),
    ("My husband loves jazz.", ["I has_family husband", "I tells My husband loves jazz"]),
    ("Thankfully, my sister is fine.", ["I has_family sister"]),
    ("Ana and Ben moved to Oslo.", ["Ana lives_in Oslo", "Ben lives_in Oslo"]),
    ("I met Ana Souza last week.", ["I met Ana Souza 2024-05-06.."]),
    # pets, belongings
    ("I have a dog named Max.", ["I has_pet Max"]),
    ("Max, my dog, is great.", ["I has_pet Max"]),
    ("My cat Luna is three years old.", ["I has_pet Luna", "Luna has_age three"]),
    ("I bought a new car yesterday.", ["I owns car 2024-05-14.."]),
    ("I sold my car.", ["I owns car ended"]),
    ("I'm 32 years old.", ["I has_age 32"]),
    ("My daughter Emma is 5.", ["I parent_of Emma", "Emma has_age 5"]),
    ("My daughter Emma turned 5 yesterday.", ["Emma has_age 5 2024-05-14..", "I parent_of Emma"]),
    ("My girlfriend is Florence.", ["I partner_of Florence"]),  # a place by the lists alone
    ("My wife Sofia works at Philips.", ["I married_to Sofia", "Sofia works_at Philips"]),
    ("I'm married to Sofia.", ["I married_to Sofia"]),
    ("My dog Paris is two years old.", ["I has_pet Paris", "Paris has_age two"]),
    ("My favorite city is Florence.", ["I favorite_city Florence"]),
    ("I work at St. Mary's Hospital.", ["I works_at St. Mary's Hospital"]),
    ("My favourite colour is green.", ["I favorite_color green"]),
    # tastes
    ("I love hiking, painting and cooking.", ["I likes hiking", "I likes painting", "I likes cooking"]),
    ("I don't like cilantro.", ["I dislikes cilantro"]),
    ("I love working with Python for AI projects", ["I likes working with Python for AI projects"]),
    ("I hate mushrooms.", ["I dislikes mushrooms"]),
    ("I love running now.", ["I likes running", "I dislikes running ended"]),
    ("I no longer eat meat.", ["I eats meat ended"]),
    ("I stopped eating meat in January.", ["I eats meat ended ..2024-01-01"]),
    ("I don't eat meat.", ["I does_not_eat meat"]),
    ("I'm allergic to peanuts.", ["I allergic_to peanuts"]),
    ("My favorite food is ramen.", ["I favorite_food ramen"]),
    ("Painting is my passion.", ["I likes Painting"]),
    ('I loved "Dune".', ["I likes Dune"]),
    ("I speak Portuguese.", ["I speaks Portuguese"]),
    ("I've been playing the piano for three years.", ["I plays piano 2021-05-01.."]),
    ("I started doing yoga last month.", ["I practices yoga 2024-04-01.."]),
    # events
    ("I went to a jazz concert last Friday.", ["I attended jazz concert 2024-05-10.."]),
    ("Last week I went to Paris.", ["I visited Paris 2024-05-06.."]),
    ("We visited the museum yesterday.", ["I visited museum 2024-05-14.."]),
    ("I've never been to Japan.", ["I visited Japan denied"]),
    ("I painted a mural last year.", ["I made mural 2023-01-01.."]),
    ('I read "Dune" last month.', ["I read Dune 2024-04-01.."]),
    ('I\'m reading "Dune" by Frank Herbert.', ["I read Dune"]),
    ("I won a chess tournament on Sunday.", ["I won chess tournament 2024-05-12.."]),
    ("The race I ran yesterday was hard.", ["I attended race 2024-05-14.."]),
    ("I scored 40 points last week.", ["I did scored 40 points 2024-05-06.."]),
    ("Just adopted a puppy, I'm so happy.", ["I has_pet puppy"]),
    # more than one statement of one verb
    ("I'm a software engineer at Google.", ["I is_a software engineer", "I works_at Google"]),
    (
        "I moved from Paris to Berlin last year.",
        ["I lives_in Berlin 2023-01-01..", "I lives_in Paris ended ..2023-01-01"],
    ),
    ("I live with my partner Ben in Hamburg.", ["I partner_of Ben", "I lives_in Hamburg"]),
    ("We switched from MySQL to Postgres.", ["I uses Postgres", "I uses MySQL ended"]),
    (
        "I have two kids, Emma and Liam.",
        ["I has_family kids", "I number_of_kids two", "I parent_of Emma", "I parent_of Liam"],
    ),
    ("My birthday is on May 3.", ["I has_birthday May 3"]),
    ("Carla's birthday is on 14 May.", ["Carla has_birthday 14 May"]),
    ("Is Carla's birthday on 14 May?", []),
    ("I met Dr. Smith in Leeds.", ["I did met Dr. Smith in Leeds"]),
    ("I left St. Mary's and I'm a nurse.", ["I did left St. Mary's", "I is_a nurse"]),
    ("I have a severe peanut allergy.", ["I has_condition severe peanut allergy"]),
    ("I can't eat gluten.", ["I does_not_eat gluten"]),
    ("I have an interview tomorrow.", ["I attended interview 2024-05-16.."]),
    ("I'm flying to Tokyo on Friday.", ["I visited Tokyo 2024-05-17.."]),
    ("I lost my job yesterday.", ["I works_at job ended ..2024-05-14", "I lost job 2024-05-14.."]),
    ("Hi, I'm Ana.", ["I also_known_as Ana"]),
    ("Ana works at Acme as a designer.", ["Ana works_at Acme", "Ana is_a designer"]),
    ("I was wrong about Ana: she never worked at Acme.", ["Ana works_at Acme denied"]),
    ("I'm planning a trip to Japan in October.", ["I plans trip to Japan 2024-10-01.."]),
    ("I wanted to let you know I joined a chess club.", ["I member_of chess club"]),
    ("The Hobbit is one of my favorites.", ["I likes Hobbit"]),
    (
        "My friend Jonas is from Norway and speaks Norwegian.",
        ["I friend_of Jonas", "Jonas comes_from Norway", "Jonas speaks Norwegian"],
    ),
    (
        "Marie Curie studied at the Sorbonne and married Pierre Curie in 1895.",
        ["Marie Curie studies_at Sorbonne ended", "Marie Curie married_to Pierre Curie 1895-01-01.."],
    ),
    ("Globex is based in Zurich.", ["Globex located_in Zurich"]),
    # an activity is no business
    ("My knees are better. Started hitting the gym last week.", ["I engaged_in hitting the gym 2024-05-06.."]),
    ("I started my own gym last year.", ["I runs gym 2023-01-01.."]),
    # what is planned
    ("I'm moving to Porto on 1 June.", ["I lives_in Porto 2024-06-01.."]),
    ("I'm moving to Porto on 1 March.", ["I lives_in Porto 2025-03-01.."]),
    (
        "We adopted a kitten, and on 1 June I'm moving to Porto.",
        ["I has_pet kitten", "I lives_in Porto 2024-06-01.."],
    ),
    ("I'm going to a concert tonight.", ["I attended concert 2024-05-15.."]),
    # who and where
    ("Iris, my sister's old mail is still in the box.", ["I has_family sister"]),
    ("I work at Northgate Clinic.", ["I works_at Northgate Clinic"]),
    ("I work at Tidewater Books.", ["I works_at Tidewater Books"]),
    ("I start a new job at Tidewater Books on Monday.", ["I works_at Tidewater Books 2024-05-20.."]),
    ("My hometown is Lisbon.", ["I comes_from Lisbon"]),
    ("My home country, Norway, is cold.", ["I comes_from Norway"]),
    ("I moved here from Peru two years ago.", ["I lives_in Peru ended ..2022-01-01"]),
    ("I needed a change, so I moved to Berlin.", ["I lives_in Berlin"]),
    ("My two kids love football.", ["I has_family kids", "I tells My two kids love football"]),
    ("My youngest son plays chess.", ["I has_family son", "I tells My youngest son plays chess"]),
    ("I went to Rome with my wife and two kids.", ["I has_family wife", "I has_family kids", "I visited Rome"]),
    ("Here's our cat!", ["I has_pet cat"]),
    ("I wrapped up my second script.", ["I works_on script ended"]),
    ("I have a golden retriever named Max.", ["I has_pet Max"]),
    ("I visited my grandmother in Krakow last month.", ["I visited Krakow 2024-04-01.."]),
    ("I moved into a new flat in Brooklyn.", ["I lives_in Brooklyn"]),
    ("I teach math at Lincoln High School.", ["I works_at Lincoln High School"]),
    ("I'm studying law at Leeds University.", ["I studies_at Leeds University"]),
    ("I opened a bookshop last spring.", ["I runs bookshop 2023-03-20.."]),
    ("I have a meeting with Dr. Osei on Friday.", ["I attended meeting 2024-05-17.."]),
    ("I love Thai food.", ["I likes Thai food"]),
    ("I became vegan in 2020.", ["I is_a vegan 2020-01-01.."]),
    ("I have an appointment tomorrow.", ["I attended appointment 2024-05-16.."]),
    ("I painted the kitchen on Saturday.", ["I did painted the kitchen 2024-05-11.."]),
    # health, losses, things
    ("I was diagnosed with asthma last year.", ["I has_condition asthma 2023-01-01.."]),
    ("I broke my arm in May.", ["I injured arm 2024-05-01.."]),
    ("I lost my grandma last week.", ["I lost grandma 2024-05-06.."]),
    ("I got some new shoes yesterday.", ["I owns shoes 2024-05-14.."]),
    ("The bike I bought yesterday is great.", ["I owns bike 2024-05-14.."]),
    # deeds and outings
    ("I took a cooking class recently.", ["I attended cooking class"]),
    ("I started a pottery course last week.", ["I attended pottery course 2024-05-06.."]),
    ("I got to visit Rome last week.", ["I visited Rome 2024-05-06.."]),
    ("I spent a week in Rome.", ["I visited Rome"]),
    ("I graduated last week.", ["I did graduated 2024-05-06.."]),
    ("Dyed my hair blue last week.", ["I did Dyed my hair blue 2024-05-06.."]),
    ("I failed my driving test recently.", ["I did failed my driving test"]),
    ("I love the ocean.", ["I likes ocean"]),
    ("Burmese Days was written by George Orwell.", ["George Orwell wrote Burmese Days"]),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_a_statement_is_read(text: str, expected: list[str]) -> None:
    check(text, *expected)


NOTHING = [
    "Maybe I'll move to Paris.",
    "I might move to Paris next month.",
    "I wish I lived in Paris.",
    "If I worked at Acme, I would be happy.",
    "Do I live in Berlin?",
    "Should I move to Berlin?",
    "Ana said she lives in Rome.",
    "I heard that Tom works at Acme.",
    "Ana told me that Tom moved to Oslo.",
    "I almost bought a boat, I think.",
    "I'll visit Paris.",
    "You live in Berlin.",
    "I love it.",
    "I'm going to a conference this month.",  # or was there already
    "I got to work at nine.",
    "I'm hiking this weekend.",
    "Our kids deserve better.",
    "The award gave me the courage to start something new: my own bakery!",
    "I love the way home.",
    "I got into a bad spot.",
    "I almost bought a boat.",
    "I guess I live in Berlin.",
    "I'm done reading it.",
    "Networking plays a big role.",
    "I love this painting.",
    "I like the way you think.",
    "I had a great time.",
    "I made a lot of progress.",
    "I did my best.",
    "I went there yesterday.",
    "Thanks, Ana! Great to hear from you.",
    "Hey Tom, how are you?",
    "I need to buy a car.",
    "I was going to move to Paris.",
    "It feels like I live in Paris.",
    "I dreamed I worked at Acme.",
    "I enjoyed the movie that you recommended.",
    "[image: a photo of a dog in Paris]",
    "Let's go to Paris!",
    "I made sure that everyone was safe.",
    'She shouted "I live in Berlin" at me.',
    "Supposedly Ana works at SAP.",
    "Did Ana move to Rome?",
    "",
    "...",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_not_sure_or_says_nothing_is_left_out(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["I got", "He was", "Anna, you were", "B WAS"])
def test_a_sentence_that_breaks_off_says_nothing(text: str) -> None:
    check(text)


def test_the_speaker_is_one_mention_by_the_word_used_first() -> None:
    found = read("My sister Ana works at SAP, and I live in Oslo.")
    assert [(mention.text, mention.start) for mention in found.mentions if mention.speaker] == [("My", 0)]


def test_a_mention_is_once_in_a_turn_and_lies_in_its_text() -> None:
    text = "Ana moved to Oslo. Ana works at SAP in Oslo."
    found = read(text)
    assert [mention.text for mention in found.mentions] == ["Ana", "Oslo", "SAP"]
    assert all(text[mention.start :].startswith(mention.text) for mention in found.mentions)


def test_a_profession_and_another_name_are_read_across_turns() -> None:
    first, second = talk("George Orwell is a British author", "He is also known as Eric Blair")
    assert [(mention.text, mention.type) for mention in first.mentions] == [
        ("George Orwell", "Person"),
        ("British author", "Profession"),
    ]
    assert shown(first) == ["George Orwell is_a British author"]
    assert [(mention.text, mention.type) for mention in second.mentions] == [("Eric Blair", "Person")]
    assert shown(second) == ["George Orwell also_known_as Eric Blair"]
    assert second.relationships[0].source == first.mentions[0]


@pytest.mark.parametrize(
    "text",
    ["Here is a brother named Tom.", "We saw a nurse named Tom.", "They asked the CEO of SAP, a chef called Tom."],
)
def test_a_name_behind_the_word_for_a_person_is_a_persons(text: str) -> None:
    first, second = talk(text, "Tom lives in Graz.")
    assert [mention.type for mention in first.mentions if mention.text == "Tom"] == ["Person"]
    assert shown(second) == ["Tom lives_in Graz"]


ABOUT_BOOKS = (
    "Animal Farm and 1984 are two of his most famous works. "
    "He also wrote Burmese Days, reflecting his time in British Burma."
)


def test_books_are_read_across_turns_with_their_author() -> None:
    first, second = talk(
        "I'm interested in George Orwell's books, especially Animal Farm.",
        ("Helper", ABOUT_BOOKS),
    )
    assert [(mention.text, mention.type) for mention in first.mentions] == [
        ("George Orwell", "Person"),
        ("Animal Farm", "Book"),
    ]
    assert first.relationships == ()
    assert [(mention.text, mention.type) for mention in second.mentions] == [
        ("Animal Farm", "Book"),
        ("1984", "Book"),
        ("Burmese Days", "Book"),
        ("British Burma", "Location"),
    ]
    assert shown(second) == [
        "George Orwell wrote Animal Farm",
        "George Orwell wrote 1984",
        "George Orwell wrote Burmese Days",
    ]
    assert {each.source.episode_id for each in second.relationships} == {"episode-0"}


PRONOUNS = [
    (["Ana moved to Oslo.", "She works at SAP."], ["Ana works_at SAP"]),
    (["My sister Ana is here.", "She lives in Rome."], ["Ana lives_in Rome"]),
    (["Ana and Maria are here.", "She lives in Rome."], []),  # two may be meant
    (["Tom met Ana.", "She lives in Rome."], ["Ana lives_in Rome"]),  # only one of them is a she
    (["My boss called. Ana is ill.", "She lives in Rome."], []),  # the boss may be meant
    (["Ana moved to Oslo.", "They live in Rome."], []),
    (["Ana is here. She lives in Rome."], ["Ana lives_in Rome"]),
    (["She told Ana that. She lives in Rome."], ["Ana lives_in Rome"]),
    (["Nothing new.", "He lives in Rome."], []),
]


@pytest.mark.parametrize(("texts", "expected"), PRONOUNS)
def test_a_pronoun_is_resolved_only_where_one_person_can_be_meant(texts: list[str], expected: list[str]) -> None:
    assert shown(talk(*texts)[-1]) == expected


CORRECTIONS = [
    (
        ["I moved to Berlin in March.", "It was Munich, not Berlin."],
        ["I lives_in Berlin denied", "I lives_in Munich 2024-03-01.."],
    ),
    (["I work at Acme.", "Not Acme but Globex."], ["I works_at Acme denied", "I works_at Globex"]),
    (["My sister Ana works at SAP.", "Sorry, I meant Siemens."], ["Ana works_at SAP denied", "Ana works_at Siemens"]),
    (["I live in Berlin.", "Actually, it's Munich."], ["I lives_in Berlin denied", "I lives_in Munich"]),
    (["I live in Berlin.", "Sorry, I meant Bergen."], ["I lives_in Berlin denied", "I lives_in Bergen"]),  # of no list
    (
        ["I moved to Berlin in March.", "Correction: Bergen."],
        ["I lives_in Berlin denied", "I lives_in Bergen 2024-03-01.."],
    ),
    (["My birthday is May 4.", "Actually it's May 5."], ["I has_birthday May 4 denied", "I has_birthday May 5"]),
    (["My rent is 900 euros.", "Sorry, 950."], ["I has_rent 900 euros denied", "I has_rent 950 euros"]),
    (["I live in Berlin.", "No wait, I live in Bergen."], ["I lives_in Bergen", "I lives_in Berlin denied"]),
    (["I live in Berlin.", "Actually, I live in Bergen."], ["I lives_in Bergen", "I lives_in Berlin denied"]),
    (
        ["I'm allergic to peanuts.", "I'm allergic to walnuts, not peanuts."],
        ["I allergic_to walnuts", "I allergic_to peanuts denied"],
    ),
    (["I'm allergic to peanuts.", "Sorry, I'm not allergic to peanuts."], ["I allergic_to peanuts denied"]),
    (["I live in Oslo. I work at Acme.", "Sorry, I meant Bergen."], []),  # one of two names
    (
        ["I live in Berlin.", "My wife Sofia is a nurse.", "Sorry, I meant Bergen."],  # it sounds like Berlin
        ["I lives_in Berlin denied", "I lives_in Bergen"],
    ),
    (["I live in Berlin.", "Actually, I live in Bergen now."], ["I lives_in Bergen"]),  # a change
    (["I'm allergic to peanuts.", "Sorry, I'm allergic to walnuts."], ["I allergic_to walnuts"]),  # maybe to both
    (["I live in Berlin.", "Sorry, I'm late."], []),
    (["My birthday is May 4.", "Actually it's 950 euros."], []),
    (["I live in Berlin.", ("Lee", "Sorry, I meant Munich.")], []),  # another speaker
    (["I like tea.", "It was Munich, not Berlin."], []),  # nobody spoke of Berlin
    (["I live in Berlin.", "Sorry, I meant it."], []),
]


@pytest.mark.parametrize(("texts", "expected"), CORRECTIONS)
def test_a_correction_denies_what_was_said_and_states_what_is_right(
    texts: list[str | tuple[str, str]], expected: list[str]
) -> None:
    assert shown(talk(*texts)[-1]) == expected


def test_a_known_name_keeps_its_type() -> None:
    asked: list[list[str]] = []

    def known(names: object) -> dict[str, str]:
        assert isinstance(names, list)
        asked.append(names)
        return {"Lakewood": "Organization"} if "Lakewood" in names else {}

    found = DEFAULT.extract(turn("I left Lakewood yesterday. I like Paris."), [], known)
    assert shown(found) == ["I works_at Lakewood ended ..2024-05-14", "I likes Paris"]
    assert asked == [["Lakewood", "Paris"]]  # once a message


PROJECT = [
    ("The billing service depends on Redis.", ["billing service depends_on Redis"]),
    ("We decided to use Postgres.", ["I decided Postgres"]),
    ("I prefer tabs over spaces.", ["I prefers tabs"]),
    ("I don't like mocks.", ["I avoids mocks"]),
    ("Ana owns the billing service.", ["Ana owns billing service"]),
    ("Ana maintains the parser.", ["Ana maintains parser"]),
    ("We switched to Kafka last month.", ["I uses Kafka 2024-04-01.."]),
    ("I finished the migration yesterday.", ["I completed migration 2024-05-14.."]),
    ("The config file lives in deploy/settings.", ["config file located_in deploy/settings"]),
    ("The backend is written in Rust.", ["backend written_in Rust"]),
    ("The migration is blocked by the schema review.", ["migration blocked_by schema review"]),
    ("The login bug is assigned to Ana.", ["login bug assigned_to Ana"]),
    ("The auth-service depends on redis.", ["auth-service depends_on redis"]),
    ('"Ingest" means pulling messages from the log.', ["Ingest term_means pulling messages from the log"]),
    ("We never use mocks.", ["I avoids mocks"]),
    ("I prefer small commits.", ["I prefers small commits"]),
    ("We switched from MySQL to Postgres.", ["I uses Postgres", "I uses MySQL ended"]),
    ("The tests live in tests/unit.", ["tests located_in tests/unit"]),
    ("<graphiti_episode>We avoid global state.</graphiti_episode>", ["I avoids global state"]),
    ("Maybe we should use Redis.", []),
    ("Should the backend use Redis?", []),
]


@pytest.mark.parametrize(("text", "expected"), PROJECT, ids=[text for text, _ in PROJECT])
def test_project_work_is_read_with_the_agent_memory_ontology(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


def test_the_version_names_the_rules_and_the_ontology() -> None:
    assert DEFAULT.version != AGENT_MEMORY.version
    assert load("default").digest[:12] in DEFAULT.version


def test_a_dry_run_finds_exactly_what_extraction_finds() -> None:
    ops = {"holds": "assert", "ended": "end", "denied": "retract"}
    texts = [text for text, _ in STATEMENTS]

    for text in (*texts, " ".join(texts[:20])):
        found = read(text)
        sentences = explain(text, load("default"), SAID_AT, "Kim").sentences
        assert sorted(stated.op for sentence in sentences for stated in sentence.statements) == sorted(
            ops[one.stance] for one in found.relationships
        ), text
        assert sorted(mention.text for sentence in sentences for mention in sentence.mentions) == sorted(
            mention.text for mention in found.mentions
        ), text


@pytest.mark.parametrize("words", ["Me and Ana went to Paris.", "Me likes tea.", "I work with QA.", "NASA likes tea."])
def test_neither_me_nor_a_word_in_capitals_is_a_person(words):
    assert [m.text for m in read(words).mentions if m.type == "Person" and not m.speaker] in ([], ["Ana"])


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("I work at Wendy's.", "Wendy's"),
        ("I visited St. John's in May.", "St. John's"),
        ("I moved to St. Louis.", "St. Louis"),
        ("I work at Acme's office.", None),
    ],
)
def test_the_ending_of_a_places_name_belongs_to_it(words, place):
    found = read(words)

    assert [each.target.text for each in found.relationships] == ([place] if place else [])

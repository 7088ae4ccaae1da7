"""Plans, wishes, habits, requests and deeds: statements whose objects, or subjects, are no plain nouns."""

import pytest

from reading import AGENT_MEMORY, check

WISHES = [
    ("I would love to visit Japan.", ["I wants to visit Japan"]),
    ("I'd like to adopt a dog.", ["I wants to adopt a dog"]),
    ("I really want to learn Japanese.", ["I wants to learn Japanese"]),
    ("I hope to work at Acme.", ["I wants to work at Acme"]),
    ("I'm hoping to get into local politics.", ["I wants to get into local politics"]),
    ("My big dream is to open a bakery.", ["I wants to open a bakery"]),
    ("I'm looking forward to meeting my nephew.", ["I has_family nephew", "I wants meeting my nephew"]),
    ("It's my dream to open a bakery.", ["I wants to open a bakery"]),
    ("I wanna start a podcast.", ["I wants start a podcast"]),
]
PLANS = [
    ("We're planning to renovate the kitchen.", ["I plans to renovate the kitchen"]),
    (
        "I plan to renovate the kitchen and build a porch.",
        ["I plans to renovate the kitchen", "I plans build a porch"],
    ),
    ("I want to study art and design.", ["I wants to study art"]),
    ("I'm going to paint the fence.", ["I plans to paint the fence"]),
    ("I'm going to paint the fence next month.", ["I plans to paint the fence 2024-06-01.."]),
    ("I decided to sell my boat.", ["I plans to sell my boat"]),
    ("Gonna renew my passport.", ["I plans renew my passport"]),
    ("I'm thinking of moving to Paris.", ["I considers moving to Paris"]),
    ("We're considering adopting a greyhound.", ["I considers adopting a greyhound"]),
]
GOING_ON = [
    (
        "I'm expanding my studio and offering workshops.",
        ["I runs studio", "I engaged_in expanding my studio", "I engaged_in offering workshops"],
    ),
    ("I'm running for office again.", ["I engaged_in running for office again"]),
    ("I've been remodeling the attic.", ["I engaged_in remodeling the attic"]),
    ("My knees are better. Started hitting the gym.", ["I engaged_in hitting the gym"]),
    ("I'm searching for a place to open my bakery.", ["I engaged_in searching for a place to open my bakery"]),
    ("I've been looking into solar panels.", ["I considers solar panels"]),
]
HABITS = [
    ("I usually walk to the office.", ["I has_habit usually walk to the office"]),
    ("We watch a documentary every night.", ["I has_habit watch a documentary every night"]),
    ("I mentor a transgender teen.", ["I has_habit mentor a transgender teen"]),
    ("I write code and I teach kids.", ["I has_habit write code", "I has_habit teach kids"]),
    ("I like to relax by reading poems.", ["I likes to relax by reading poems"]),
]
DEEDS = [
    ("We explored three caves and fixed our tent.", ["I did explored three caves", "I did fixed our tent"]),
    ("I emailed a wholesaler in Porto.", ["I did emailed a wholesaler in Porto"]),
    ("I contacted my mentor for advice.", ["I did contacted my mentor for advice"]),
    ("I broke my phone.", ["I did broke my phone"]),
    ("I had the opportunity to visit Rome.", ["I visited Rome"]),
    ("I was able to repair the roof.", ["I did was able to repair the roof"]),
    ("I had to close my bank account.", ["I did had to close my bank account"]),
    ("I used to compete in sailing contests.", ["I did used to compete in sailing contests"]),
    ("We ended up adopting a cat.", ["I has_pet cat"]),
    ("I finally got a chance to meet Tom.", ["I met Tom"]),
]


@pytest.mark.parametrize(("text", "expected"), [*WISHES, *PLANS, *GOING_ON, *HABITS, *DEEDS])
def test_what_has_no_relation_of_its_own_is_read_in_its_words(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    "text",
    [
        "I want to thank you all.",
        "I don't want to move to Oslo.",
        "I wanted to move to Oslo.",
        "I wouldn't like to live in Oslo.",
        "I hope to see you soon.",
        "I'd love to help.",
        "I'm going to keep trying.",
        "I'm going to bed.",
        "I'm going to art class.",
        "Gonna be a great night.",
        "My goal is to make a difference.",
        "I was planning to sell my boat.",
        "I'm chasing my dreams.",
        "I'm hanging in there.",
        "I'm looking forward to it.",
        "Do you want to open a bakery?",
        "Maybe I want to open a bakery.",
    ],
)
def test_a_wish_or_plan_that_tells_nothing_is_left_out(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "I almost sold the boat.",
        "I had a similar experience.",
        "I had a great time with everyone.",
        "We shared a lot of laughs.",
        "I found it in the attic.",
        "The bag that I carried was heavy.",
        "I never sold the boat.",
        "I didn't paint the fence.",
        "I had the chance to say goodbye.",
        "If I had a chance to meet Tom, I would.",
        "I always feel great.",
        "I usually do.",
        "I'm not running for office.",
        "I had to go.",
        "I accept.",
        "I make a great team with Tom.",
        "We explored the caves and roasted marshmallows.",
        "I emailed some wholesalers.",
        "We raised awareness.",
        "I met some amazing people.",
        "We watched the sunset.",
        "I had a wicked day out with the gang last weekend.",
        "I've been running longer to destress.",
        "I'd like to meet other people in the community.",
        "I'm going to do more ads.",
        "Before I publish a book, I think about it.",
    ],
)
def test_a_deed_or_habit_without_weight_is_left_out(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Just moved to Berlin.", ["I lives_in Berlin"]),
        ("Went to Rome last week.", ["I visited Rome 2024-05-06.."]),
        ("Still learning the cello.", ["I studies cello"]),
        ("Just learning the cello - it's so relaxing!", ["I studies cello"]),
        ("Been to Rome once. Just learning the piano, too!", ["I visited Rome", "I studies piano"]),
    ],
)
def test_a_subject_that_chat_leaves_out_is_the_speaker(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    "text",
    [
        "Learning the cello is fun.",
        "Seeing my students succeed motivates me.",
        "Killed fighting for Isis.",
        "So impressed with my new camera.",
        "Thinking about you.",
        "Images released over the accident.",
        "Justin Bieber sued by a photographer.",
        "Kate's wedding dress goes on display.",
    ],
)
def test_a_headline_or_a_gerund_that_is_a_subject_is_no_deed(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met someone named David.", ["I met David"]),
        ("I met this amazing woman, Jean, at the shelter.", ["I met Jean"]),
        ("I've emailed ten schools.", ["I did emailed ten schools"]),
    ],
)
def test_a_name_beside_its_noun_is_the_object(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me Jim.", ["I also_known_as Jim"]),
        ("Hi, please call me Jim.", ["I also_known_as Jim"]),
        ("My friends call me Liz.", ["I also_known_as Liz"]),
        ("Please answer in German.", ["I prefers German"]),
        ("Always use metric units.", ["I prefers metric units"]),
        ("Always write tests before code.", ["I has_rule Always write tests before code"]),
        ("Never share my address with strangers.", ["I has_rule Never share my address with strangers"]),
    ],
)
def test_a_request_is_a_preference_or_a_rule_of_the_speaker(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Always use ruff.", ["I prefers ruff"]),
        ("Please don't use tabs.", ["I avoids tabs"]),
        ("Never use unittest.", ["I avoids unittest"]),
    ],
)
def test_a_request_about_tools_is_a_preference(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    "text",
    [
        "Don't call me Jim.",
        "Please call me later.",
        "Never give up!",
        "Never mind.",
        "Always there for you.",
        "Please let me know.",
        "Please fix the bug.",
        "You always write tests.",
        "Never been to Rome.",
    ],
)
def test_encouragement_and_tasks_are_no_rules(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pottery brings me so much joy.", ["I likes Pottery"]),
        ("Dancing makes me so happy!", ["I likes Dancing"]),
        ("Creating art was really important to me.", ["I likes Creating art"]),
        ("Pottery is a huge part of my life, not just a hobby.", ["I likes Pottery"]),
    ],
)
def test_a_taste_may_begin_with_what_is_liked(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    "text",
    [
        "Your support means a lot to me.",
        "It means a lot to me.",
        "This necklace is super important to me.",
        "Nothing makes me happy.",
        "Running doesn't make me happy.",
        "Does dancing make you happy?",
    ],
)
def test_thanks_and_single_things_are_no_tastes(text: str) -> None:
    check(text)

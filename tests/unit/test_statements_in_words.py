"""Plans, wishes, habits and deeds that no relation has a word for: their objects are in the words of the text."""

import pytest

from reading import check

WISHES = [
    ("I would love to visit Japan.", ["I wants to visit Japan"]),
    ("I'd like to adopt a dog.", ["I wants to adopt a dog"]),
    ("I really want to learn Japanese.", ["I wants to learn Japanese"]),
    ("I hope to work at Acme.", ["I wants to work at Acme"]),
    ("I'm hoping to get into local politics.", ["I wants to get into local politics"]),
    ("My big dream is to open a bakery.", ["I wants to open a bakery"]),
    ("I'm looking forward to meeting my nephew.", ["I has_family nephew", "I wants meeting my nephew"]),
    ("I wanna start a podcast.", ["I wants start a podcast"]),
]
PLANS = [
    ("We're planning to renovate the kitchen.", ["I plans to renovate the kitchen"]),
    ("I'm going to paint the fence.", ["I plans to paint the fence"]),
    ("I'm going to paint the fence next month.", ["I plans to paint the fence 2024-06-01.."]),
    ("I decided to sell my boat.", ["I plans to sell my boat"]),
    ("Gonna renew my passport.", ["I plans renew my passport"]),
    ("I'm thinking of moving to Paris.", ["I considers moving to Paris"]),
    ("We're considering adopting a greyhound.", ["I considers adopting a greyhound"]),
]
GOING_ON = [
    ("I'm running for office again.", ["I engaged_in running for office again"]),
    ("I've been remodeling the attic.", ["I engaged_in remodeling the attic"]),
    ("My knees are better. Started hitting the gym.", ["I engaged_in hitting the gym"]),
    ("I'm searching for a place to open my bakery.", ["I engaged_in searching for a place to open my bakery"]),
    ("I've been looking into solar panels.", ["I studies solar panels"]),
]
HABITS = [
    ("I usually walk to the office.", ["I has_habit usually walk to the office"]),
    ("We watch a documentary every night.", ["I has_habit watch a documentary every night"]),
    ("I like to relax by reading poems.", ["I likes to relax by reading poems"]),
]
DEEDS = [
    ("We explored the caves and roasted marshmallows.", ["I did explored the caves", "I did roasted marshmallows"]),
    ("I emailed some wholesalers.", ["I did emailed some wholesalers"]),
    ("I broke my phone.", ["I did broke my phone"]),
    ("I had the opportunity to visit Rome.", ["I visited Rome"]),
    ("I was able to repair the roof.", ["I did was able to repair the roof"]),
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
    ],
)
def test_a_deed_or_habit_without_weight_is_left_out(text: str) -> None:
    check(text)

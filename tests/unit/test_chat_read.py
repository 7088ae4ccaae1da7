"""Chat between friends: what happened to one's own, gifts, names told later, fandom, and what has no weight."""

import pytest

from reading import check, shown, talk

NEWS = [
    ("My grandma passed away last week.", ["I tells My grandma passed away 2024-05-06.."]),
    ("My team won the regional finals on Saturday.", ["I tells My team won the regional finals 2024-05-11.."]),
    ("My car broke down last night.", ["I tells My car broke down 2024-05-14.."]),
    ("My script got rejected by a studio.", ["I tells My script got rejected by a studio"]),
    ("My best friend is getting married.", ["I tells My best friend is getting married"]),
    ("My sister is a nurse.", ["I has_family sister", "I tells My sister is a nurse"]),
    ("My son loves dinosaurs.", ["I has_family son", "I tells My son loves dinosaurs"]),
    ("My kids are obsessed with Lego.", ["I has_family kids", "I tells My kids are obsessed with Lego"]),
    ("My boss is from Ghana.", ["I tells My boss is from Ghana"]),
    ("My cat is 12 years old.", ["I has_pet cat", "I tells My cat is 12 years old"]),
    ("My grandmother taught me how to knit.", ["I tells My grandmother taught me how to knit"]),
    ("My uncle gave me his old telescope.", ["I has_family uncle", "I tells My uncle gave me his old telescope"]),
    ("My brother sold his boat last week.", ["I has_family brother", "I tells My brother sold his boat 2024-05-06.."]),
]
NO_NEWS = [
    ("My family loves me.", []),
    ("My mom loves spending time together.", []),
    ("My dad loves it when I call.", []),
    ("My store sells vintage hats.", []),
    ("My girlfriend likes him.", ["I has_family girlfriend"]),
    ("My sister told me about her trip.", ["I has_family sister"]),
]
GIFTS = [
    ("They gave me a medal yesterday!", ["I received medal 2024-05-14.."]),
    ("They gave me a camera.", ["I received camera"]),
]
NAMES = [
    ("I started a podcast. It's called Pixel Dust.", ["I works_on podcast", "I works_on Pixel Dust"]),
    ("We adopted a puppy last week, her name is Uma.", ["I has_pet puppy 2024-05-06..", "I has_pet Uma 2024-05-06.."]),
    ("I have a son. His name is Kyle.", ["I has_family son", "I parent_of Kyle"]),
    (
        "We have two cats. Their names are Miso and Tofu.",
        ["I number_of_cats two", "I has_pet cats", "I has_pet Miso", "I has_pet Tofu"],
    ),
]
TASTES = [
    ("I'm a huge Star Wars fan.", ["I likes Star Wars"]),
    ("I've always been a big sci-fi nerd.", ["I likes sci-fi"]),
    ("I can't get enough of jazz.", ["I likes jazz"]),
    ("Cooking is how I unwind.", ["I likes Cooking"]),
    ("Basketball has always been my passion.", ["I likes Basketball"]),
    ("Playing video games is a great way for me to unwind.", ["I likes Playing video games"]),
    ("Writing helps me deal with stress.", ["I likes Writing"]),
    ("I find peace in gardening.", ["I likes gardening"]),
    ("I admire Frida Kahlo.", ["I likes Frida Kahlo"]),
    ("I've got a huge collection of vinyl records.", ["I owns vinyl records"]),
]
TIMES = [
    ("While volunteering yesterday, I met Jean.", ["I met Jean 2024-05-14.."]),
    ("Last weekend was wild - I visited Rome.", ["I visited Rome 2024-05-10.."]),
    (
        "We had a picnic at Ana's last Friday - we went biking.",
        ["I went biking 2024-05-10..", "I attended picnic 2024-05-10.."],
    ),
]
WORDS = [
    ("I moved out of my parents' house.", ["I did moved out of my parents' house"]),
    ("I hurt my knee playing soccer.", ["I injured knee"]),
    ("I was invited to speak at a conference in Boston.", ["I did was invited to speak at a conference in Boston"]),
    (
        "I'm hoping to get an agent for my novel this year.",
        ["I wants to get an agent for my novel"],
    ),
    ("I'm thinking of taking a cooking class, maybe Italian food.", ["I considers taking a cooking class"]),
    ("Me and my wife are planning a trip to Iceland.", ["I has_family wife", "I plans trip to Iceland"]),
    ("I'm from a small town in Vermont.", ["I comes_from Vermont"]),
    ("I was born and raised in Ohio.", ["I comes_from Ohio"]),
    ("I've been playing an RPG called Moonfall.", ["I plays Moonfall"]),
    ("I have a game against Boston on Friday.", ["I attended game 2024-05-17.."]),
    ("We're expecting our second child.", ["I has_family child"]),
    ("We had a great time hiking in Peru.", ["I visited Peru"]),
    ("I got 4th place in a tournament.", ["I did got 4th place in a tournament"]),
    ("One of my goals is to win a championship.", ["I wants to win a championship"]),
    ("I'm the captain of the team now.", ["I is_a captain"]),
    ("I'm gonna take my dog to the beach.", ["I has_pet dog", "I plans take my dog to the beach"]),
    ("What is my dog's name?", []),
    ("Who is my wife?", []),
    ("Is my brother Tom in Rome?", ["I sibling_of Tom"]),
    ("I can't wait to visit Rome!", ["I plans to visit Rome"]),
    (
        "I started a book club with some friends last week.",
        ["I did started a book club with some friends 2024-05-06.."],
    ),
    ("I finished the screenplay I was working on.", ["I did finished the screenplay"]),
]
AHEAD = [
    ("I'm meeting my brother for lunch tomorrow.", ["I has_family brother", "I plans meeting my brother 2024-05-16.."]),
    ("I'm seeing the dentist on Monday.", ["I plans seeing the dentist 2024-05-20.."]),
    ("I'm going to a jazz concert this month.", ["I plans jazz concert"]),
    ("I'm not meeting my brother tomorrow.", []),
    ("I'm having a great time this weekend.", []),
    ("I can't wait for my trip to Peru next month!", ["I plans trip to Peru 2024-06-01.."]),
    ("I'm looking forward to our wedding!", ["I plans wedding"]),
    ("I'm so pumped for the launch tomorrow.", []),
    ("I'm excited for your trip!", []),
    ("My dream is to open a bakery.", ["I wants to open a bakery"]),
    ("I've always wanted to learn to sail.", ["I wants to learn to sail"]),
    ("I want to learn to love myself.", []),
    ("I want to adopt a dog and two cats.", ["I wants to adopt a dog and two cats"]),
    ("I want to open a bakery and sell bread.", ["I wants to open a bakery", "I wants sell bread"]),
]
JOINED = [
    (
        "Yesterday I fixed the fence and painted the shed.",
        ["I did fixed the fence 2024-05-14..", "I did painted the shed 2024-05-14.."],
    ),
    (
        "Last week I visited Rome, met Ana Souza and bought a lamp.",
        ["I visited Rome 2024-05-06..", "I met Ana Souza 2024-05-06..", "I owns lamp 2024-05-06.."],
    ),
    (
        "Last week I visited Rome and yesterday I met Ana Souza.",
        ["I visited Rome 2024-05-06..", "I met Ana Souza 2024-05-14.."],
    ),
    ("Last year we went to Spain and I now live in Rome.", ["I visited Spain 2023-01-01..", "I lives_in Rome"]),
]
NOT_SO = [
    ("My kids are in the backyard.", ["I has_family kids"]),
    ("My son is in the debate team.", ["I has_family son", "I has_son_club debate team"]),
    ("I teach my niece chess.", ["I has_habit teach my niece chess"]),
    ("I got a B in chemistry.", []),
]
MORE = [
    ("Photography is something I've always loved.", ["I likes Photography"]),
    ("Cooking has always been a passion of mine.", ["I likes Cooking"]),
    ("Your cake is something I love.", []),
    ("I'm trying to learn Portuguese.", ["I engaged_in trying to learn Portuguese"]),
    ("I'm trying to stay positive.", []),
    ("We just got engaged!", ["I did got engaged"]),
    ("I got accepted to the nursing program.", ["I did got accepted to the nursing program"]),
    ("I was rejected.", []),
    ("I won first place at a local dance competition.", ["I did won first place at a local dance competition"]),
    ("We went to the beach recently.", ["I visited beach"]),
]
HABITS = [
    ("I tutor kids in math on Saturdays.", ["I has_habit tutor kids in math on Saturdays"]),
    ("I go to the gym three times a week.", ["I has_habit go to the gym three times a week"]),
    ("I see my therapist twice a month.", ["I has_habit see my therapist twice a month"]),
    ("On weekends we go hiking.", ["I has_habit go hiking"]),
    ("I take the bus to work.", ["I has_habit take the bus to work"]),
    ("I work from home.", ["I has_habit work from home"]),
    ("I run to work on my book.", []),
    ("Every time I see him I smile.", []),
    ("On Sundays I went to church.", []),
]
ANSWERS = [
    (
        ["We've got a pup and a kitty.", ("Lee", "Ah, adorable! What are their names?"), "Luna and Oliver! So sweet."],
        ["I has_pet Luna", "I has_pet Oliver"],
    ),
    (["I have a daughter.", ("Lee", "What's her name?"), "Thanks, Lee! Ella."], ["I parent_of Ella"]),
    (["I have a dog.", ("Lee", "What's your dog's name?"), "It's Rex."], ["I has_pet Rex"]),
    (["I have a dog.", ("Lee", "What's your name?"), "Rex."], []),
    (["I have a dog.", ("Lee", "What is the book called?"), "Dune."], []),
    (["I have a dog.", ("Lee", "What's his name?"), "Wow, Lee!"], []),
    (["I have a dog.", "What's his name?", "Rex."], []),
]


@pytest.mark.parametrize(("turns", "expected"), ANSWERS)
def test_names_are_read_in_answer_to_who_asks_for_them(turns: list[str | tuple[str, str]], expected: list[str]) -> None:
    assert shown(talk(*turns)[-1]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [*MORE, *HABITS, *NEWS, *NO_NEWS, *GIFTS, *NAMES, *TASTES, *TIMES, *WORDS, *AHEAD, *JOINED, *NOT_SO],
)
def test_chat_is_read(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I started my own online store - pretty cool, huh?", ["I runs online store"]),
        ("I visited Rome last week, have you been?", ["I visited Rome 2024-05-06.."]),
        ("Should I visit Rome, or Paris?", []),
        ("Have you seen it, or can I tell you that I moved to Rome?", []),
    ],
)
def test_a_statement_that_goes_on_as_a_question_is_read(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    "text",
    [
        # one's own, but nothing happened to it
        "My heart sank.",
        "My team is awesome.",
        "My boss was impressed.",
        "My friends love it.",
        "My favorite player won.",
        "Is my car a wreck?",
        # one plain word for what happened once
        "I attended a picnic.",
        "I made a painting.",
        "I went to the beach.",
        "We're planning a trip.",
        # who does not
        "Family means a lot to me.",
        # what goes on at the moment
        "I am writing all my plans down.",
        "I'm off to bake some cakes.",
        "I go to my gym.",
        "I am a fan.",
        "It's called progress.",
    ],
)
def test_what_nobody_would_keep_is_left_out(text: str) -> None:
    check(text)


def test_a_plain_word_is_kept_where_the_message_says_when() -> None:
    check("I just had a picnic.", "I attended picnic")
    check("I visited a museum yesterday.", "I visited museum 2024-05-14..")


def test_a_name_told_by_somebody_else_or_much_later_names_nothing() -> None:
    found = talk("I started a podcast.", ("Ana", "It's called Pixel Dust, right!"))
    assert shown(found[1]) == []
    check("I started a podcast. We talk about the sea there a lot. It's called Pixel Dust.", "I works_on podcast")

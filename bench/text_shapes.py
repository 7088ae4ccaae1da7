"""Texts of any size in shapes that a program meets: ordinary, dense, repeated, broken, and made to take long."""

import json
from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Final

Shape = Callable[[int], str]
"""Makes a text of at most so many bytes in UTF-8, and not many fewer."""


def name(number: int) -> str:
    """Return a capitalised name that no other number has."""
    letters = ""
    while number:
        number, letter = divmod(number, 26)
        letters += chr(97 + letter)
    return letters.capitalize()


def _repeated(unit: str, before: str = "", after: str = "") -> Shape:
    size = len(unit.encode())
    return lambda most: before + unit * ((most - len((before + after).encode())) // size) + after


def _numbered(make: Callable[[int], str], before: str = "") -> Shape:
    def parts(most: int) -> Iterator[str]:
        left = most - len(before)
        for number in count(1):
            part = make(number)
            left -= len(part.encode())
            if left < 0:
                return
            yield part

    return lambda most: before + "".join(parts(most))


_ORDINARY: Final = (
    "The meeting on the second floor took longer than anybody had planned, and so we ordered food.",
    "I moved to Berlin in March, and my sister Ana helped me to carry all the boxes up the stairs.",
    "What do you think about the new schedule? It would be easier for the people who work from home.",
    "He told me that the train was late again, which is nothing new on that line in the winter months.",
    "We walked along the river for an hour, and then it began to rain so hard that we had to turn back.",
    "My brother works at Siemens, as far as I know, but he has been looking for something else lately.",
    "It is not the price that matters to me; it is how long the thing will last, and who repairs it.",
    "Last summer they painted the whole house themselves, with some help from two friends of theirs.",
)


def _mixture(most: int) -> str:
    said = cycle(("I like tea. ", "Ana met Bob yesterday; ", '"Dune" is a book, ', "He moved in 2019! ", "[x] <a> "))
    return _numbered(lambda _: next(said))(most)


SHAPES: Final[dict[str, Shape]] = {
    "ordinary prose": _numbered(lambda number: _ORDINARY[number % len(_ORDINARY)] + " "),
    **{
        f"repeated {unit!r}": _repeated(unit)
        for unit in (
            *(
                "a",
                "7",
                "é",
                "漢",
                "😀",
                "e\u0301",
                "\x00",
                " ",
                "\n",
                "a\n",
                ".",
                ". ",
                "a.",
                "a. ",
                "A. ",
                "Mr. ",
                "!",
            ),
            *(
                "[",
                "[]",
                "(a) ",
                "<a",
                "<a>",
                "{",
                "`",
                "``` ",
                '"',
                '"Dune" ',
                "O'B",
                "don't",
                "n't ",
                "https://",
                "-",
                "a-",
            ),
            *(
                "word ",
                "Ana ",
                "Ana;",
                "Ana, ",
                "Ana's ",
                "Lord of the ",
                "and ",
                "was ",
                "really ",
                "my ",
                "I ",
                "I'm ",
            ),
            *(
                "I like ",
                "I like tea ",
                "I like tea and ",
                "I like tea. ",
                "I like tea now, ",
                "I love tea. I hate tea. ",
            ),
            *(
                "Ana is a teacher. ",
                "Ana is a teacher ",
                "Ana likes Bob, ",
                "Ana is my sister ",
                "my dog Max ",
                "He is. ",
            ),
            *("Moved to Berlin. ", "I live in Rome. I live in Oslo. ", "it was Rome, not Oslo. ", "Thanks, Ana! "),
            *("yesterday ", "5 ", "12:30 ", "2024-01-01 ", "3 March 2024 ", "since 2019 ", "two weeks ago ", "Monday "),
            *("I went to Rome yesterday. ", "I went to Rome yesterday and ", "painting is my passion ", "of the "),
            *("I eat ", "I have a, ", "I have been visited, ", "work there, "),
            *("Ana: I like tea.\n", "שלום ", "\u2028a", "running and ", "especially ", "I said that ", "Tell you "),
        )
    },
    "dots before a letter": _repeated(".", after="x"),
    "quotes after dots": lambda most: "." * (most // 2) + "'" * (most // 2 - 1) + "x",
    "separators in one word": _repeated("-_.", before="a"),
    "I like to like to": _repeated("like to ", before="I "),
    "my favorite my favorite": _repeated("my favorite "),
    "is 40,000,000": _repeated("is 40,000,000, "),
    "so so, then favorites": _repeated("is my favorite band ", before="so " * 2_000),
    "going to be going to be": _repeated("going to be ", before="I am "),
    "it was it was, not Rome": _repeated("it was ", after=", not Rome."),
    "a tag that spaces follow": _repeated(" ", before="<graphiti_episode>"),
    "a tag that a long line follows": _repeated("a_ (", before="<graphiti_episode>\n"),
    "nested arrays": lambda most: "[" * (most // 2) + "]" * (most // 2),
    "nested objects": lambda most: '{"a":' * (most // 6) + "1" + "}" * (most // 6 - 1),
    "objects": _numbered(lambda number: json.dumps({"name": name(number), "city": name(number + 1)}) + ",\n"),
    "numbers": _numbered(lambda number: f"{number} "),
    "names": _numbered(lambda number: f"{name(number)} "),
    "names on lines": _numbered(lambda number: f"N{number}\n"),
    "names with semicolons": _numbered(lambda number: f"{name(number)}; "),
    "speakers": _numbered(lambda number: f"{name(number)}: I like {name(number + 1)}.\n"),
    "greetings": _numbered(lambda number: f"Hi {name(number)}, "),
    "I like one name": _numbered(lambda number: f"I like N{number}. "),
    "one likes another": _numbered(lambda number: f"{name(number)} likes {name(number + 1)}. "),
    "all like tea": _numbered(lambda number: f"{name(number)} likes tea. "),
    "I like a list": _numbered(lambda number: f"thing{number}, ", before="I like "),
    "I like a list of names": _numbered(lambda number: f"{name(number)}, ", before="I like "),
    "I like this and that": _numbered(lambda number: f"thing{number} and ", before="I like "),
    "my friends are": _numbered(lambda number: f"{name(number)}, ", before="My friends are "),
    "my friend works": _numbered(lambda number: f"My friend {name(number)} works at {name(number + 7)} Corp. "),
    "friend of a friend": _numbered(lambda number: f"{name(number)}'s friend is {name(number + 1)}. "),
    "pronouns": _numbered(lambda number: f"Anna {name(number)} met him. He likes {name(number)}. "),
    "moves": _numbered(lambda number: f"I moved to {name(number)} in {1900 + number % 120}. "),
    "moves in one sentence": _numbered(lambda number: f"I moved to {name(number)} in {1900 + number % 120}, "),
    "homes of one person": _numbered(lambda number: f"Ana lives in {name(number)} since {1900 + number % 100}. "),
    "ends": _numbered(lambda number: f"I no longer live in {name(number)}. "),
    "corrections": _numbered(lambda number: f"No, I meant {name(number)}. I live in {name(number + 1)}. "),
    "other names": _numbered(lambda number: f"Ana is also known as {name(number)}. "),
    "similar names": _numbered(lambda number: f"Annabel{number} likes Annabell{number}. "),
    "names with a word in common": _numbered(lambda number: f"I like Acme {name(number)}. "),
    "titles": _numbered(lambda number: f'"{name(number)}" is a book. '),
    "films": _numbered(lambda number: f"the movie {name(number)} "),
    "deeds": _numbered(lambda number: f"I scored {number} points last week. "),
    "long names": _numbered(lambda number: "X" + "y" * 900 + f"{number} likes tea. "),
    "a mixture": _mixture,
}

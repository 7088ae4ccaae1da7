"""Names within one message: full names and their parts, and nouns in either number."""

import pytest

from asof_agents.resolution.one_message import FullNames, is_common, is_possessive, singular
from asof_streams.episodic import MentionObserved


def person(text: str, *, type_: str = "Person", speaker: bool = False) -> MentionObserved:
    return MentionObserved(mention_id=text, episode_id="e", entity_type=type_, text=text, start=0, speaker=speaker)


def test_a_part_of_a_name_is_explained_by_the_one_full_name_that_begins_or_ends_with_it() -> None:
    ana, ben = person("Ana Maria de Souza"), person("Ben Lee")
    full = FullNames([ana, ben, person("Ben Fox"), person("BEN LEE"), person("Souza Ltd", type_="Organization")])

    assert [full.of(part) for part in ("Ana", "ana maria", "Ana Maria de", "Souza", "Lee")] == [ana, ana, ana, ana, ben]
    assert [full.of(part) for part in ("Ben", "Maria", "de Souza", "Ana Maria de Souza", "Ltd")] == [None] * 5
    assert [full.is_one(first) for first in ("ana", "ben", "cleo")] == [True, False, True]


def test_full_names_come_before_the_parts_that_they_explain() -> None:
    speaker = person("Ben", speaker=True)
    said = [person("Ana"), speaker, person("Cleo"), person("Ana", type_="Organization"), person("Ana Lee")]
    said.append(person("Ben Fox"))

    assert list(FullNames(said).before_parts(said)) == [*said[1:], said[0]]


def test_the_speaker_s_own_name_explains_no_part() -> None:
    assert FullNames([person("Ana Lee", speaker=True)]).of("Ana") is None


@pytest.mark.parametrize(
    ("noun", "one"),
    [
        ("dogs", "dog"),
        ("the Dogs", "dog"),
        ("gas", "gas"),  # three letters
        ("cats", "cat"),
        ("glass", "glass"),
        ("bonus", "bonus"),
        ("tennis", "tennis"),
        ("parties", "party"),
        ("pies", "pie"),
        ("glasses", "glass"),
        ("dishes", "dish"),
        ("churches", "church"),
        ("boxes", "box"),
        ("buzzes", "buzz"),
        ("houses", "house"),
        ("dog", "dog"),
    ],
)
def test_a_noun_and_its_plural_have_one_key(noun: str, one: str) -> None:
    assert singular(noun) == one


def test_a_common_noun_has_no_capital_and_a_possessive_ends_with_an_s() -> None:
    assert (is_common("big dog"), is_common("Rex")) == (True, False)
    assert [is_possessive(name) for name in ("Wendy's", 'WENDY\u2019S."', "Wendys")] == [True, True, False]

"""The candidates for a name: which known entities a model is asked about, and in which order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof_agents.resolution import candidates as resolution
from asof_agents.resolution.candidates import CandidateContext, candidates
from histories import History, on

LATER = on("2030")


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path)
    yield history
    history.close()


def uuid_of(history: History, name: str) -> str:
    return history.beliefs.entities_named("g", name)[0].uuid


def found(history: History, text: str, present: tuple[str, ...] = (), **near: float) -> list[str]:
    """The names of the candidates for a name. near: the cosines of names, with _ for spaces."""
    nearest = [
        (history.beliefs.entities_named("g", name.replace("_", " "))[0], cosine) for name, cosine in near.items()
    ]
    where = CandidateContext("g", LATER, {uuid_of(history, name) for name in present}, (), nearest)
    return [each.entity.name for each in candidates(history.beliefs, text, "Thing", where)]


@pytest.mark.parametrize(
    ("known", "text", "is_one"),
    [
        ("Jonathan", "Jonathn", True),
        ("Jonathan", "Johnathan", True),  # the third letter
        ("Jonathan", "Jnathan", False),  # the second one
        ("Catherine", "Katherine", False),
        ("Jonathan", "Jordan", False),
        ("New York City", "NYC", True),
        ("NYC", "New York City", True),
        ("BBCD", "ABCD", False),
        ("Los Angeles", "LA", True),
        ("Society of Many Very Old Known Names", "SOMVOKN", False),  # of seven words
        ("Acme Works", "Acme Works Ltd", True),
        ("Acme Works", "Acme Corp Ltd", False),
    ],
)
def test_a_name_may_mean_what_is_spelled_nearly_so_or_has_its_words_or_initials(
    history: History, known: str, text: str, is_one: bool
) -> None:
    history.tell("2024-01-01", relation="knows", object=known)

    assert found(history, text) == [known] * is_one


def test_of_equally_likely_ones_the_first_by_name_comes_first(history: History) -> None:
    history.tell("2024-01-01", subject="Jonathanb", relation="knows", object="Jonathana")

    assert found(history, "Jonathan") == ["Jonathana", "Jonathanb"]


def test_what_is_nearer_in_meaning_than_names_of_shared_words_are_alike_comes_first(history: History) -> None:
    history.tell("2024-01-01", subject="Acme Works", relation="knows", object="Roadrunner Inc")

    assert found(history, "Acme Works Ltd", Roadrunner_Inc=0.95) == ["Roadrunner Inc", "Acme Works"]
    assert found(history, "Acme Works Ltd", Roadrunner_Inc=0.8) == ["Acme Works", "Roadrunner Inc"]


@pytest.mark.parametrize("text", ["Jonathan", "JONA"])
def test_so_many_names_of_one_beginning_are_compared_and_no_more(
    history: History, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.tell("2024-01-01", relation="knows", object="Jonathana")
    history.tell("2024-01-02", relation="knows", object="Jonathanb")
    history.tell("2024-01-03", relation="knows", object="Jolly Old New Age")
    every = found(history, text)
    monkeypatch.setattr(resolution, "_WITH_PREFIX", 1)

    assert (len(every) > 1, len(found(history, text))) == (True, 1)


def test_a_candidate_is_shown_with_two_of_its_facts(history: History) -> None:
    for number in range(3):
        history.tell("2024-01-01", subject="Jonathan", relation="knows", object=f"P{number}")
    nobody = CandidateContext("g", LATER, (), (), ())

    [one] = candidates(history.beliefs, "Jonathn", "Thing", nobody)

    assert len(one.facts) == 2

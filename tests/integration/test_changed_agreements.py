"""Agreements of work that change: a rule that is lifted, and work that has a new owner, whenever they were told."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.agreements import outcomes

import asof

TALK = ("Good morning.", "The build is green.", "Let us begin.", "Thanks.", "One more thing.")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[asof.Memory]:
    with asof.open(tmp_path, ontology="agent_memory_v1") as memory:
        yield memory


def held(memory: asof.Memory, relation: str, *texts: str) -> set[str]:
    """Tell texts, one a day, and return the facts of a relation that hold at last."""
    for day, text in enumerate(texts, 1):
        memory.add(text, role="Ana", timestamp=f"2024-05-{day:02}T10:00:00Z")
    return {fact.fact for fact in memory.facts(relation=relation, valid_at="2024-06-01T00:00:00Z")}


@pytest.mark.parametrize(
    ("rule", "lifting"),
    [
        ("Never edit the lock file", "You may edit the lock file now."),
        ("Don't push directly to main", "Pushing to main is fine now."),
        ("Don't push directly to main", "You can push to main again."),
        ("Always run make lint before committing", "You don't have to run make lint any more."),
        ("Never edit the lock file", "Forget the rule about the lock file."),
        ("Never edit the lock file", "The rule about the lock file no longer applies."),
    ],
)
def test_a_rule_that_was_told_long_ago_is_lifted(memory: asof.Memory, rule: str, lifting: str) -> None:
    assert held(memory, "has_rule", f"{rule}.", "Use tabs in every file when you write Go.", *TALK, lifting) == {
        "Ana has the rule: Use tabs in every file when you write Go"
    }


@pytest.mark.parametrize(
    "said",
    [
        "You may edit the readme now.",
        "You may run make lint before committing.",
        "You don't have to edit the lock file.",
        "You may never edit the lock file.",
        "Forget the rule about tests.",
        "Don't forget the rule about the lock file.",
        "You can edit the lock file if Bob agrees.",
    ],
)
def test_what_lifts_another_rule_or_none_leaves_a_rule_as_it_is(memory: asof.Memory, said: str) -> None:
    rules = ("Never edit the lock file.", "Always run make lint before committing.")

    assert {
        "Ana has the rule: Never edit the lock file",
        "Ana has the rule: Always run make lint before committing",
    } <= held(memory, "has_rule", *rules, said)


def test_of_two_rules_that_can_be_meant_none_is_lifted(memory: asof.Memory) -> None:
    rules = ("Never edit the lock file.", "Never delete the lock file.")

    assert len(held(memory, "has_rule", *rules, "Forget the rule about the lock file.")) == 2


@pytest.mark.parametrize(
    ("said", "owners"),
    [
        ("The search module is owned by Bob.", {"Bob"}),
        ("Bob owns the search module.", {"Bob"}),
        ("The search module belongs to Bob.", {"Bob"}),
        ("The owner of the search module is Bob.", {"Bob"}),
        ("Bob also owns the search module.", {"Anna", "Bob"}),
        ("Anna and Bob own the search module.", {"Anna", "Bob"}),
        ("Bob owns the mail module.", {"Anna"}),
        ("Anna owns the search module.", {"Anna"}),
        ("Bob might own the search module.", {"Anna"}),
    ],
)
def test_what_has_a_new_owner_is_the_old_one_s_no_longer(memory: asof.Memory, said: str, owners: set[str]) -> None:
    facts = held(memory, "owns", "Anna owns the search module.", *TALK, said)

    assert {fact for fact in facts if "search module" in fact} == {f"{owner} owns search module" for owner in owners}


def test_who_owns_one_of_a_kind_ends_nobody_else_s(memory: asof.Memory) -> None:
    assert len(held(memory, "owns", "Anna owns a Toyota.", "Bob owns a Toyota.")) == 2


@pytest.mark.parametrize(("name", "least", "invented"), [("tuned", 0.9, 2), ("untouched", 0.8, 6)])
def test_most_agreements_of_work_are_believed_as_they_change(name: str, least: float, invented: int) -> None:
    found = outcomes(name)  # docs/quality.md says what each is

    assert sum(each.right for each in found) >= least * len(found)
    assert sum(len(each.invented) for each in found) <= invented

"""Which rule of work is lifted by what words."""

import pytest

from asof_agents.handlers.lifted_rules import lifted_rule

LOCK, PUSH, TABS = "never edit the lock file", "don't push to main", "always use tabs"
RULES = [LOCK, PUSH, TABS]


@pytest.mark.parametrize(
    ("said", "lifted"),
    [
        ("never editing a lock file", LOCK),
        ("never Edits Lock-File", None),  # that is another word
        ("never pushed to MAIN", PUSH),
        ("never pushing directly to main", PUSH),
        ("never use tabs", None),  # that is required
        ("always use a tab", TABS),
        ("always edit the lock file", None),  # that is forbidden
        ("about tabs", TABS),
        ("about the lock file", LOCK),
        ("about the", None),  # says nothing
        ("about", None),
        ("about lines", None),
    ],
)
def test_a_rule_is_lifted_by_its_own_words_in_any_form_and_by_its_kind(said: str, lifted: str | None) -> None:
    assert lifted_rule(said, RULES) == lifted


def test_of_two_rules_that_can_be_meant_none_is_lifted() -> None:
    assert lifted_rule("never edit", [LOCK, "never edit CI"]) is None


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("never commit generated code", "never committing generated code"),  # a letter that the ending doubles
        ("never add files", "never adding a file"),  # and one that is double without it
        ("never hop", "never hopped"),
        ("no releases on fridays", "never release on fridays"),
        ("we mustn\u2019t sing", "never sing"),  # too short to have an ending
        ("avoid passes", "never pass"),
        ("use tabs", "always use tabs"),  # where it says nothing else
    ],
)
def test_words_are_compared_without_their_endings(rule: str, said: str) -> None:
    assert lifted_rule(said, [rule]) == rule


@pytest.mark.parametrize(("rule", "said"), [("never use red", "never use r"), ("never call", "never calling bees")])
def test_other_words_lift_nothing(rule: str, said: str) -> None:
    assert lifted_rule(said, [rule]) is None

"""Whom a model says that names mean: what it is asked, and which pieces of its answer can stand."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_agents.resolution import judge
from asof_agents.resolution.candidates import Candidate
from asof_agents.resolution.judge import Doubt, Judge, Verdict, parse_verdict
from asof_ontologies.prompts import prompt
from asof_projections.model.rows import EntityRow
from asof_streams.episodic import EpisodeRecorded, MentionObserved


def known(uuid: str, name: str, type_: str | None) -> Candidate:
    return Candidate(EntityRow(uuid, "g", name, type_, 0), (name,), ())


def mention(id_: str, text: str, type_: str, start: int = 0) -> MentionObserved:
    return MentionObserved(
        mention_id=id_, episode_id="e", entity_type=type_, text=text, start=start, speaker=False, repeats=None
    )


ACME, ACNE, NAMELESS = known("a", "Acme", "Organization"), known("b", "Acne", "Organization"), known("c", "acme", None)
ROME = known("d", "Rome", "Place")
DOUBTS = [
    Doubt(mention("m1", "Acme Works", "Organization"), [ACME, ACNE, NAMELESS]),
    Doubt(mention("m2", "Roma", "Place"), [ROME]),
]


def verdict(**answer: Any) -> Verdict:
    return parse_verdict(json.dumps({"meant": [], "same": [], **answer}), DOUBTS)


def meant(mention: int, known: int, confidence: float = 0.9) -> dict[str, Any]:
    return {"mention": mention, "known": known, "confidence": confidence}


def same(one: int, other: int, confidence: float = 0.9) -> dict[str, Any]:
    return {"one": one, "other": other, "confidence": confidence}


def test_a_mention_means_the_candidate_that_is_named_with_how_sure_that_is() -> None:
    found = verdict(meant=[meant(1, 1), meant(2, 4, 0.7)])

    assert found == Verdict({"m1": (ACME.entity, 0.9), "m2": (ROME.entity, 0.7)}, [], [])


def test_what_is_as_sure_as_can_be_is_taken() -> None:
    found = verdict(meant=[meant(1, 1, 1.0)], same=[same(1, 2, 1.0)])

    assert found == Verdict({"m1": (ACME.entity, 1.0)}, [(ACME.entity, ACNE.entity)], [])


def test_what_is_just_as_sure_as_it_has_to_be_is_taken() -> None:
    found = verdict(meant=[meant(1, 1, judge._SURE)], same=[same(1, 2, judge._SURE_OF_TWO)])

    assert found == Verdict({"m1": (ACME.entity, judge._SURE)}, [(ACME.entity, ACNE.entity)], [])


def test_none_of_them_is_an_answer_and_no_refusal() -> None:
    assert verdict(meant=[meant(1, 0)]) == Verdict({}, [], [])


@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        (meant(3, 1), "id"),
        (meant(0, 1), "id"),
        (meant(1, 4), "id"),  # no candidate of this mention
        (meant(1, 9), "id"),
        (meant(1, 1, 1.5), "confidence"),
        (meant(1, 1, -0.5), "confidence"),
        (meant(1, 1, 0.2), "unsure"),
        (meant(1, 1, 0.0), "unsure"),
        ({"mention": "1", "known": 1, "confidence": 1.0}, "schema"),
        ({"mention": 1}, "schema"),
        ("1", "schema"),
    ],
)
def test_a_piece_that_cannot_stand_is_refused_alone(piece: Any, reason: str) -> None:
    found = verdict(meant=[piece, meant(2, 4)])

    assert [tuple(refusal) for refusal in found.refused] == [("mention", reason)]
    assert found.meant == {"m2": (ROME.entity, 0.9)}


def test_a_mention_is_answered_once() -> None:
    found = verdict(meant=[meant(1, 1), meant(1, 2)])

    assert found.meant["m1"][0] is ACME.entity
    assert [tuple(refusal) for refusal in found.refused] == [("mention", "id")]


def test_two_known_things_may_be_one() -> None:
    assert verdict(same=[same(2, 1), same(3, 1)]).same == [
        (ACNE.entity, ACME.entity),
        (NAMELESS.entity, ACME.entity),
    ]


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (same(1, 1), "id"),
        (same(1, 7), "id"),
        (same(1, 4), "type"),
        (same(1, 2, -1.0), "confidence"),
        (same(1, 2, 0.7), "unsure"),
        ({"one": 1, "other": None, "confidence": 1.0}, "schema"),
        ({"one": "1", "other": 2, "confidence": 1.0}, "schema"),
    ],
)
def test_a_pair_that_cannot_stand_is_refused(pair: Any, reason: str) -> None:
    found = verdict(same=[pair])

    assert found.same == []
    assert [tuple(refusal) for refusal in found.refused] == [("pair", reason)]


@pytest.mark.parametrize("answer", ["no", "{}", '{"meant": 1, "same": {}}', "[" * 100_000])
def test_an_answer_that_is_none_decides_nothing(answer: str) -> None:
    found = parse_verdict(answer, DOUBTS)

    assert (found.meant, found.same) == ({}, [])
    assert {refusal.reason for refusal in found.refused} == {"schema"}


class Nobody:
    """Where no answer comes from: nothing is asked here."""

    def reply(self, group: str, request: ModelRequest) -> ModelReply:
        raise AssertionError(group, request)


JUDGE = Judge(prompt("resolve"), "fake@here", Nobody())


def asked(content: str, doubts: Sequence[Doubt], role: str = "Ana") -> str:
    episode = EpisodeRecorded(
        episode_id="e",
        name="",
        source="message",
        source_description="",
        role=role,
        role_type="user",
        body=content,
        content_length=len(content),
        valid_at=0,
    )
    return JUDGE.request(episode, doubts).user


def test_each_mention_and_each_known_thing_is_shown_on_one_line_whatever_its_words() -> None:
    tricky = Candidate(EntityRow("a", "g", "Acme\n\n9. Nobody", "Organization", 0), ("Acme\n\n9. Nobody",), ("It\nis",))
    shown = asked("I work at Acme.", [Doubt(mention("m", "Acme\nKnown:", "Organization"), [tricky])])

    assert shown.partition("Mentions:\n")[2].splitlines() == [
        "1. Acme Known: (Organization): 1",
        "",
        "Known:",
        "1. Acme 9. Nobody: It is",
    ]


def test_of_a_long_message_what_stands_around_the_names_is_shown() -> None:
    text = f"{'x ' * 1_000}At Acme. {'y ' * 1_000}"
    doubt = Doubt(mention("m", "Acme", "Organization", 2_003), [ACME])
    shown = asked(text, [doubt])

    assert "At Acme." in shown
    assert len(shown) < 600


@pytest.mark.parametrize(("role", "speaker"), [("Ana", "Ana"), ("", "user")])
def test_who_speaks_is_told_with_the_words(role: str, speaker: str) -> None:
    assert f"{speaker}:\nI work at Acme." in asked("I work at Acme.", DOUBTS, role)


def test_of_a_message_that_is_just_short_enough_all_is_shown() -> None:
    text = "At Acme. ".ljust(judge._WHOLE, "y")
    doubt = Doubt(mention("m", "Acme", "Organization", 3), [ACME])

    assert text in asked(text, [doubt])
    assert f"{text}y" not in asked(f"{text}y", [doubt])


def test_a_name_at_the_very_beginning_of_a_long_message_is_shown_whole() -> None:
    text = f"Acme it is. {'y ' * judge._WHOLE}"

    assert "Acme it is." in asked(text, [Doubt(mention("m", "Acme", "Organization", 0), [ACME])])


def test_each_place_of_a_long_message_is_shown_once() -> None:
    text = f"Acme it is. {'y ' * judge._WHOLE}"
    doubts = [Doubt(mention(id_, "Acme", "Organization", 0), [ACME]) for id_ in ("m", "n")]

    assert asked(text, doubts).count("Acme it is.") == 1

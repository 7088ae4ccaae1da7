"""What if: a dry run foretells exactly what the same structured facts bring about once they are imported."""

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asking import end_of, records, start_of
from asof_projections.model.answers import Segment
from asof_projections.versions import coalesce
from asof_streams.episodic import MessageParked
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import DAY, render
from world import World, on

START = on("2024-01-01")
NAMES = ["Ana", "Ben", "Cleo"]
ONE, MANY, BOTH_WAYS, BOTH_WAYS_ONE, SAME = "lives_in", "likes", "friend_of", "married_to", "also_known_as"
Line = dict[str, Any]
Slots = dict[tuple[str, str], list[tuple[Any, ...]]]

days = st.sampled_from([-500, -200, *range(6)])
ids = st.integers(0, 63)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    """Draw a line of an import. `ref` is a producer's own id, or the number of one of the statements before it."""
    op = draw(st.sampled_from(["assert", "assert", "assert", "end", "retract", "correct"]))
    subject = draw(st.sampled_from(["Ana", "Ana", "Ana", "Ben", "Cleo"]))
    object_ = draw(st.sampled_from([name for name in NAMES if name != subject]))
    line: Line = {
        "op": op,
        "subject": subject,
        "relation": draw(st.sampled_from([ONE, ONE, ONE, ONE, ONE, MANY, BOTH_WAYS, BOTH_WAYS_ONE, SAME])),
        "object": object_ if op != "end" or draw(st.booleans()) else None,
        "confidence": draw(st.sampled_from([0.3, 0.5, 0.95, 1.0])),
        "valid_at": draw(st.none() | days),
        "said_at": draw(st.none() | days),
    }
    if draw(st.sampled_from([False, False, True])):
        line["invalid_at"] = 1 + draw(days) if line["valid_at"] is None else line["valid_at"] + 1 + draw(ids)
    if draw(st.sampled_from([False, op != "assert", op != "assert"])):
        line["ref"] = draw(ids)
    elif draw(st.sampled_from([False, False, True])):
        line["ref"] = draw(st.sampled_from(["r0", "r1"]))
    if "ref" in line and op in ("end", "retract"):
        line |= {"subject": None, "relation": None, "object": None}
    return line


def said(relation: str, subject: str, object_: str | None, day: int | None = None, **more: Any) -> Line:
    return {"op": "assert", "subject": subject, "relation": relation, "object": object_, "valid_at": day, **more}


class Heard(World):
    """A memory, and what was read of its semantic log."""

    def __init__(self, path: Path, **settings: Any) -> None:
        super().__init__(path, **settings)
        self.log: list[Record] = []

    def events(self, start: int = 0) -> list[Record]:
        """Return the events from a position on. What was read before is not read again."""
        self.log += records(self.memory, "semantic", len(self.log))
        return self.log[start:]


class Group:
    """One group of a memory, of which nothing is known but that Ana knows Ben."""

    def __init__(self, world: Heard, name: str) -> None:
        self.world = world
        self.memory = world.memory
        self.name = name
        self._start = len(world.events())
        world.now = START
        self.tell([said("knows", "Ana", "Ben")])

    def tell(self, told: list[Line]) -> None:
        refused = self.memory.import_facts([json.dumps({"group_id": self.name, **line}) for line in told]).refused
        assert not refused

    def as_told(self, line: Line) -> Line:
        """Return a line as a producer gives it."""
        times = {n: render(START + day * DAY) for n, day in line.items() if n.endswith("_at") and day is not None}
        line = {**line, **times}
        if isinstance(line.get("ref"), int):
            there = [id_ for event in self.events() for id_ in ids_in(event)]
            line["ref"] = there[line["ref"] % len(there)]
        return {name: value for name, value in line.items() if value is not None}

    def parked(self) -> list[str]:
        return [event.reason for event in self.events() if isinstance(event, MessageParked)]

    def events(self) -> list[Event]:
        """Return the semantic events of this group."""
        return [record.event for record in self.world.events(self._start)]

    def believed(self) -> Slots:
        """Return what is believed now by slot, each value over the fewest periods."""
        values = defaultdict(list)
        for f in self.memory.facts(group_id=self.name, any_time=True):
            values[f.subject_uuid, f.relation, f.subject, f.object, f.object_uuid].append(f)
        found = defaultdict(list)
        for (subject, relation, *named), facts in values.items():
            for start, end in coalesce((start_of(f.valid_at), end_of(f.invalid_at)) for f in facts):
                of = sorted({f.uuid for f in facts if start <= start_of(f.valid_at) < end})
                found[subject, relation].append((*named, start, end, of))
        return {slot: sorted(held) for slot, held in found.items()}


def ids_in(event: Any) -> list[str]:
    """Return the ids under which what an event says may be taken back."""
    if event.type == "fact.asserted":
        return [event.fact_id]
    return [getattr(event, name) for name in ("merge_id", "ending_id", "retraction_id") if hasattr(event, name)]


def slots(segments: tuple[Segment, ...]) -> Slots:
    found = defaultdict(list)
    for s in segments:
        if s.object is not None:
            held = (s.subject, s.object, s.object_uuid, start_of(s.valid_at), end_of(s.invalid_at), sorted(s.facts))
            found[s.subject_uuid, s.relation].append(held)
    return {slot: sorted(held) for slot, held in found.items()}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Heard]]:
    """Yield a memory of each policy; opening one takes longer than an example, so each example has its own group."""
    opened = {policy: Heard(tmp_path_factory.mktemp(policy), policy=policy) for policy in ("recency", "graded")}
    for world in opened.values():
        world.tell(group_id="first", relation="knows", object="Ben")
    yield opened
    for world in opened.values():
        world.memory.close()


GROUPS = count()
TAKEN_BACK = {"op": "retract", "ref": "r0"}
FIRST_RETRACTION = 2  # after the fact with which a group begins, and that which it takes back


@given(
    policy=st.sampled_from(["recency", "graded"]),
    history=st.lists(lines(), max_size=8),
    tried=st.lists(lines(), min_size=1, max_size=4),
)
@example("graded", [said(ONE, "Ana", "Ben", 0, confidence=0.95)], [said(ONE, "Ana", "Cleo", 5, confidence=0.3)])
@example("graded", [said(ONE, "Ana", "Ben", 0, confidence=0.3)], [said(ONE, "Ana", "Cleo", 5, confidence=0.95)])
@example("recency", [said(BOTH_WAYS, "Ana", "Ben", 0)], [said(BOTH_WAYS, "Ben", "Ana", 5)])
@example("recency", [said(BOTH_WAYS, "Ana", "Ben", 0)], [said(BOTH_WAYS, "Ben", "Ana", op="end", invalid_at=5)])
@example("recency", [said(BOTH_WAYS, "Ana", "Ben", 0)], [said(BOTH_WAYS, "Ben", "Ana", op="retract")])
@example("recency", [said(ONE, "Ana", "Ben", 0)], [said(ONE, "Ana", "Cleo", 0)])
@example(
    "recency",
    [said(ONE, "Ana", "Ben", 0, said_at=0)],
    [said(ONE, "Ana", "Ben", 1, said_at=9), said(ONE, "Ana", "Cleo", 3, said_at=9, invalid_at=5)],
)
@example(
    "recency",
    [said(ONE, "Ana", "Ben", 0, ref="r0")],
    [{"op": "retract", "ref": "r0"}, said(ONE, "Ana", "Cleo", 0, ref="r0")],
)
@example("recency", [said(ONE, "Ana", "Ben", 0, ref="r0"), TAKEN_BACK], [{"op": "retract", "ref": FIRST_RETRACTION}])
@example(
    "recency",
    [said(ONE, "Ana", "Ben", 0, ref="r0"), TAKEN_BACK],
    [TAKEN_BACK, {"op": "retract", "ref": FIRST_RETRACTION}],
)
@example(
    "recency",
    [said(ONE, "Ana", "Ben", 0, ref="r0"), TAKEN_BACK, TAKEN_BACK],
    [{"op": "retract", "ref": FIRST_RETRACTION}, {"op": "retract", "ref": FIRST_RETRACTION + 1}],
)
@example(
    "graded",
    [said(ONE, "Ana", "Cleo", confidence=0.3)],
    [said(ONE, "Ana", "Ben", confidence=0.3), said(ONE, "Ana", "Ben", op="correct", confidence=0.3)],
)
@example(
    "graded",
    [said(ONE, "Ana", "Cleo", confidence=0.3), said(ONE, "Ana", "Ben", confidence=0.3)],
    [
        said(ONE, "Ana", "Ben", op="correct", confidence=0.3, ref="r1"),
        said(ONE, "Ana", "Cleo", op="correct", confidence=0.3, ref="r2"),
    ],
)
@example("recency", [said(SAME, "Ana", "Ben", 0, ref="r0")], [{"op": "retract", "ref": "r0"}, said(SAME, "Ben", "Ana")])
@settings(deadline=None)
def test_what_if_is_what_an_import_at_that_moment_brings_about(
    worlds: dict[str, Heard], policy: str, history: list[Line], tried: list[Line]
) -> None:
    group = Group(worlds[policy], f"g{next(GROUPS)}")
    for line in history:
        group.world.now += DAY
        group.tell([group.as_told(line)])
    told = [group.as_told(line) for line in tried]
    before, parked = group.believed(), group.parked()

    try:
        foretold, refused = group.memory.what_if(told, group_id=group.name), None
    except (InvalidInput, NotFound) as error:
        foretold, refused = None, str(error)
    group.tell(told)

    if foretold is None:
        assert group.parked()[len(parked)] == refused
        return
    assert group.parked() == parked
    was, will_be = slots(foretold.before), slots(foretold.after)
    assert was == {slot: before[slot] for slot in was}
    untouched = {slot: held for slot, held in before.items() if slot not in was}
    assert group.believed() == untouched | will_be

"""Every kind of event in any order, told through the public API; every question, store and event against the oracle."""

import shutil
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import oracle
from arango_server import Server, carrying
from asking import end_of, records, start_of
from asof_streams.instants import DAY, INF, render
from asof_streams.messages import IdentityStatement
from effort import tries
from told import NUMBER, SAME, Told
from world import World, on

RUNS, RUNS_IN_ARANGODB = tries(6, nightly=1_200), tries(2, nightly=66)
START = on("2024-01-01")
INSTANTS = [START + i * DAY for i in range(13)]
HOUR = DAY // 24
PAIRS = [("Ana", "Ben"), ("Ana", "Ben"), ("Ben", "Cleo"), ("Cleo", "Ana")]
ALIASES = ["Annie", "Benny"]
TRIED = """assert correct end retract parked erased restarted rebuilt redelivered changes points
    merge split alias unalias fact.asserted fact.reinforced fact.ended fact.retracted fact.invalidated fact.restored
    entity.merged entity.unmerged entity.described entity.undescribed group.erased refined searches""".split()

groups = st.sampled_from("gggh")
subjects = st.sampled_from(["Ana", "Ana", "Ana", "Ben", "Cleo"])
objects = st.sampled_from(["X", "Y", "Z", NUMBER])
relations = st.sampled_from(["lives_in", "lives_in", "lives_in", "visited", "visited", "wrote", "rel"])
grains = st.none() | st.sampled_from(["day", "month", "year"])
instants = st.sampled_from(INSTANTS)
maybe = st.none() | instants | instants
refs = st.none() | st.sampled_from(["r0", "r1", "r2"])
picks = st.integers(0, 63)
seldom = st.sampled_from([False, False, False, True])  # most of a run is what is told
ticks = st.sampled_from([1, 1, HOUR, DAY, -HOUR])


class Machine(RuleBasedStateMachine):
    """Two groups in which the same things are said of the same names; each has an oracle of its own."""

    compared: ClassVar = Counter()  # points and events; what is zero at the end was never tried

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.world = World(self.folder / "data", **self.where())
        self.world.now = START + 6 * DAY
        self.told = {"g": Told(), "h": Told()}
        self.recorded = {"g": [], "h": []}  # when each message was, whatever became of it
        self.names = {}  # entity id -> name
        self.held = {}  # by fact: its group and what the events say that it holds
        self.seen = 0  # semantic events read so far
        self.generations = 0
        self.erasures = 0

    def where(self):
        """The settings that say where the graph is."""
        return {}

    @initialize()
    def begin(self):
        for group in "gh":
            self.tell(group, op="assert", subject="Ana", relation="lives_in", object="X", valid_at=INSTANTS[2])
            self.tell(group, op="assert", subject="Ben", relation="rel", object="Y", valid_at=INSTANTS[4])
            self.tell(group, op="end", subject="Ana", relation="lives_in", invalid_at=INSTANTS[9])
            self.state_identity(group, 1, op="alias", entity="Ana", name="Annie")
            self.tell(group, op="assert", subject="Ana", relation=SAME, object="Ben")
        self.tell("h", op="retract", ref=self.id_of("h", self.picked("h", 0, oracle.End)))

    def teardown(self):
        try:
            if self.seen:
                self.compare_everything()
        finally:
            self.world.memory.close()
            shutil.rmtree(self.folder)

    # what is told

    @rule(
        group=groups,
        subject=subjects,
        relation=relations,
        object_=objects,
        start=maybe,
        end=maybe,
        said_at=maybe,
        ref=refs,
        op=st.sampled_from(["assert", "assert", "assert", "correct"]),
        grain=grains,
        tick=ticks,
    )
    def state(self, group, subject, relation, object_, start, end, said_at, ref, op, grain, tick):
        line = {"subject": subject, "relation": relation, "object": object_, "valid_at": start, "invalid_at": end}
        line["grain"] = grain
        if None in (start, end) or start < end:
            self.tell(group, tick, op=op, said_at=said_at, ref=ref, **line)

    @rule(
        group=groups, subject=subjects, object_=objects, start=st.integers(0, 11), days=st.integers(1, 5), said_at=maybe
    )
    def stay(self, group, subject, object_, start, days, said_at):
        line = {"subject": subject, "relation": "lives_in", "object": object_, "said_at": said_at}
        times = {"valid_at": INSTANTS[start], "invalid_at": INSTANTS[start] + days * DAY}
        self.tell(group, op="assert", **line, **times)

    @rule(
        group=groups,
        subject=subjects,
        object_=objects,
        start=instants,
        grain=grains,
        said_at=maybe,
        end=st.sampled_from([None, None, 3]),
        tick=ticks,
    )
    def happen(self, group, subject, object_, start, grain, said_at, end, tick):
        line = {"subject": subject, "relation": "visited", "object": object_, "said_at": said_at}
        times = {"valid_at": start, "invalid_at": end and start + end * DAY}
        self.tell(group, tick, op="assert", **line, **times, grain=grain)

    @rule(group=groups, pick=picks, later=st.integers(0, 4), said_at=maybe, end=st.booleans(), tick=ticks)
    def say_again(self, group, pick, later, said_at, end, tick):
        if (a := self.picked(group, pick, oracle.Assert)) is not None:
            start, end = a.vf + later * DAY // 2, a.vt if end and a.vt != INF else None
            if end is None or start < end:
                self.tell(group, tick, op="assert", said_at=said_at, **self.claim(a), valid_at=start, invalid_at=end)

    @rule(
        group=groups,
        subject=subjects,
        relation=relations,
        object_=st.none() | objects,
        at=maybe,
        said_at=maybe,
        tick=ticks,
    )
    def end(self, group, subject, relation, object_, at, said_at, tick):
        line = {"subject": subject, "relation": relation, "object": object_, "invalid_at": at, "said_at": said_at}
        self.tell(group, tick, op="end", **line)

    @rule(group=groups, pick=picks, tick=ticks)
    def retract(self, group, pick, tick):
        if (a := self.picked(group, pick, oracle.Assert)) is not None:
            self.tell(group, tick, op="retract", **self.claim(a))

    @rule(
        group=groups,
        pick=picks,
        kind=st.sampled_from([oracle.Assert, oracle.End, oracle.Retract, oracle.Retract]),
        elsewhere=st.integers(0, 9),
        tick=ticks,
    )
    def retract_by_id(self, group, pick, kind, elsewhere, tick):
        said = self.picked(group, pick, kind)
        if said is not None:
            heard_in = group if elsewhere else "gh".replace(group, "")  # in another group nobody knows that id
            self.tell(heard_in, tick, op="retract", ref=self.id_of(group, said))

    @rule(group=groups, ref=refs, pick=picks, at=maybe, tick=ticks)
    def end_by_id(self, group, ref, pick, at, tick):
        said = self.picked(group, pick, oracle.Assert)
        ref = ref or (said and self.id_of(group, said))
        if ref is not None:
            self.tell(group, tick, op="end", ref=ref, invalid_at=at)

    @rule(group=groups, pick=picks, object_=objects, start=maybe, end=maybe, tick=ticks)
    def correct_by_id(self, group, pick, object_, start, end, tick):
        said = self.picked(group, pick, oracle.Assert)
        if said is not None and (None in (start, end) or start < end):
            line = {**self.claim(said), "object": object_, "valid_at": start, "invalid_at": end}
            self.tell(group, tick, op="correct", ref=self.id_of(group, said), **line)

    @rule(group=groups, pair=st.sampled_from(PAIRS), op=st.sampled_from(["assert", "retract"]), tick=ticks)
    def merge(self, group, pair, op, tick):
        self.tell(group, tick, op=op, subject=pair[0], relation=SAME, object=pair[1])

    @rule(group=groups, pair=st.sampled_from(PAIRS), op=st.sampled_from(["merge", "split"]), turned=seldom, tick=ticks)
    def identify(self, group, pair, op, turned, tick):
        entity, into = reversed(pair) if turned else pair
        self.state_identity(group, tick, op=op, entity=entity, into=into)

    @rule(
        group=groups,
        entity=st.sampled_from(["Ana", "Ana", "Ben"]),
        name=st.sampled_from([*ALIASES, "Annie"]),
        op=st.sampled_from(["alias", "alias", "unalias"]),
        tick=ticks,
    )
    def alias(self, group, entity, name, op, tick):
        self.state_identity(group, tick, op=op, entity=entity, name=name)

    def state_identity(self, group, tick, **stated):
        recorded_at = self.clock(group, tick)
        made = self.told[group].identify(**stated, recorded_at=recorded_at)
        self.world.send(IdentityStatement(group_id=group, **stated))
        self.read(group, made)
        self.compare_at(recorded_at)
        self.compared[stated["op"] if made is not None else "parked"] += 1

    def picked(self, group, pick, kind):
        said = [s for s in self.told[group].log if isinstance(s, kind)]
        return said[-1 - pick % len(said)] if said else None

    def claim(self, a):
        return {"subject": a.slot[0], "relation": a.slot[1], "object": a.value}

    def id_of(self, group, said):
        return next(given for given, ours in self.told[group].ids.items() if ours == said.id)

    def tell(self, group, tick=1, **line):
        line = {name: value for name, value in line.items() if value is not None}
        recorded_at = self.clock(group, tick)
        made = self.told[group].tell(line, recorded_at)
        times = {name: render(line[name]) for name in ("valid_at", "invalid_at", "said_at") if name in line}
        said: dict[str, Any] = {"group_id": group, "subject": None, "relation": None}
        self.world.tell(None, **said | line | times | self.literals(group, line))
        self.read(group, made)
        self.compare_at(recorded_at)
        self.compared[line["op"] if made is not None else "parked"] += 1

    def literals(self, group, line):
        """The object in one form or another, where it is a number; and qualifiers, of which belief knows nothing."""
        even = len(self.recorded[group]) % 2 == 0
        number = {"object": int(NUMBER) if even else float(NUMBER)} if line.get("object") == NUMBER else {}
        qualified = even and line["op"] in ("assert", "correct")
        return number | ({"qualifiers": {"message": len(self.recorded[group])}} if qualified else {})

    def clock(self, group, tick):
        """Turn the clock, maybe back: no message is recorded before another, and its group's are all apart."""
        self.world.now += tick
        latest = [times[-1] for times in self.recorded.values() if times]
        recorded_at = max([self.world.now, *latest, *(r + 1 for r in self.recorded[group][-1:])])
        self.recorded[group].append(recorded_at)
        return recorded_at

    # what happens to the memory itself

    @rule(pick=picks, count=st.integers(1, 9), sure=seldom)
    def deliver_again(self, pick, count, sure):
        if not sure:
            return
        writer, before = self.world.memory._session.writer(), self.world.digest()
        old = list(writer.messages.read())
        for message in old[pick % len(old) :][:count]:
            writer.engine.ingest(message)
        writer.engine.flush()
        for generation in writer.generations.values():
            layer = generation.layer
            layer.store.apply(list(layer.log.read())[pick % layer.log.end() :])
            layer.store.commit(layer.log.end(), layer.log.head(layer.log.end()), layer.checkpoint)
        assert self.world.digest() == before
        self.compared["redelivered"] += count

    @rule(sure=seldom)
    def restart(self, sure):
        if not sure:
            return
        self.world.restart()
        self.compared["restarted"] += 1

    @precondition(lambda self: self.generations < 2)
    @rule(source=st.sampled_from(["mentions", "episodes"]), switch=st.booleans())
    def rebuild(self, source, switch):
        self.generations += 1
        self.world.memory.rebuild(f"build{self.generations}", input=source)
        if switch:
            self.world.memory.switch(f"build{self.generations}")
            self.seen = self.world.memory._session.writer().generations[f"build{self.generations}"].layer.log.end()
            self.compare_at(max(map(max, self.recorded.values())))
        self.compared["rebuilt"] += 1

    @rule(group=groups, sure=seldom)
    def erase(self, group, sure):
        if not sure:
            return
        recorded_at = self.clock(group, 1)
        self.world.memory.erase(group)
        self.erasures += 1
        self.told[group] = Told()
        self.held = {fact: held for fact, held in self.held.items() if held[0] != group}
        self.read(group, [])
        self.compare_at(recorded_at)
        self.compared["erased"] += 1

    # what the events say

    def read(self, group, made):
        """Read the events of one message: they say what was told, and what it leads to."""
        told, said = self.told[group], []
        for record in records(self.world.memory, "semantic", self.seen):
            event: Any = record.event
            self.seen = record.position + 1
            match event.type:
                case "entity.introduced":
                    self.names[event.entity_id] = event.name
                case "fact.asserted":
                    said.append((event.fact_id, self.assertion(event)))
                case "fact.reinforced":
                    again = (told.ids[event.fact_id], event.said_at, event.granule, event.planned)
                    said.append((record.position, ("again", *again)))
                case "fact.ended":
                    said.append((event.ending_id, self.ending(told, event)))
                case "fact.retracted":
                    said.append((event.retraction_id, ("wrong", told.ids[event.target])))
                case "fact.invalidated" if event.kind == "refined":
                    self.compared["refined"] += 1
                case "message.parked":
                    assert made is None, event.reason
            if event.type in ("fact.asserted", "fact.invalidated", "fact.restored"):
                self.held[event.fact_id] = (group, event.holds)
            self.compared[event.type] += 1
        given = {meaning: id_ for id_, meaning in said}
        assert len(said) == len(made or [])
        assert given.keys() == {self.meaning(s) for s in made or []}
        told.ids |= {given[self.meaning(s)]: s.id for s in made or []}

    def assertion(self, e):
        end = INF if e.valid_to is None else e.valid_to
        claim = (self.names[e.subject], e.relation, self.names.get(e.object, e.value))
        return ("holds", *claim, e.valid_from, end, e.said_at, e.occurrence, e.planned)

    def ending(self, told, e):
        return (
            "ends",
            self.names[e.subject],
            e.relation,
            self.names.get(e.object, e.value),
            e.at,
            told.ids.get(e.fact_id),
        )

    def meaning(self, s):
        match s:
            case oracle.Assert():
                return ("holds", *s.slot, s.value, s.vf, s.vt, s.wit, s.occurrence, s.planned)
            case oracle.Reinforce():
                return ("again", s.target, s.wit, s.granule, s.planned)
            case oracle.End():
                return ("ends", *s.slot, s.value, s.at, s.fact)
            case oracle.Retract():
                return ("wrong", s.target)

    # what is compared

    def compare_at(self, known):
        """Compare what is believed as of one known moment, at every critical instant of valid time."""
        for group, told in self.told.items():
            facts = self.world.memory.facts(group_id=group, any_time=True, known_at=known)
            assert {f.uuid for f in facts if f.planned} == {
                f.uuid for f in facts if told.planned(told.ids[f.uuid], known)
            }
            for v in told.critical():
                expected = told.believed(v, known)
                holding = [f for f in facts if start_of(f.valid_at) <= v < end_of(f.invalid_at)]
                assert self.shown(group, holding) == expected
                assert self.shown(group, self.facts(v, known, group_id=group)) == expected
                if known >= self.recorded[group][-1]:
                    assert self.held_at(group, v) == {row[3] for row in expected}
                self.compared["points"] += 1

    def compare_everything(self):
        self.compare_generations()
        for known in sorted({r + d for group in "gh" for r in self.recorded[group] for d in (-1, 0, 1)}):
            self.compare_at(known)
        for group, told in self.told.items():
            self.compare_names(group, told)
            self.compare_timelines(group, told)
            self.compare_searches(group, told)
            self.compare_histories(group, told)
        self.compare_changes()

    def compare_generations(self):
        """However and whenever a generation was built, it believes the same; so does its store and one built anew."""
        self.world.memory.rebuild("anew")
        digests = {self.world.memory.digest(info.name) for info in self.world.memory.generations()}
        if self.erasures:  # positions of a log that was cut are not those of one that is whole
            self.world.memory.switch("anew")
        else:
            assert len(digests) == 1
        assert self.world.memory.verify()

    def compare_names(self, group, told):
        for known in told.recorded:
            for name in sorted(told.names):
                same = told.same(name, known)
                for v in INSTANTS:
                    found = self.shown(group, self.facts(v, known, group_id=group, about=name))
                    assert found == {row for row in told.believed(v, known) if row[0] in same}
                    self.compared["points by name"] += 1
            for name in ALIASES:
                called = told.called(name, known)
                found = self.shown(group, self.facts(INSTANTS[-1], known, group_id=group, about=name))
                assert found == {row for row in told.believed(INSTANTS[-1], known) if row[0] in called}
                self.compared["points by alias"] += 1

    def compare_timelines(self, group, told):
        """A timeline says at every instant which values hold, and where none is known to."""
        for known in told.recorded:
            for name in sorted(told.names):
                same = told.same(name, known)
                for relation in ("lives_in", "rel", "visited"):
                    line = self.world.memory.timeline(name, group_id=group, relation=relation, known_at=known)
                    for v in told.critical():
                        rows = {row for row in told.believed(v, known) if row[0] in same and row[1] == relation}
                        here = [s for s in line if start_of(s.valid_at) <= v < end_of(s.invalid_at)]
                        values = {min(told.same(row[2], known)) for row in rows}
                        if relation == "visited":  # each visit by itself, and nothing in between
                            assert {min(told.same(s.object, known)) for s in here} == values
                            continue
                        assert sorted(min(told.same(s.object, known)) for s in here if s.object) == sorted(values)
                        assert [s for s in here if s.object is None] == [] or not rows
                        within = bool(line) and start_of(line[0].valid_at) <= v < end_of(line[-1].invalid_at)
                        assert bool(here) or not within
                        self.compared["points of timelines"] += 1

    def compare_searches(self, group, told):
        """A search finds what holds, what happened before, and what is still planned; and the days of it."""
        for known in told.recorded:
            facts = self.facts(None, known, group_id=group, any_time=True)
            for v in INSTANTS[::4]:
                asked = {"valid_at": v, "known_at": known, "limit": 1000, "min_probability": 0, "over": "facts"}
                found = self.world.memory.search("visited wrote", group_id=group, **asked)
                begun = [f for f in facts if f.planned or start_of(f.valid_at) <= v]
                expected = [
                    f for f in begun if f.relation == "visited" or (f.relation == "wrote" and v < end_of(f.invalid_at))
                ]
                assert {(f.uuid, f.valid_at, f.invalid_at, f.planned) for f in found} == {
                    (f.uuid, f.valid_at, f.invalid_at, f.planned) for f in expected
                }
                self.compared["searches"] += 1

    def compare_histories(self, group, told):
        """Of every fact: its rectangles, and the periods over which it was believed, at every point of both clocks."""
        for fact, ours in told.ids.items():
            if not isinstance(told._statement(ours), oracle.Assert):
                continue
            whole = self.world.memory.history(fact)
            for v in told.critical():
                believed = self.world.memory.known_history(fact, valid_at=v)
                for known in self.recorded[group]:
                    expected = ours in {row[3] for row in told.believed(v, known)}
                    shown = [
                        r
                        for r in whole
                        if start_of(r.valid_at) <= v < end_of(r.invalid_at)
                        and start_of(r.known_from) <= known < end_of(r.known_to)
                    ]
                    assert len(shown) == expected
                    assert sum(start_of(b.known_from) <= known < end_of(b.known_to) for b in believed) == expected
                    self.compared["points of histories"] += 1

    def compare_changes(self):
        """Changes, a few at a time, played onto nothing give what is believed after each message."""
        state, after = set(), -1
        while (page := self.world.memory.changes(after=after, limit=3, all_groups=True)).changes:
            for position in sorted({c.position for c in page.changes}):
                for c in page.changes:
                    if c.position == position:
                        version = (c.fact.group_id, c.fact.uuid, c.fact.valid_at, c.fact.invalid_at)
                        state = state | {version} if c.change == "opened" else state - {version}
                        group, known = c.fact.group_id, c.recorded_at
                        self.compared["changes"] += 1
                now = self.world.memory.facts(group_id=group, any_time=True, known_at=known)
                assert {v for v in state if v[0] == group} == {(group, f.uuid, f.valid_at, f.invalid_at) for f in now}
            after = page.next

    def facts(self, v, known, **of):
        return self.world.memory.facts(**{"valid_at": v} if v is not None else {}, known_at=known, **of)

    def shown(self, group, facts):
        assert all(f.group_id == group for f in facts)
        rows = [(f.subject, f.relation, f.object, self.told[group].ids[f.uuid]) for f in facts]
        assert len(rows) == len(set(rows))
        return set(rows)

    def held_at(self, group, v):
        """What holds by the events alone, as a reader of the log without any rules has it."""
        ids = self.told[group].ids
        return {
            ids[fact]
            for fact, (of, holds) in self.held.items()
            if of == group and any(start <= v < (INF if end is None else end) for start, end in holds)
        }


@pytest.mark.long
def test_everything_that_answers_agrees_with_the_oracle_at_every_critical_point():
    tried = Counter()
    machine = type("Tried", (Machine,), {"compared": tried})

    for number in range(16):  # what is told seldom may be told never, and what is told may be short
        if number:
            seed(number)(machine)  # or each round tells the same, where chance is held fixed
        run_state_machine_as_test(machine, settings=settings(max_examples=RUNS, stateful_step_count=25))
        if all(tried[kind] for kind in TRIED) and tried["points"] > 10_000:
            break

    print(f"compared: {dict(tried)}")  # noqa: T201 - pytest -s shows how much was compared
    assert [kind for kind in TRIED if not tried[kind]] == [], "never tried"
    assert tried["points"] > 10_000


@pytest.mark.long
def test_a_graph_in_arangodb_agrees_with_the_oracle_as_well():
    tried, numbers = Counter(), count()
    with carrying(Server()) as url:
        where = lambda _: {"graph_url": f"{url}{next(numbers)}"}  # noqa: E731 - each memory has a database of its own
        machine = type("Tried", (Machine,), {"compared": tried, "where": where})

        for number in range(16):
            if number:
                seed(number)(machine)
            run_state_machine_as_test(machine, settings=settings(max_examples=RUNS_IN_ARANGODB, stateful_step_count=15))
            if tried["points"] > 500:
                break

    print(f"compared: {dict(tried)}")  # noqa: T201 - pytest -s shows how much was compared
    assert tried["points"] > 500

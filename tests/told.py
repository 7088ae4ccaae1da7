"""What a group was told, line by line, as statements of the oracle: what each structured fact means.

Worked out apart from the product, of which it knows nothing but the ids that it gave.
"""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta

import oracle

SINGLE = {"lives_in"}
OCCURRING = {"visited"}
DEEDS = {"visited", "wrote"}
SAME = "also_known_as"  # symmetric; every one believed makes two names one
NUMBER = "7"  # as an object it is a number, in whatever form it comes, and no name


class Parked(Exception):
    """A line that cannot stand: nothing of it is believed."""


class Told:
    """The statements of one group, in order, and when each message was recorded."""

    def __init__(self):
        self.log = []
        self.recorded, self._known = [], []  # of each message: when, and how much of the log is known then
        self.names = set()
        self.links = []  # stated merges: [two names, known from, known until]
        self.aliases = []  # stated names: [alias, whose, known from, known until]
        self.refs = {}  # a producer's own id -> the latest assertion under it
        self.ids = {}  # the product's ids -> ours
        self._folded = {}

    def tell(self, line, recorded_at):
        """Take one line; returns the statements that it makes, or None where it is parked."""
        line = {"said_at": recorded_at, **line}
        try:
            made = list(self._meaning(line))
        except Parked:
            made = None
        self._heard(recorded_at, made or [])
        if made is not None and line["op"] in ("assert", "correct"):
            self.names |= {line["subject"], line["object"]} - {NUMBER}
        return made

    def identify(self, op, entity, into=None, name=None, *, recorded_at):
        """Take a statement of identity; returns the statements that it makes, or None where it is parked."""
        made = None
        if entity in self.names and into in {None, *self.names} and into != entity:
            made = self._alias(op, entity, name, recorded_at) if into is None else None
            made = self._join(op, {entity, into}, recorded_at) if into is not None else made
        self._heard(recorded_at, made or [])
        return made

    def _join(self, op, pair, at):
        links = [link for link in self.links if link[0] == pair and link[2] == oracle.INF]
        if op == "merge":
            self.links += [] if links else [[pair, at, oracle.INF]]
            return []
        said = [a for a in self.assertions() if a.slot[1] == SAME and {a.slot[0], a.value} == pair]
        for link in links:
            link[2] = at
        return list(map(self._retract, range(len(said)), said)) if links or said else None

    def _alias(self, op, entity, name, at):
        names = [alias for alias in self.aliases if alias[:2] == [name, entity] and alias[3] == oracle.INF]
        if op == "alias":
            self.aliases += [] if names else [[name, entity, at, oracle.INF]]
            return []
        for alias in names:
            alias[3] = at
        return [] if names else None

    def called(self, name, known):
        """All names taken to mean those who have this one by statement."""
        whose = [of for alias, of, start, end in self.aliases if alias == name and start <= known < end]
        return {other for of in whose for other in self.same(of, known)}

    def _heard(self, recorded_at, made):
        self.log += made
        self.recorded.append(recorded_at)
        self._known.append(len(self.log))

    # what a line means

    def _meaning(self, line):
        target = self._target(line)
        match line["op"]:
            case "assert":
                return self._assert(line, target)
            case "correct":
                return self._correct(line, target)
            case "retract":
                wrong = self._said(line) if target is None else [target]
                return list(map(self._retract, range(len(wrong)), wrong))
            case "end":
                return self._end(line, target)

    def _target(self, line):
        ref = line.get("ref")
        if ref is None:
            return None
        found = self.refs.get(ref) or self.ids.get(ref)
        if found is None and line["op"] != "assert":
            raise Parked
        return self._statement(found) if found else None

    def _assert(self, line, target):
        start, end = self._period(line)
        if target is not None and target.id not in self.dead():
            claim = (self._slot(line), line["object"], start)
            if getattr(target, "occurrence", False):
                same = (target.slot, target.value) == claim[:2] and self._is_told(target, line)
            else:
                same = isinstance(target, oracle.Assert) and (target.slot, target.value, target.vf) == claim
                same = same and end in (oracle.INF, target.vt)
            if not same:
                raise Parked  # the producer's id names another fact
        if line["relation"] in OCCURRING:
            return self._occur(line, target)
        if line.get("ref") is None or target is not None:
            for slot, value in self._ways(line):
                for a in self._believed_at(slot, value, start):
                    if end in (oracle.INF, a.vt):
                        planned = self._is_ahead(line, start)
                        return [oracle.Reinforce(self._id(0), a.id, line["said_at"], None, planned)]
        return [self._new(line, 0)]

    def _occur(self, line, target):
        """It is the same occurrence where one granule contains the other: of several, that which starts first."""
        start, end = self._period(line)
        if start >= end:
            raise Parked
        told = []
        if line.get("ref") is None or target is not None:
            told = [a for a in self.assertions() if (a.slot, a.value) == (self._slot(line), line["object"])]
            told = [a for a in told if self._is_told(a, line)]
        if not told:
            return [self._new(line, 0)]
        first = min(told, key=lambda a: (self.granule(a), self.log.index(a)))
        return [oracle.Reinforce(self._id(0), first.id, line["said_at"], self._granule(line), self._is_plan(line))]

    def _is_told(self, a, line):
        again = [s for s in self.log if isinstance(s, oracle.Reinforce) and s.target == a.id]
        if self._is_plan(line) and not self.planned(a.id) and line["said_at"] >= max(s.wit for s in (a, *again)):
            return False  # who did it does not plan it
        held, granule = self.granule(a), self._granule(line)
        return oracle.contains(held, granule) or oracle.contains(granule, held)

    def granule(self, a):
        """That over which an occurrence is believed now."""
        return oracle.finest(oracle.granules(a, self.log))

    def _granule(self, line):
        start, end = self._period(line)
        if end != oracle.INF:
            return start, end
        moment = datetime.fromtimestamp(start // 10**6, UTC).replace(hour=0, minute=0, second=0)
        grain = line.get("grain", "day")
        first = {"year": moment.replace(month=1, day=1), "month": moment.replace(day=1), "day": moment}[grain]
        after = first + timedelta(days={"year": 366, "month": 31, "day": 1}[grain])
        last = {"year": after.replace(month=1, day=1), "month": after.replace(day=1), "day": after}[grain]
        return tuple(int(day.timestamp()) * 10**6 for day in (first, last))

    def _is_plan(self, line):
        return self._is_ahead(line, self._granule(line)[0])

    def _is_ahead(self, line, start):
        return line["relation"] in DEEDS and start > line["said_at"]

    def planned(self, id_, known=oracle.INF):
        return oracle.planned(self.log, self._upto(known) - 1, id_)

    def _correct(self, line, target):
        if target is not None and not isinstance(target, oracle.Assert):
            raise Parked
        wrong = self._replaced(line) if target is None else [target]
        if wrong and "valid_at" not in line and "invalid_at" not in line:  # the period of what was wrong
            period = self.granule(wrong[0]) if wrong[0].occurrence else (wrong[0].vf, wrong[0].vt)
            line = {**line, "valid_at": period[0], "invalid_at": period[1]}
        return [*map(self._retract, range(len(wrong)), wrong), self._new(line, len(wrong))]

    def _new(self, line, place):
        start, end = self._period(line)
        if start >= end:
            raise Parked
        slot, id_ = self._slot(line), self._id(place)
        if line.get("ref") is not None:
            self.refs[line["ref"]] = id_
        if slot[1] in OCCURRING:
            told = (*self._granule(line), False, line["said_at"], True, self._is_plan(line))
            return oracle.Assert(id_, slot, line["object"], *told)
        told = (slot[1] in SINGLE, line["said_at"], False, self._is_ahead(line, start))
        return oracle.Assert(id_, slot, line["object"], start, end, *told)

    def _end(self, line, target):
        at = line.get("invalid_at", line["said_at"])
        if target is not None:
            if not isinstance(target, oracle.Assert) or target.occurrence:
                raise Parked
            return [oracle.End(self._id(0), target.slot, target.value, at, target.id)]
        if line["subject"] not in self.names or line.get("object", line["subject"]) not in {*self.names, NUMBER}:
            raise Parked
        if line.get("object") is None:
            return [oracle.End(self._id(0), self._slot(line), None, at)]
        return [oracle.End(self._id(i), slot, value, at) for i, (slot, value) in enumerate(self._ways(line))]

    def _retract(self, place, target):
        return oracle.Retract(self._id(place), target.id)

    def _id(self, place):
        return f"s{len(self.log) + place}"

    def _slot(self, line):
        return line["subject"], line["relation"]

    def _ways(self, line):
        """The slots and values in which the same would be said."""
        ways = [(self._slot(line), line["object"])]
        if line["relation"] == SAME and line["object"] != NUMBER:
            ways.append(((line["object"], SAME), line["subject"]))
        return ways

    def _period(self, line):
        return line.get("valid_at", line["said_at"]), line.get("invalid_at", oracle.INF)

    # what stands

    def _statement(self, id_):
        return next(s for s in self.log if s.id == id_)

    def dead(self, known=oracle.INF):
        return oracle.dead_ids(self.log[: self._upto(known)])

    def assertions(self, known=oracle.INF):
        """The live ones, in order."""
        dead = self.dead(known)
        return [s for s in self.log[: self._upto(known)] if isinstance(s, oracle.Assert) and s.id not in dead]

    def _said(self, line):
        """The live assertions of exactly this claim, said either way round where that is the same."""
        found = [a for way in self._ways(line) for a in self.assertions() if (a.slot, a.value) == way]
        if not found:
            raise Parked
        return found

    def _replaced(self, line):
        """What is believed in the slot at the time that a correction speaks of."""
        if line["relation"] not in SINGLE:
            raise Parked  # which of many values is wrong, only a ref can say
        start, end = self._period(line)
        times = [v for v in {start, *self.critical()} if start <= v < (end if "valid_at" in line else start + 1)]
        ids = {row[3] for v in times for row in self.believed(v) if row[:2] == self._slot(line)}
        return [a for a in self.assertions() if a.id in ids]

    def _believed_at(self, slot, value, v):
        ids = {row[3] for row in self.believed(v) if row[:3] == (*slot, value)}
        return [a for a in self.assertions() if a.id in ids]

    # what is believed

    def believed(self, v, known=oracle.INF):
        """{(subject, relation, object, id)} at a point of both clocks."""
        folded = self._fold(self._upto(known))
        return {
            (*slot, value, id_)
            for slot, values in oracle.holding(folded, v).items()
            for value, ids in values.items()
            for id_ in ids
        }

    def _upto(self, known):
        heard = bisect_right(self.recorded, known)
        return self._known[heard - 1] if heard else 0

    def _fold(self, upto):
        if upto not in self._folded:  # the past does not change
            self._folded[upto] = oracle.fold(self.log, upto - 1) if upto else []
        return self._folded[upto]

    def critical(self):
        """Every instant of valid time at which an answer can change, the one before and the one after."""
        return sorted({v + d for v in oracle.critical(self.log) for d in (0, 1)})

    def same(self, name, known):
        """All names taken to mean who this one means."""
        pairs = [(a.slot[0], a.value) for a in self.assertions(known) if a.slot[1] == SAME and a.value != NUMBER]
        pairs += [tuple(pair) for pair, start, end in self.links if start <= known < end]
        found, grown = set(), {name}
        while found != grown:
            found = grown
            grown = found | {n for pair in pairs if found & set(pair) for n in pair}
        return found

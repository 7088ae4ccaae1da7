"""What should be believed, worked out in the plainest way there is: the reference that every store is held against.

A log is a list of statements; the place of one in the list is its known moment. Nothing is kept between two questions,
nothing is fast. An instant is an integer, a period half-open; INF is "no end stated".
"""

from dataclasses import dataclass, replace

NEG, INF = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Assert:
    """The value holds in the slot over [vf, vt); `wit` is the last instant at which its saying attests it.

    An occurrence happened at some time within [vf, vt), its granule, unless it was only planned.
    """

    id: str
    slot: tuple
    value: str
    vf: int
    vt: int = INF
    functional: bool = True
    wit: int = NEG
    occurrence: bool = False
    planned: bool = False


@dataclass(frozen=True)
class Reinforce:
    """An assertion was said again, at `wit`; an occurrence with the granule that it was given this time."""

    id: str
    target: str
    wit: int
    granule: tuple[int, int] | None = None
    planned: bool = False


@dataclass(frozen=True)
class End:
    """The world changed: from `at` on the value (None: any) no longer holds. With `fact`, that assertion alone."""

    id: str
    slot: tuple
    value: str | None
    at: int
    fact: str | None = None


@dataclass(frozen=True)
class Retract:
    """We were wrong to say an assertion, an ending or a retraction."""

    id: str
    target: str


@dataclass(frozen=True)
class Erase:
    """Nothing of the slot was ever known. The only statement that reaches into the past."""

    id: str
    slot: tuple


def dead_ids(statements):
    """The retracted. A retraction holds unless one that holds retracts it: only what exists may be retracted."""
    by, memo = {}, {}
    for s in statements:
        if isinstance(s, Retract):
            by.setdefault(s.target, []).append(s.id)

    def live(i):
        if i not in memo:
            memo[i] = not any(live(r) for r in by.get(i, ()))
        return memo[i]

    return {i for i in by if not live(i)}


def fold(log, k):
    """Live assertions with the ends they come to, as known at place k (inclusive): [(place, Assert, end)]."""
    seen, statements = set(), []
    erased = {s.slot for s in log if isinstance(s, Erase)}  # in the whole log, not up to k
    for place, s in enumerate(log[: k + 1]):
        if s.id not in seen:  # heard twice is heard once
            seen.add(s.id)
            statements.append((place, s))
    dead = dead_ids([s for _, s in statements])
    asserts = [(p, s) for p, s in statements if isinstance(s, Assert) and s.id not in dead and s.slot not in erased]
    ends = [s for _, s in statements if isinstance(s, End) and s.id not in dead]

    def said(a):
        return max([a.wit] + [s.wit for _, s in statements if isinstance(s, Reinforce) and s.target == a.id])

    def attested(place, a):  # by itself, or by what was said after it of the same value from the same instant on
        return max(
            [said(a)]
            + [
                said(b)
                for q, b in asserts
                if (b.slot, b.value, b.vf) == (a.slot, a.value, a.vf) and q > place and stated(b) == INF
            ]
        )

    def stated(a):  # its own end, or the first ending after its start
        return min(
            [a.vt]
            + [
                e.at
                for e in ends
                if e.slot == a.slot and e.value in {None, a.value} and e.fact in {None, a.id} and e.at > a.vf
            ]
        )

    found = []
    for p, a in asserts:
        if a.occurrence:  # nothing ends it
            start, end = finest(granules(a, [s for _, s in statements]))
            found.append((p, replace(a, vf=start, vt=end), end))
            continue
        end = stated(a)
        if a.functional and a.vt == INF:  # a later start of another value, unless that was over when a was last said
            end = min(
                [end]
                + [
                    b.vf
                    for q, b in asserts
                    if b.slot == a.slot and b.value != a.value and (b.vf, q) > (a.vf, p) and stated(b) > attested(p, a)
                ]
            )
        if a.vf < end:
            found.append((p, a, end))
    return found


def granules(a, statements):
    """All the granules that an occurrence was given."""
    return [(a.vf, a.vt)] + [s.granule for s in statements if isinstance(s, Reinforce) and s.target == a.id]


def contains(outer, inner):
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def finest(granules):
    """The one that contains no other; of several the one that starts first."""
    left = [g for g in granules if not any(g != other and contains(g, other) for other in granules)]
    return min(left)


def planned(log, k, id_):
    """Whether nobody has told an occurrence as past, as known at place k."""
    said = [s for s in log[: k + 1] if (isinstance(s, Assert) and s.id == id_) or getattr(s, "target", None) == id_]
    return all(s.planned for s in said if isinstance(s, Assert | Reinforce))


def belief(log, v, k):
    """{slot: {value: ids of assertions}}: what is believed true at valid instant v, as known at place k."""
    return holding(fold(log, k), v)


def holding(folded, v):
    """The same, of what `fold` found."""
    cover, found = {}, {}
    for p, a, end in folded:
        if a.vf <= v < end:
            cover.setdefault(a.slot, []).append((a.vf, p, a))
    for slot, rows in cover.items():
        winners = rows
        if rows[0][2].functional:
            winners = [min(saying_the_same(rows), key=lambda r: r[1])]
        values = {}
        for _, _, a in winners:
            values.setdefault(a.value, set()).add(a.id)
        found[slot] = {x: frozenset(ids) for x, ids in values.items()}
    return found


def saying_the_same(rows):
    """Those of the value with the latest start, of equal starts the later said, back to the first of another value."""
    rows = sorted(rows, key=lambda r: r[:2], reverse=True)
    others = [n for n, (_, _, a) in enumerate(rows) if a.value != rows[0][2].value]
    return rows[: min(others, default=len(rows))]


def attribute(told):
    """The value that is believed of messages [(said at, [(value, confidence)])]: the surest, else the one said last."""
    doubt, last, heard = {}, {}, {}
    for place, (at, said) in enumerate(told):
        for within, (value, _) in enumerate(said):
            last[value] = max(last.get(value, NEG), at)
            heard[value] = (place, within)
        for value in dict(said):
            doubt[value] = doubt.get(value, 1.0) * (1 - max(sure for again, sure in said if again == value))
    return max(doubt, key=lambda value: (round(1 - doubt[value], 6), last[value], heard[value]), default=None)


def latest(told):
    """(fact, *episodes that say it) after [(episode, fact, said at)] and withdrawn episodes: what was said last first.

    Where none of its episodes counts, the first does; of facts said last at one time the one asserted last comes first.
    """
    sayings = {}
    for saying in told:
        if not isinstance(saying, str):
            sayings.setdefault(saying[1], []).append(saying)
    found = []
    for place, (fact, said) in enumerate(sayings.items()):
        counts = [s for s in said if s[0] not in told] or said[:1]
        found.append(
            (max(at for _, _, at in counts), place, (fact, *dict.fromkeys(episode for episode, _, _ in counts)))
        )
    return [row for _, _, row in sorted(found, reverse=True)]


def named(told):
    """{alias: entities} after [(episode, entity, alias that it gives it)] and withdrawn episodes."""
    counts = [what for what in told if not isinstance(what, str) and what[0] not in told]
    return {alias: {entity for _, entity, other in counts if other == alias} for _, _, alias in counts}


def communities(told, ids):
    """The members of each community after [(subject, object, whether communities are asked for)] of lasting facts.

    `ids` gives the id of the next community that is formed.
    """
    near, of = {}, {}
    for subject, value, asked in told:
        near.setdefault(subject, set()).add(value)
        near.setdefault(value, set()).add(subject)
        for name in (subject, value) if asked else ():
            counts = {}
            for other in near[name]:
                if other in of:
                    counts[of[other]] = counts.get(of[other], 0) + 1
            best = [c for c, count in counts.items() if count == max(counts.values())]
            if best and of.get(name) not in best:
                of[name] = min(best)
            elif not best and name not in of:
                of |= dict.fromkeys([name, *near[name]], next(ids))
    return {c: {name for name, its in of.items() if its == c} for c in set(of.values())}


def critical(log):
    """Every instant at which an answer can change, and the one before it."""
    times = {t for s in log for t in (getattr(s, name, None) for name in ("vf", "vt", "at")) if t not in {None, INF}}
    times |= {t for s in log for t in getattr(s, "granule", None) or ()}
    return sorted({t + d for t in times for d in (-1, 0)})

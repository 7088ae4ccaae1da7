"""Timelines: the versions of facts as the fewest periods, with the gaps between them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from asof_projections.model.rows import FactRow, LinkRow, SegmentRow
from asof_projections.versions import Interval, coalesce, gaps


def same_as(links: Iterable[LinkRow]) -> dict[str, str]:
    """Return for each linked entity the id that represents it and all its duplicates."""
    parent: dict[str, str] = {}

    def root(uuid: str) -> str:
        while (above := parent.setdefault(uuid, uuid)) != uuid:
            uuid = above
        return uuid

    for link in links:
        first, second = sorted((root(link.duplicate), root(link.into)))
        parent[second] = first
    return {uuid: root(uuid) for uuid in list(parent)}


def segments(facts: Iterable[FactRow], same: Mapping[str, str]) -> list[SegmentRow]:
    """Return the periods of each claim, coalesced, by subject, relation and start.

    same: for an entity's id the id that represents its duplicates; an id that is missing represents itself.
    """
    claims: dict[tuple[str, str, str, int | None], list[FactRow]] = {}
    for fact in facts:
        subject = same.get(fact.subject_uuid, fact.subject_uuid)
        value = fact.object_uuid
        object_ = f"v:{fact.object}" if value is None else same.get(value, value)
        own = fact.number if fact.occurrence or fact.planned else None
        claims.setdefault((subject, fact.relation, object_, own), []).append(fact)
    periods = [segment for (subject, *_), claim in claims.items() for segment in _coalesced(subject, claim)]
    return sorted(periods, key=lambda s: (s.subject_uuid, s.relation, s.valid_at, s.object or ""))


def _coalesced(subject: str, claim: list[FactRow]) -> Iterator[SegmentRow]:
    ordered = sorted(claim, key=lambda f: (f.valid_at, f.invalid_at))
    for start, end in coalesce((f.valid_at, f.invalid_at) for f in ordered):
        within = [f for f in ordered if start <= f.valid_at < end]
        names, ids = within[-1], tuple(dict.fromkeys(f.uuid for f in within))
        value = (names.subject, subject, names.relation, names.object, names.object_uuid)
        yield SegmentRow(*value, start, end, ids, names.planned, names.occurrence)


def with_gaps(periods: Iterable[SegmentRow]) -> list[SegmentRow]:
    """Return the periods, sorted as `segments` does, with a segment for every gap between what lasts in a slot."""
    whole: list[SegmentRow] = []
    for _, slot in groupby(periods, key=lambda s: (s.subject_uuid, s.relation)):
        held = list(slot)
        first = held[0]
        empty = [
            SegmentRow(first.subject, first.subject_uuid, first.relation, None, None, start, end, ())
            for start, end in gaps((s.valid_at, s.invalid_at) for s in held if not s.occurrence)
        ]
        whole += sorted([*held, *empty], key=lambda s: (s.valid_at, s.invalid_at))
    return whole


def known_periods(versions: Iterable[FactRow], valid: int | None) -> list[Interval]:
    """Return the periods in which a fact was believed to hold at `valid` (None: at any time)."""
    kept = (v for v in versions if valid is None or v.valid_at <= valid < v.invalid_at)
    return list(coalesce((v.known_from, v.known_to) for v in kept))


def rectangles(versions: Iterable[FactRow]) -> list[FactRow]:
    """Return versions by known_from and start; two are merged, where one was closed as its equal opened."""
    whole: dict[tuple[str, int, int], list[FactRow]] = {}
    for version in sorted(versions, key=lambda v: v.known_from):
        same = whole.setdefault((version.uuid, version.valid_at, version.invalid_at), [])
        if same and same[-1].known_to == version.known_from:
            same[-1] = same[-1]._replace(known_to=version.known_to)
        else:
            same.append(version)
    return sorted((v for same in whole.values() for v in same), key=lambda v: (v.known_from, v.valid_at, v.uuid))

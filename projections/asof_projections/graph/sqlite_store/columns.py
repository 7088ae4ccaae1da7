"""The columns of entities and of the episodic layer's rows, in the order of their classes in `model.rows`."""

from typing import Any, Final

from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import MentionRow

ENTITY: Final = "SELECT e.uuid, g.name, e.name, e.type, e.created_at FROM entities e CROSS JOIN groups g ON g.n = e.grp"
# Whether the entity with a row id was ever merged with another.
EVER_MERGED: Final = (
    "EXISTS (SELECT 1 FROM links WHERE duplicate = {0}) OR EXISTS (SELECT 1 FROM links WHERE into_ = {0})"
)
EPISODE: Final = """SELECT e.uuid, g.name, e.cause, e.name, e.source, e.source_description, e.role, e.role_type,
    e.body, e.content_length, e.valid_at, e.created_at FROM episodes e CROSS JOIN groups g ON g.n = e.grp"""
# A mention is dated by its turn. A generation that extracts anew has no episodes; there it is dated by its recording.
MENTION: Final = f"""SELECT m.uuid, m.episode, m.type, m.text, m.start, m.speaker, m.repeats,
    coalesce(e.valid_at, m.created_at), m.created_at
    FROM mentions m LEFT JOIN episodes e ON {has_id("e.uuid", "m.episode")}"""
RELATIONSHIP: Final = f"""SELECT m.uuid, m.episode, m.relation, m.source, m.target, m.stance,
    m.valid_from, m.valid_to, m.grain, m.time_words, m.confidence, m.start, m.stop,
    coalesce(e.valid_at, m.created_at), m.created_at
    FROM relationships m LEFT JOIN episodes e ON {has_id("e.uuid", "m.episode")}"""
# A name counts until the episode that gave it is withdrawn; the name that introduced an entity always counts. `m` is a
# row of names.
_GIVEN: Final = "(m.n = m.entity OR NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = m.episode{}))"
COUNTS: Final = _GIVEN.format("")
COUNTED: Final = f"m.created_at <= :known AND {_GIVEN.format(' AND w.created_at <= :known')}"

# A message that was not retried since it was parked or failed.
UNSETTLED: Final = "NOT EXISTS (SELECT 1 FROM retries r WHERE r.cause = p.cause AND r.n > p.n)"
PARKED: Final = {
    state: f"SELECT count(DISTINCT cause) FROM parked p WHERE state = '{state}' AND {UNSETTLED}"
    for state in ("parked", "failed")
}


def mention(row: Any) -> MentionRow:
    """Return a row of MENTION as a mention."""
    observed = MentionRow._make(row)
    return observed._replace(speaker=bool(observed.speaker))

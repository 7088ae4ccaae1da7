"""Questions as of a moment, now and in the past, each beside the same question as hand-written SQL on the same file."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

import asof
from asof.api.memory import Memory
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import Opened, open_reader
from asof.settings import Settings
from asof_projections.model.queries import HEAD, EntityQuery, FactsQuery, NeighbourhoodQuery, ask
from asof_projections.model.rows import Moment
from asof_projections.names import key
from asof_streams.instants import DAY, INF, parse
from bench import synthetic
from bench.figures import Figure, Target, side_by_side
from bench.material import Material

_GROUP = "bench"

Q = TypeVar("Q", bound=BaseModel)
_BEGAN = parse("2000-01-01T00:00:00Z")
_ASKED = 2_000  # questions of each kind; every party is asked all of them once before they are measured
_COLUMNS = """f.uuid, s.name, r.name, coalesce(o.name, f.object), s.uuid, o.uuid, f.sentence, v.vf, v.vt, v.kf, v.kt,
    f.created_at, f.expired_at, f.confidence, f.episode"""
_JOINED = """CROSS JOIN facts f ON f.n = v.fact CROSS JOIN entities s ON s.n = f.s
    CROSS JOIN relations r ON r.n = f.relation LEFT JOIN entities o ON o.n = f.object"""
_IN_GROUP = "grp = (SELECT n FROM groups WHERE name = :group)"
_NAMED = f"(SELECT +entity FROM names WHERE {_IN_GROUP} AND key = :key AND name = :name AND created_at <= :k)"
_RELATION = f"relation = (SELECT n FROM relations WHERE {_IN_GROUP} AND name = :relation)"


def _holding(end: str, where: str) -> str:
    """Return the versions that hold at a moment: those believed now, and those that once were, by the index of each."""
    held = f"WHERE {where} AND vf <= :v AND vt > :v AND kf <= :k AND kt"
    versions = "SELECT fact, s, object, vf, vt, kf, kt FROM versions INDEXED BY"
    return f"{versions} now_{end} {held} = {INF} UNION ALL {versions} past_{end} {held} < {INF} AND kt > :k"


def _touching(ends: str) -> str:
    return f"{_holding('subject', f's IN {ends}')} UNION {_holding('object', f'object IN {ends}')}"


_ABOUT = (f"SELECT {_COLUMNS} FROM ({_holding('subject', f's IN {_NAMED}')}) v {_JOINED}",)
_SLOT = (f"SELECT {_COLUMNS} FROM ({_holding('subject', f's IN {_NAMED} AND {_RELATION}')}) v {_JOINED}",)
_ENTITY = (
    f"SELECT {_COLUMNS} FROM ({_touching(_NAMED)}) v {_JOINED}",
    f"SELECT name FROM names WHERE entity IN {_NAMED} AND created_at <= :k",
    f"SELECT * FROM links WHERE (duplicate IN {_NAMED} OR into_ IN {_NAMED}) AND kf <= :k AND kt > :k",
    f"SELECT count(*) FROM resolutions WHERE entity IN {_NAMED} AND created_at <= :k",
)
_TWO_HOPS = (
    f"""WITH one AS MATERIALIZED ({_touching(_NAMED)}),
    ends (n) AS MATERIALIZED (SELECT +s FROM one UNION SELECT +object FROM one WHERE typeof(object) = 'integer')
    SELECT {_COLUMNS} FROM (SELECT * FROM one UNION {_touching("ends")}) v {_JOINED}""",
)


@dataclass(frozen=True)
class Asked:
    """One question, as every party is asked it."""

    name: str
    relation: str
    at: Moment

    @property
    def given(self) -> dict[str, Any]:
        at = {"v": self.at.valid, "k": self.at.known}
        return {"group": _GROUP, "name": self.name, "key": key(self.name), "relation": self.relation, **at}


@dataclass(frozen=True)
class Kind:
    """One kind of question: through Memory, through Questions, and as SQL."""

    name: str
    memory: Callable[[Memory, Asked], Any]
    questions: Callable[[Opened, Asked], Any]
    sql: tuple[str, ...]  # the facts, then what else belongs to the answer
    targets: tuple[Target, ...]


def _times(asked: Asked) -> dict[str, Any]:
    return {"group_id": _GROUP, "valid_at": asked.at.valid, "known_at": asked.at.known}


def _asked(kind: type[Q], **fields: Any) -> Q:
    return ask(kind, {"group_id": _GROUP, **fields})


_AT_MOST_THRICE = Target("ratio p50", 3)
_KINDS = (
    Kind(
        "slot",
        lambda m, a: m.facts(about=a.name, relation=a.relation, **_times(a)),
        lambda o, a: o.questions.facts(_asked(FactsQuery, about=a.name, relation=a.relation), a.at),
        _SLOT,
        (Target("p50", 0.05), _AT_MOST_THRICE),
    ),
    Kind(
        "facts about an entity",
        lambda m, a: m.facts(about=a.name, **_times(a)),
        lambda o, a: o.questions.facts(_asked(FactsQuery, about=a.name), a.at),
        _ABOUT,
        (Target("p50", 0.5), Target("p99", 10), _AT_MOST_THRICE),
    ),
    Kind(
        "entity, all that is known",
        lambda m, a: m.entity(a.name, **_times(a)),
        lambda o, a: o.questions.entity(_asked(EntityQuery, name=a.name), a.at),
        _ENTITY,
        (Target("p50", 0.5), Target("p99", 10), _AT_MOST_THRICE),
    ),
    Kind(
        "two hops",
        lambda m, a: m.neighbourhood(a.name, 2, **_times(a)),
        lambda o, a: o.questions.neighbourhood(_asked(NeighbourhoodQuery, name=a.name, hops=2), a.at),
        _TWO_HOPS,
        (Target("p99", 25), _AT_MOST_THRICE),
    ),
)


def measure(material: Material) -> Iterator[Figure]:
    places = DirectoryLayout(material.directory)
    opened = open_reader(places, Settings())
    with (
        closing(opened),
        asof.open(places.root, embedder="none") as memory,
        closing(sqlite3.connect(f"file:{places.graph(opened.generation)}?mode=ro", uri=True)) as raw,
    ):
        raw.execute("PRAGMA cache_size = -65536")
        for moment, known in _known_moments(raw).items():
            asked = [_question(number, material.facts, known) for number in range(material.count(_ASKED, 100))]
            for kind in _KINDS:
                yield from _beside(f"{kind.name}, known {moment}", kind, asked, memory, opened, raw)


def _beside(
    name: str, kind: Kind, asked: list[Asked], memory: Memory, opened: Opened, raw: sqlite3.Connection
) -> Iterator[Figure]:
    def by_hand(question: Asked) -> list[Any]:
        facts, *_ = (raw.execute(statement, question.given).fetchall() for statement in kind.sql)
        return facts

    found = [len(by_hand(question)) for question in asked]
    note = f"{sum(found) / len(found):.1f} facts an answer"
    through = (("Memory", lambda q: kind.memory(memory, q)), ("TemporalQueries", lambda q: kind.questions(opened, q)))
    for door, question in through:
        side_by_side(question, by_hand, asked)
        ours, beside = side_by_side(question, by_hand, asked)
        yield Figure(f"{name}: {door}", "ms", ours, beside, "hand-written SQL", kind.targets, note)


def _question(number: int, facts: int, known: int) -> Asked:
    """Return a question about a fact of the history, at a valid moment within it."""
    stated = synthetic.fact(next(synthetic.draw("question", number)) % facts, facts)
    day = next(synthetic.draw("valid", number)) % (24 * 365)
    return Asked(stated["subject"], stated["relation"], Moment(_BEGAN + day * DAY, known))


def _known_moments(raw: sqlite3.Connection) -> dict[str, int]:
    """Return now, and the moment at which half of the facts had been recorded."""
    half = "SELECT created_at FROM facts ORDER BY n LIMIT 1 OFFSET (SELECT count(*) / 2 FROM facts)"
    return {"now": HEAD, "when half was": raw.execute(half).fetchone()[0]}

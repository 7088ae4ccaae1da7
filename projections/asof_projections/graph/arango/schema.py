"""The collections of one log in ArangoDB, their indexes and the named graph over them; and what is stored.

A document has the columns that the row has in SQLite, by the same names (so both stores have one digest), and beside
them what makes it readable and reachable in ArangoDB. Every document has `n`, the order in which they were made, `seq`,
the position of the record that last made it what it is, and `recorded_at`.
"""

import sqlite3
from functools import cache
from hashlib import sha256
from typing import Any, Final

from asof_projections.graph.sqlite_store import schema as tables
from asof_streams.errors import ContractError

OLDEST: Final = (3, 12, 6)  # of ArangoDB: from here on a vector index can be filtered, and large integers sort right
CHECKPOINTS: Final = "asof_checkpoints"  # of every log and its vectors; and which generation answers

COLLECTIONS: Final = {  # by table of the SQLite graph
    "episodes": "episodes",
    "mentions": "mentions",
    "relationships": "relationships",
    "withdrawals": "withdrawals",
    "parked": "parked",
    "retries": "retries",
    "entities": "entities",
    "names": "names",
    "resolutions": "mention_links",
    "links": "duplicate_of",
    "attributes": "attributes",
    "communities": "communities",
    "memberships": "member_of",
    "facts": "assertions",
    "versions": "facts",
    "reinforcements": "reinforcements",
    "deeds": "deeds",
    "literals": "literals",
    "endings": "endings",
    "retractions": "retractions",
    "contradictions": "contradictions",
    "closings": "closings",
    "cardinalities": "cardinalities",
    "posts": "posts",
    "feedback": "feedback",
    "goals": "goals",
    "objectives": "objectives",
    "objective_goals": "objective_goals",
}
EDGES: Final = {  # from what to what
    "relationships": (["mentions"], ["mentions"]),
    "mention_links": (["mentions"], ["entities"]),  # mentions of the log of episodes, where beliefs have their own
    "duplicate_of": (["entities"], ["entities"]),
    "member_of": (["entities"], ["communities"]),
    "facts": (["entities"], ["entities", "assertions"]),  # a literal is an end of its own: what said it
}
VECTORS: Final = ("fact_vectors", "name_vectors")  # by search, from the graph (asof_projections.graph.arango.vectors)
GRAPH: Final = "graph"
_VIEW: Final = "sentences"  # which earlier versions made

_INTERVAL: Final = ["kt", "vt", "vf", "kf"]
_ASKED: Final = {  # beside <collection>_n and <collection>_group, which every collection has
    "facts": {
        "subject": ["_from", *_INTERVAL],
        "object": ["_to", *_INTERVAL],
        "thing": ["thing", *_INTERVAL],
        "fact": ["fact", "kt", "vf"],
        "relation": ["relation", *_INTERVAL],
        "current": ["grp", *_INTERVAL, "fact"],
        "open": ["kt"],
        "opened": ["opened"],
        "closed": ["closed"],
    },
    "assertions": {
        "subject": ["subject_uuid", "relation"],
        "ref": ["grp", "ref"],
        "corrects": ["corrects"],
        "words": ["words[*]", "grp"],
        "known": ["grp", "recorded_at"],
    },
    "withdrawals": {"episode": ["episode"]},
    "reinforcements": {"fact": ["fact", "n"]},
    "endings": {"slot": ["subject_uuid", "relation"]},
    "retractions": {"target": ["target"]},
    "contradictions": {"open": ["settled_at"]},
    "closings": {"fact": ["fact", "n"]},
    "names": {"entity": ["entity_id"], "key": ["key", "grp"]},
    "attributes": {"entity": ["entity_id", "holds"]},
    "member_of": {"open": ["kt"]},
    "duplicate_of": {"open": ["kt"]},
}


def _indexes(collection: str) -> dict[str, list[str]]:
    named = {"n": ["n"], "group": ["grp", "n"], **_ASKED.get(collection, {})}
    return {f"{collection}_{name}": fields for name, fields in named.items()}


INDEXES: Final = {collection: _indexes(collection) for collection in (*COLLECTIONS.values(), *VECTORS)}
"""The fields of every index, by collection and name."""

_LAYOUT: Final = repr((COLLECTIONS, EDGES, INDEXES, tables.TABLES))
VERSION: Final = f"1-{sha256(_LAYOUT.encode()).hexdigest()[:8]}"


def prefix(log: str) -> str:
    """Return what the names of a log's collections begin with."""
    return log.replace(".", "_") + "_"


@cache
def columns(table: str) -> dict[str, str]:
    """Return the columns of a table of the SQLite graph, with their declared types."""
    db = sqlite3.connect(":memory:")
    db.executescript(tables.TABLES)
    found = dict(db.execute("SELECT name, type FROM pragma_table_info(?)", (table,)))
    db.close()
    return found


def install(db: Any, log: str) -> None:
    """Make what a log needs in a database; what is there already stays as it is.

    The graph comes first: with it the server makes all collections by one request, and an index takes one of its own.
    """
    start = prefix(log)
    if not db.has_graph(start + GRAPH):
        edges = [_edges(start, kind) for kind in EDGES]
        ends = {name for edge in edges for side in ("from", "to") for name in edge[f"{side}_vertex_collections"]}
        beside = {start + kind for kind in INDEXES if kind not in EDGES} - ends
        db.create_graph(start + GRAPH, edge_definitions=edges, orphan_collections=sorted(beside))
    there = {found["name"] for found in db.collections()}
    for kind in INDEXES:
        if start + kind not in there:
            db.create_collection(start + kind, edge=kind in EDGES)
        for name, fields in INDEXES[kind].items():
            db.collection(start + kind).add_index({"type": "persistent", "name": name, "fields": fields})
    if CHECKPOINTS not in there:
        db.create_collection(CHECKPOINTS)


def remove(db: Any, log: str) -> None:
    """Remove all that a log has in a database, its checkpoint first: so that what is half removed is not used.

    A collection that a graph names cannot be removed. So other logs' graphs that name one go, too, and are made again
    when those logs are installed.
    """
    start = prefix(log)
    if db.has_collection(CHECKPOINTS):
        for key in (log, *(start + kind for kind in VECTORS)):
            db.collection(CHECKPOINTS).delete(key, ignore_missing=True)
    theirs = {start + kind for kind in INDEXES}
    for graph in db.graphs():
        if theirs & _named_by(graph):
            db.delete_graph(graph["name"], drop_collections=False)
    for view in db.views():
        if view["name"] == start + _VIEW:
            db.delete_view(view["name"])
    for kind in INDEXES:
        db.delete_collection(start + kind, ignore_missing=True)


def _named_by(graph: dict[str, Any]) -> set[str]:
    """Return the collections that a graph names."""
    edges = graph["edge_definitions"]
    ends = (name for edge in edges for side in ("from", "to") for name in edge[f"{side}_vertex_collections"])
    return {*ends, *(edge["edge_collection"] for edge in edges), *graph["orphan_collections"]}


def _edges(start: str, kind: str) -> dict[str, Any]:
    sources, targets = EDGES[kind]
    logs = {start, prefix("episodic")} if kind == "mention_links" else {start}
    return {
        "edge_collection": start + kind,
        "from_vertex_collections": [log + source for log in sorted(logs) for source in sources],
        "to_vertex_collections": [start + target for target in targets],
    }


def check(version: str | None, log: str) -> None:
    """Refuse what another version of asof laid out."""
    if version != VERSION:
        raise ContractError(
            f"the log {log} has graph schema {version or 'none'} in ArangoDB, this asof reads {VERSION}: "
            "rebuild it with asof graph create --replace"
        )

"""How the graph's questions are answered: a plan that walks the wrong index costs a thousand times more."""

import re
import sqlite3

import pytest

from asof_projections.graph.sqlite_store import (
    attributes,
    base,
    communities,
    details,
    event_projector,
    facts,
    fts,
    history,
    identities,
    name_numbers,
    post_projector,
    posts,
    row_ids,
    scans,
    schema,
    turn_cache,
    turns,
    version_cache,
    views,
)
from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import FeedbackWithdrawn, GoalWithdrawn
from asof_streams.semantic import FactReinforced, ObjectiveWithdrawn
from semantic_story import Story, entity, fact, retracted

HANDLERS = {  # every statement that is run for a message, and the index that it must be found by
    views._EPISODE_BY_ID: "episode_uuid (<expr>=?)",
    views._EPISODES_RECENT: "episode_recent",
    views._MENTIONS: "mention_episode",
    views._MENTIONS_CALLED: "mention_name",
    views._TYPE_OF_NAME: "mention_name",
    views._ANSWER: "answer_request",
    views._FAILURE: "failure_cause (cause=?)",
    views._TIMEZONE: "timezone_group (grp=? AND cause<?)",
    posts._POST: "post_external (grp=? AND external=?)",
    posts._OBJECTIVE_BY_ID: "objective_uuid (uuid=? AND kt=?)",
    posts._GOALS_OF: "goal_objective (objective=?)",
    posts._OBJECTIVE_OF: "objective_goal (goal=?)",
    post_projector._WITHDRAW.format("feedback", "uuid"): "feedback_uuid (uuid=?)",
    post_projector._WITHDRAW.format("goals", "uuid"): "goal_uuid (uuid=?)",
    post_projector._WITHDRAWAL.format("feedback"): "feedback_uuid (uuid=?)",
    post_projector._WITHDRAWAL.format("goals"): "goal_uuid (uuid=?)",
    views._STATES: "parked_cause (cause=?)",
    views._RETRIED: "retry_cause (cause=?)",
    views._ENTITY_BY_ID: "entity_uuid",
    views._ENTITIES_NAMED: "name_key",
    views._ENTITIES_KEYED: "name_key",
    views._ENTITIES_WITH_WORD: "PRIMARY KEY (grp=? AND word=?)",
    views._RESOLVED: "resolution_mention (<expr>=?)",
    views._SINGLE: "PRIMARY KEY (relation=? AND grp=?)",
    views._ASSERTIONS_OF_SLOT: "fact_slot (s=? AND relation=?)",
    views._ASSERTIONS_OF_VALUE: "fact_slot (s=? AND relation=? AND object=?)",
    views._GRANULES: "deed_fact (fact=?)",
    views._GRANULES_OF_OTHERS: "deed_fact (fact=?)",
    views._ENDINGS_OF_SLOT: "ending_slot (s=? AND relation=?)",
    views._ENDINGS_OF_VALUE: "ending_slot (s=? AND relation=?)",
    views._FACT_BY_ID: "fact_uuid (<expr>=?)",
    views._FACT_BY_REF: "fact_ref (grp=? AND ref=?)",
    views._ENDING_BY_ID: "ending_uuid",
    views._RETRACTION_BY_ID: "retraction_uuid",
    views._RETRACTIONS_OF: "retraction_target",
    views._WITHDRAWN: "withdrawal_episode",
    views._RESTING: "fact_recorded",
    views._ATTESTED: "reinforcement_recorded",
    views._CONTRADICTIONS: "contradiction_later",
    attributes._HELD: "attribute_held (entity=? AND name=?)",
    attributes._SAID: "attribute_value (entity=? AND name=? AND folded=?)",
    attributes._SAYINGS: "attribute_value (entity=? AND name=?)",
    attributes._SPOKEN_OF: "attribute_episode (episode=?)",
    scans._ENTITIES_CALLED: "name_key (grp=? AND key>? AND key<?)",
    scans._ALIASES: "name_entity",
    scans._IDENTITY: "link_into",
    name_numbers._COUNT_NOW: "PRIMARY KEY (rowid=?)",
    identities._GIVEN: "name_key (grp=? AND key=?)",
    identities._NAMINGS: "name_key (grp=? AND key=?)",
    identities._MEANING: "resolution_mention (<expr>=?)",
    identities._LINKS: "link_into",
    identities._LINK_BY_ID: "link_uuid",
    identities._PARTED: "withdrawal_cause (cause=?)",
    identities._MERGED: "link_known (grp=? AND kf=?)",
    communities._OF: "PRIMARY KEY (entity=?)",
    communities._FROM: "now_subject (s=?)",
    communities._TO: "now_object (object=?)",
    communities._SIZES: "membership_community (community=? AND kt=?)",
    communities._MEMBERS_OF: "membership_community (community=? AND kt=?)",
    communities._CONSOLIDATED: "consolidation_group (grp=?)",
    communities._INTRODUCED: "entity_known (grp=? AND created_at<?)",
    communities._EPISODES: "episode_group (grp=? AND created_at>? AND created_at<?)",
    identities._MERGED_NAMES: "link_known (grp=?)",
    identities._CONSOLIDATED_AT: "link_known (grp=? AND kf=?)",
    communities._STANDING: "consolidation_group (grp=?)",
    communities._BEYOND: "opened_group (grp=? AND kf>? AND kf<?)",
    communities._CHANGED_ENTITIES: "opened_group (grp=? AND kf>? AND kf<?)",
}
READERS = {
    posts._FEEDBACK[True]: "feedback_group (grp=?)",
    posts._OBJECTIVES[True]: "objective_group (grp=?)",
    posts._DECLARERS: "goal_uuid (uuid=?)",
    posts._SPEAKERS: "episode_group (grp=? AND created_at=?)",
    posts._SPEAKER: "episode_uuid (<expr>=?)",
    history._VERSIONS: "version_fact",
    history._FACT: "fact_uuid (<expr>=?)",
    history._ASSERTION: "fact_uuid (<expr>=?)",
    row_ids._FACT: "fact_uuid (<expr>=?)",
    event_projector._SET_DEAD[0]: "fact_uuid (<expr>=?)",
    turns._NUMBERS: "episode_uuid (<expr>=?)",
    scans._IDS: "fact_uuid (<expr>>? AND <expr><?)",
    history._CORRECTING: "fact_uuid (<expr>=?)",
    history._REINFORCEMENTS: "reinforcement_fact",
    history._CORRECTED_BY: "fact_corrects",
    history._ENDINGS: "ending_slot",
    history._RETRACTIONS: "retraction_target",
    history._RETRACTED_BY: "retraction_target",
    history._RETRACTED_REPETITIONS: "retraction_recorded",
    history._CLOSINGS: "closing_fact",
    history._STATEMENT: "retraction_uuid",
    history._CHANGED_FACTS: "version_closed (closed>? AND closed<?)",
    history._UNTIL: "version_closed (closed>?)",
    scans._ENTITIES_OF_GROUP: "entity_group",
    scans._MENTION: "mention_uuid (<expr>=?)",
    scans._RELATIONSHIP: "relationship_uuid (<expr>=?)",
    identities._APPEARANCES: "resolution_entity",
    attributes._BELIEVED: "attribute_held (entity=?)",
    communities._OF_GROUP: "community_group (grp=?)",
    communities._THEIRS: "membership_community (community=? AND kt>?)",
    identities._by_name(details.CALLED, of_group=True, exact=False): "attribute_held (entity=?)",
    details.WITH_ID: "entity_uuid (uuid=?)",
    facts.both_sides(of_group=True, closed=True, deeds=False): "past_object (object=?",
    facts.both_sides(of_group=False, closed=False, deeds=True): "now_subject (s=?",
    facts.latest(deeds=False): "now_object (object=?",
    facts.latest(deeds=True): "now_object (object=?",
    version_cache._FACTS: "PRIMARY KEY (rowid>?)",
    version_cache._OPENED: "PRIMARY KEY (rowid>?)",
    version_cache._CLOSED: "version_closed (closed>?)",
    version_cache._LAST: "version_closed",
    fts._SENTENCES: "PRIMARY KEY (rowid>?)",
    turn_cache._TURNS: "turn (n>?)",
    turn_cache._WITHDRAWN: "PRIMARY KEY (rowid>?)",
    turns._TEXTS: "turn (n>?)",
}


_MARK = re.compile(r"\?([0-9]*)")  # of a value, and its number


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    story = Story()
    story.tell(entity("Ana"), fact("f", "Ana", "knows", "Ana"))
    with SqliteGraph(tmp_path_factory.mktemp("plans") / "graph.db", "semantic.main", writable=True) as store:
        store.apply(story.records)
        store.commit(len(story.records), b"")
        yield store._db


def plan(db: sqlite3.Connection, sql: str) -> list[str]:
    named = sql.count(":") > 0
    given = [mark[1] or mark.start() for mark in _MARK.finditer(sql)]
    values = _Anything() if named else (None,) * len(set(given))
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


class _Anything(dict):
    def __missing__(self, _):
        return None


def full_scans(steps: list[str]) -> list[str]:
    """The steps that read a whole table or index, but for what a step before them made."""
    made = (
        "json_each",
        "CONSTANT",
        "subquery",
        "SCAN v",
        "SCAN c",
        "SCAN same",
        "SCAN said",
        "SCAN against",
        "SCAN undone",
        "SCAN given",
        "SCAN sample",
        "VIRTUAL TABLE",
        "SCAN 3",
    )
    return [step for step in steps if step.startswith("SCAN") and not any(name in step for name in made)]


@pytest.mark.parametrize(("sql", "index"), [*HANDLERS.items(), *READERS.items()])
def test_a_statement_is_found_by_its_index_and_reads_no_table_whole(db, sql, index):
    for form in (sql, base._of_one(sql)):
        steps = plan(db, form)

        assert any(index in step for step in steps), steps
        assert full_scans(steps) == []


def statement(*shape: str, closed: bool = True, limited: bool = True) -> str:
    return facts.statement(*shape, closed=closed, limited=limited, deeds=False)


ASKED_IN_BULK = {  # reads of handlers, and the indexes that each makes where a bulk load has left them for its end
    lambda store: store.statement("f"): {"fact_uuid", "deed_fact"},
    lambda store: store.put_back(["f"]): {"fact_corrects"},
    lambda store: store.neighbours("id-Ana", 1, 9): {"now_subject", "now_object"},
    lambda store: store.change_beyond("g", 0, 9, 0): {"opened_group"},
    lambda store: store.changed_entities("g", 0, 9): {"opened_group", "past_group"},
}


def indexes_of(store: SqliteGraph) -> set[str]:
    return {name for (name,) in store._db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}


@pytest.mark.parametrize(("ask", "indexes"), ASKED_IN_BULK.items())
def test_what_is_asked_during_a_bulk_load_makes_its_indexes_and_no_others(tmp_path, ask, indexes):
    story = Story()
    story.tell(entity("Ana"), fact("f", "Ana", "knows", "Ana"))
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store, store.bulk():
        store.apply(story.records)
        store.answer_handlers()
        before = indexes_of(store)
        ask(store)
        assert indexes_of(store) - before == indexes - schema.ASKED.keys()
        store.commit(len(story.records), b"")


CHANGED_IN_BULK = [  # what changes rows, and the indexes by which they are found
    (FeedbackWithdrawn(feedback_id="f"), {"feedback_uuid"}),
    (GoalWithdrawn(goal_id="g"), {"goal_uuid", "objective_goal"}),
    (ObjectiveWithdrawn(objective_id="o", goal_id="g"), {"objective_uuid"}),
    (retracted("r", "f"), {"fact_uuid"}),
    (FactReinforced(fact_id="f", said_at=1, episode_id="e"), {"fact_uuid"}),
]


@pytest.mark.parametrize(("event", "indexes"), CHANGED_IN_BULK)
def test_what_changes_rows_during_a_bulk_load_makes_the_indexes_by_which_they_are_found(tmp_path, event, indexes):
    story = Story()
    story.tell(entity("Ana"), fact("f", "Ana", "knows", "Ana"), event)
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store, store.bulk():
        before = indexes_of(store)
        store.apply(story.records)
        assert indexes_of(store) - before == indexes
        store.commit(len(story.records), b"")


def kinds(shape: tuple[str, ...]) -> set[str]:
    return {facts._CONDITIONS[name][0] for name in shape}


def shapes() -> list[tuple[str, ...]]:
    subjects = ("subject", "subject among")
    objects = ("object", "object among", "value", "object among or value")
    claims = [(s,) for s in subjects] + [(o,) for o in objects] + [(s, o) for s in subjects for o in objects] + [()]
    scopes = ["relation", "relation named", "group", None]
    return [(*claim, scope) if scope else claim for claim in claims for scope in scopes if claim or scope]


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("shape", [*shapes(), ("number among",)], ids=" + ".join)
def test_facts_of_every_shape_are_found_among_what_is_believed_and_what_once_was(db, shape, limited):
    steps = plan(db, statement(*shape, limited=limited))

    kind = next(k for k in ("subject", "object", "relation", "group", "number") if k in kinds(shape))
    searches = [step for step in steps if step.startswith("SEARCH versions")]
    column = {"subject": "s", "object": "object", "relation": "relation", "group": "grp", "number": "fact"}[kind]
    assert full_scans(steps) == []
    assert len(searches) == 2
    for search, part in zip(searches, ("now", "past"), strict=True):
        assert f"{'version_fact' if kind == 'number' else f'{part}_{kind}'} ({column}=?" in search
    assert "kt>?" in searches[1]
    assert steps.count("SEARCH f USING INTEGER PRIMARY KEY (rowid=?)") == 1  # joined once, not with each half


@pytest.mark.parametrize("shape", shapes(), ids=" + ".join)
def test_facts_as_known_so_far_are_sought_among_open_versions_alone(db, shape):
    steps = plan(db, statement(*shape, closed=False))

    kind = next(k for k in ("subject", "object", "relation", "group") if k in kinds(shape))
    [search] = [step for step in steps if step.startswith("SEARCH versions")]
    assert f"now_{kind} (" in search
    assert full_scans(steps) == []


@pytest.mark.parametrize(
    ("limits", "column"),
    [
        (("near", "relations", "types", "groups"), "subject (s=?"),
        (("near", "groups"), "object (object=?"),
        (("relations", "types"), "relation (relation=?"),
        (("types", "groups"), "object (object=?"),
        (("groups",), "group (grp=?"),
    ],
)
@pytest.mark.parametrize("deeds", [False, True])
def test_the_numbers_of_a_limited_search_are_found_by_the_most_selective_limit(db, limits, column, deeds):
    steps = plan(db, fts._numbers(*limits, deeds=deeds))

    for part in ("now", "past"):
        assert any(f"SEARCH versions USING INDEX {part}_{column}" in step for step in steps), steps
    assert not any(step.startswith(("SCAN versions", "SCAN deeds", "SCAN literals")) for step in steps)


def test_a_slot_as_of_now_is_found_by_subject_and_relation(db):
    [now, _] = [step for step in plan(db, statement("subject", "relation")) if "versions" in step]

    assert "now_subject (s=? AND relation=?" in now


def test_facts_of_a_page_are_merged_in_order_and_those_without_a_limit_make_no_table(db):
    page, whole = (plan(db, statement("group", limited=limited)) for limited in (True, False))

    assert page[: page.index("SCAN v")].count("MERGE (UNION ALL)") == 1
    assert not any("TEMP B-TREE" in step for step in whole)


@pytest.mark.parametrize("exact", [True, False])
def test_the_entities_with_a_name_are_found_by_its_key_without_a_walk_over_links(db, exact):
    steps = plan(db, identities._by_name(identities._OWNERS, of_group=True, exact=exact))

    assert "SEARCH m USING INDEX name_key (grp=? AND key=?)" in steps
    assert not any("RECURSIVE" in step for step in steps)
    assert full_scans(steps) == []


@pytest.mark.parametrize(
    ("table", "whole", "index"),
    [("facts", False, "fact_uuid (<expr>>? AND <expr><?)"), ("entities", True, "entity_uuid (uuid>? AND uuid<?)")],
)
def test_ids_that_begin_so_are_found_by_an_index_of_their_start_or_of_all_of_them(db, table, whole, index):
    steps = plan(db, f"SELECT uuid FROM {table} WHERE {schema.has_start('uuid', ':start', whole=whole)}")

    assert index in steps[0]


def test_no_index_of_versions_is_led_by_a_time(db):
    led = {
        name: db.execute("SELECT name FROM pragma_index_info(?) WHERE seqno = 0", (name,)).fetchone()[0]
        for name in schema.INDEXES
        if name.startswith(("now_", "past_", "version_"))
    }

    assert len(led) == 11
    assert not {"vf", "vt", "kf", "kt"} & set(led.values())


def test_every_index_is_asked_of_by_a_statement(db):
    asked = " ".join(step for sql in (*HANDLERS, *READERS) for step in plan(db, sql))
    asked += " ".join(step for shape in [*shapes(), ("number among",)] for step in plan(db, statement(*shape)))

    assert [name for name in schema.ASKED | schema.READ if name not in asked] == []


def test_what_is_not_believed_yet_is_hidden_at_the_cost_of_no_index(tmp_path):
    asked = [views._EPISODES_RECENT, views._EPISODES_BETWEEN, views._EPISODE_BY_ID, views._GROUPS, views._MENTIONS]
    asked += [scans._EPISODES, scans._MENTIONS, scans._RELATIONSHIPS, scans._MENTION, scans._RELATIONSHIP]
    path = tmp_path / "episodes.db"
    with SqliteGraph(path, "episodic", writable=True) as store, EpisodeReader(path, store.checkpoint) as reader:
        whole, shown = (
            [[step.partition(" USING ")[2] for step in plan(opened._db, sql)] for sql in asked]
            for opened in (store, reader)
        )

    assert shown == whole

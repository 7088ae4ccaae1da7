"""What a writer makes of events: what it read before an event it does not tell after it, and it reads nothing twice."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store import inspection, schema, write_buffer
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_streams.episodic import (
    EpisodeRecorded,
    ExtractionFailed,
    GroupErased,
    MentionObserved,
    MessageParked,
    MessageRetried,
    TimezoneRecorded,
)
from asof_streams.errors import DamagedLog, InvalidInput
from asof_streams.semantic import (
    CommunityFormed,
    CommunityJoined,
    CommunityLeft,
    EntityDescribed,
    EntityMerged,
    EntityUnmerged,
    FactAttested,
    FactReinforced,
    MemoryConsolidated,
    MemoryUnconsolidated,
    RelationDeclared,
)
from semantic_story import Story, ended, entity, fact, retracted, unasserted

NOW = Moment(1, None)
SINGLE = RelationDeclared(relation="lives_in", cardinality="one")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteGraph]:
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as opened:
        yield opened


@pytest.fixture
def story() -> Story:
    told = Story()
    told.tell(SINGLE)
    told.tell(entity("Ana"), entity("Rome"), entity("Bob"))
    return told


def said_by(store: SqliteGraph, work: Callable[[], object]) -> list[str]:
    """Return the statements that SQLite runs for some work."""
    statements: list[str] = []
    store._db.set_trace_callback(statements.append)
    try:
        work()
    finally:
        store._db.set_trace_callback(None)
    return statements


def looks(store: SqliteGraph, story: Story, table: str) -> int:
    """Return how often a table is read while the last events of a story are applied."""
    return sum(f" {table} " in said for said in said_by(store, lambda: store.apply(story.records)))


def commit(store: SqliteGraph, story: Story) -> None:
    store.apply(story.records)
    store.commit(len(story.records), b"x")


def test_whether_there_are_endings_or_time_zones_is_asked_again_once_there_are(store, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    store.apply(story.records)
    assert (store.read_slot("g", "id-Ana", "lives_in", None).endings, store.timezone("g", 99)) == ((), None)
    story.tell(ended("e", "Ana", "lives_in", "Rome", 4), TimezoneRecorded(timezone="Europe/Rome"))
    store.apply(story.records)

    assert [e.ending_id for e in store.read_slot("g", "id-Ana", "lives_in", None).endings] == ["e"]
    assert store.timezone("g", 99) == "Europe/Rome"


def test_messages_are_parked_and_failed_until_they_are_retried_and_again_where_the_retry_is_parked(store) -> None:
    story = Story()
    asked = {"episode_id": "e", "request": "r", "prompt": "p", "prompt_version": 1, "model": "m", "reason": "timeout"}
    failed = ExtractionFailed(prompt_tokens=1, completion_tokens=1, calls=1, **asked)

    def after(*events) -> tuple[object, ...]:
        story.tell(*events)
        store.apply(story.records)
        counts = store.parked_count(), store.parked_count("failed")
        return *counts, *(sorted(store.unsettled(at)) for at in (0, 1)), len(store.retried(0))

    assert after(MessageParked(reason="limit")) == (1, 0, ["parked"], [], 0)
    assert after(failed) == (1, 1, ["parked"], ["failed"], 0)
    assert after(MessageRetried(position=0)) == (0, 1, [], ["failed"], 1)
    assert after(MessageParked(reason="limit", position=0)) == (1, 1, ["parked"], ["failed"], 1)
    assert after(MessageRetried(position=1)) == (1, 0, ["parked"], [], 1)


def test_a_name_that_was_looked_for_finds_those_who_are_given_it_next(store, story) -> None:
    store.apply(story.records)
    assert [e.uuid for e in store.entities_named("g", "Ana")] == ["id-Ana"]
    assert store.entities_named("g", "Annie") == []
    again = entity("Ana").model_copy(update={"entity_id": "another"})
    story.tell(again, EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="e"))
    store.apply(story.records)

    assert [e.uuid for e in store.entities_named("g", "Ana")] == ["id-Ana", "another"]
    assert [e.uuid for e in store.entities_named("g", "Annie")] == ["id-Ana"]


def test_two_that_are_merged_and_parted_in_one_message_were_never_linked(store, story) -> None:
    merged = EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same")
    moment = story.tell(merged, EntityUnmerged(merge_id="m"))
    commit(store, story)

    assert store.identity(["id-Ana"], moment) == {"id-Ana"}
    assert store.link("m") is None


def test_who_leaves_a_community_is_of_it_until_then(store, story) -> None:
    before = story.tell(CommunityFormed(community_id="c", name="c", members=("id-Ana", "id-Bob"), episode_id="e"))
    after = story.tell(CommunityLeft(entity_id="id-Ana"))
    commit(store, story)

    shown = [[m.name for c in store.communities("g", known) for m in c.members] for known in (before, after)]
    assert shown == [["Ana", "Bob"], ["Bob"]]


def test_passes_are_counted_with_their_results_and_an_undone_one_is_looked_at_again(store, story) -> None:
    names = ("communities_detected", "communities_changed_nodes", "entity_duplicates_found", "entity_merges_performed")
    counts = {name: number for number, name in enumerate((*names, "nodes_decayed"), 2)}

    def passed(id_: str, until: int) -> MemoryConsolidated:
        return MemoryConsolidated(consolidation_id=id_, until=until, complete=True, **counts)

    first, second = story.tell(passed("p", 7)), story.tell(passed("q", 9))
    commit(store, story)
    assert (store.last_pass("g"), store.consolidation_counts()) == (
        (9, second),
        {"passes": 2, **{name: 2 * count for name, count in counts.items()}},
    )
    assert store.standing_pass("g") == ("q", 7, second)
    undone = story.tell(MemoryUnconsolidated(consolidation_id="q", until=7))
    commit(store, story)
    assert (store.last_pass("g"), store.standing_pass("g")) == ((7, undone), ("p", None, first))
    assert store.consolidation_counts() == {"passes": 2, **{name: 2 * count for name, count in counts.items()}}
    story.tell(MemoryUnconsolidated(consolidation_id="p"))
    assert (store.apply(story.records), store.standing_pass("g")) == (None, None)
    assert store.last_pass("g")[0] < 0  # it looks at everything
    third = story.tell(passed("s", 11))
    assert (store.apply(story.records), store.standing_pass("g")) == (None, ("s", None, third))


def test_a_fact_is_attested_or_retracted_where_it_was_asserted_just_before(store, story) -> None:
    story.tell(fact("f", "Ana", "likes", "Rome"), FactAttested(fact_id="f", attested=7))
    story.tell(fact("r", "Ana", "likes", "Bob"), retracted("x", "r"))
    commit(store, story)

    [assertion] = store.read_slot("g", "id-Ana", "likes", None).assertions
    assert (assertion.fact_id, assertion.attested) == ("f", 7)


def test_qualifiers_are_kept_in_the_letters_of_who_said_them(store, story) -> None:
    story.tell(fact("f", "Ana", "likes", "Rome", qualifiers={"by": "Zoë"}))
    story.tell(FactReinforced(fact_id="f", said_at=3, episode_id="e", qualifiers={"by": "Noël"}))
    commit(store, story)

    assert [source.qualifiers for source in store.provenance("f").sources] == ['{"by": "Zoë"}', '{"by": "Noël"}']


def test_a_slot_that_was_read_is_as_each_event_leaves_it(store, story) -> None:
    def slots() -> list[object]:
        store.apply(story.records)
        kept, read = store.slot("g", "id-Ana", "likes", None), store.read_slot("g", "id-Ana", "likes", None)
        assert (kept.assertions, kept.held) == (read.assertions, read.held)
        return [kept.assertions, kept.held]

    seen = [slots()]
    for event in (fact("f", "Ana", "likes", "Rome"), unasserted("f", (0, 5)), retracted("r", "f")):
        story.tell(event)
        seen.append(slots())
        assert seen[-1] != seen[-2]


def test_a_slot_that_was_read_is_read_anew_after_a_rollback(store, story) -> None:
    commit(store, story)
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    store.apply(story.records)
    assert len(store.slot("g", "id-Ana", "lives_in", None).assertions) == len(store.live("g", NOW)) == 1
    store.rollback()

    assert store.slot("g", "id-Ana", "lives_in", None).assertions == ()
    assert store.live("g", NOW).tolist() == []


def test_what_holds_is_read_with_what_is_not_committed_yet(store, story) -> None:
    for number in range(3):
        story.tell(fact(f"f{number}", "Ana", "likes", value=str(number)))
        store.apply(story.records)
        assert len(store.live("g", NOW)) == number + 1


def test_rows_are_read_page_by_page_until_there_are_no_more(store) -> None:
    story = Story()
    story.tell(*(mentioned(number) for number in range(1_002)))
    commit(store, story)

    assert [mention.uuid for mention in store.mentions(None)] == [f"m{number}" for number in range(1_002)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.ids("\ud800"),
        lambda store: store.single("g", "\ud800"),
        lambda store: store.community_sizes(["\ud800"]),
    ],
)
def test_what_cannot_be_written_in_utf_8_is_refused_wherever_it_is_asked_for(store, ask) -> None:
    with pytest.raises(InvalidInput):
        ask(store)


def test_the_words_of_each_text_are_indexed_once_however_often_is_committed(store, story, tmp_path) -> None:
    told = {"source": "message", "source_description": "", "name": "", "role": "Ana", "role_type": "user"}
    for number in range(3):
        body = f"Ana(user): word{number}"
        turn = EpisodeRecorded(episode_id=f"e{number}", body=body, content_length=5, valid_at=0, **told)
        story.tell(fact(f"f{number}", "Ana", "likes", "Rome", sentence=f"word{number}"), turn)
        commit(store, story)
    store.close()

    inspection.check_file(tmp_path / "graph.db", tmp_path / "graph.db")
    with SqliteGraph(tmp_path / "graph.db", "semantic.main") as reader:
        found = [reader.text(f"word{number}", "g", NOW, 9) for number in range(3)]
        turns = [
            reader._db.execute("SELECT rowid FROM turn_words (?)", (f"word{number}",)).fetchall() for number in range(3)
        ]
    assert ([len(hits) for hits in found], [len(rows) for rows in turns]) == ([1, 1, 1], [1, 1, 1])


def test_an_erasure_leaves_no_row_of_its_group(store, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"), FactReinforced(fact_id="f", said_at=3, episode_id="e"))
    story.tell(ended("e", "Ana", "lives_in", "Rome", 9), unasserted("f", (0, 9), kind="ended", cause="e"))
    story.tell(GroupErased())
    commit(store, story)

    assert [table for table in schema.GROUPED if store._one(f"SELECT count(*) FROM {table}")] == []


@pytest.mark.parametrize(
    "event",
    [
        unasserted("f"),
        FactReinforced(fact_id="unknown", said_at=1, episode_id="e"),
        CommunityJoined(community_id="unknown", entity_id="id-Ana", episode_id="e"),
    ],
)
def test_what_names_nothing_that_is_there_stops_the_store_also_where_it_was_there_before_a_rollback(
    store, story, event
) -> None:
    commit(store, story)
    at = len(story.records)
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    store.apply(story.records)
    store.rollback()
    del story.records[at:]
    story.tell(event)

    with pytest.raises(DamagedLog, match=f"position {at} names"):
        store.apply(story.records)


# What costs nothing, or is kept within bounds.


def mentioned(number: int) -> MentionObserved:
    return MentionObserved(mention_id=f"m{number}", episode_id="e", entity_type="Person", text="Ana", start=0)


def test_rows_wait_to_be_written_together_until_there_are_many(store, monkeypatch) -> None:
    monkeypatch.setattr(write_buffer, "_LIMIT", 3)
    story = Story()
    written = []
    for number in range(7):
        story.tell(mentioned(number))
        statements = said_by(store, lambda: store.apply(story.records))
        written.append(any(statement.startswith("INSERT INTO mentions") for statement in statements))

    assert written == [False, False, True, False, False, True, False]


def test_a_new_store_is_not_asked_about_what_no_row_ever_touched(store, story) -> None:
    commit(store, story)

    assert said_by(store, lambda: store.entity("id-Nobody")) == []
    assert said_by(store, lambda: store.entity("id-Bob")) != []
    story.tell(entity("Cy"))
    assert looks(store, story, "FROM entities") == 0


def test_what_a_writer_has_looked_up_it_does_not_look_up_again(store, story, tmp_path) -> None:
    commit(store, story)
    store.close()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as again:
        story.tell(*(fact(id_, "Ana", "likes", "Ana") for id_ in "ab"))

        assert looks(again, story, "FROM entities") == 1
        first, second = (said_by(again, lambda: again.single("g", "lives_in")) for _ in range(2))
        assert ([said[:6] for said in first], second) == (["SELECT"], [])


def test_what_holds_is_read_once_as_long_as_nothing_is_committed(store, story, tmp_path) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    commit(store, story)
    with SqliteGraph(tmp_path / "graph.db", "semantic.main") as reader:
        asked = [said_by(reader, lambda: reader.live("g", NOW)) for _ in range(2)]

    assert ["FROM versions" in " ".join(said) for said in asked] == [True, False]


@pytest.mark.parametrize(("relation", "is_read"), [("lives_in", False), ("likes", True)])
def test_a_fact_that_may_be_replaced_next_is_not_looked_up_and_others_are(store, story, relation, is_read) -> None:
    story.tell(fact("f", "Ana", relation, "Rome"))
    commit(store, story)
    story.tell(unasserted("f", (0, 5)))

    assert bool(looks(store, story, "FROM facts")) == is_read

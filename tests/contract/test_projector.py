"""How a store follows its log: caught up where it can be, made anew where it cannot."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import facts_at
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_projections.projector import catch_up, open_following, rebuild
from asof_streams.episodic import GroupErased
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.sqlite_log import SqliteLog
from semantic_story import Story, entity, fact, unasserted

NOW = Moment(1, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(tmp_path / "semantic.main.sqlite", writable=True, durable=False) as opened:
        yield opened


@pytest.fixture
def story(log: SqliteLog) -> Story:
    told = Story()
    told.tell(entity("Ana"), entity("Rome"), entity("Oslo"))
    told.tell(fact("f", "Ana", "lives_in", "Rome"))
    told.tell(fact("g", "Ana", "lives_in", "Oslo", (5, None)), unasserted("f", (0, 5)))
    append(log, told)
    return told


def append(log: SqliteLog, story: Story) -> None:
    log.append(story.drafts[log.end() :], checkpoint=story.messages)


@pytest.mark.usefixtures("story")
def test_a_store_is_made_where_there_is_none(log, path) -> None:
    with open_following(log, path) as store:
        assert (store.position(), store.head()) == (log.end(), log.head(log.end()))
        assert [f.uuid for f in facts_at(store, "g", NOW)] == ["f", "f"]


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
@pytest.mark.usefixtures("story")
def test_however_it_catches_up_it_has_the_digest_of_a_rebuilt_one(log, path, tmp_path, batch) -> None:
    rebuild(log, tmp_path / "rebuilt.db")
    with (
        SqliteGraph(path, log.name, writable=True) as store,
        SqliteGraph(tmp_path / "rebuilt.db", log.name) as rebuilt,
    ):
        assert catch_up(log, store, batch) == log.end() == rebuilt.position()
        assert (store.digest(), store.head()) == (rebuilt.digest(), rebuilt.head())


@pytest.mark.usefixtures("story")
def test_a_new_store_finds_what_it_committed_once_it_remembers_it_no_more(log, path) -> None:
    with SqliteGraph(path, log.name, writable=True) as store:
        catch_up(log, store)
        store.rollback()

        assert {a.fact_id for a in store.slot("g", "id-Ana", "lives_in", None).assertions} == {"f", "g"}


def test_what_is_there_is_kept_and_only_what_is_missing_is_read(log, story, path) -> None:
    open_following(log, path).close()
    made = path.stat().st_ino
    open_following(log, path).close()
    assert path.stat().st_ino == made
    story.tell(fact("h", "Ana", "likes", "Rome"))
    append(log, story)

    with open_following(log, path) as store:
        assert store.fact("h") is not None
    assert path.stat().st_ino == made


def test_a_store_that_knows_what_its_log_does_not_is_made_anew(log, story, path) -> None:
    with open_following(log, path) as store:
        story.tell(fact("never", "Ana", "likes", "Rome"))
        store.apply(story.records[log.end() :])
        store.commit(len(story.records), b"x" * 32)

    with open_following(log, path) as store:
        assert store.fact("never") is None
        assert store.position() == log.end()


@pytest.mark.usefixtures("story")
def test_a_store_of_another_history_is_made_anew(log, path) -> None:
    other = Story()
    other.tell(entity("Bob"))
    with SqliteGraph(path, log.name, writable=True) as store:
        store.apply(other.records)
        store.commit(1, b"x" * 32)

    with open_following(log, path) as store:
        assert store.entity("id-Bob") is None
        assert store.entity("id-Ana") is not None


@pytest.mark.usefixtures("story")
def test_a_damaged_store_or_one_of_another_schema_is_made_anew(log, path) -> None:
    path.write_bytes(b"not a database" * 1000)
    with open_following(log, path) as store:
        whole = store.digest()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    db.close()
    with open_following(log, path) as store:
        assert store.digest() == whole


def test_a_store_that_was_made_anew_goes_on_with_its_log(log, story, path) -> None:
    path.write_bytes(b"not a database" * 1000)
    with open_following(log, path) as store:
        story.tell(fact("h", "Ana", "likes", "Rome"))
        append(log, story)
        catch_up(log, store)
        assert (store.position(), store.fact("h") is None) == (log.end(), False)


def test_a_store_says_how_far_its_log_has_read_also_where_no_event_followed(log, story, path) -> None:
    with open_following(log, path) as store:
        assert store.checkpoint() == story.messages
        log.append([], checkpoint=story.messages + 5)
        catch_up(log, store)
        assert (store.position(), store.checkpoint()) == (log.end(), story.messages + 5)


def test_a_store_says_that_nothing_was_read_of_a_log_without_events(log, path) -> None:
    with open_following(log, path) as store:
        assert (store.position(), store.checkpoint()) == (0, 0)


def test_what_follows_at_the_same_checkpoint_is_seen_by_others_too(log, story, path) -> None:
    with open_following(log, path) as store:
        story.tell(fact("h", "Ana", "likes", "Rome"))
        log.append(story.drafts[log.end() :], checkpoint=log.checkpoint())
        catch_up(log, store)
        with SqliteGraph(path, log.name) as reader:
            assert (reader.position(), reader.fact("h") is None) == (log.end(), False)


def test_a_store_that_stopped_midway_says_of_no_message_that_it_has_it(log, story, path) -> None:
    with open_following(log, path) as store:
        before = store.checkpoint()
        story.tell(entity("Bo"))
        story.tell(unasserted("unknown"))
        append(log, story)
        with pytest.raises(DamagedLog, match="unknown"):
            catch_up(log, store, 1)
        store.rollback()
        assert (store.position(), store.checkpoint()) == (log.end() - 1, before)


def test_a_store_whose_log_cannot_be_applied_is_left_to_whoever_tries_next(log, story, path) -> None:
    open_following(log, path).close()
    story.tell(unasserted("unknown"))
    append(log, story)
    with pytest.raises(DamagedLog, match="unknown") as first:
        open_following(log, path)

    with pytest.raises(DamagedLog, match="unknown") as second:
        open_following(log, path)
    assert str(first.value) == str(second.value)


class InterruptedLog(SqliteLog):
    """A log whose first reader is interrupted."""

    interrupted = False

    def read(self, start: int = 0, stop: int | None = None, *, checked: bool = False) -> Iterator[Record]:
        if not self.interrupted:
            self.interrupted = True
            raise KeyboardInterrupt
        return super().read(start, stop, checked=checked)


@pytest.mark.usefixtures("story")
def test_who_is_interrupted_while_a_store_catches_up_is_not_answered_by_a_new_one(log, path) -> None:
    with InterruptedLog(log.path) as same, pytest.raises(KeyboardInterrupt):
        open_following(same, path)


def left_behind(log: SqliteLog, story: Story, path: Path) -> None:
    """Lose a store, but for the write-ahead log of its last transaction."""
    open_following(log, path).close()
    story.tell(fact("h", "Ana", "likes", "Rome"))
    append(log, story)
    ahead = path.with_name("graph.db-wal")
    with open_following(log, path):
        content = ahead.read_bytes()
    path.unlink()
    ahead.write_bytes(content)


@pytest.mark.parametrize("make", [lambda log, path: open_following(log, path).close(), rebuild])
def test_what_sqlite_left_beside_a_store_that_is_gone_is_not_read_as_the_new_ones(
    log, story, path, tmp_path, make
) -> None:
    left_behind(log, story, path)
    rebuild(log, tmp_path / "rebuilt.db")
    make(log, path)

    with SqliteGraph(path, log.name) as store, SqliteGraph(tmp_path / "rebuilt.db", log.name) as rebuilt:
        assert (store.position(), store.digest()) == (log.end(), rebuilt.digest())


@pytest.mark.usefixtures("story")
def test_what_an_interrupted_rebuild_left_is_in_nobodys_way(log, path) -> None:
    path.with_name("graph.db.building").write_bytes(b"left by a crash")
    path.with_name("graph.db.building-wal").write_bytes(b"left by a crash")
    rebuild(log, path)

    with SqliteGraph(path, log.name) as store:
        assert store.position() == log.end()
    assert not list(path.parent.glob("*.building*"))


def test_a_rebuild_that_fails_leaves_the_store_as_it_was(log, story, path) -> None:
    rebuild(log, path)
    before = path.read_bytes()
    story.tell(unasserted("unknown"))
    append(log, story)

    with pytest.raises(DamagedLog, match="unknown"):
        rebuild(log, path)

    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.building*"))


def test_an_erased_history_rebuilds_to_what_the_live_store_has(log, path, tmp_path) -> None:
    story = Story()
    story.tell(entity("Ana"), fact("f", "Ana", "likes", "Ana"), group="gone")
    story.tell(entity("Bob"), fact("h", "Bob", "likes", "Bob"), group="kept")
    append(log, story)
    with open_following(log, path) as store:
        story.tell(GroupErased(), group="gone")
        append(log, story)
        catch_up(log, store)
        log.erase("gone", before=log.end() - 1)
        rebuild(log, tmp_path / "rebuilt.db")
        with SqliteGraph(tmp_path / "rebuilt.db", log.name) as rebuilt:
            assert rebuilt.digest() == store.digest()
            assert [f.uuid for f in facts_at(rebuilt, None, NOW)] == ["h"]
            assert list(rebuilt.sentences()) == list(store.sentences())

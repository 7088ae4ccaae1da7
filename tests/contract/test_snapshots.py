"""A lost store comes back from its snapshot and the rest of its log, as from the whole log, and from no other file."""

import json
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asof_projections import projector
from asof_projections.graph.sqlite_store import snapshots
from asof_projections.graph.sqlite_store.snapshots import (
    copy_snapshot,
    remove_snapshot,
    restore_snapshot,
    take_snapshot,
)
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import catch_up, open_following, put, rebuild
from asof_streams.episodic import GroupErased
from asof_streams.errors import ContractError, DamagedLog, DamagedView, NotFound, StorageFailed, WriterBusy
from asof_streams.sqlite_log import SqliteLog
from full_disk import files_no_larger_than
from semantic_story import Story, entity, fact, unasserted

LABEL = 512  # bytes at the end


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def kept(path: Path) -> Path:
    return path.with_name("graph.snapshot.db")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(tmp_path / "semantic.main.sqlite", writable=True, durable=False) as opened:
        yield opened


@pytest.fixture
def story(log: SqliteLog, path: Path) -> Story:
    """Some of a story, in a store of which there is a snapshot; then the rest of it, in the log alone."""
    told = Story()
    told.tell(entity("Ana"), entity("Rome"), entity("Oslo"))
    told.tell(fact("f", "Ana", "lives_in", "Rome"))
    told.tell(entity("Bo"), entity("Lima"), fact("b", "Bo", "likes", "Lima"), group="h")
    append(log, told)
    open_following(log, path).close()
    take_snapshot(path, log.name)
    told.tell(fact("g", "Ana", "lives_in", "Oslo", (5, None)), unasserted("f", (0, 5)))
    append(log, told)
    return told


def append(log: SqliteLog, story: Story) -> None:
    log.append(story.drafts[log.end() :], checkpoint=story.messages)


def whole(log: SqliteLog, folder: Path) -> str:
    rebuild(log, folder / "rebuilt.db")
    with SqliteGraph(folder / "rebuilt.db", log.name) as rebuilt:
        return rebuilt.digest()


def damage_first_record(log: SqliteLog, folder: Path) -> None:
    """Damage the log where a snapshot has it already: whatever reads it from there on fails."""
    with closing(sqlite3.connect(folder / "semantic.main.sqlite")) as raw, raw:
        raw.execute("UPDATE log SET payload = x'00' WHERE position = 0")
    with pytest.raises(DamagedLog):
        list(log.read(0, 1))


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("state", ["lost", "unreadable", "of another schema"])
def test_a_store_is_made_of_its_snapshot_and_reads_no_more_of_its_log_than_the_rest(log, path, tmp_path, state) -> None:
    expected = whole(log, tmp_path)
    match state:
        case "lost":
            path.unlink()
        case "unreadable":
            path.write_bytes(b"not a database" * 1000)
        case _:
            with closing(sqlite3.connect(path)) as raw, raw:
                raw.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    damage_first_record(log, tmp_path)

    with open_following(log, path) as store:
        assert (store.position(), store.head()) == (log.end(), log.head(log.end()))
        assert store.digest() == expected
    assert not list(tmp_path.glob("*.building*"))


def test_a_store_that_is_made_of_its_snapshot_goes_on(log, story, path, tmp_path) -> None:
    path.unlink()
    open_following(log, path).close()
    story.tell(fact("h", "Ana", "likes", "Rome"))
    append(log, story)

    with open_following(log, path) as store:
        assert store.digest() == whole(log, tmp_path)


def flipped(kept: Path, at: int) -> None:
    content = bytearray(kept.read_bytes())
    content[at] ^= 1
    kept.write_bytes(content)


def relabelled(kept: Path, **label: object) -> None:
    content = kept.read_bytes()
    told = json.loads(content[-LABEL:]) | label
    kept.write_bytes(content[:-LABEL] + json.dumps(told).encode().ljust(LABEL))


def linked_to_itself(kept: Path) -> None:
    kept.unlink()
    kept.symlink_to(kept)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda kept: kept.write_bytes(b""), "damaged"),
    "cut": (lambda kept: kept.write_bytes(kept.read_bytes()[:-LABEL]), "damaged"),
    "shorter": (lambda kept: kept.write_bytes(kept.read_bytes()[5_000:]), "damaged"),
    "first byte": (lambda kept: flipped(kept, 0), "damaged"),
    "a byte amid": (lambda kept: flipped(kept, 20_000), "damaged"),
    "no JSON": (lambda kept: flipped(kept, -LABEL), "damaged"),
    "a list": (lambda kept: kept.write_bytes(kept.read_bytes()[:-LABEL] + b"[]".ljust(LABEL)), "damaged"),
    "another schema": (lambda kept: relabelled(kept, schema="1-0"), "another version"),
    "another log": (lambda kept: relabelled(kept, log="semantic.other"), "another log"),
    "a longer log": (lambda kept: relabelled(kept, position=1_000_000), "longer"),
    "no position": (lambda kept: relabelled(kept, position=None), "longer"),
    "another history": (lambda kept: relabelled(kept, hash="00" * 32), "another history"),
    "another position": (lambda kept: relabelled(kept, position=1), "another history"),
    "a link to itself": (linked_to_itself, "symbolic links"),
    "another digest": (lambda kept: relabelled(kept, sha256="00" * 32), "damaged"),
}


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_snapshot_that_is_not_whole_or_not_of_this_log_is_removed_with_a_warning(
    log, path, kept, tmp_path, fault, caplog
) -> None:
    spoil, reason = FAULTS[fault]
    spoil(kept)
    path.unlink()

    with open_following(log, path) as store:
        assert store.digest() == whole(log, tmp_path)
    assert not kept.exists()
    [warning] = [record.getMessage() for record in caplog.records if record.name == snapshots.__name__]
    assert str(kept) in warning
    assert reason in warning


@pytest.mark.usefixtures("story")
def test_a_snapshot_of_a_store_that_was_not_of_this_log_is_not_trusted(log, path, kept, tmp_path) -> None:
    with SqliteGraph(path, log.name, writable=True) as store:
        store.commit(store.position(), b"x" * 32)
    take_snapshot(path, log.name)
    relabelled(kept, hash=log.head(json.loads(kept.read_bytes()[-LABEL:])["position"]).hex())
    path.unlink()

    with open_following(log, path) as store:
        assert store.digest() == whole(log, tmp_path)
    assert not kept.exists()


def test_an_erasure_removes_the_snapshot_and_one_is_taken_again_when_no_byte_is_left(log, story, path, kept) -> None:
    story.tell(GroupErased(), group="h")
    append(log, story)
    with open_following(log, path) as store:
        with pytest.raises(WriterBusy):
            take_snapshot(path, log.name)
        assert store.vacuum()
        assert not list(path.parent.glob("*.snapshot*"))
        take_snapshot(path, log.name)

    assert b"Lima" not in kept.read_bytes()


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("step", ["make_file", "check_pages", "owes_vacuum", "_copy", "_label"])
def test_a_snapshot_that_is_being_taken_when_rows_are_erased_is_given_up(
    log, path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """As by another process, after a step of this one."""
    done = getattr(snapshots, step)

    def then_erase(*given: object) -> object:
        answer = done(*given)
        remove_snapshot(path)
        return answer

    monkeypatch.setattr(snapshots, step, then_erase)
    with pytest.raises(WriterBusy):
        take_snapshot(path, log.name)

    assert not list(path.parent.glob("*snapshot*"))


@pytest.mark.usefixtures("story")
def test_no_snapshot_of_an_old_store_is_left_that_was_taken_while_a_new_one_took_its_place(
    log, path, kept, tmp_path, monkeypatch
) -> None:
    rebuild(log, tmp_path / "built.db")
    replace = projector._replace

    def taken(built: Path, to: Path) -> None:
        take_snapshot(path, log.name)
        replace(built, to)

    monkeypatch.setattr(projector, "_replace", taken)
    put(tmp_path / "built.db", path)

    assert not kept.exists()


@pytest.mark.usefixtures("story")
def test_no_snapshot_of_an_old_store_is_left_where_a_crash_follows_a_new_one(
    log, path, kept, tmp_path, monkeypatch
) -> None:
    rebuild(log, tmp_path / "built.db")
    replace = projector._replace

    def crash(built: Path, to: Path) -> None:
        replace(built, to)
        raise KeyboardInterrupt

    monkeypatch.setattr(projector, "_replace", crash)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "built.db", path)

    assert not kept.exists()


@pytest.mark.usefixtures("story")
def test_a_store_that_is_made_of_its_snapshot_leaves_nothing_of_a_build_that_a_crash_ended(log, path) -> None:
    path.unlink()
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"graph.db.building{ending}").write_bytes(b"left by a crash")
    open_following(log, path).close()

    assert not list(path.parent.glob("*.building*"))


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("room", [20_000, -1])  # bytes: for some of the copy, for all of it and not for its label
def test_a_full_disk_leaves_the_snapshot_of_before_and_nothing_of_a_new_one(log, path, kept, room) -> None:
    before = kept.read_bytes()
    open_following(log, path).close()
    with files_no_larger_than(room if room > 0 else len(before) - LABEL), pytest.raises(StorageFailed):
        take_snapshot(path, log.name)

    assert kept.read_bytes() == before
    assert list(path.parent.glob("*snapshot*")) == [kept]


@pytest.mark.usefixtures("story")
def test_a_snapshot_is_kept_for_which_there_is_no_room_to_make_a_store_of_it(log, path, kept, tmp_path) -> None:
    expected = whole(log, tmp_path)
    path.unlink()
    with files_no_larger_than(20_000), pytest.raises(StorageFailed):
        open_following(log, path)

    assert kept.exists()
    assert not path.exists()
    damage_first_record(log, tmp_path)
    with open_following(log, path) as store:
        assert store.digest() == expected


def test_a_snapshot_from_before_an_erasure_leads_to_the_erased_state_and_is_removed(log, story, path, kept) -> None:
    story.tell(GroupErased(), group="h")
    append(log, story)
    path.unlink()

    with open_following(log, path) as store:
        assert store.fact("b") is None
        assert store.vacuum()
    for file in (path, path.with_name("graph.db-wal")):
        assert not file.exists() or b"Lima" not in file.read_bytes()
    assert not kept.exists()


@pytest.mark.usefixtures("story")
def test_a_store_that_is_made_of_the_whole_log_has_no_snapshot_of_before(log, path, kept) -> None:
    assert kept.exists()
    rebuild(log, path)

    assert not kept.exists()


def test_a_snapshot_is_one_state_of_a_store_that_is_written_to(log, story, path, kept, tmp_path) -> None:
    with open_following(log, path) as store:
        story.tell(fact("h", "Ana", "likes", "Rome"))
        append(log, story)
        before = store.position()
        store.apply(list(log.read(before)))

        assert take_snapshot(path, log.name).position == before

        store.rollback()
        catch_up(log, store)
    assert json.loads(kept.read_bytes()[-LABEL:])["position"] == before
    path.unlink()
    with open_following(log, path) as store:
        assert store.digest() == whole(log, tmp_path)
    assert {file.name for file in tmp_path.glob("graph.*")} <= {"graph.db", kept.name, "graph.db-wal", "graph.db-shm"}


def test_of_a_store_that_is_lost_or_damaged_no_snapshot_is_taken(log, story, path, kept) -> None:
    del story
    before = kept.read_bytes()
    content = bytearray(path.read_bytes())
    content[8192:16384] = bytes(8192)
    path.write_bytes(content)
    with pytest.raises(DamagedView):
        take_snapshot(path, log.name)
    path.unlink()
    with pytest.raises(NotFound):
        take_snapshot(path, log.name)

    assert kept.read_bytes() == before
    assert not list(path.parent.glob("*.snapshot.new*")), "nothing is left of those that failed"


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("step", ["check_pages", "owes_vacuum"])
def test_what_is_written_after_the_pages_were_checked_is_in_no_snapshot(log, story, path, monkeypatch, step) -> None:
    with open_following(log, path) as store:
        before, done = store.position(), getattr(snapshots, step)

        def then_write(*given: object) -> object:
            answer = done(*given)
            story.tell(fact("h", "Ana", "likes", "Rome"))
            append(log, story)
            catch_up(log, store)
            return answer

        monkeypatch.setattr(snapshots, step, then_write)

        assert take_snapshot(path, log.name).position == before
        assert store.position() > before


def test_a_snapshot_is_taken_of_what_a_crash_left_without_a_change_of_it(log, story, path, tmp_path) -> None:
    left = tmp_path / "left" / path.name
    left.parent.mkdir()
    with open_following(log, path):
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(tmp_path / name, left.parent / name)
    before = [file.read_bytes() for file in (left, left.with_name(f"{path.name}-wal"))]
    left.with_name("graph.snapshot.new.db").write_bytes(b"left by a crash" * 10_000)

    assert take_snapshot(left, log.name).position == len(story.records)

    assert [file.read_bytes() for file in (left, left.with_name(f"{path.name}-wal"))] == before


@pytest.mark.usefixtures("story")
def test_no_snapshot_is_taken_of_a_store_that_follows_another_log(path, kept) -> None:
    before = kept.read_bytes()
    with pytest.raises(ContractError, match="follows the log"):
        take_snapshot(path, "semantic.other")

    assert kept.read_bytes() == before


@pytest.mark.parametrize("told", [False, True])
def test_a_snapshot_of_all_of_a_log_is_copied_over_what_a_crash_left_also_where_the_log_is_empty(
    log, path, tmp_path, told
) -> None:
    if told:
        some = Story()
        some.tell(entity("Ana"))
        append(log, some)
    open_following(log, path).close()
    size = take_snapshot(path, log.name).size
    to = tmp_path / "to.db"
    to.write_bytes(b"left by a crash" * size)

    assert restore_snapshot(log, path, to)

    assert to.stat().st_size == size


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("fault", ["another schema", "another digest"])
def test_nothing_is_left_of_a_snapshot_that_is_not_used(log, path, kept, tmp_path, fault) -> None:
    FAULTS[fault][0](kept)

    assert not restore_snapshot(log, path, tmp_path / "to.db")

    assert not (tmp_path / "to.db").exists()
    assert not kept.exists()


@pytest.mark.usefixtures("story")
def test_nothing_is_left_of_a_snapshot_for_which_there_is_no_room(log, path, kept, tmp_path) -> None:
    with files_no_larger_than(20_000), pytest.raises(StorageFailed):
        restore_snapshot(log, path, tmp_path / "to.db")

    assert not (tmp_path / "to.db").exists()
    assert kept.exists()


@pytest.mark.usefixtures("story")
def test_a_snapshot_stays_where_no_more_files_can_be_opened(log, path, kept, tmp_path) -> None:
    lowest = os.dup(0)
    os.close(lowest)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        with pytest.raises(StorageFailed, match="Too many open files"):
            restore_snapshot(log, path, tmp_path / "to.db")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert kept.exists()


@pytest.mark.usefixtures("story")
def test_a_snapshot_that_is_copied_is_for_its_user_alone(path, kept, tmp_path) -> None:
    before = os.umask(0o022)
    try:
        copy_snapshot(path, tmp_path / "other.db")
    finally:
        os.umask(before)

    copy = tmp_path / "other.snapshot.db"
    assert copy.read_bytes() == kept.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600

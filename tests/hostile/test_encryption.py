"""Encrypted memories: an erasure reaches logs and backups everywhere, since the keys are in none of them."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.operations import erasures
from asof.runtime.doctor import examine
from asof.runtime.integrity import verify
from asof.runtime.layout import DirectoryLayout
from asof.runtime.repair import repair
from asof_streams.errors import DamagedFile, DamagedLog, InvalidInput, KeysUnavailable
from asof_streams.key_store import key_place
from asof_streams.sqlite_log import SqliteLog
from world import World

ANA, BEN = "Zanzibarquo", "Oslovianta"
KILLED = """
import os, signal, sys
from pathlib import Path
import asof
from asof_streams.key_store import KeyFolder

destroy = KeyFolder.destroy

def destroy_and_die(self, *what):
    destroy(self, *what)
    os.kill(os.getpid(), signal.SIGKILL)

KeyFolder.destroy = destroy_and_die
asof.open(sys.argv[1], embedder="none").erase("ana")
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "data", keys=tmp_path / "keys")
    say(world, "ana", f"I live in {ANA}.")
    say(world, "ben", f"I live in {BEN}.")
    yield world
    world.memory.close()


def say(world: World, group: str, text: str) -> None:
    world.memory.add(text, role=group.title(), group_id=group, timestamp="2024-01-01")


def holding(folder: Path, word: str) -> set[str]:
    """Return the files below a folder that have a word in them, also in what they pack."""
    found = set()
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        if word.lower().encode() in content.lower():
            found.add(path.relative_to(folder).as_posix())
    return found


def where(memory: asof.Memory, group: str) -> list[str]:
    return [fact.object for fact in memory.facts(group_id=group)]


def restored(world: World, backup: Path, **settings: Any) -> asof.Memory:
    data = world.path.with_name("restored")
    asof.restore(backup, data=data, embedder="none", **settings)
    return asof.open(data, embedder="none")


def test_only_graphs_hold_words_in_the_clear_and_no_log_no_backup_and_no_copy_of_the_store(world: World) -> None:
    world.memory.backup(world.path.with_name("one.backup"))
    world.restart()

    assert holding(world.path.parent, ANA) == {"data/episodes.db", "data/generations/main/graph.db"}


def test_an_erased_group_is_in_no_byte_not_even_of_what_older_backups_and_copies_can_be_made_to_say(
    world: World, tmp_path: Path
) -> None:
    world.memory.backup(tmp_path / "one.backup")
    world.restart()
    shutil.copytree(world.path, tmp_path / "copy", ignore=shutil.ignore_patterns("*.db"))
    world.memory.erase("ana")
    world.restart()

    with restored(world, tmp_path / "one.backup") as memory, asof.open(tmp_path / "copy", embedder="none") as copy:
        for opened in (memory, copy):
            assert (where(opened, "ana"), where(opened, "ben")) == ([], [BEN])
            assert all(check.ok for check in opened.verify())
            assert opened.digest() == world.digest()
    assert holding(tmp_path, ANA) == set()


def test_snapshots_have_the_ending_of_graphs_so_that_a_copy_without_graphs_has_none(
    world: World, tmp_path: Path
) -> None:
    world.memory.snapshot()
    world.restart()
    shutil.copytree(world.path, tmp_path / "copy", ignore=shutil.ignore_patterns("*.db"))
    assert holding(tmp_path / "copy", ANA) == set()

    world.memory.erase("ana")
    world.memory.close()

    with asof.open(tmp_path / "copy", embedder="none") as copy:
        assert (where(copy, "ana"), where(copy, "ben")) == ([], [BEN])
    assert holding(tmp_path, ANA) == set()


def test_a_directory_as_it_was_before_an_erasure_has_nothing_of_the_group_either(world: World, tmp_path: Path) -> None:
    known = world.now
    say(world, "ben", "I like chess.")
    world.memory.erase("ana")

    world.memory.checkout(tmp_path / "before", known_at=known)

    with asof.open(tmp_path / "before", embedder="none") as memory:
        assert (where(memory, "ana"), where(memory, "ben")) == ([], [BEN])
    assert holding(tmp_path, ANA) == set()


def test_digests_are_those_of_a_memory_in_the_clear_also_after_an_erasure_and_a_rebuild(
    world: World, tmp_path: Path
) -> None:
    clear = World(tmp_path / "clear")
    say(clear, "ana", f"I live in {ANA}.")
    say(clear, "ben", f"I live in {BEN}.")
    assert world.digest() == clear.digest()

    for one in (world, clear):
        one.memory.erase("ana")
        say(one, "ana", "I moved to Paris in March.")
        one.memory.rebuild("again")

    assert world.digest() == clear.digest() == world.memory.digest("again")
    clear.memory.close()


def test_an_erasure_says_that_the_keys_are_destroyed_and_has_no_content(world: World) -> None:
    erasure = erasures.erase.ask(world.memory._session, group_id="ana")

    assert (erasure.keys_destroyed, erasure.done) == (True, True)
    assert [(log.held, log.erased > 0) for log in erasure.logs] == [(0, True)] * 3
    assert ANA.encode() not in erasures.erase.dump(erasure)
    with SqliteLog(world.path / "messages.sqlite") as log:
        assert erasure.logs[0].head == log.head(log.end()).hex()


def test_a_process_that_dies_between_the_keys_and_the_rows_leaves_nothing_that_can_be_read(world: World) -> None:
    world.memory.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, world.path], check=False)
    assert killed.returncode == -signal.SIGKILL

    with SqliteLog(world.path / "messages.sqlite") as log:
        assert [record.group for record in log.read()] == ["ben", "ana"]  # a request to erase has no content
        assert log.verify() == 3
    world.restart()
    assert (where(world.memory, "ana"), where(world.memory, "ben")) == ([], [BEN])
    world.restart()
    assert holding(world.path.parent, ANA) == set()
    assert all(check.ok for check in world.memory.verify())


def test_a_restored_memory_goes_on_where_erased_messages_were(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one.backup")
    say(world, "ana", "I like chess.")
    world.memory.erase("ana")

    with restored(world, tmp_path / "one.backup") as memory:
        memory.add("I live in Paris.", role="Ana", group_id="ana")
        memory.rebuild("again")

        assert where(memory, "ana") == ["Paris"]
        assert memory.digest("again") == memory.digest()


def test_without_its_keys_a_memory_takes_nothing_and_says_what_to_do_and_answers_from_its_graphs(
    world: World, tmp_path: Path
) -> None:
    world.restart()
    (tmp_path / "keys").rename(tmp_path / "away")

    with pytest.raises(KeysUnavailable, match="ASOF_KEYS"):
        say(world, "ben", "I like chess.")
    with pytest.raises(KeysUnavailable, match="ASOF_KEYS"):
        list(world.memory.events("messages"))
    world.memory.close()
    with asof.open(world.path, embedder="none") as memory:
        assert where(memory, "ben") == [BEN]

    with asof.open(world.path, embedder="none", keys=tmp_path / "away") as memory:
        memory.add("I like chess.", role="Ben", group_id="ben")
    with asof.open(world.path, embedder="none") as memory:  # the place is kept
        memory.rebuild("again")
        assert where(memory, "ben") == [BEN, "chess"]
        assert memory.digest("again") == memory.digest()
    (tmp_path / "away").rename(tmp_path / "keys")
    world.memory = asof.open(world.path, embedder="none", keys=tmp_path / "keys")


def test_keys_of_another_memory_are_refused(world: World, tmp_path: Path) -> None:
    World(tmp_path / "other", keys=tmp_path / "others").memory.close()
    world.memory.close()

    with pytest.raises(KeysUnavailable, match="has no keys of"):
        asof.open(world.path, embedder="none", keys=tmp_path / "others").add("I like chess.", group_id="ben")

    [folder] = (tmp_path / "keys").iterdir()
    for path in folder.iterdir():
        told = json.loads(path.read_bytes())
        path.write_text(json.dumps({**told, "trees": [{"": os.urandom(32).hex()}]}))
    with SqliteLog(world.path / "messages.sqlite") as log, pytest.raises(KeysUnavailable, match="another key"):
        list(log.read())


def test_two_memories_that_share_a_store_erase_a_group_of_the_same_name_apart(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other", keys=tmp_path / "keys")
    say(other, "ana", "I live in Rome.")

    world.memory.erase("ana")
    other.memory.rebuild("again")

    assert where(other.memory, "ana") == ["Rome"]
    assert other.memory.digest("again") == other.digest()
    other.memory.close()


def test_keys_for_a_memory_in_the_clear_or_inside_of_one_are_refused(tmp_path: Path) -> None:
    clear = World(tmp_path / "data")
    say(clear, "ana", "I live in Rome.")
    clear.memory.close()

    with pytest.raises(InvalidInput, match="was made without keys"):
        asof.open(clear.path, keys=tmp_path / "keys").add("I like chess.")
    with pytest.raises(InvalidInput, match="inside of the data directory"):
        asof.open(tmp_path / "new", keys=tmp_path / "new" / "keys").add("I like chess.")
    assert not (tmp_path / "keys").exists()


def test_a_replay_of_a_memory_in_the_clear_makes_an_encrypted_one_with_the_same_digest(tmp_path: Path) -> None:
    clear = World(tmp_path / "data")
    say(clear, "ana", f"I live in {ANA}.")
    digest = clear.digest()
    clear.memory.close()

    with asof.open(clear.path, embedder="none", keys=tmp_path / "keys") as memory:
        memory.replay(str(tmp_path / "new"), log="messages")

    with asof.open(tmp_path / "new", embedder="none") as memory:
        assert (memory.digest(), where(memory, "ana")) == (digest, [ANA])
    assert holding(tmp_path / "new", ANA) == {"episodes.db", "generations/main/graph.db"}


def test_damage_of_an_encrypted_record_is_found_as_damage_wherever_it_is(world: World) -> None:
    world.memory.close()
    path = world.path / "messages.sqlite"
    whole = path.read_bytes()
    with SqliteLog(path) as log:
        [payload] = [row[12] for row in log._records.rows(1, 2)]
        said = list(log.read())
    start = whole.index(payload)

    for at in (*range(start, start + 8), *range(start + 8, start + len(payload), 37)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        with SqliteLog(path) as log, pytest.raises(DamagedLog, match="position 1"):
            list(log.read())
    path.write_bytes(whole)
    with SqliteLog(path) as log:
        assert list(log.read()) == said


def test_content_that_is_suppressed_is_gone_from_an_encrypted_memory_too(world: World) -> None:
    world.memory.add("I live in Xanaduville.", role="Cy", group_id="cy", suppress_content=True)
    world.restart()

    assert "data/messages.sqlite" not in holding(world.path.parent, "Xanaduville")
    assert where(world.memory, "cy") == ["Xanaduville"]
    with SqliteLog(world.path / "messages.sqlite") as log:
        assert [record.group for record in log.read()] == ["ana", "ben"]


def test_an_older_store_does_not_erase_and_claims_nothing(world: World, tmp_path: Path) -> None:
    [memory] = (tmp_path / "keys").iterdir()
    held = {path: path.read_bytes() for path in memory.iterdir()}
    for path in held:
        path.unlink()
    before = world.memory.stats()["messages"]

    with pytest.raises(KeysUnavailable, match="later backup"):
        erasures.erase.ask(world.memory._session, group_id="ana")
    assert world.memory.stats()["messages"] == before

    for path, content in held.items():
        path.write_bytes(content)
    assert erasures.erase.ask(world.memory._session, group_id="ana").keys_destroyed


def test_an_older_store_takes_no_message_of_a_group_that_it_lacks_and_all_of_new_ones(
    world: World, tmp_path: Path
) -> None:
    [memory] = (tmp_path / "keys").iterdir()
    held = {path: path.read_bytes() for path in memory.iterdir()}
    for path in held:
        path.unlink()

    with pytest.raises(KeysUnavailable, match="later backup"):
        say(world, "ana", "I like chess.")
    say(world, "cy", "I live in Rome.")
    assert not any(path.exists() for path in held)

    for path, content in held.items():
        path.write_bytes(content)
    say(world, "ana", "I like chess.")
    world.memory.rebuild("again")
    assert world.memory.digest("again") == world.digest()


def test_a_store_that_lacks_a_group_is_not_taken_for_the_one_that_is_there(world: World, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "keys", tmp_path / "older")
    say(world, "cy", "I live in Rome.")
    world.restart()
    kept = (world.path / "keys.json").read_bytes()

    with pytest.raises(KeysUnavailable, match="later backup"):
        asof.open(world.path, embedder="none", keys=tmp_path / "older").add("I like chess.", group_id="ben")

    assert (world.path / "keys.json").read_bytes() == kept
    say(world, "cy", "I like chess.")


@pytest.mark.parametrize("change", ["removed", "shortened"])
def test_doctor_sees_a_store_that_lacks_keys_or_is_damaged(world: World, tmp_path: Path, change: str) -> None:
    def state() -> str:
        return next(one.state for one in examine(world.path, None) if one.what == "keys")

    assert state() == "ok"
    path = next((tmp_path / "keys").glob("*/*"))
    if change == "removed":
        path.unlink()
    else:
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "trees": [{"": "6040"}]}))
    assert state() == "broken"


def test_a_checkout_has_an_erased_group_in_its_graphs_until_they_are_made_again(world: World, tmp_path: Path) -> None:
    world.memory.checkout(tmp_path / "copy", known_at=world.now)
    world.memory.erase("ana")

    with asof.open(tmp_path / "copy", embedder="none") as copy:
        assert where(copy, "ana") == [ANA]  # as docs/how-to/encrypt.md says
    for pattern in ("*.db*", "generations/*/*.db*", "*.index", "generations/*/*.index"):
        for path in (tmp_path / "copy").glob(pattern):
            path.unlink()
    with asof.open(tmp_path / "copy", embedder="none") as copy:
        assert (where(copy, "ana"), where(copy, "ben")) == ([], [BEN])
        copy.add("I like chess.", role="Ben", group_id="ben")
    assert ANA.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file())


def test_a_snapshot_that_has_a_group_whose_keys_are_destroyed_is_not_used_for_an_older_backup(
    world: World, tmp_path: Path
) -> None:
    world.memory.backup(tmp_path / "one.backup")
    world.memory.snapshot()
    world.restart()
    shutil.copytree(world.path, tmp_path / "copy")
    world.memory.erase("ana")
    world.restart()

    with restored(world, tmp_path / "one.backup", snapshots=tmp_path / "copy") as memory:
        assert (where(memory, "ana"), where(memory, "ben")) == ([], [BEN])
        assert memory.digest() == world.digest()
    assert holding(tmp_path / "restored", ANA) == set()


def key_files(world: World) -> list[Path]:
    """Return `keys.json`, and a group's file in the store of keys."""
    kept = key_place(world.path / "keys.json")
    assert kept is not None
    return [world.path / "keys.json", min((kept.folder / kept.memory).glob("*.json"))]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.suffix in {".sqlite", ".db", ".json"}}


@pytest.mark.parametrize("which", ["keys.json", "store"])
def test_a_repair_deletes_nothing_where_keys_are_damaged_and_the_check_of_keys_names_the_file(
    world: World, which: str
) -> None:
    world.memory.rebuild("second")
    world.restart()
    path = key_files(world)[which == "store"]
    whole = path.read_bytes()
    path.write_bytes(b"[" + whole[1:])
    before = contents(world.path)

    checks = {check.what: check for check in verify(DirectoryLayout(world.path))}
    assert not checks["keys keys.json"].ok
    assert str(path) in checks["keys keys.json"].found
    with pytest.raises(DamagedFile, match=path.name):
        repair(DirectoryLayout(world.path), world.settings)
    assert contents(world.path) == before

    path.write_bytes(whole)
    assert [check for check in verify(DirectoryLayout(world.path)) if not check.ok] == []
    assert where(world.open(), "ana") == [ANA]


def test_keys_that_can_be_read_are_said_to_be_so(world: World) -> None:
    found = {check.what: check.found for check in world.memory.verify()}["keys keys.json"]

    assert found == "3 files of keys, each can be read"  # of two groups, and of what is of none


def test_a_repair_deletes_nothing_where_the_store_of_keys_is_gone(world: World) -> None:
    world.memory.close()
    kept = key_place(world.path / "keys.json")
    assert kept is not None
    kept.folder.rename(kept.folder.with_name("elsewhere"))
    before = contents(world.path)

    with pytest.raises(KeysUnavailable):
        repair(DirectoryLayout(world.path), world.settings)

    assert contents(world.path) == before

"""The store of keys in a folder: what is chosen is kept, what is destroyed is in no byte of it."""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from asof_streams import key_store
from asof_streams.errors import DamagedFile, InvalidInput, KeysUnavailable
from asof_streams.key_store import KeyFolder, KeyPlace, key_place, make_keys, move_keys, set_key_place


def none(_: str) -> int:
    return 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


def file_of(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


def test_a_key_is_the_same_for_every_process_and_only_this_user_can_read_it(folder: Path) -> None:
    tree, key = KeyFolder(folder).choose("ana", 7, none)

    assert KeyFolder(folder).choose("ana", 7, none) == (tree, key) == (0, KeyFolder(folder).find("ana", 0, 7))
    assert KeyFolder(folder).choose("ana", 8, none)[1] != key
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600
    assert KeyFolder(folder).choose("ben", 7, none)[1] != key


def test_what_is_destroyed_is_gone_for_those_who_have_the_store_open_and_the_rest_stays(folder: Path) -> None:
    reader, writer = KeyFolder(folder), KeyFolder(folder)
    before = {position: writer.choose("ana", position, none)[1] for position in range(10)}
    assert reader.find("ana", 0, 3) == before[3]

    writer.destroy("ana", range(4))
    writer.destroy("nobody", range(4))

    assert [reader.find("ana", 0, position) for position in range(10)] == [
        *[None] * 4,
        *(before[n] for n in range(4, 10)),
    ]


def test_the_file_that_had_a_destroyed_key_is_overwritten_also_where_it_has_another_name(folder: Path) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 0, none)
    [root] = json.loads(file_of(folder).read_bytes())["trees"][0].values()
    os.link(file_of(folder), folder.with_name("linked"))

    keys.destroy("ana", range(4))

    assert not folder.with_name("linked").read_bytes().strip(b"\0")
    assert root not in file_of(folder).read_text()


def test_who_reads_a_file_just_as_another_process_destroys_a_key_finds_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was opened is replaced, and overwritten, before it is read."""
    reader, writer, opened = KeyFolder(folder), KeyFolder(folder), Path.open
    before = {position: writer.choose("ana", position, none)[1] for position in range(10)}
    kept, destroyed = file_of(folder), list[Path]()

    def open_and_wait(path: Path, *arguments: Any, **named: Any) -> Any:
        file = opened(path, *arguments, **named)
        if path == kept and not destroyed:
            destroyed.append(path)
            writer.destroy("ana", range(4))
        return file

    monkeypatch.setattr(Path, "open", open_and_wait)

    assert [reader.find("ana", 0, position) for position in (3, 4)] == [None, before[4]]
    assert destroyed


def test_a_message_whose_key_is_destroyed_gets_one_of_a_new_tree(folder: Path) -> None:
    keys = KeyFolder(folder)
    _, first = keys.choose("ana", 2, none)
    keys.destroy("ana", range(5))

    tree, second = keys.choose("ana", 2, none)

    assert (tree, keys.find("ana", 0, 2), keys.find("ana", 1, 2)) == (1, None, second)
    assert second != first
    assert keys.choose("ana", 3, none)[0] == 1


def test_a_store_that_lacks_a_key_says_so_and_one_that_is_damaged_too(folder: Path) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 2, none)

    with pytest.raises(KeysUnavailable, match="later backup"):
        keys.find("ana", 1, 2)
    with pytest.raises(KeysUnavailable, match="no key for content"):
        keys.find("ben", 0, 2)
    with pytest.raises(KeysUnavailable, match="ASOF_KEYS"):
        KeyFolder(folder.with_name("elsewhere")).find("ana", 0, 2)
    file_of(folder).write_text('{"format": "asof keys"')
    with pytest.raises(DamagedFile, match="restore it"):
        keys.find("ana", 0, 2)


def test_a_tree_is_planted_only_where_no_record_names_one_that_the_store_lacks(folder: Path) -> None:
    keys = KeyFolder(folder)

    with pytest.raises(KeysUnavailable, match="later backup"):
        keys.choose("ana", 7, lambda _: 1)
    assert not list(folder.iterdir())

    keys.choose("ana", 7, none)
    keys.destroy("ana", range(8))
    with pytest.raises(KeysUnavailable, match="later backup"):
        keys.choose("ana", 7, lambda _: 2)
    assert keys.choose("ana", 7, lambda _: 1)[0] == 1


def test_whether_keys_are_left_is_what_the_file_says(folder: Path) -> None:
    keys = KeyFolder(folder)
    assert not keys.holds("ana", range(8))
    keys.choose("ana", 7, none)
    assert keys.holds("ana", range(8))
    keys.destroy("ana", range(7))
    assert (keys.holds("ana", range(7)), keys.holds("ana", range(8))) == (False, True)


@pytest.mark.parametrize(
    "nodes",
    [
        {"": "6040"},
        {"0": "60" * 32, "01": "60" * 32},
        {"2": "60" * 32},
        {"0" * 64: "60" * 32},
        {"": 7},
        {"": "6x" * 32},
    ],
)
def test_a_tree_that_cannot_be_one_is_damage(folder: Path, nodes: dict[str, object]) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 2, none)
    told = json.loads(file_of(folder).read_bytes())
    file_of(folder).write_text(json.dumps({**told, "trees": [nodes]}))

    for use in (lambda: keys.find("ana", 0, 2), lambda: keys.destroy("ana", range(3))):
        with pytest.raises(DamagedFile, match="restore it"):
            use()


def test_a_file_of_keys_is_as_every_version_reads_it(folder: Path) -> None:
    KeyFolder(folder).choose("ana", 7, none)

    assert file_of(folder).name == f"{hashlib.sha256(b'ana').hexdigest()[:32]}.json"
    told = json.loads(file_of(folder).read_bytes())
    assert (told["format"], told["version"], told["group"]) == ("asof keys", 1, "ana")


@pytest.mark.parametrize("other", [{"format": "other keys"}, {"version": 2}])
def test_keys_of_another_format_are_not_read(folder: Path, other: dict[str, object]) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 7, none)
    file_of(folder).write_text(json.dumps({**json.loads(file_of(folder).read_bytes()), **other}))

    with pytest.raises(DamagedFile, match="this version of asof"):
        keys.find("ana", 0, 7)


def test_the_last_tree_is_the_latest_also_where_it_has_no_key_of_a_message_any_more(folder: Path) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 2, none)
    keys.destroy("ana", range(3))
    tree, key = keys.choose("ana", 2, none)

    assert keys.latest("ana", 2, none) == (tree, key) == (1, keys.find("ana", 1, 2))
    keys.destroy("ana", range(3))
    assert keys.latest("ana", 2, none) == (1, None)


def test_a_store_that_cannot_be_read_now_is_unavailable(folder: Path) -> None:
    (folder / f"{hashlib.sha256(b'ana').hexdigest()[:32]}.json").mkdir()
    with pytest.raises(KeysUnavailable, match="directory"):
        KeyFolder(folder).find("ana", 0, 7)
    (folder / "file").write_bytes(b"")
    with pytest.raises(KeysUnavailable, match="directory"):
        KeyFolder(folder / "file").find("ana", 0, 7)


def test_the_keys_of_the_groups_that_were_asked_for_last_are_not_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_store, "_CACHED", 2)
    keys, opened, read = KeyFolder(folder), Path.open, list[Path]()
    for group in ("ana", "ben", "cleo", "dora"):
        keys.choose(group, 7, none)

    def open_and_note(path: Path, *arguments: Any, **named: Any) -> Any:
        read.append(path)
        return opened(path, *arguments, **named)

    keys = KeyFolder(folder)
    monkeypatch.setattr(Path, "open", open_and_note)
    for group in ("ana", "ben", "cleo", "dora", "cleo", "dora"):
        keys.find(group, 0, 7)
    assert len(read) == 4
    keys.find("ana", 0, 7)
    assert len(read) == 5


def test_a_change_leaves_no_file_open(folder: Path) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 7, none)
    before = len([*Path("/proc/self/fd").iterdir()])

    keys.destroy("ana", range(3))

    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_a_new_directory_gets_keys_once_and_says_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    make_keys(file, tmp_path / "store")
    place = key_place(file)

    assert place is not None
    assert (place.folder, len(place.memory), place.is_there) == (tmp_path / "store", 32, True)
    make_keys(file, tmp_path / "other")
    assert key_place(file) == place


def test_where_keys_are_is_written_as_people_read_it(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    set_key_place(file, KeyPlace(Path("/store"), "m"))

    told = '{\n  "format": "asof keys",\n  "version": 1,\n  "memory": "m",\n  "folder": "/store"\n}\n'
    assert file.read_text("utf-8") == told


@pytest.mark.parametrize("told", ["{", '{"format": "asof keys"}', '{"format": "x", "version": 1, "memory": "m"}'])
def test_what_does_not_say_where_keys_are_is_damage(tmp_path: Path, told: str) -> None:
    (tmp_path / "keys.json").write_text(told)
    with pytest.raises(DamagedFile, match="where the keys are"):
        key_place(tmp_path / "keys.json")

    (tmp_path / "keys.json").write_text('{"format": "asof keys", "version": 2, "memory": "m", "folder": "/"}')
    with pytest.raises(DamagedFile, match="where the keys are"):
        key_place(tmp_path / "keys.json")


def test_keys_are_moved_where_the_store_there_has_them_all(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    with pytest.raises(InvalidInput, match="without keys"):
        move_keys(file, tmp_path / "there", dict)
    make_keys(file, tmp_path / "here")
    place = key_place(file)
    assert place is not None
    place.open().choose("ana", 7, none)

    with pytest.raises(KeysUnavailable, match="ASOF_KEYS"):
        move_keys(file, tmp_path / "there", dict)
    (tmp_path / "there" / place.memory).mkdir(parents=True)
    with pytest.raises(KeysUnavailable, match="later backup"):
        move_keys(file, tmp_path / "there", lambda: {"ana": 1})
    assert key_place(file) == place

    move_keys(file, tmp_path / "there", dict)
    assert key_place(file) == KeyPlace(tmp_path / "there", place.memory)


def test_what_records_use_is_not_asked_where_the_keys_stay(tmp_path: Path) -> None:
    def used() -> dict[str, int]:
        raise AssertionError("the logs are read whole for it")

    make_keys(tmp_path / "keys.json", tmp_path / "here")
    move_keys(tmp_path / "keys.json", tmp_path / "here", used)


def test_each_file_of_a_store_is_read_to_check_it(folder: Path) -> None:
    keys = KeyFolder(folder)
    keys.choose("ana", 7, none)
    keys.choose("ben", 7, none)
    assert keys.check() == 2

    for path in folder.iterdir():
        whole = path.read_bytes()
        path.write_bytes(b"[")
        with pytest.raises(DamagedFile, match=path.name):
            keys.check()
        path.write_bytes(whole)
    with pytest.raises(KeysUnavailable, match="ASOF_KEYS"):
        KeyFolder(folder / "elsewhere").check()

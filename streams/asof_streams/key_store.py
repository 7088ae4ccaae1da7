"""The store of the keys of encrypted content, which is outside of the data directory: without its keys nothing is read.

A memory has a name in the store, which `keys.json` in its directory keeps with the place of the store, as do backups
and copies: what is destroyed for one of them is destroyed for all.
"""

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple, Protocol

from asof_streams.errors import DamagedFile, InvalidInput, KeysUnavailable
from asof_streams.files import locked_folder, make_folder, replace_file
from asof_streams.json_document import read_json
from asof_streams.key_tree import KeyTree, is_whole

FORMAT: Final = "asof keys"
VERSION: Final = 1
_CACHED: Final = 256  # groups


class KeyStore(Protocol):
    """The keys of one memory. Each group has trees of keys, numbered from 0. Adapter: KeyFolder.

    KeysUnavailable, from each method: the store cannot be read or written.
    """

    def find(self, group: str, tree: int, message: int) -> bytes | None:
        """Return the key of a message in a tree of its group; None: it was destroyed.

        KeysUnavailable: the store has never had that tree.
        """
        ...

    def choose(self, group: str, message: int, used: Callable[[str], int]) -> tuple[int, bytes]:
        """Return the tree by which a message is to be encrypted now, and its key, which is on the disk.

        It is the last tree of the group, or a new one where the key is destroyed in that: a memory that was restored
        from a backup may come again to the positions of messages that were erased.

        used: returns how many trees of a group its records name, and is called before there is a new one.
        KeysUnavailable: the store has fewer. A new tree in an older store would be another one under the same number.
        """
        ...

    def latest(self, group: str, message: int, used: Callable[[str], int]) -> tuple[int, bytes | None]:
        """Return the last tree of a group, and the key of a message in it; None: it was destroyed.

        A group without a tree gets one; for `used` and the errors see `choose`.
        """
        ...

    def expect(self, group: str, used: int) -> None:
        """Expect so many trees of a group. KeysUnavailable: the store has fewer."""
        ...

    def destroy(self, group: str, *messages: range) -> None:
        """Destroy the keys of a group's messages in some ranges, for ever, in all of its trees and in one step."""
        ...

    def holds(self, group: str, *messages: range) -> bool:
        """Return whether a key of a group's messages in some ranges is left."""
        ...


class _Trees(NamedTuple):
    state: tuple[int, int, int]  # of the file, to see whether it was replaced
    trees: Sequence[KeyTree]


class KeyFolder:
    """A KeyStore in a folder: a file for each group, which several processes and machines may use at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cached: OrderedDict[str, _Trees] = OrderedDict()
        self._paths: dict[str, Path] = {}

    def find(self, group: str, tree: int, message: int) -> bytes | None:
        self.expect(group, tree + 1)
        return self._trees(group)[tree].key(message)

    def choose(self, group: str, message: int, used: Callable[[str], int]) -> tuple[int, bytes]:
        trees = self._trees(group)
        if not trees or trees[-1].key(message) is None:
            self.expect(group, used(group))
            trees = self._change(group, lambda kept: _with_key(kept, message))
        key = trees[-1].key(message)
        assert key is not None, "a tree was planted where there was none with the key"
        return len(trees) - 1, key

    def latest(self, group: str, message: int, used: Callable[[str], int]) -> tuple[int, bytes | None]:
        trees = self._trees(group)
        return (len(trees) - 1, trees[-1].key(message)) if trees else self.choose(group, message, used)

    def expect(self, group: str, used: int) -> None:
        if used > len(self._trees(group)):
            raise KeysUnavailable(
                f"{self._path(group)} has no key for content of a group that is encrypted: give the store of keys "
                "that it was encrypted with, or a later backup of it"
            )

    def destroy(self, group: str, *messages: range) -> None:
        if self.holds(group, *messages):  # or a machine that may only read the store would be refused
            self._change(group, lambda kept: [tree.without(*messages) for tree in kept])

    def holds(self, group: str, *messages: range) -> bool:
        return any(tree.reaches(*messages) for tree in self._trees(group))

    def _trees(self, group: str) -> Sequence[KeyTree]:
        """Return the trees of a group as they are now; none, where the store has not had any."""
        path = self._path(group)
        try:
            found = path.stat()
        except FileNotFoundError:
            self._expect_folder()
            return ()
        except OSError as error:
            raise KeysUnavailable(f"{path}: {error.strerror}") from None
        state = found.st_ino, found.st_mtime_ns, found.st_size
        cached = self._cached.get(group)
        if cached is None or cached.state != state:
            cached = self._cached[group] = _Trees(state, _read(path))
            if len(self._cached) > _CACHED:
                self._cached.popitem(last=False)
        return cached.trees

    def check(self) -> int:
        """Read every file of keys; return how many there are. KeysUnavailable. DamagedFile names one."""
        self._expect_folder()
        paths = sorted(self._folder.glob("*.json"))
        for path in paths:
            _read(path)
        return len(paths)

    def _expect_folder(self) -> None:
        if not self._folder.is_dir():
            raise KeysUnavailable(
                f"{self._folder} is not there, which has the keys of this memory's content: put the store of keys "
                "back, or say with ASOF_KEYS where it is"
            ) from None

    def _change(self, group: str, change: Callable[[Sequence[KeyTree]], Sequence[KeyTree]]) -> Sequence[KeyTree]:
        """Replace the trees of a group, and overwrite the file that had them before; return them."""
        path = self._path(group)
        with locked_folder(self._folder):
            trees = change(self._trees(group))
            nodes = [{way: key.hex() for way, key in tree.nodes.items()} for tree in trees]
            told = {"format": FORMAT, "version": VERSION, "group": group, "trees": nodes}
            before = os.open(path, os.O_WRONLY | os.O_CLOEXEC) if path.exists() else None
            try:
                replace_file(path, [json.dumps(told).encode()])
                if before is not None:
                    os.write(before, bytes(os.fstat(before).st_size))
                    os.fsync(before)
            finally:
                if before is not None:
                    os.close(before)
        return trees

    def _path(self, group: str) -> Path:
        path = self._paths.get(group)
        if path is None:
            if len(self._paths) > _CACHED:
                self._paths.clear()
            name = hashlib.sha256(group.encode()).hexdigest()[:32]
            path = self._paths[group] = self._folder / f"{name}.json"
        return path


def _with_key(trees: Sequence[KeyTree], message: int) -> Sequence[KeyTree]:
    if trees and trees[-1].key(message) is not None:  # another process was here meanwhile
        return trees
    return [*trees, KeyTree.plant()]


def _read(path: Path) -> Sequence[KeyTree]:
    """Return the trees in a file; read again where it was replaced, and overwritten, as it was read."""
    try:
        while True:
            with path.open("rb") as file:
                content, is_old = file.read(), os.fstat(file.fileno()).st_ino != path.stat().st_ino
            if not is_old:
                return _trees_in(content)
    except OSError as error:
        raise KeysUnavailable(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedFile(f"{path} has no keys that this version of asof can read: restore it from a backup") from None


def _trees_in(content: bytes) -> Sequence[KeyTree]:
    told = read_json(content)
    if (told["format"], told["version"]) != (FORMAT, VERSION):
        raise ValueError("another format")
    kept = [{way: bytes.fromhex(key) for way, key in nodes.items()} for nodes in told["trees"]]
    if not all(map(is_whole, kept)):
        raise ValueError("keys of another size, or on paths of no tree")
    return [KeyTree(nodes) for nodes in kept]


class KeyPlace(NamedTuple):
    """Where the keys of a data directory are: the folder of a store, and the memory's name in it."""

    folder: Path
    memory: str

    @property
    def is_there(self) -> bool:
        """Whether the store has the memory."""
        return (self.folder / self.memory).is_dir()

    def expect(self, used: Mapping[str, int]) -> None:
        """Expect so many trees of each group. KeysUnavailable: the store has fewer. DamagedFile."""
        keys = self.open()
        for group, trees in used.items():
            keys.expect(group, trees)

    def open(self) -> KeyFolder:
        """Open the keys of the memory."""
        return KeyFolder(self.folder / self.memory)


def key_place(file: Path) -> KeyPlace | None:
    """Return what a directory's `keys.json` says; None: its content is not encrypted. DamagedFile."""
    try:
        told = read_json(file.read_bytes())
        if (told["format"], told["version"]) != (FORMAT, VERSION):
            raise ValueError("another format")
        return KeyPlace(Path(told["folder"]), str(told["memory"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise DamagedFile(f"{file} does not say where the keys are: restore it from a backup") from None


def set_key_place(file: Path, place: KeyPlace) -> None:
    """Write a directory's `keys.json`."""
    told = {"format": FORMAT, "version": VERSION, "memory": place.memory, "folder": str(place.folder)}
    replace_file(file, [json.dumps(told, indent=2).encode() + b"\n"])


def make_keys(file: Path, folder: Path) -> None:
    """Give a new directory keys in a store: nothing may have been written to its logs yet."""
    place = key_place(file) or KeyPlace(folder.absolute(), token_hex(16))  # a crash may have come after the first
    make_folder(place.folder / place.memory)
    set_key_place(file, place)


def move_keys(file: Path, folder: Path, used: Callable[[], Mapping[str, int]]) -> None:
    """Say that the store of a directory's keys is in a folder now.

    used: returns how many trees its records name, by group. InvalidInput: the directory has no keys, since it was made
    without. KeysUnavailable: that folder does not have them, or not those of every group.
    """
    place = key_place(file)
    if place is None:
        raise InvalidInput(
            f"{file.parent} was made without keys, so its content is not encrypted: leave the setting out, or "
            "replay its messages into a new directory",
            "keys",
        )
    moved = KeyPlace(folder.absolute(), place.memory)
    if not moved.is_there:
        raise KeysUnavailable(
            f"{folder} has no keys of {file.parent}: put the store of keys back that it was made with, or say with "
            "ASOF_KEYS where that is"
        )
    if moved != place:
        moved.expect(used())
        set_key_place(file, moved)

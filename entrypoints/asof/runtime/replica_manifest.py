"""The manifest of a replica: the topics that a data directory copies and their partitions, known without a broker.

With one partition the directory is the copy. With more, each partition has a directory of its own within it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from asof.runtime.layout import DirectoryLayout
from asof_projections.generations import load
from asof_streams.errors import DamagedFile, InvalidInput
from asof_streams.files import locked_folder, make_folder, replace_file
from asof_streams.json_document import read_json
from asof_streams.kafka.state import FILE as STATE
from asof_streams.writer_lock import is_held

FILE: Final = "topics.json"
PARTITION: Final = "partition-"  # and a number: the directory of one of several, within that of all
PATIENCE: Final = 10.0  # seconds in which a question that brings a directory up is usually done with it


@dataclass(frozen=True, slots=True)
class ReplicaManifest:
    """The topics that a directory is a copy of."""

    prefix: str
    partitions: int


def copied(root: Path) -> ReplicaManifest | None:
    """Return the manifest of a directory; None where it is no replica, or one partition of many."""
    try:
        return ReplicaManifest(**read_json((root / FILE).read_bytes()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise DamagedFile(f"{root / FILE} is damaged: delete {root}, it is made again from the topics") from None


def is_copy(root: Path) -> bool:
    """Whether a directory is a replica of topics: nothing else may write to it."""
    return (root / FILE).exists() or (root / STATE).exists()


def expect_no_copy(root: Path) -> None:
    """Refuse to write what belongs on topics. InvalidInput: the directory is a copy of them."""
    if is_copy(root):
        raise InvalidInput(f"{root} is a copy of topics: what is written goes there, with --kafka HOST:PORT")


def keep(root: Path, wanted: ReplicaManifest) -> None:
    """Let a directory be a copy of these topics for ever. InvalidInput: it is one of others, or none."""
    if _is_kept(root, wanted):
        return
    make_folder(root)
    with locked_folder(root):  # several processes may begin a copy at the same time
        if not _is_kept(root, wanted):
            replace_file(root / FILE, [json.dumps(asdict(wanted)).encode(), b"\n"])


def _is_kept(root: Path, wanted: ReplicaManifest) -> bool:
    """Whether a directory is a copy of these topics already. InvalidInput: it can never be."""
    found = copied(root)
    if found is not None and found != wanted:
        raise InvalidInput(
            f"{root} is a copy of {found.prefix}.messages in {found.partitions} partitions, and what is asked for is"
            f" {wanted.prefix}.messages in {wanted.partitions}: choose another directory, or delete this one"
        )
    if found is None and DirectoryLayout(root).messages.exists() and not is_copy(root):
        raise InvalidInput(f"{root} holds a memory that is no copy of topics: choose another directory")
    return found is not None


def is_kept_up(places: DirectoryLayout) -> bool:
    """Whether processes keep up all of a directory: its episodes, and the beliefs of every generation."""
    catalog = load(places.root)
    folders = [places.generation(info.name) for info in catalog.generations] if catalog else []
    return all(is_held(folder) for folder in (places.root, *folders))


def places_of(places: DirectoryLayout, partition: int, partitions: int) -> DirectoryLayout:
    """Return the directory of a partition: the whole one, where there is but one partition."""
    return places if partitions == 1 else DirectoryLayout(places.root / f"{PARTITION}{partition}")


def parts(root: Path) -> list[DirectoryLayout]:
    """Return the directories that hold the memory of a directory: itself, or one for each partition."""
    found = copied(root)
    count = 1 if found is None else found.partitions
    return [places_of(DirectoryLayout(root), partition, count) for partition in range(count)]

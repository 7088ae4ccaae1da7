"""The file of a build under way: what is built and how far it has come, for whoever looks, and for who resumes it.

It stands in the generation's folder until the build is complete. Whoever builds holds a lock beside it, which the
operating system frees when the process dies; whoever wants it to stop leaves a file that the builder looks for after
after each message. So neither waits for a time, and a build that was killed is told from one that runs.

In a copy of topics it stands in the folder of the whole directory, also where partitions have folders of their own.
What is built there is listed from its first event on, so that the file alone says that a build is not complete.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from asof.runtime.kept_ontologies import keep_ontology
from asof.runtime.layout import BUILD, DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import Progress, existing
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo, check_name
from asof_projections.model.builds import BuildState, PauseReason, UnfinishedBuild
from asof_streams.errors import BuildStopped, InvalidInput, NotFound, StorageFailed
from asof_streams.files import locked_file, locked_folder, remove_folder, replace_file, wait_for_lock
from asof_streams.json_document import read_json
from asof_streams.writer_lock import WriterLock, is_held

Stop = Literal["paused", "cancelled"]

_PATIENCE_SECONDS: Final = 1.0  # for whoever looks whether somebody builds
_BUDGET: Final = b"budget"  # in the place of a request: the build waits for a larger one


class BuildFile:
    """The file of one build, as its builder has it."""

    def __init__(self, places: DirectoryLayout, info: GenerationInfo) -> None:
        self._info = info
        self._root: Final = places.root
        self._path: Final = places.unfinished(info.name)
        self._path_name = str(self._path)
        self._stop: Final = places.stop_request(info.name)
        self._stop_path = str(self._stop)  # asked after at each message, so kept as the system takes it
        self._lock = places.build_lock(info.name)

    @property
    def _kind(self) -> str:
        """What two builds have in common of which one can go on with the other's log."""
        return f"{self._info.build} {self._info.extractor} {self._info.rule}"

    def begin(self, ontology: Ontology) -> None:
        """Say what is to be built, for whoever goes on with it."""
        with self.begun(ontology):
            pass

    @contextmanager
    def begun(self, ontology: Ontology, *, is_asked: bool = True) -> Iterator[None]:
        """Hold the lock of the build from before anything of it is there; what is of another build is removed.

        is_asked: whether it is asked for now, so that no earlier request to stop holds. InvalidInput: a generation has
        the name. WriterBusy: another process builds it. BuildStopped: it is to stop before it goes on.
        """
        with ExitStack() as held:
            with locked_folder(self._root):  # no writer takes its folder for the rest of a drop
                if self._info.name in _complete(DirectoryLayout(self._root)):
                    raise name_taken(self._info.name)
                held.enter_context(self.running())
                if is_asked:
                    self._stop.unlink(missing_ok=True)
                elif self.is_to_stop():
                    raise self.stopped()
                self._make(ontology)
            yield

    def _make(self, ontology: Ontology) -> None:
        folder = self._path.parent
        begun = _read(self._path)
        if begun is None or begun["kind"] != self._kind:
            for path in folder.iterdir() if not is_copy(self._root) else ():
                if path != self._lock:
                    path.unlink()
            keep_ontology(ontology, folder / "ontology.json")
            self._write(0, 0, None)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the lock of the build, for whose release a stop waits. WriterBusy: another process holds it."""
        with WriterLock(self._lock.parent, patience=_PATIENCE_SECONDS, name=BUILD):
            yield

    def progress(self, start: int, stop: int, told: Progress | None) -> Progress:
        """Return what writes down how far a build is that reads from a position up to another, and tells it on."""
        began = time.monotonic()
        self._write(start, stop, None)

        def tell(done: int, total: int) -> None:
            seconds = time.monotonic() - began
            self._write(start + done, start + total, done / seconds if done and seconds else None)
            if told:
                told(done, total)

        return tell

    def is_to_stop(self) -> bool:
        """Whether somebody asked for a stop since it was asked for, or removed it."""
        return not self.is_there() or os.path.exists(self._stop_path)  # noqa: PTH110 - a third of the cost of Path.exists

    def is_there(self) -> bool:
        """Whether the build goes on: nobody removed it, or took the complete generation over."""
        return os.path.exists(self._path_name)  # noqa: PTH110 - as above, for each message

    def stopped(self) -> BuildStopped:
        """Return the error that says what was asked for."""
        try:
            state: Stop = "cancelled" if self._stop.read_bytes() == b"cancelled" else "paused"
        except FileNotFoundError:  # an erasure removed all of it
            state = "cancelled"
        return BuildStopped(f"the build of generation {self._info.name} was {state}", state)

    def pause(self) -> None:
        """Say that the build waits for a larger budget."""
        replace_file(self._stop, [_BUDGET])

    def _write(self, done: int, total: int, per_second: float | None) -> None:
        stored = {"kind": self._kind, "info": self._info.to_stored(), "done": done, "total": total, "rate": per_second}
        replace_file(self._path, [json.dumps(stored).encode()])

    def remove(self) -> None:
        """Remove the file: the build is complete."""
        remove_file(DirectoryLayout(self._root), self._info.name)


def builds(places: DirectoryLayout) -> list[UnfinishedBuild]:
    """Return the builds that are not complete, by name."""
    names = sorted(path.parent.name for path in places.generations.glob("*/unfinished"))
    return [build for name in names if (build := _build(places, name)) is not None]


def unfinished(places: DirectoryLayout, name: str) -> UnfinishedBuild:
    """Return a build that is not complete, by name. NotFound: there is none."""
    found = _build(places, name)
    if found is None:
        raise _none_of(name)
    return found


def unfinished_info(places: DirectoryLayout, name: str) -> GenerationInfo:
    """Return what an unfinished build is of. NotFound: there is none of this name."""
    return _expected(places, name)[1]


def begun_info(places: DirectoryLayout, name: str) -> GenerationInfo | None:
    """Return what the build in the folder of a generation is of; None: there is none."""
    stored = _read(places.unfinished(name))
    return None if stored is None else GenerationInfo.of(stored["info"])


def name_taken(name: str) -> InvalidInput:
    """Return the error of a build whose name a generation has."""
    return InvalidInput(f"generation {name} is there already: choose another name, or drop it first", "name")


def take_over(places: DirectoryLayout, name: str, *, wait: bool = False) -> bool:
    """Let whoever writes the directory follow for a generation that is listed; return whether it may.

    The end of its build is left to the process that builds it, while that is at work; wait: until it is not. In a copy
    of topics the lock of its folder alone says who may.
    """
    if is_copy(places.root) or not places.unfinished(name).exists():
        return True
    if not wait and is_held(places.generation(name), BUILD):
        return False
    with locked_file(places.build_lock(name)):
        remove_file(places, name)
    return True


def remove_file(places: DirectoryLayout, name: str) -> None:
    """Remove the file of a build, if there is one, and those beside it: nobody goes on with it."""
    for path in (places.stop_request(name), places.unfinished(name), places.build_lock(name)):
        path.unlink(missing_ok=True)


def stop_build(places: DirectoryLayout, name: str, wanted: Stop) -> None:
    """Have a build stop after the message that it is at, and wait for that; remove what is cancelled.

    One that was asked for, and that its process has not begun, is stopped too. In a copy of topics nothing is removed:
    its topic is to go first. NotFound: there is none of this name.
    """
    _expected(places, name)
    while not _is_stopped(places, name, wanted):
        with suppress(FileNotFoundError):  # it has ended, and is gone
            wait_for_lock(places.build_lock(name))
        if wanted == "paused":
            _expect_incomplete(places, name)
            return


def _is_stopped(places: DirectoryLayout, name: str, wanted: Stop) -> bool:
    """Ask for a stop, and return whether nobody builds; what is cancelled is removed then."""
    with locked_folder(places.root):  # nobody begins it or lists it meanwhile
        _expect_incomplete(places, name)
        try:
            replace_file(places.stop_request(name), [wanted.encode()])
        except StorageFailed:
            if places.unfinished(name).exists():
                raise
            return True  # it was removed meanwhile
        if is_held(places.generation(name), BUILD):
            return False
        if wanted == "cancelled" and not is_copy(places.root):
            remove_folder(places.generation(name))
        return True


def _expect_incomplete(places: DirectoryLayout, name: str) -> None:
    if name in _complete(places) or (is_copy(places.root) and not places.unfinished(name).exists()):
        places.stop_request(name).unlink(missing_ok=True)
        raise NotFound(f"the build of {name} was completed meanwhile: it is a generation now")


def withdraw_stop(places: DirectoryLayout, name: str) -> bool:
    """Have no earlier request to stop hold for a build that is asked for; return whether there was one."""
    with locked_folder(places.root):
        was_asked = places.stop_request(name).exists()
        places.stop_request(name).unlink(missing_ok=True)
    return was_asked


def _expected(places: DirectoryLayout, name: str) -> tuple[dict[str, Any], GenerationInfo]:
    stored = _read(places.unfinished(check_name(name)))
    if stored is None or name in _complete(places):
        raise _none_of(name)
    return stored, GenerationInfo.of(stored["info"])


def _complete(places: DirectoryLayout) -> set[str]:
    """Return the names of the generations that are known to be complete; none in a copy of topics."""
    return set() if is_copy(places.root) else {info.name for info in existing(places).generations}


def _none_of(name: str) -> NotFound:
    return NotFound(f"no build of a generation {name} is under way")


def _build(places: DirectoryLayout, name: str) -> UnfinishedBuild | None:
    try:
        stored, info = _expected(places, name)
    except NotFound:
        return None
    done, total, rate = stored["done"], stored["total"], stored["rate"]
    reason = _reason(places, name)
    state: BuildState = "stopped" if reason is None else "paused"
    if is_held(places.generation(name), BUILD):
        state, reason = "running", None
    left = (total - done) / rate if rate and state == "running" else None
    return UnfinishedBuild(name, state, info.ontology, info.input, done, total, rate, left, reason)


def _reason(places: DirectoryLayout, name: str) -> PauseReason | None:
    """Return why a build is paused; None: it is not."""
    try:
        return "budget" if places.stop_request(name).read_bytes() == _BUDGET else "request"
    except FileNotFoundError:
        return None


def _read(path: Path) -> dict[str, Any] | None:
    """Return the content of such a file; None: there is none, or it is of an earlier version, or damaged."""
    try:
        stored: dict[str, Any] = read_json(path.read_bytes())
        GenerationInfo.of(stored["info"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return stored

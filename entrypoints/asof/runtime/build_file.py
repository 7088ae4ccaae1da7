"""The file of a build under way: what is built and how far it has come, for whoever looks, and for who resumes it.

It stands in the generation's folder until the build is complete. Whoever builds holds a lock beside it, which the
operating system frees when the process dies; whoever wants it to stop leaves a file that the builder looks for after
each message. So neither waits for a time, and a build that was killed is told from one that runs.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

from asof.runtime.layout import BUILD, DirectoryLayout
from asof.runtime.wiring import Progress, existing
from asof_projections.generations import GenerationInfo, check_name
from asof_projections.model.builds import BuildState, PauseReason, UnfinishedBuild
from asof_streams.errors import BuildStopped, NotFound
from asof_streams.files import locked_file, replace_file
from asof_streams.writer_lock import is_held

Stop = Literal["paused", "cancelled"]

_BUDGET: Final = b"budget"  # in the place of a request: the build waits for a larger one


class BuildFile:
    """The file of one build, as its builder has it."""

    def __init__(self, places: DirectoryLayout, info: GenerationInfo) -> None:
        self._info = info
        self._path: Final = places.unfinished(info.name)
        self._stop: Final = places.stop_request(info.name)
        self._stop_path = str(self._stop)  # asked after at each message, so kept as the system takes it
        self._lock = places.build_lock(info.name)

    @property
    def is_begun(self) -> bool:
        """Whether a build of the same kind stands in the folder: it can be gone on with."""
        try:
            text = self._path.read_text("utf-8")
        except FileNotFoundError:
            return False
        kind: str = (_stored(text) or {"kind": text})["kind"]  # earlier versions wrote the kind alone
        return kind == self._kind

    @property
    def _kind(self) -> str:
        """What two builds have in common of which one can go on with the other's log."""
        return f"{self._info.build} {self._info.extractor} {self._info.rule}"

    def begin(self) -> None:
        """Say what is built, before anything of it is there."""
        if not self._path.exists():
            self._write(0, 0, None)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the lock of the build; whoever waits for its end goes on when it is released."""
        with locked_file(self._lock):
            self._stop.unlink(missing_ok=True)
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
        """Whether somebody asked for a stop since it runs."""
        return os.path.exists(self._stop_path)  # noqa: PTH110 - a third of the cost of Path.exists, for each message

    def stopped(self) -> BuildStopped:
        """Return the error that says what was asked for."""
        state: Stop = "cancelled" if self._stop.read_bytes() == b"cancelled" else "paused"
        return BuildStopped(f"the build of generation {self._info.name} was {state}", state)

    def pause(self) -> None:
        """Say that the build waits for a larger budget."""
        replace_file(self._stop, [_BUDGET])

    def _write(self, done: int, total: int, per_second: float | None) -> None:
        stored = {"kind": self._kind, "info": self._info.to_json(), "done": done, "total": total, "rate": per_second}
        replace_file(self._path, [json.dumps(stored).encode()])

    def remove(self) -> None:
        """Remove the file: the build is complete."""
        for path in (self._stop, self._path, self._lock):
            path.unlink(missing_ok=True)


def builds(places: DirectoryLayout) -> list[UnfinishedBuild]:
    """Return the builds that are not complete, by name."""
    names = sorted(path.parent.name for path in places.generations.glob("*/unfinished"))
    return [build for name in names if (build := _build(places, name)) is not None]


def unfinished_info(places: DirectoryLayout, name: str) -> GenerationInfo:
    """Return what an unfinished build is of. NotFound: there is none of this name."""
    return _expected(places, name)[1]


def stop_build(places: DirectoryLayout, name: str, wanted: Stop) -> None:
    """Have a build stop after the message that it is at, and wait for that; remove what is cancelled.

    NotFound: there is none of this name.
    """
    _expected(places, name)
    with suppress(FileNotFoundError):  # it was completed or removed meanwhile
        replace_file(places.stop_request(name), [wanted.encode()])
        with locked_file(places.build_lock(name)):
            if name in {info.name for info in existing(places).generations}:
                raise NotFound(f"the build of {name} was completed meanwhile: it is a generation now")
            if wanted == "cancelled":
                shutil.rmtree(places.generation(name), ignore_errors=True)


def _expected(places: DirectoryLayout, name: str) -> tuple[dict[str, Any], GenerationInfo]:
    check_name(name)
    complete = {info.name for info in existing(places).generations}
    try:
        stored = _stored(places.unfinished(name).read_text("utf-8"))
    except FileNotFoundError:
        stored = None
    if stored is None or name in complete:
        raise NotFound(f"no build of a generation {name} is under way")
    return stored, GenerationInfo.of(stored["info"])


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
    return UnfinishedBuild(name, state, info.ontology, info.source, done, total, rate, left, reason)


def _reason(places: DirectoryLayout, name: str) -> PauseReason | None:
    """Return why a build is paused; None: it is not."""
    try:
        return "budget" if places.stop_request(name).read_bytes() == _BUDGET else "request"
    except FileNotFoundError:
        return None


def _stored(text: str) -> dict[str, Any] | None:
    """Return the content of such a file; None: it is of an earlier version, or damaged."""
    try:
        stored = json.loads(text)
        GenerationInfo.of(stored["info"])
    except (ValueError, KeyError, TypeError):
        return None
    found: dict[str, Any] = stored
    return found

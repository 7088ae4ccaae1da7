"""The progress of a worker or projector, which it writes to a file beside its data."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from asof.runtime import clock
from asof_streams.errors import DamagedFile, NotFound
from asof_streams.files import make_folder, replace_file
from asof_streams.instants import SECOND
from asof_streams.json_document import read_json

FILE: Final = "worker.json"
AGENT_FILES: Final = {  # of a worker that runs no agent of those before, so that one that does may share its directory
    "recorder": FILE,
    "believer": "believers.json",
    "responder": "responders.json",
}
_FRESH_SECONDS: Final = 30


class ReplicaProgress(NamedTuple):
    """The progress in one partition of a topic."""

    topic: str
    partition: int
    offset: int  # of the next record to take; -1 while it is being opened
    end: int  # of the topic
    oldest: int | None = None  # milliseconds: when the first record under way came to the topic, if that is known
    restarts: int = 0  # the number of times that it was opened again after a failure, since it was assigned
    parked: int | None = None  # messages that nothing could be made of, not retried since; None: it is not known
    agent: str = ""  # recorder, believer, responder or projector
    generation: str = ""  # that a believer writes


class UnassignedAgent(NamedTuple):
    """An agent without a partition of its topic: since when, and why."""

    topic: str
    agent: str
    generation: str
    since: int  # microseconds
    reason: str
    is_spare: bool = False  # other workers have all partitions, and this one takes over what one of them leaves

    def sentence(self, now: int) -> str:
        """Return it as a sentence. now: microseconds."""
        agent = f"{self.agent} of {self.generation}" if self.generation else self.agent
        seconds = max(now - self.since, 0) // SECOND
        return f"no partition of {self.topic} has been assigned to the {agent} for {seconds} s: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReplicaHealth:
    """The progress of a process, as it last wrote it."""

    at: int  # microseconds
    partitions: tuple[ReplicaProgress, ...]
    errors: tuple[str, ...] = ()  # of the topics, by which history or order would be lost
    unassigned: tuple[UnassignedAgent, ...] = ()

    @property
    def lag(self) -> int:
        """The number of records that wait, in all partitions of all topics that it reads."""
        return sum(reached.end - max(reached.offset, 0) for reached in self.partitions)

    def well(self, now: int) -> bool:
        """Whether the process lives, its groups have given each agent its partitions, and these are open.

        An agent that is spare is well: it has what its group gave it. now: microseconds.
        """
        is_open = all(reached.offset >= 0 for reached in self.partitions)
        return self.is_fresh(now) and is_open and all(each.is_spare for each in self.unassigned)

    def is_fresh(self, now: int) -> bool:
        """Whether the process wrote this within the last 30 seconds, as a live one does. now: microseconds."""
        return now - self.at < _FRESH_SECONDS * SECOND

    def faults(self, now: int) -> list[str]:
        """Return what is wrong with it, a sentence each; none: it is well, and so are its topics."""
        unassigned = [each.sentence(now) for each in self.unassigned if self.is_fresh(now) and not each.is_spare]
        found = [*self.errors, *unassigned]
        return found if found or self.well(now) else ["it does not run, or cannot open a partition"]

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written down and shown."""
        partitions = [reached._asdict() for reached in self.partitions]
        unassigned = [each._asdict() for each in self.unassigned]
        return {
            "at": self.at,
            "lag": self.lag,
            "partitions": partitions,
            "errors": [*self.errors],
            "unassigned": unassigned,
        }

    @classmethod
    def read(cls, root: Path) -> Self:
        """Return the progress that the processes of a directory wrote. NotFound: none ever ran."""
        found = [health for file in AGENT_FILES.values() if (health := cls._read(root / file)) is not None]
        if not found:
            raise NotFound(f"{root} has no {FILE}: no worker runs on it")
        partitions = tuple(reached for health in found for reached in health.partitions)
        errors = tuple(dict.fromkeys(error for health in found for error in health.errors))
        unassigned = tuple(each for health in found for each in health.unassigned)
        return cls(min(health.at for health in found), partitions, errors, unassigned)

    @classmethod
    def _read(cls, path: Path) -> Self | None:
        try:
            found = read_json(path.read_bytes())
            partitions = tuple(ReplicaProgress(**reached) for reached in found["partitions"])
            unassigned = tuple(UnassignedAgent(**each) for each in found.get("unassigned", ()))
            return cls(found["at"], partitions, tuple(found.get("errors", ())), unassigned)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise DamagedFile(f"{path} cannot be read: delete it, the worker writes it again") from None


def write_health(
    root: Path,
    reached: Sequence[ReplicaProgress],
    errors: Sequence[str] = (),
    unassigned: Sequence[UnassignedAgent] = (),
    file: str = FILE,
) -> ReplicaHealth:
    """Write down how far all is, now, what is wrong with the topics, and who has no partition. Return it."""
    make_folder(root)
    health = ReplicaHealth(clock.system(), tuple(reached), tuple(errors), tuple(unassigned))
    replace_file(root / file, [json.dumps(health.to_json()).encode()])
    return health

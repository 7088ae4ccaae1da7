"""Applies the decisions of the control topic to the generations of a directory, and takes new ones."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_projections.control import ControlState
from asof_projections.conversation.model import PromptVersion
from asof_projections.conversation.prompts import registered_prompts
from asof_projections.generations import load, save
from asof_streams.events import Event
from asof_streams.files import locked_folder
from asof_streams.kafka.client import Client
from asof_streams.kafka.control_topic import ControlTopic
from asof_streams.kafka.topics import Topics
from asof_streams.writer_lock import AGENT, is_held


class Control:
    """The control topic, and the directories that it is applied to."""

    def __init__(self, client: Client, topics: Topics) -> None:
        self._topic = ControlTopic(client, topics)

    def catch_up(self) -> ControlState:
        """Read the topic to its end; return what it comes to."""
        self._topic.catch_up()
        return self.state

    @property
    def state(self) -> ControlState:
        """What the topic came to when it was read."""
        return ControlState().after(self._topic.events)

    @property
    def prompts(self) -> list[PromptVersion]:
        """The versions of prompts that were registered, when the topic was read, in order of keys and versions."""
        return registered_prompts(zip(self._topic.times, self._topic.events, strict=True))

    def end(self) -> dict[tuple[str, int], int]:
        """Return where the topic ended when it was read; nothing, where there was none."""
        return {} if self._topic.end is None else {self._topic.at: self._topic.end}

    def decide(self, decision: Callable[[ControlState], Event | None]) -> None:
        """Write what is decided, knowing all that was; None: it is so already."""
        self._topic.append(lambda: decision(self.state), clock.system())


@contextmanager
def open_control(settings: Settings) -> Iterator[Control]:
    """Open the control topic of the settings."""
    with closing(Client(connection_of(settings))) as client:
        yield Control(client, Topics(settings.kafka_prefix))


def apply(state: ControlState, directories: Iterable[DirectoryLayout]) -> None:
    """Let the catalogues of directories be as the control topic has them, and remove what was dropped.

    The folder of a generation that an agent holds is left, to be removed when it is let go of.
    """
    for places in directories:
        if not state.position or load(places.root) is None:
            continue
        with locked_folder(places.root):
            catalog = load(places.root)
            if catalog is not None and catalog.control < state.position:
                applied = state.applied(catalog)
                if applied != catalog:
                    save(places.root, applied)
        for name in state.dropped:
            folder = places.generation(name)
            if folder.exists() and not is_held(folder, AGENT) and not is_held(folder):
                shutil.rmtree(folder, ignore_errors=True)

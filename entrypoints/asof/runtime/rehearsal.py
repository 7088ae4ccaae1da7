"""A rehearsal: a generation made in a temporary directory, so that nothing of the memory's own is touched.

It is made as a rebuild makes it, by the same handlers over the same episodic log, or over the end of it. Failures are
not logged: they are of nothing that lasts.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from asof.runtime.extractors import ExtractorFactory
from asof.runtime.generations import FLUSH_EVERY, generation_of, open_semantic
from asof.runtime.kept_ontologies import keep_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import Progress, following_store, load_ontology
from asof.settings import Settings
from asof_agents.engine import derive_batch
from asof_agents.extraction.ports import Answers
from asof_agents.generation import Generation
from asof_agents.layer import group_batches
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.sqlite_log import SqliteLog


@contextmanager
def temporary_layout(places: DirectoryLayout, settings: Settings) -> Iterator[DirectoryLayout]:
    """Yield a temporary directory that has the ontologies of a memory, and is removed at the end."""
    with TemporaryDirectory(prefix="asof-rehearsal-") as folder:
        scratch = DirectoryLayout(Path(folder))
        if places.ontology.exists():
            shutil.copy(places.ontology, scratch.ontology)
        else:  # in a copy of topics that no worker has opened
            keep_ontology(load_ontology(settings.ontology), scratch.ontology)
        named = places.named_ontology("*").parent
        if named.exists():
            shutil.copytree(named, scratch.named_ontology("*").parent)
        yield scratch


class Rehearsal:
    """A generation in a temporary directory, with what it is made from."""

    def __init__(self, generation: Generation, store: SqliteGraph, episodic: SqliteLog, episodes: SqliteGraph) -> None:
        self.store: Final = store
        self.end: Final = min(episodic.end(), episodes.position())  # of what a writer has committed to both
        self._generation = generation
        self._episodic = episodic
        self._episodes = episodes

    def run(
        self,
        start: int = 0,
        group: str | None = None,
        most: int | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Read the episodic log from a position on, of a group or of all; return the position that it came to.

        most: events after which it ends with the message that it is at; None: it reads all.
        """
        layer, position = self._generation.layer, start
        for number, batch in enumerate(group_batches(self._episodic.read(start, self.end)), 1):
            first = batch[0]
            if group in (None, first.group):
                events = derive_batch(self._generation, batch, self._episodes)
                if events:
                    layer.emit(first.group, first.recorded_at, first.cause, events)
            layer.checkpoint = position = first.position + first.size
            if number % FLUSH_EVERY == 0:
                layer.flush()
            if progress and number % 100 == 0:
                progress(position - start, self.end - start)
            if most is not None and position - start >= most:
                break
        layer.flush()
        return position


@contextmanager
def open_rehearsal(
    places: DirectoryLayout,
    scratch: DirectoryLayout,
    info: GenerationInfo,
    ontology: Ontology,
    extractors: ExtractorFactory,
    answers: Answers | None = None,
) -> Iterator[Rehearsal]:
    """Open a generation of a description in a temporary directory, from the episodic log of a memory.

    answers: where those of a language model come from; None: no model is asked.
    """
    keep_ontology(ontology, scratch.ontology_of(info.name))
    with (
        SqliteLog(places.episodic) as episodic,
        SqliteGraph(places.episodes, "episodic") as episodes,
        open_semantic(scratch, info, episodic) as log,
        following_store(log, scratch.graph(info.name)) as store,
    ):
        generation = generation_of(scratch, info, log, store, episodic, extractors, answers)
        yield Rehearsal(generation, store, episodic, episodes)

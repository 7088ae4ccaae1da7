"""Changes of the catalogue: a generation is built and listed, another one answers, one is dropped."""

import shutil
from contextlib import nullcontext
from typing import Final

from asof.runtime.build_file import BuildFile
from asof.runtime.generations import follow, keep_ontology
from asof.runtime.open_generations import OpenGenerations
from asof.runtime.open_logs import OpenLogs
from asof.runtime.recorded_answers import build_replies
from asof.runtime.wiring import Progress
from asof_agents.generation import Generation
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.prices import ModelBudget
from asof_streams.errors import BuildStopped


class GenerationAdmin:
    """What changes the generations of open logs; `episodes` is the graph of the episodic log."""

    def __init__(self, logs: OpenLogs, generations: OpenGenerations, episodes: SqliteGraph) -> None:
        self._logs: Final = logs
        self._generations: Final = generations
        self._episodes: Final = episodes

    def build(self, info: GenerationInfo, ontology: Ontology, progress: Progress | None, budget: ModelBudget) -> None:
        """Build a new generation beside the others, and add it to the catalogue once it has caught up.

        One of the same kind that stopped is gone on with: what it derived, and what a model answered, was kept.
        BuildStopped: another process asked for it, or the budget is spent, with what was spent on it before.
        """
        logs, generations = self._logs, self._generations
        folder, file = logs.places.generation(info.name), BuildFile(logs.places, info)
        if folder.exists() and not file.is_begun:
            shutil.rmtree(folder)  # it is in no catalogue
        keep_ontology(ontology, logs.places.ontology_of(info.name))
        file.begin()
        with file.running():
            try:
                generation, end = generations.open(info), logs.episodic.end()
                told = file.progress(generation.layer.checkpoint, end, progress)
                if not self._follow(info.name, generation, end, told, file, budget):
                    raise file.stopped()
            except BaseException:
                generations.remove(info.name)
                raise
            generations.add(info.name, generation)
            logs.set_catalog(logs.catalog.with_(info))
            file.remove()

    def _follow(
        self, name: str, generation: Generation, end: int, told: Progress, file: BuildFile, budget: ModelBudget
    ) -> bool:
        """Read the episodic log up to `end`; return whether it came so far. BuildStopped: a budget is spent."""
        journal, places = self._generations.journal, self._logs.places
        limited = journal.budget.of_build(budget, build_replies([places], name)) if journal else nullcontext()
        try:
            with limited:
                return follow(generation, self._logs.episodic, self._episodes, end, told, journal, file.is_to_stop)
        except BuildStopped:
            file.pause()
            raise

    def switch(self, name: str) -> None:
        """Let another generation answer, and be the one that is metered."""
        self._logs.set_catalog(self._logs.catalog.switched(name))
        self._generations.meter_alone(name)

    def drop(self, name: str) -> None:
        """Remove a generation, which must not be the one that answers."""
        self._logs.set_catalog(self._logs.catalog.without(name))
        self._generations.remove(name)
        shutil.rmtree(self._logs.places.generation(name))

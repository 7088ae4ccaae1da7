"""A trial of an ontology: the last episodes read twice by the rules, by the ontology that is kept and by another one.

Both sides are made in a temporary directory and begin with nothing known, so that their ontologies alone differ.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from asof.runtime.extractors import ExtractorFactory
from asof.runtime.layout import DirectoryLayout
from asof.runtime.rehearsal import open_rehearsal, temporary_layout
from asof.runtime.wiring import Progress, describe
from asof.settings import Settings
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.queries.comparison import Comparison, GenerationView
from asof_streams.instants import INF


@contextmanager
def try_ontology(
    places: DirectoryLayout,
    settings: Settings,
    active: GenerationInfo,
    ontologies: tuple[Ontology, Ontology],
    last: int,
    group: str | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Comparison, int]]:
    """Yield the comparison of what two ontologies make of the last episodes, and the number of these.

    active: the generation whose policy, ingestion and consolidation both have. group: None means all.
    """
    extractors, known = ExtractorFactory(), INF - 1
    with ExitStack() as opened:
        with SqliteGraph(places.episodes, "episodic") as episodes:
            positions = episodes.last_texts(group, last)
        scratch = opened.enter_context(temporary_layout(places, settings))
        views = []
        for name, ontology in zip(("base", "other"), ontologies, strict=True):
            version, chosen = extractors.version(ontology, active.ingestion), (active.consolidation, active.ingestion)
            info = describe(name, ontology, active.policy, "episodes", version, *chosen)
            made = opened.enter_context(open_rehearsal(places, scratch, info, ontology, extractors))
            if positions:
                made.run(positions[-1], group, progress=progress)
            turns = EpisodeReader(places.episodes, made.store.checkpoint)
            opened.callback(turns.close)
            views.append(GenerationView(made.store, turns, known))
        yield Comparison(*views), len(positions)

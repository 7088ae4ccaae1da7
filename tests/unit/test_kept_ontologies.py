"""The ontology that a copy of topics keeps beside what was made under it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from asof.runtime.kept_ontologies import kept_ontology, restore_ontologies
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import load_ontology
from asof_projections.generations import FIRST, Catalog, GenerationInfo

TOGETHER = 8


def test_several_agents_may_write_down_the_same_ontology_at_the_same_moment(tmp_path: Path) -> None:
    ontology = load_ontology("default")
    info = GenerationInfo(FIRST, ontology.id, ontology.digest, "rules-2", "recency", "episodes", "")
    catalog = Catalog(FIRST, (info,))
    ready = Barrier(TOGETHER)

    def restore(places: DirectoryLayout) -> None:
        ready.wait()
        restore_ontologies(places, catalog, ontology)

    with ThreadPoolExecutor(TOGETHER) as pool:
        for number in range(10):
            places = DirectoryLayout(tmp_path / str(number))
            assert [*pool.map(restore, [places] * TOGETHER)] == [None] * TOGETHER
            assert kept_ontology(places.ontology_of(FIRST)).digest == ontology.digest

"""asof in the Agent Memory Benchmark of Memvara: 262 events, 100 questions, its own runner and its own scoring.

The benchmark is in the source distribution of the package, from which it is run; nothing of it is here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import asof
from bench.figures import Figure
from bench.material import Material
from bench.peers.environments import interpreter, source

_ROOT: Final = Path(__file__).resolve().parents[2]
_RUN: Final = "from benchmarks.agent_memory.cli import main; main()"
_NEWER: Final = "import sys, pysqlite3; sys.modules['sqlite3'] = pysqlite3; "  # which Memvara needs
_OPEN: Final = {"entity_types": [{"name": "Thing", "description": "anything that has a name", "open": True}]}


def measure(material: Material) -> Iterator[Figure]:
    """Yield a figure for each category: of how many questions, and how many each memory answers rightly."""
    benchmark, folder = source("memvara"), material.folder / "agent-memory"
    folder.mkdir()
    runs = {
        "asof": (Path(sys.executable), _RUN, "bench.peers.agent_memory:AgentMemory"),
        "asof, lexical embedder": (Path(sys.executable), _RUN, "bench.peers.agent_memory:lexical"),
        "Memvara": (interpreter("memvara"), _NEWER + _RUN, "memvara"),
        "vector-rag, its baseline": (interpreter("memvara"), _RUN, "vector-rag"),
    }
    found: dict[str, Any] = {}
    for title, (python, program, system) in runs.items():
        file = folder / f"{len(found)}.json"
        command = [str(python), "-c", program, "--system", system, "--output", str(file), "--quiet"]
        paths = os.pathsep.join((str(_ROOT), str(benchmark)))
        subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, stdout=sys.stderr)
        result = json.loads(file.read_text())
        found[f"{title} {result['system_version']}"] = result["metrics"]
    for category in next(iter(found.values()))["by_category"]:
        of = {title: metrics["by_category"][category] for title, metrics in found.items()}
        yield _figure(category.replace("_", " "), of)
    yield _figure("all", {title: metrics["overall"] for title, metrics in found.items()})


def _figure(name: str, of: dict[str, Any]) -> Figure:
    asked = {"questions": float(next(iter(of.values()))["total"])}
    right = {title: float(one["correct"]) for title, one in of.items()}
    return Figure(name, "right answers", asked | right)


class AgentMemory:
    """What the runner asks for: it tells events one by one, and asks about slots, or in words alone."""

    name, version = "asof", asof.__version__

    def __init__(self, embedder: str = "minilm") -> None:
        self._embedder = embedder
        self._folder = TemporaryDirectory(prefix="asof-bench-")
        base: Any = import_module("benchmarks.agent_memory.adapters.base")
        self._answer, self._usage, self._indexable = base.MemoryAnswer, base.Usage, base.indexable

    def reset(self, predicates: Mapping[str, Any]) -> None:
        """Begin with an empty directory, whose ontology has these relations."""
        relations = [
            {
                "name": name,
                "means": f"what a thing {name.replace('_', ' ')}",
                "sentence": f"{{subject}} {name.replace('_', ' ')} {{object}}",
                "sources": ["Thing"],
                "targets": ["Thing"],
                "cardinality": declared.cardinality,
            }
            for name, declared in predicates.items()
        ]
        ontology = Path(self._folder.name, "ontology.yaml")
        about = {"id": "agent_memory_benchmark", "version": "1", "description": "What is told in a benchmark."}
        ontology.write_text(json.dumps({**about, **_OPEN, "relation_types": relations}))
        self._memory = asof.open(Path(self._folder.name, "data"), ontology=str(ontology), embedder=self._embedder)
        self._lines: list[dict[str, Any]] = []

    def remember(self, event: Any) -> None:
        """Keep what is told under a ref of its own, which names the source."""
        times = {"valid_at": event.valid_from, "invalid_at": event.valid_to, "recorded_at": event.recorded_at}
        line = {"subject": event.subject, "relation": event.predicate, "object": event.object}
        stated = {name: at.isoformat() for name, at in times.items() if at is not None}
        texts = {"fact": self._indexable(event), "ref": f"{event.source} {event.id}"}
        self._lines.append({**line, **stated, **texts})

    def query(self, ask: Any) -> Any:
        """Answer of the slot that is asked about, or of the one that a search finds."""
        self._flush()
        slot = ask.probe or self._searched(ask)
        if slot is None:
            return self._answer()
        subject, relation = slot
        if ask.about is not None:
            return self._answer(value=self._of(ask, subject, relation))
        held: dict[str, Any] = {"about": subject, "relation": relation}
        if ask.category == "change_detection":
            facts = self._memory.facts(**held, any_time=True)
        else:
            facts = self._memory.facts(**held, valid_at=ask.at, known_at=ask.known_at)
        objects = tuple(dict.fromkeys(fact.object for fact in facts))
        return self._answer(value=objects[0]) if len(objects) == 1 else self._answer(values=objects)

    def usage(self) -> Any:
        """Return that nothing is counted."""
        return self._usage()

    def close(self) -> None:
        """Close the directory, and remove it."""
        self._memory.close()
        self._folder.cleanup()

    def _searched(self, ask: Any) -> tuple[str, str] | None:
        hits = self._memory.search(ask.question, valid_at=ask.at, known_at=ask.known_at)
        return (hits[0].subject, hits[0].relation) if hits else None

    def _of(self, ask: Any, subject: str, relation: str) -> str | None:
        """Return when what is asked about began, or when or by whom it was first said, whatever became of it."""
        versions = [one for one in self._memory.history(subject) if (one.relation, one.object) == (relation, ask.about)]
        if not versions:
            return None
        if ask.category == "change_time":
            return str(min(one.valid_at for one in versions if one.valid_at).date())
        evidence = [said for one in versions for said in self._memory.why(one.uuid).evidence]
        first = min(evidence, key=lambda said: said.recorded_at)
        return first.name.split()[0] if ask.category == "provenance" else str(first.recorded_at.date())

    def _flush(self) -> None:
        if self._lines:
            taken = self._memory.import_facts(self._lines, recorded=True)
            assert not taken.refused
            assert not taken.parked
            self._memory.embed()  # as the memories beside it do when they are told: no answer depends on what is left
            self._lines = []


def lexical() -> AgentMemory:
    """Return asof with an embedder of words and their parts, as the benchmark gives one to Memvara."""
    return AgentMemory("hash")

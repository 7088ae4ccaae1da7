"""How time, disk and memory grow with history: measured at two sizes, one ten times the other.

At full scale these are 1,000,000 and 10,000,000. What 100,000,000 and a billion would take is arithmetic, whose
assumptions are printed above the table.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree

from bench import synthetic
from bench.figures import Figure
from bench.material import Material, child

_FULL = 1_000_000
_BEYOND = (10, 100)  # times the larger size, by arithmetic
_ASSUMED = """\
By arithmetic: each further fact takes what one took on average between {smaller:,} and {larger:,} facts, which were
measured. It assumes that nothing gets slower with size that had not by then, such as a graph that no longer fits into
the page cache, that a cache which was not full yet goes on growing, and that the machine has what comes out."""

Measured = dict[str, float]
_UNITS = {  # of what is measured at each size
    "import": "s of processor time",
    "import, peak resident memory": "MB",
    "disk": "MB",
    "disk, logs compressed": "MB",
    "compress": "s of processor time",
    "graph from its log": "s of processor time",
    "graph from its log, peak resident memory": "MB",
    "snapshot of every graph": "s of processor time",
    "graph from its snapshot": "s of processor time",
    "fresh process: open, answer": "s of processor time",
    "fresh process, peak resident memory": "MB",
}


def measure(material: Material) -> Iterator[Figure]:
    yield from _compared(material, _measured)


def measure_import(material: Material) -> Iterator[Figure]:
    """Measure what needs an import alone: at full scale 45 minutes of the processor, and 24 GB of disk."""
    yield from _compared(material, _imported)


def _compared(material: Material, measured: Callable[[Path, int], Measured]) -> Iterator[Figure]:
    smaller = material.count(_FULL, 200)
    larger = 10 * smaller
    first, second = (measured(material.folder / f"scale-{facts}", facts) for facts in (smaller, larger))
    print(_ASSUMED.format(smaller=smaller, larger=larger))
    for name, unit in _UNITS.items():
        if name not in first:
            continue
        each = max(0.0, second[name] - first[name]) / (larger - smaller)  # what does not grow does not shrink either
        yield Figure(f"{name}: {larger:,} facts", unit, {unit: second[name]}, {unit: first[name]}, f"{smaller:,} facts")
        for times in _BEYOND:
            grown = second[name] + each * larger * (times - 1)
            yield Figure(
                f"{name}: {larger * times:,} facts, by arithmetic", unit, {unit: grown}, note="arithmetic, not measured"
            )


def _imported(folder: Path, facts: int) -> Measured:
    found = _import(folder, facts) | _asked(folder, facts)
    rmtree(folder)  # ten times as much follows
    return found


def _import(folder: Path, facts: int) -> Measured:
    folder.mkdir()
    file, directory = folder / "facts.jsonl", folder / "data"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(facts))
    imported = child("import", directory, file)
    file.unlink()
    assert imported["accepted"] == facts
    return {
        "import": imported["cpu_seconds"],
        "import, peak resident memory": imported["peak_megabytes"],
        "disk": _megabytes(directory),
    }


def _asked(folder: Path, facts: int) -> Measured:
    asked = child("answer", folder / "data", synthetic.fact(facts // 2, facts)["subject"])
    return {
        "fresh process: open, answer": asked["cpu_seconds"],
        "fresh process, peak resident memory": asked["peak_megabytes"],
    }


def _measured(folder: Path, facts: int) -> Measured:
    imported, directory = _import(folder, facts), folder / "data"
    compressed = child("compress", directory)
    smaller = _megabytes(directory)
    built = child("projection", directory)
    taken = child("snapshot", directory)
    returned = child("projection-from-snapshot", directory)
    asked = _asked(folder, facts)
    rmtree(folder)  # ten times as much follows
    return {
        **imported,
        "disk, logs compressed": smaller,
        "compress": compressed["cpu_seconds"],
        "graph from its log": built["cpu_seconds"],
        "graph from its log, peak resident memory": built["peak_megabytes"],
        "snapshot of every graph": taken["cpu_seconds"],
        "graph from its snapshot": returned["cpu_seconds"],
        **asked,
    }


def _megabytes(directory: Path) -> float:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()) / 1e6

"""`asof import` from end to end: a file of JSON lines becomes messages, episodes, facts and a graph. No vectors."""

from collections.abc import Iterator

from bench.figures import Figure, Target, percentiles
from bench.material import Material


def measure(material: Material) -> Iterator[Figure]:
    done = material.imported
    size = sum(file.stat().st_size for file in material.directory.rglob("*") if file.is_file())
    yield Figure(
        f"import of {done['accepted']:,} facts",
        "facts/s",
        {"facts/s": done["accepted"] / done["seconds"]},
        targets=(Target("facts/s", 10_000, at_least=True),),
        note=f"{done['cpu_seconds']:.0f} s of processor time; messages synchronous=FULL, what follows from them NORMAL",
    )
    yield Figure("import, a thousand facts", "ms", percentiles(done["chunks"], 1e3))
    yield Figure(
        "import, peak resident memory",
        "MB",
        {"MB": done["peak_megabytes"]},
        targets=(Target("MB", 2_000),),
    )
    yield Figure("import, size on disk", "bytes a fact", {"bytes": size / done["accepted"]})

"""Top-10 by vector, exact, beside numpy on the same vectors."""

from collections.abc import Iterator

from bench import vectors
from bench.figures import Figure, Target
from bench.material import Material

_LIMIT = Target("p50", 15)


def measure(material: Material) -> Iterator[Figure]:
    found = vectors.index(material.count(100_000, 1_000))
    for search in found["searches"]:
        everything = search["among"] == "all"
        name = f"top-10 of {found['vectors']:,}" + ("" if everything else f", {search['among']:,} allowed")
        targets = (_LIMIT, Target("recall", 1.0, at_least=True))
        values = search["top10"] | {"recall": search["recall"]}
        yield Figure(name, "ms, recall", values, search["numpy_float32"], "numpy, float32", targets)
    yield Figure("saving the index", "s", {"s": found["save_seconds"]}, note="with fsync")
    yield Figure("opening the index", "s", {"s": found["open_seconds"]})

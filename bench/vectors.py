"""How fast texts become vectors and vectors are found: python bench/vectors.py [--count 100000], prints JSON.

Times are milliseconds unless their name says otherwise. Each search is beside the same question answered by numpy on
the same vectors as float32, which takes twice the memory; recall is measured against numpy on the stored float16.
"""

import argparse
import itertools
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.ports import Ids

WIDTH = 384
K = 10
QUERIES = 200
WHO = ("Ana", "My sister", "Deniz", "The team", "Giorgos", "Erik from Oslo")
DOES = ("works at", "moved to", "no longer likes", "met", "decided to use", "is married to", "grew up in")
WHAT = ("SAP in Walldorf", "Berlin", "the old town near the river", "Postgres", "a painter from Lisbon", "it")
WHEN = ("", "since March", "in the summer of 2021", "with some friends from the university")


def facts(count: int) -> list[str]:
    """Return short texts, about twelve tokens each, no two alike."""
    parts = itertools.cycle(itertools.product(WHO, DOES, WHAT, WHEN))
    return [f"{' '.join(words)} {number}" for number, words in enumerate(itertools.islice(parts, count))]


def milliseconds(call: Callable[[Any], object], arguments: Iterable[Any]) -> dict[str, float]:
    """Call once for each argument and return percentiles."""
    times = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        times.append(time.perf_counter() - start)
    return {f"p{share}": round(float(np.percentile(times, share)) * 1e3, 3) for share in (50, 99)}


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return round(time.perf_counter() - start, 3)


def embedding(make: Callable[[], Embedder], count: int = 2_000) -> dict[str, Any]:
    """Measure an embedder: its first text, which loads it; many together; one at a time; and all again from a cache."""
    texts = facts(count)
    embedder = make()
    first = seconds(lambda: embedder.embed(["first"]))
    together = seconds(lambda: embedder.embed(texts))
    with TemporaryDirectory() as folder:
        cached = CachedEmbedder(embedder, Path(folder) / "vectors.db")
        cached.embed(texts)
        again = seconds(lambda: cached.embed(texts))
        cached.close()
    return {
        "model": embedder.model_id,
        "first_text_seconds": first,
        "texts_per_second": round(count / together),
        "one_text": milliseconds(lambda text: embedder.embed([text]), texts[:QUERIES]),
        "cached_texts_per_second": round(count / again),
    }


def units(count: int, seed: int) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH), dtype=np.float32)
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return rows


def search(index: FaissVectorIndex, vectors: Vectors, allowed: Ids | None) -> dict[str, Any]:
    """Measure top-10 among the allowed ids (all, where None), and how many of the true ten are found."""
    queries = vectors[:QUERIES] + units(QUERIES, 1) / 2
    queries /= np.sqrt(np.square(queries).sum(axis=1, keepdims=True))
    stored = (vectors if allowed is None else vectors[allowed]).astype(np.float16)

    def beside(query: Vectors) -> Ids:
        return np.argpartition((vectors if allowed is None else vectors[allowed]) @ query, -K)[-K:]

    hits = 0
    for query in queries[:20]:
        # in 64 bits, a slice at a time: the truth, and not all of it in memory at once
        scores = np.concatenate([part.astype(float) @ query.astype(float) for part in np.array_split(stored, 20)])
        best = np.argsort(-scores, kind="stable")[:K]
        truth = set((best if allowed is None else allowed[best]).tolist())
        hits += len(truth & {found for found, _ in index.search(query, K, allowed)})
    ours = milliseconds(lambda query: index.search(query, K, allowed), queries)
    numpys = milliseconds(beside, queries[:20])
    return {
        "among": "all" if allowed is None else len(allowed),
        "top10": ours,
        "numpy_float32": numpys,
        "ratio": round(ours["p50"] / numpys["p50"], 2),
        "recall": hits / (20 * K),
    }


def index(count: int) -> dict[str, Any]:
    """Measure an index of so many vectors: filling, saving (with fsync), opening, finding."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.index"
        vectors = units(count, 0)
        filled = FaissVectorIndex.open(path, "bench", WIDTH)

        def fill() -> None:
            for at in range(0, count, 1000):
                filled.add(range(at, at + 1000), vectors[at : at + 1000])

        filling = seconds(fill)
        saving = seconds(lambda: filled.save(1))
        start = time.perf_counter()
        opened = FaissVectorIndex.open(path, "bench", WIDTH)
        opening = round(time.perf_counter() - start, 3)
        shares = [
            np.sort(np.random.default_rng(2).choice(count, int(count * share), False)) for share in (0.01, 0.1, 0.5, 1)
        ]
        return {
            "vectors": count,
            "fill_seconds": filling,
            "save_seconds": saving,
            "open_seconds": opening,
            "megabytes": round(path.stat().st_size / 1e6),
            "searches": [search(opened, vectors, allowed) for allowed in (None, *shares)],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="vectors in the index")
    count = parser.parse_args().count
    result = {
        "embedding": [embedding(MiniLMEmbedder), embedding(HashingEmbedder)],
        "index": index(count),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

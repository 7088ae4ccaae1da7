"""One message of any shape: what it costs a processor, from 8 KiB to 512 KiB, from the door to what can be asked."""

import gc
import shutil
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import asof
from asof_streams.messages import MAX_CONTENT_BYTES
from bench.figures import Figure, Target, slowness
from bench.material import Material
from bench.text_shapes import SHAPES

_SMALLEST = 8 * 1024
_TARGETS = (Target("scaled s", 3.0), Target("growth", 1.2))


def measure(material: Material) -> Iterator[Figure]:
    """Yield a figure for each shape. `growth` is that from a quarter of the largest size to it, of linear.

    At a small scale, some of the shapes alone.
    """
    largest = min(MAX_CONTENT_BYTES, max(material.count(MAX_CONTENT_BYTES), 4 * _SMALLEST))
    empty = material.folder / "shapes"
    with asof.open(empty, embedder="none") as memory:
        memory.add("Hello there.")
    for name, shape in islice(SHAPES.items(), material.count(len(SHAPES), 5)):
        sizes = {_SMALLEST, largest // 4, largest}  # two of them are one at the smallest scale
        seconds = {size: _seconds(empty, shape(size)) for size in sorted(sizes)}
        growth = seconds[largest] / max(seconds[largest // 4], 0.05) / 4
        values = {"scaled s": seconds[largest], "growth": growth}
        note = ", ".join(f"{size // 1024} KiB: {each:.3f} s" for size, each in seconds.items())
        yield Figure(f"{name}, {largest // 1024} KiB", "processor s, of linear", values, targets=_TARGETS, note=note)


def _seconds(empty: Path, text: str) -> float:
    """Return the processor seconds of one message in a new directory, on the machine that the targets speak of."""
    directory = empty.with_name("shape")
    shutil.copytree(empty, directory)
    try:
        with asof.open(directory, embedder="none") as memory:
            gc.collect()
            before = slowness()
            began = time.process_time()
            memory.add(text if text.strip() else f"x{text[1:]}", role="Ana")
            spent = time.process_time() - began
            return 2 * spent / (before + slowness())
    finally:
        shutil.rmtree(directory)

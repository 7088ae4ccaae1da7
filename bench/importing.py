"""`asof import` from end to end: a file of JSON lines becomes messages, episodes, facts and a graph. No vectors."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Final

from bench.figures import Figure, Target, Values, percentiles
from bench.material import Material

_SIZES: Final = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
_LEAST: Final = 5  # bytes a fact of what is shown


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
    if tables := _by_table(material, done["accepted"]):
        yield Figure("import, tables and indexes on disk", "bytes a fact", tables, note=f"of {_LEAST} bytes or more")


def _by_table(material: Material, facts: int) -> Values:
    """Return the bytes a fact of each table and index, the largest first; none, where SQLite does not count them."""
    sizes: Values = {}
    for file in (*material.directory.rglob("*.sqlite"), *material.directory.rglob("*.db")):
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file)) as db:
            sizes |= {f"{file.name}: {table}": size / facts for table, size in db.execute(_SIZES)}
    ordered = sorted(sizes.items(), key=lambda each: -each[1])
    return {name: size for name, size in ordered if size >= _LEAST}

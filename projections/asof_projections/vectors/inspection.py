"""Checks the files of vectors: each index against the texts that it is of, and against the vectors in the cache."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np

from asof_projections.embedding.cache import cached_vectors
from asof_projections.vectors import snapshot
from asof_streams.errors import DamagedFile, DamagedView
from asof_streams.sqlite import connect

_REMEDY: Final = "asof repair deletes it, and the next search makes it anew"


def check_index(path: Path, texts: Iterable[tuple[int, str]], cache: Path) -> int:
    """Check a saved index; return the number of its vectors. DamagedView: it is not what was made of its texts.

    texts: numbers and texts, by number. A vector is compared with that in the cache, where there is one.
    """
    found: list[tuple[snapshot.Header, np.ndarray, np.ndarray]] = []

    def room(header: snapshot.Header) -> list[memoryview]:
        ids = np.empty(header.count, np.int64)
        codes = np.empty((header.count, header.dimensions), np.float16)
        found.append((header, ids, codes))
        return [ids.view(np.uint8).data, codes.reshape(-1).view(np.uint8).data]

    snapshot.read(path, room)
    [(header, ids, codes)] = found
    of = dict(texts)
    if (np.diff(ids) <= 0).any() or any(int(number) not in of for number in ids):
        raise DamagedView(f"{path} is damaged: its vectors are not in the order of their texts; {_REMEDY}")
    cached = cached_vectors(cache, header.model_id, [of[int(number)] for number in ids])
    for number, code in zip(ids, codes, strict=True):
        vector = cached.get(of[int(number)])
        if vector is not None and not np.array_equal(vector.astype(np.float16), code):
            raise DamagedView(f"{path} is damaged: vector {number} is not that of its text; {_REMEDY}")
    return header.count


def check_cache(path: Path) -> None:
    """Check the pages and indexes of the cache of vectors. DamagedFile: they do not agree."""
    try:
        with closing(connect(path, writable=False, durable=False)) as db:
            whole = db.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]
    except sqlite3.Error:
        whole = False
    if not whole:
        raise DamagedFile(f"{path} is damaged: {_REMEDY}")

"""A cache of vectors by text, so that no text is embedded twice."""

import hashlib
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import numpy as np

from asof_projections.embedding.ports import Embedder, Vectors
from asof_streams.errors import DamagedFile, StorageFailed
from asof_streams.files import make_file
from asof_streams.sqlite import connect, owe_vacuum, vacuum

LOOKUP: Final = 500  # texts a query
UNKEPT: Final = 4096  # vectors that stay in memory alone
QUESTIONS: Final = 16  # vectors of questions that stay in memory
PAGE: Final = 8_192  # bytes: five vectors of 384 dimensions; one of 4 KB has two, and a fifth of it is empty
CHECKSUM: Final = 4  # bytes of CRC-32 behind each vector: after a bit flips, the vector is computed again

# float32, not the index's 16 bits: the cache returns the computed vector to the last bit.
# A rowid table with an index beside it: the keys are random, and inserting them must not move the vectors about.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS models (number INTEGER PRIMARY KEY, model_id TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vectors (
    text BLOB NOT NULL, model INTEGER NOT NULL, vector BLOB NOT NULL, grp TEXT, UNIQUE (text, model)
);
CREATE TABLE IF NOT EXISTS erasures (n INTEGER PRIMARY KEY AUTOINCREMENT, grp TEXT NOT NULL);
"""
_OF_GROUP: Final = "CREATE INDEX IF NOT EXISTS vector_group ON vectors (grp)"
_COUNT: Final = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'erasures'), 0)"
_FORGET: Final = (
    "DELETE FROM vectors WHERE grp = ? OR grp IS NULL"  # files of earlier versions do not say whose they are
)


class CachedEmbedder:
    """An embedder that calls another one only for texts whose vectors are not in the file at `path`.

    Any number of processes may share the file. Vectors that a crash loses are computed again.

    A vector belongs to the group that it was first kept for, and is erased with it; another group that has the same
    text gets it computed again. Processes read texts and keep vectors while another one erases, so an erasure is
    counted: what was read before one is not kept. It has two steps, `forget` before the graphs forget the group, and
    the first `vacuum` after, since in between somebody may have read a text again; the file remembers the second.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self._lock = threading.Lock()
        self._unkept: dict[bytes, Vectors] = {}
        self.model_id: Final = embedder.model_id
        with self._errors():
            make_file(path)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            with self._errors():
                self._model = self._prepare()
        except BaseException:
            self._db.close()
            raise

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str], groups: Sequence[str] = (), erasures: int | None = None) -> Vectors:
        """Return the vectors of texts, and keep those that are not kept yet.

        groups: whose each text is. erasures: their count before the texts were read; if it is another one now, they
        may be of an erased group, and nothing is kept.
        """
        return self._vectors(texts, dict(zip(map(_key, texts), groups, strict=False)), erasures, keep=True)

    @property
    def erasures(self) -> int:
        """The number of steps that erasures of groups have taken."""
        with self._lock, self._errors():
            [count] = self._db.execute(_COUNT).fetchone()
        return int(count)

    @property
    def forgets(self) -> bool:
        """Whether an erasure has its second step before it, of which the first `vacuum` is a part."""
        with self._lock, self._errors():
            return self._db.execute("SELECT 1 FROM erasures").fetchone() is not None

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Return those of some texts that `embed` would have to compute, each once."""
        texts_of = {_key(text): text for text in texts}
        with self._lock:
            missing = [key for key in texts_of if key not in self._unkept]
        held = self._held(missing)
        return [texts_of[key] for key in missing if key not in held]

    def compute(self, texts: Sequence[str]) -> None:
        """Have the vectors of these texts in memory, for a later `embed`. It touches no file."""
        self._remember(dict(zip(map(_key, texts), self._embedder.embed(texts), strict=True)))

    def remember(self, text: str, vector: Vectors) -> None:
        """Have a vector that was computed elsewhere in memory, for a later `embed` of its text. It touches no file."""
        self._remember({_key(text): vector})

    def embed_unkept(self, texts: Sequence[str]) -> Vectors:
        """Return vectors as `embed` does, but cache them in memory alone.

        It is for texts that may never be stored: erasure could not find their vectors in the file. A later `embed` of
        the same text does not compute it again.
        """
        return self._vectors(texts, {}, None, keep=False)

    def _vectors(self, texts: Sequence[str], groups: dict[bytes, str], erasures: int | None, *, keep: bool) -> Vectors:
        keys = [_key(text) for text in texts]
        texts_of = dict(zip(keys, texts, strict=True))
        held = self._held(list(texts_of))
        fresh = {k: vector for k in texts_of if k not in held and (vector := self._unkept.get(k)) is not None}
        missing = [key for key in texts_of if key not in held and key not in fresh]
        if missing:
            fresh.update(zip(missing, self._embedder.embed([texts_of[key] for key in missing]), strict=True))
        if keep:
            self._keep(fresh, groups, erasures)
        else:
            self._remember(fresh)
        held |= fresh
        return np.stack([held[key] for key in keys]) if keys else np.empty((0, self.dimensions), np.float32)

    def forget(self, group: str) -> None:
        """Erase the vectors of a group, under every model; copies may be left in the file until `vacuum`."""
        with self._lock, self._errors(), self._transaction():
            self._db.execute(_FORGET, (group,))
            self._db.execute("INSERT INTO erasures (grp) VALUES (?)", (group,))
            owe_vacuum(self._db)

    def vacuum(self) -> bool:
        """Rewrite the file if vectors were erased; return whether nothing of them is left. False: a reader is there.

        To be called once the graphs have forgotten the group: what was kept of it meanwhile is erased, too.
        """
        with self._lock, self._errors():
            with self._transaction():
                groups = self._db.execute("SELECT DISTINCT grp FROM erasures").fetchall()
                if groups:
                    self._db.executemany(_FORGET, groups)
                    self._db.execute("INSERT INTO erasures (grp) VALUES ('')")  # a step that others notice
                    self._db.execute("DELETE FROM erasures")
            return vacuum(self._db)

    def close(self) -> None:
        with self._lock, self._errors():
            self._db.close()

    def _prepare(self) -> int:
        """Make the tables where they are not there yet, and return the number of our model in them."""
        self._db.execute(f"PRAGMA page_size = {PAGE}")  # of a new file
        self._db.execute("PRAGMA trusted_schema = OFF")
        if self._db.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('view', 'trigger')").fetchone():
            raise sqlite3.DatabaseError  # a program that SQLite would run: somebody else made the file
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA secure_delete = ON")  # erased rows are overwritten
        self._db.executescript(_SCHEMA)
        if "grp" not in {row[1] for row in self._db.execute("PRAGMA table_info (vectors)")}:
            with suppress(sqlite3.OperationalError):  # another process was first
                self._db.execute("ALTER TABLE vectors ADD COLUMN grp TEXT")
        self._db.execute(_OF_GROUP)
        self._db.execute("INSERT OR IGNORE INTO models (model_id) VALUES (?)", [self.model_id])
        [number] = self._db.execute("SELECT number FROM models WHERE model_id = ?", [self.model_id]).fetchone()
        return int(number)

    def _held(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        held: dict[bytes, Vectors] = {}
        for start in range(0, len(keys), LOOKUP):
            asked = keys[start : start + LOOKUP]
            marks = ",".join("?" * len(asked))
            query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
            with self._lock, self._errors():
                rows = self._db.execute(query, [self._model, *asked]).fetchall()
            held.update((key, vector) for key, blob in rows if (vector := self._decode(blob)) is not None)
        return held

    def _keep(self, fresh: dict[bytes, Vectors], groups: dict[bytes, str], erasures: int | None) -> None:
        rows = [(key, self._model, _encode(vector), groups.get(key)) for key, vector in fresh.items()]
        if rows:
            with self._lock, self._errors(), self._transaction():
                if erasures in (None, *self._db.execute(_COUNT).fetchone()):
                    self._db.executemany(
                        "INSERT OR REPLACE INTO vectors (text, model, vector, grp) VALUES (?, ?, ?, ?)", rows
                    )

    def _remember(self, fresh: dict[bytes, Vectors]) -> None:
        with self._lock:
            if len(self._unkept) > UNKEPT:
                self._unkept.clear()
            self._unkept.update(fresh)

    def _decode(self, blob: bytes) -> Vectors | None:
        body, checksum = blob[:-CHECKSUM], blob[-CHECKSUM:]
        if len(body) != 4 * self.dimensions or zlib.crc32(body).to_bytes(CHECKSUM, "little") != checksum:
            return None
        return np.frombuffer(body, "<f4").astype(np.float32, copy=False)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StorageFailed(f"{self._path}: {error.sqlite_errorname}") from None
        except OSError as error:
            raise StorageFailed(f"{self._path}: {error.strerror}") from None
        except sqlite3.DatabaseError:
            raise DamagedFile(f"{self._path} is damaged; delete it: what it held is computed again") from None


class QuestionEmbedder:
    """An embedder that remembers the last questions, in memory alone: a search may ask for the same one twice.

    computed: called with each vector that it computes, and its text.
    """

    def __init__(self, embedder: Embedder, computed: Callable[[str, Vectors], None]) -> None:
        self._embedder = embedder
        self._computed = computed
        self._last: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self.model_id: Final = embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        with self._lock:  # whoever asks for the same question meanwhile waits for it
            vector = self._last.pop(text, None)
            if vector is None:
                [vector] = self._embedder.embed([text])
                self._computed(text, vector)
            self._last[text] = vector
            if len(self._last) > QUESTIONS:
                self._last.popitem(last=False)
        return vector


def cached_vectors(path: Path, model_id: str, texts: Sequence[str]) -> dict[str, Vectors]:
    """Return the vectors of these texts that a file of a CachedEmbedder has, to the last bit as they were computed."""
    if not path.exists():
        return {}
    found: dict[str, Vectors] = {}
    sql = "SELECT vector FROM vectors JOIN models ON number = model WHERE model_id = ? AND text = ?"
    try:
        with closing(connect(path, writable=False, durable=False)) as db:
            for text in texts:
                for (blob,) in db.execute(sql, (model_id, _key(text))):
                    body = blob[:-CHECKSUM]
                    if zlib.crc32(body).to_bytes(CHECKSUM, "little") == blob[-CHECKSUM:]:
                        found[text] = np.frombuffer(body, "<f4")
    except sqlite3.DatabaseError:
        raise DamagedFile(f"{path} is damaged; delete it: what it held is computed again") from None
    return found


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _encode(vector: Vectors) -> bytes:
    body = vector.astype("<f4", copy=False).tobytes()
    return body + zlib.crc32(body).to_bytes(CHECKSUM, "little")

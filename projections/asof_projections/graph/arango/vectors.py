"""A vector index in ArangoDB, beside its graph: 16 bits a dimension.

A vector is a document whose key is the number of its fact or name, and which has its group and its model. Writing it
twice is harmless, erasing the group removes it, and vectors of two models are never compared. Vectors are stored as
soon as they are added; a document beside the graph's checkpoint has the model and the position. Where an operator has
made a vector index of ArangoDB that fits, searches among live facts use it, approximately.
"""

from array import array
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Vectors
from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import ArangoReader
from asof_projections.graph.arango.errors import NoVectorIndex, require_gone
from asof_projections.graph.arango.schema import CHECKPOINTS, prefix
from asof_projections.graph.arango.wire import ascii_text, chunks
from asof_projections.model.rows import Moment, Window
from asof_projections.vectors import snapshot
from asof_projections.vectors.ports import Ids, LiveFacts

_CHUNK: Final = 500  # vectors a request: a few megabytes
_CANDIDATES: Final = 4  # of the approximate index, for each one wanted: some do not hold
_EVER: Final = {"group": None, **Window.at(Moment(None, None))._asdict()}
_TRAINED: Final = (None, "ready")  # older servers do not say
_SHARED: Final = ("_db", "_where", "_log", "_memory", "_state")  # with the graph
_BEFORE: Final = -(2**63)  # every number


class ArangoVectorIndex(ArangoReader):
    """One of the collections VECTORS of a log's graph. It shares the connection, and so the thread, of that graph.

    Within a consistent read of the graph it is searched in the same state.
    """

    def __init__(self, graph: ArangoReader, kind: str, model_id: str, dimensions: int) -> None:
        """Open the stored vectors; those of another model are removed. GraphUnavailable: the server does not answer."""
        vars(self).update({name: vars(graph)[name] for name in _SHARED})
        self._name = prefix(self._log) + kind
        self._model: Final = {"model": model_id, "dimensions": dimensions}
        checkpoint = self._with_retries(lambda: self._db.collection(CHECKPOINTS).get(self._name))
        if checkpoint is None or {name: checkpoint[name] for name in self._model} != self._model:
            self.clear()
        else:
            self.position = int(checkpoint["position"])
        self._approximates = any(map(self._fits, self._with_retries(self._rows.indexes)))

    def __len__(self) -> int:
        return int(self._with_retries(self._rows.count))

    def add(self, ids: Ids | Sequence[int], vectors: Vectors, groups: Sequence[str] = ()) -> None:
        codes = vectors.astype(np.float16).astype(float)
        whose: Sequence[str | None] = groups or [None] * len(ids)
        each = {int(n): (code, group) for n, code, group in zip(ids, codes, whose, strict=True)}  # the last of equals
        for some in chunks(each.items(), _CHUNK):
            documents = [
                {
                    "_key": str(n),
                    "n": n,
                    "grp": group and ascii_text(group),
                    "model": self._model["model"],
                    "vector": code.tolist(),
                }
                for n, (code, group) in some
            ]
            self._write(self._rows, documents)

    def remove(self, ids: Ids | Sequence[int]) -> None:
        for keys in chunks((str(int(n)) for n in ids), _CHUNK):
            self._with_retries(partial(self._delete, keys))

    def clear(self) -> None:
        self._with_retries(self._rows.truncate)
        self.save(0)

    def search(self, query: Vectors, k: int, among: Ids | LiveFacts | None = None) -> list[tuple[int, float]]:
        if k <= 0:
            return []
        parameters = {
            "@rows": self._name,
            "model": self._model["model"],
            "near": query.astype(float).tolist(),
            "limit": k,
        }
        if isinstance(among, LiveFacts):
            parameters |= {"group": among.group, **Window.at(among.at)._asdict()}
            rows = self._nearly(parameters, _CANDIDATES * k) if self._approximates else []
            if len(rows) < k:
                rows = self._query(aql.NEAR, **parameters, keys=None, holding=True)
        else:
            keys = None if among is None else [str(n) for n in np.unique(among).tolist()]
            rows = self._query(aql.NEAR, **parameters, **_EVER, keys=keys, holding=False)
        return [(int(n), float(score)) for n, score in rows]

    def cosines(self, query: Vectors, ids: Ids) -> NDArray[np.float64]:
        found = dict(self.search(query, len(ids), ids))
        return np.array([found.get(int(number), np.nan) for number in ids], np.float64)

    def save(self, position: int) -> None:
        self._write(self._db.collection(CHECKPOINTS), [{"_key": self._name, "position": position, **self._model}])
        self.position = position

    def digest(self) -> str:
        ids, codes = array("q"), bytearray()
        while page := self._after(ids[-1] if ids else _BEFORE):
            ids.extend(row["n"] for row in page)
            codes += np.array([row["vector"] for row in page], np.float16).tobytes()
        return snapshot.digest([memoryview(ids).cast("B"), memoryview(codes)])

    def _after(self, number: int) -> list[dict[str, Any]]:
        """Return some vectors with greater numbers, ascending."""
        bound = {"@rows": self._name, "group": None, "prefix": None, "after": number, "known": 0, "limit": _CHUNK}
        return self._execute(aql.PAGE, bound, _CHUNK)

    @property
    def _rows(self) -> Any:
        return self._db.collection(self._name)

    def _nearly(self, parameters: dict[str, Any], candidates: int) -> list[Any]:
        """Return what the approximate index finds, which may be fewer than exist."""
        try:
            return self._query(aql.NEARLY, **parameters, candidates=candidates)
        except NoVectorIndex:  # it was dropped, or is not trained
            return []

    def _fits(self, index: dict[str, Any]) -> bool:
        """Whether a vector index compares these vectors, and is trained (older servers do not say)."""
        if index["type"] != "vector" or index["fields"] != ["vector"] or index.get("training_state") not in _TRAINED:
            return False
        params = index["params"]
        return (params["metric"], params["dimension"]) == ("cosine", self._model["dimensions"])

    def _delete(self, keys: list[str]) -> None:
        require_gone(self._rows.delete_many(keys))

    def _write(self, collection: Any, documents: list[dict[str, Any]]) -> None:
        self._with_retries(
            lambda: collection.insert_many(documents, overwrite_mode="replace", raise_on_document_error=True)
        )

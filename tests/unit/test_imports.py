"""Imports point down: entry points, agents, projections, then streams and ontologies. And asof starts quickly."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BELOW = {
    "entrypoints/asof": {"asof_agents", "asof_projections", "asof_streams", "asof_ontologies"},
    "agents/asof_agents": {"asof_projections", "asof_streams", "asof_ontologies"},
    "projections/asof_projections": {"asof_streams", "asof_ontologies"},
    "ontologies/asof_ontologies": set(),
    "streams/asof_streams": set(),
}
OURS = {Path(package).name for package in BELOW}
HEAVY = {"faiss", "numpy", "openai", "sentence_transformers", "tokenizers"}


def packages_imported(source: str) -> Iterator[str]:
    """Yield which of our packages a module's source imports, wherever in the module it does so."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.Call(args=[ast.Constant(value=str(module)), *_]) if "import" in ast.unparse(node.func):
                modules = [module]
            case _:
                continue
        yield from OURS.intersection(module.split(".")[0] for module in modules)


@pytest.mark.parametrize("package", BELOW)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    allowed = BELOW[package] | {Path(package).name}
    modules = list((ROOT / package).rglob("*.py"))

    upward = {
        f"{module.relative_to(ROOT)} imports {imported}"
        for module in modules
        for imported in packages_imported(module.read_text())
        if imported not in allowed
    }

    assert modules
    assert not upward


COMMAND_LINE = {"asof.cli", "asof.operations", "asof.service", "asof.settings"}
STARTS = ("serve.py", "asof.http.serving")  # one command starts the other door


def test_the_command_line_imports_operations_service_and_settings_only() -> None:
    imported = {
        (path.name, node.module)
        for path in (ROOT / "entrypoints" / "asof" / "cli").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS
    }

    assert ("facts.py", "asof.operations.errors") in imported
    assert {(name, of) for name, of in imported if ".".join(of.split(".")[:2]) not in COMMAND_LINE} == {STARTS}


@pytest.mark.parametrize(
    "source",
    [
        "import asof_agents.handlers.facts",
        "import os, asof_agents as a",
        "from asof_agents import facts",
        "from asof_agents.handlers.facts import handle",
        "def f():\n    from asof_agents import facts",
        "if TYPE_CHECKING:\n    import asof_agents",
        "importlib.import_module('asof_agents.handlers.facts')",
        "__import__('asof_agents')",
    ],
)
def test_no_way_of_importing_is_overlooked(source: str) -> None:
    assert set(packages_imported(source)) == {"asof_agents"}


PUBLISHING = ("streams", "ontologies", "agents")  # floors whose packages list their public modules in `__all__`


def modules_imported(source: str) -> Iterator[str]:
    """Yield the full names that a source imports from our packages: of modules, or of things in modules."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                names_ = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                names_ = [f"{module}.{alias.name}" for alias in names]
            case _:
                continue
        yield from (name for name in names_ if name.split(".")[0] in OURS)


def our_modules() -> dict[str, Path]:
    """Return the files of our modules and packages by their dotted names."""
    files = [file for package in BELOW for file in (ROOT / package).rglob("*.py")]
    roots = {file: next(root for root in map(ROOT.joinpath, BELOW) if root in file.parents).parent for file in files}
    names = {file: ".".join(file.relative_to(root).with_suffix("").parts) for file, root in roots.items()}
    return {name.removesuffix(".__init__"): file for file, name in names.items()}


def listed(package: Path) -> set[str] | None:
    """Return the public modules that a package lists; None: it lists none."""
    for node in ast.parse(package.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def crossings(modules: dict[str, Path]) -> Iterator[tuple[str, str, str]]:
    """Yield (importer, package, part of it) wherever a module imports from a package in which it is not."""
    for importer, file in modules.items():
        for name in modules_imported(file.read_text()):
            parts = name.split(".")
            for at in range(1, len(parts)):
                package, inner = ".".join(parts[:at]), ".".join(parts[: at + 1])
                if inner in modules and not f"{importer}.".startswith(f"{package}."):
                    yield importer, package, parts[at]


def test_only_the_modules_that_a_package_lists_are_imported_from_outside_of_it() -> None:
    modules = our_modules()
    packages = {name: listed(file) for name, file in modules.items() if file.name == "__init__.py"}
    floors = {name for name in packages if modules[name].relative_to(ROOT).parts[0] in PUBLISHING}
    public = {name: parts for name, parts in packages.items() if name in floors and parts is not None}
    used = list(crossings(modules))

    assert floors == public.keys()
    assert not {
        f"{importer} imports {package}.{part}, which is private to {package}"
        for importer, package, part in used
        if package in public and part not in public[package]
    }
    assert not {
        f"{package} lists {part}, which no module outside of it imports"
        for package, parts in public.items()
        for part in parts - {part for _, at, part in used if at == package}
    }


@pytest.mark.parametrize("statement", ["import asof", "import asof.cli"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    assert loaded_after(statement) & HEAVY == set()


HELP = """
import sys, asof.cli
sys.argv = ["asof", "--help"]
try:
    asof.cli.main()
except SystemExit as end:
    assert not end.code
"""


def test_asking_for_help_loads_nothing_heavy() -> None:
    assert loaded_after(HELP) & HEAVY == set()


def test_asking_for_help_loads_none_of_what_reads_and_checks_events() -> None:
    assert loaded_after(HELP) & {"pydantic", "pydantic_settings", "sqlite3", "yaml"} == set()


def test_reading_by_rules_loads_nothing_of_what_asks_a_model() -> None:
    asking = {f"asof_agents.extraction.llm.{name}" for name in ("answers", "chat_model", "extractor")}

    assert loaded_after("import asof.runtime.writer") & asking == set()


BY_RULES = """
import asof, tempfile
with tempfile.TemporaryDirectory() as folder, asof.open(folder) as memory:
    memory.add("I live in Rome.", role="Ana")
    assert [fact.object for fact in memory.facts()] == ["Rome"]
"""


def test_reading_by_rules_loads_nothing_that_computes_or_compares_vectors() -> None:
    comparing = {
        "faiss",
        "safetensors",
        "tokenizers",
        "openai",
        "asof.runtime.vector_search",
        "asof.runtime.name_vectors",
    }

    assert loaded_after(BY_RULES) & comparing == set()


def test_serving_a_directory_loads_nothing_that_computes_vectors_or_speaks_to_kafka() -> None:
    assert loaded_after("import asof.http.serving") & {"faiss", "tokenizers", "aiokafka", "faust"} == set()


def loaded_after(program: str) -> set[str]:
    """Return the names of all modules that a fresh interpreter has loaded after the program."""
    report = f"{program}\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(done.stderr.split())

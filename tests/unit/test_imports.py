"""Imports point down, from floor to floor and within each package. And asof starts quickly."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import asof

ROOT = Path(__file__).resolve().parents[2]
BELOW = {
    "entrypoints/asof": {"asof_agents", "asof_projections", "asof_streams", "asof_ontologies"},
    "agents/asof_agents": {"asof_projections", "asof_streams", "asof_ontologies"},
    "projections/asof_projections": {"asof_streams", "asof_ontologies"},
    "ontologies/asof_ontologies": set(),
    "streams/asof_streams": set(),
}
OURS = {Path(package).name for package in BELOW}
NAMED_TWICE = {
    "Message",
    "Outgoing",
    "Slot",
    "Wording",
}  # Graphiti's form of a message; a record to a topic, an answer to a platform; in English: slots and wordings
HEAVY = {"faiss", "numpy", "openai", "sentence_transformers", "tokenizers"}


# The floors of asof: each room, and the rooms of asof and the other packages of ours that it may import.
DOOR = {"operations", "service", "settings"}
BELOW_RUNTIME = {"asof_agents", "asof_projections", "asof_streams", "asof_ontologies"}
ROOMS = {
    "http": DOOR | {"mcp"},  # serves agents beside its own routes
    "mcp": DOOR,
    "__main__": {"cli"},
    "cli": DOOR | {"http", "mcp"},  # commands start other doors
    "api": DOOR | {"asof_streams"},  # the twin runs on a pool of threads
    "operations": {"service", "runtime", "kafka", "settings"} | BELOW_RUNTIME,
    "service": {"runtime", "kafka", "settings"} | BELOW_RUNTIME,
    "runtime": {"settings"} | BELOW_RUNTIME,
    "kafka": {"runtime", "settings"} | BELOW_RUNTIME,
    "settings": BELOW_RUNTIME,
}
MOST_FOLDERS = 8  # at the top of asof, so that one look takes in all of them


@cache  # several tests read all modules
def modules_imported(source: str) -> tuple[str, ...]:
    """Return the full names that a source imports from our packages: of modules, or of things in modules."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0, names=names):
                modules = [f"{module}.{alias.name}" for alias in names]
            case ast.Call(args=[ast.Constant(value=str(module)), *_]) if "import" in ast.unparse(node.func):
                modules = [module]
            case _:
                continue
        found += (module for module in modules if module.split(".")[0] in OURS)
    return tuple(found)


def packages_imported(source: str) -> Iterator[str]:
    """Yield which of our packages a module's source imports."""
    yield from (module.split(".")[0] for module in modules_imported(source))


def rooms_imported(package: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield the room that imports, the room of its package or the other package that it imports, and the module."""
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        for module in modules_imported(path.read_text()):
            name, _, rest = module.partition(".")
            imported = rest.split(".")[0] if name == package.name else name
            if imported not in ("", room):
                yield room, imported, path


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


def test_each_room_of_asof_imports_only_those_below_it() -> None:
    package = ROOT / "entrypoints/asof"
    found = [each for each in rooms_imported(package) if each[0] != "__init__"]
    upward = {(room, imported): path.relative_to(ROOT) for room, imported, path in found if imported not in ROOMS[room]}

    assert {room for room, _, _ in found} == set(ROOMS)
    assert not upward


def test_asof_has_at_most_eight_folders_at_its_top() -> None:
    folders = {path.parent.name for path in (ROOT / "entrypoints/asof").glob("*/__init__.py")}

    assert folders == ROOMS.keys() - {"settings", "__main__"}
    assert len(folders) <= MOST_FOLDERS


def test_what_talks_with_people_on_a_platform_knows_no_commands() -> None:
    cli = ROOT / "entrypoints/asof/cli"
    platforms = {cli / "terminal.py", *(cli / "discord").glob("*.py")} - {cli / "discord/command.py"}
    own = {"asof.cli.discord", "asof.cli.terminal"}

    assert len(platforms) > len(own)
    assert not {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in platforms
        for module in modules_imported(path.read_text())
        if module.startswith("asof.cli") and ".".join(module.split(".")[:3]) not in own
    }


def test_a_class_name_stands_once_in_the_tree() -> None:
    names = Counter(
        name
        for package in BELOW
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"^ *class (?!_)(\w+)", path.read_text("utf-8"), re.MULTILINE)
    )

    assert {name for name, count in names.items() if count > 1} == NAMED_TWICE


@pytest.mark.parametrize("package", ["agents/asof_agents", "projections/asof_projections"])
def test_no_two_folders_import_each_other(package: str) -> None:
    folders = {path.name for path in (ROOT / package).iterdir() if path.is_dir()}
    edges = {(room, imported) for room, imported, _ in rooms_imported(ROOT / package) if {room, imported} <= folders}
    reached = {folder: {folder} for folder in folders}
    for _ in folders:
        for room, imported in edges:
            reached[room] |= reached[imported]
    circles = {frozenset({a, b}) for a in folders for b in reached[a] - {a} if a in reached[b]}

    assert edges
    assert not circles


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


PUBLISHING = (
    "streams",
    "ontologies",
    "projections",
    "agents",
    "entrypoints",
)  # floors whose packages list their public modules in `__all__`


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
    packages = [name for name, file in modules.items() if file.name == "__init__.py"]
    floors = {name for name in packages if modules[name].relative_to(ROOT).parts[0] in PUBLISHING}
    floors.remove("asof")  # lists the names that it exports, not its modules
    public = {name: parts for name in floors if (parts := listed(modules[name])) is not None}
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


def test_a_question_loads_nothing_that_derives_beliefs_reads_an_ontology_or_searches(tmp_path: Path) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Berlin.", role="Ana")
    asked = f"""
import asof
with asof.open({str(tmp_path / "data")!r}, embedder="none") as memory:
    assert [fact.object for fact in memory.facts(about="Ana")] == ["Berlin"]
"""
    deriving = {"asof.runtime.writer", "asof_agents.engine", "asof_agents.handlers.facts", "asof_agents.resolution"}

    assert loaded_after(asked) & (deriving | HEAVY | {"yaml", "xml.sax"}) == set()


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
        "tokenizers",
        "openai",
        "asof.runtime.vector_search",
        "asof.runtime.name_vectors",
    }

    assert loaded_after(BY_RULES) & comparing == set()


STRUCTURED = """
import asof, tempfile
with tempfile.TemporaryDirectory() as folder, asof.open(folder, embedder="none") as memory:
    memory.import_facts([{"group_id": "g", "subject": "Ana", "relation": "lives_in", "object": "Rome"}])
    assert [fact.object for fact in memory.facts(group_id="g")] == ["Rome"]
"""


EDITORS = "import asof.cli.mcp, asof.settings, asof.mcp.stdio"  # what the process that an editor starts loads
GREETING = "import asof.mcp.local_process as serving; serving.load_sdk_here()"  # what greets an agent loads


def test_the_process_that_an_editor_starts_loads_nothing_that_serves() -> None:
    serving = {"mcp", "mcp_types", "starlette", "sqlite3", "asof.service.service", "asof.runtime.child_process"}

    assert loaded_after(EDITORS) & serving == set()


def test_an_agent_is_greeted_by_a_process_that_loads_nothing_that_derives_searches_or_is_a_client() -> None:
    deriving = {"asof.runtime.generations", "asof.runtime.writer", "asof_agents.engine", "asof_agents.resolution"}
    searching = {"asof.runtime.vector_search", "yaml"} | HEAVY

    clients = {"mcp.client", "mcp.server.mcpserver", "httpx2"}

    assert loaded_after(GREETING) & (deriving | searching | clients) == set()


def test_importing_facts_loads_no_tables_of_the_rules() -> None:
    tables = {f"asof_agents.extraction.english.{name}" for name in ("extractor", "patterns", "dates")}

    assert loaded_after(STRUCTURED) & tables == set()


def test_serving_a_directory_loads_nothing_that_computes_vectors_or_speaks_to_kafka() -> None:
    assert loaded_after("import asof.http.server") & {"faiss", "tokenizers", "aiokafka", "faust"} == set()


@cache
def loaded_after(program: str) -> frozenset[str]:
    """Return the names of all modules that a fresh interpreter has loaded after the program."""
    report = f"{program}\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return frozenset(done.stderr.split())

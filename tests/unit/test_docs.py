"""The reference pages say all that there is, what they say is so, and every text names files that are there."""

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from asof.api.memory import Memory
from asof.settings import Settings
from asof_ontologies import cues, model
from asof_streams import control, conversation, events

assert control, conversation  # their events count, too
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GLOSSARY = DOCS / "reference" / "glossary.md"
TEXTS = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(r"(?<![\w./])(?:streams|agents|projections|ontologies|entrypoints|tests|docs|bench)/[\w./-]*[\w/]")
PAGES = ["cli.md", "events.md", "mcp.md", "modules.md", "python.md", "settings.md", "topics.md"]
ONTOLOGY = (model.Ontology, model.EntityType, model.AttributeType, model.RelationType)
NOT_OURS = {"Outcome", "Iterator", "Any"}
ABSENT = re.compile(r"\bdesign [0-9]|temporal\.md|\bspec[/]|add-messages [0-9]|house\.md")  # papers kept elsewhere
QUOTING = {"docs/conformance.md"}  # names the criteria of the specifications, which is what it is for
FLOORS = ["streams", "ontologies", "projections", "agents", "entrypoints"]
ROOTS = [*FLOORS, "docs", "bench", "examples", "tests"]
MADE = {"bench/results/"}  # by the program that names it
LINES_LOOKED_FOR = 10
CALL = re.compile(r"\basof ([a-z][a-z-]*)\b([^`\n\"';|]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
TERM = re.compile(r"^- \*\*([^*]+)\*\*: ", re.MULTILINE)
TERMS_OF_FIELDS = {  # the fields of events that are named by a term, or by a form of one; an id names its noun
    "alias": "alias", "attested": "attestation", "build": "build", "cardinality": "cardinality", "cause": "cause",
    "communities_changed_nodes": "community", "communities_detected": "community",
    "entity_duplicates_found": "duplicate", "entity_merges_performed": "merge", "half_life_secs": "decay",
    "nodes": "entity", "nodes_decayed": "decay",
    "archetype": "archetype", "checkin_id": "check-in", "external_id": "external id",
    "confidence": "confidence", "corrects": "correction", "duplicate": "duplicate", "entity": "entity",
    "extractor": "extractor", "fact": "fact", "former": "stance", "generation": "generation", "grain": "grain",
    "granule": "granule", "shared": "stance",
    "holds": "belief", "invalid_at": "valid time",
    "live": "statement", "memory": "memory", "object": "object", "ontology": "ontology", "policy": "policy",
    "ref": "ref", "author_id": "external id", "saliency": "saliency",
    "occurrence": "occurrence", "planned": "plan", "position": "position", "rule": "rule",
    "qualifiers": "qualifier", "relation": "relation", "request": "request",
    "said_at": "said time", "schema_id": "ontology", "source_description": "source description",
    "stance": "stance", "subject": "subject", "support": "support", "suppress_content": "suppression",
    "suppressed": "suppression", "timezone": "timezone",
    "valid_at": "valid time", "valid_from": "valid time", "valid_to": "valid time",
}  # fmt: skip
PLAIN_FIELDS = {  # the fields that say what they are in plain words
    "action", "active", "answer", "answers", "at", "begin", "body",
    "calls", "complete", "completion_tokens", "config", "content", "content_length",
    "count", "dead", "dropped", "due_at",
    "earlier", "end", "ends", "entity_type", "entity_types", "excluded_entity_types",
    "facts", "failed", "failure", "into",
    "kept", "kind",
    "latency_ms",
    "later", "marks", "max_tokens", "members", "model", "name", "number",
    "object_type", "ontology_digest", "op", "part", "positions", "previous_episode_ids",
    "prefix", "prompt", "prompt_tokens", "prompt_version", "reason", "relation_type_map", "relation_types", "repeats",
    "role", "role_type", "score", "sentence", "source", "speaker", "start",
    "statement_version",
    "subject_type", "summary", "target", "temperature", "template", "text", "time_words", "timestamp", "to", "turns",
    "undo", "until", "update_communities",
    "description", "edited_at", "is_proactive", "reply_to", "stated", "status",
    "uuid", "value",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Iterator[None]:
    """Let the scripts that make the pages be imported, as Python does where one of them is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("generate", "making")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    made: dict[str, str] = import_module("generate").pages()
    return made


@pytest.fixture(scope="module")
def making() -> ModuleType:
    import_module("generate")
    return import_module("making")


def test_no_page_is_made_that_is_not_looked_at_here(pages: dict[str, str]) -> None:
    assert sorted(pages) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_its_script_makes_of_the_code(pages: dict[str, str], page: str) -> None:
    assert (DOCS / "reference" / page).read_text("utf-8") == pages[page], "run docs/generate.py"


def test_schemas_and_the_description_of_the_topics_are_what_their_script_makes_of_the_code() -> None:
    made: dict[str, str] = import_module("generate").contracts()

    assert "asyncapi.yaml" in made
    assert [path for path, text in made.items() if (DOCS / path).read_text("utf-8") != text] == [], (
        "run docs/generate.py"
    )


def test_a_picture_is_what_its_script_draws_and_a_page_shows_it() -> None:
    made: dict[str, str] = import_module("generate").drawings()
    shown = "".join(path.read_text("utf-8") for path in TEXTS)

    assert [path for path, text in made.items() if (DOCS / path).read_text("utf-8") != text] == [], (
        "run docs/generate.py"
    )
    assert [path for path in made if f"{path})" not in shown] == []
    assert {f"pictures/{path.name}" for path in (DOCS / "pictures").iterdir()} == made.keys()


def test_every_command_and_every_option_of_it_is_documented_with_help(
    pages: dict[str, str], making: ModuleType
) -> None:
    sections = {section.partition("\n")[0]: section for section in pages["cli.md"].split("## asof ")[1:]}
    commands = making.command_line.commands()

    assert sections.keys() == commands.keys()
    for name, command in commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)
            written = parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0]
            assert parameter.name == "help" or f"| `{written}" in sections[name], (name, parameter.name)


def test_every_option_that_a_text_tells_to_give_is_one_of_its_command(making: ModuleType) -> None:
    taken = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in making.command_line.commands().items()
    }
    told = [
        (path.relative_to(ROOT).as_posix(), name, option)
        for path in [*TEXTS, *(module for root in [*ROOTS, "docker"] for module in (ROOT / root).rglob("*.py"))]
        for name, rest in CALL.findall(path.read_text("utf-8"))
        for option in OPTION.findall(rest.partition("&&")[0])
        if name in taken and not path.is_relative_to(ROOT / "tests")
    ]

    assert ("README.md", "facts", "--valid-at") in told
    assert [(path, name, option) for path, name, option in told if option not in taken[name]] == []


def test_every_command_takes_a_directory_and_gives_json(making: ModuleType) -> None:
    taken = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in making.command_line.commands().items()
    }

    assert taken
    assert [name for name, options in taken.items() if not {"--data", "--json"} <= options] == []


def test_every_command_that_can_work_on_topics_takes_their_brokers(making: ModuleType) -> None:
    alone = {"backup", "checkout", "restore"}  # they refuse topics
    aside = {"completion", "demo", "graph", "model", "read"}  # they open no topics
    taken = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in making.command_line.commands().items()
    }

    assert {name for name, options in taken.items() if "--kafka" not in options} == alone | aside


def test_every_setting_is_documented(pages: dict[str, str]) -> None:
    page = pages["settings.md"]

    assert Settings.model_fields
    assert [name for name in Settings.model_fields if f"| `ASOF_{name.upper()}` | `{name}` |" not in page] == []


def test_every_event_is_documented_with_what_each_of_its_fields_means(
    pages: dict[str, str], making: ModuleType
) -> None:
    sections = {section.partition("`")[0]: section for section in pages["events.md"].split("### `")[1:]}

    assert sections.keys() == {t for t, cls in events.types().items() if cls.__module__.startswith("asof_streams.")}
    for type_, section in sections.items():
        rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
        assert [row[0].strip("| `") for row in rows] == list(events.types()[type_].model_fields), type_
        assert [row[0] for row in rows if not row[-1].strip("| ")] == [], type_
    assert making.events.ENVELOPE.keys() <= {
        line.split("`")[1] for line in pages["events.md"].splitlines() if "`" in line
    }


def test_no_meaning_is_kept_of_a_field_that_is_gone(making: ModuleType) -> None:
    known = {
        name for t, cls in events.types().items() for field in cls.model_fields for name in (field, f"{t}.{field}")
    }

    assert making.events.FIELDS.keys() <= known


def test_the_headers_that_are_documented_are_those_that_are_sent(pages: dict[str, str], making: ModuleType) -> None:
    known = making.headers
    sections = {section.partition("\n")[0]: section for section in pages["topics.md"].split("## ")}

    assert _first_cells(sections["Reading events"]) == list(known.EVENT)
    assert known.of_event() == [name for name in known.EVENT if name != "ce_partitions"]
    assert set(known.of_claim()) - set(known.of_event()) == {"ce_partitions"}
    assert _first_cells(sections["Dead letters"]) == known.of_dead_letter() == list(known.DEAD)


def test_every_verb_of_a_memory_is_documented_with_all_that_it_gives_back(
    pages: dict[str, str], making: ModuleType
) -> None:
    verbs = {name for name in dir(Memory) if not name.startswith("_")}
    titles = [line.removeprefix("### ") for line in pages["python.md"].splitlines() if line.startswith("### ")]

    assert verbs <= set(titles)
    returned = {name for _, verb in making.python_api.verbs() for name in _names(verb.returns)}
    assert returned - set(titles) - NOT_OURS == set()
    assert "Fact" in returned


def test_every_key_of_an_ontology_is_documented_and_every_cue_that_is_shown_can_be_read() -> None:
    page = (DOCS / "reference" / "ontologies.md").read_text("utf-8")
    keys = {key for part in ONTOLOGY for key in part.model_fields}

    assert {key for key in keys if f"`{key}`" not in page} == set()
    shown = re.findall(r"^\| `([^`]+)` \|", page.partition("## A cue")[2], re.MULTILINE)
    assert [cues.parse_cue(cue.replace("\\|", "|")) for cue in shown]


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_every_file_that_a_text_names_or_links_to_is_there(text: Path) -> None:
    written = text.read_text("utf-8")
    linked = {name for name in LINK.findall(written) if not (text.parent / name).exists()}
    named = {name for name in PATH.findall(written) if not (ROOT / name).exists()}

    assert (linked, named) == (set(), set())


def test_no_file_refers_to_papers_that_the_repository_does_not_hold() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name and name not in QUOTING and (ROOT / name).is_file()]
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in files}

    assert "docs/explanation/two-clocks.md" in texts
    assert {(name, found[0]) for name, text in texts.items() for found in ABSENT.finditer(text)} == set()


def test_every_file_that_the_code_names_is_there() -> None:
    modules = [file for root in ROOTS for file in (ROOT / root).rglob("*.py")]
    named = {(file.name, name) for file in modules for name in PATH.findall(file.read_text("utf-8"))}

    assert ("versions.py", "docs/explanation/two-clocks.md") in named
    assert {(file, name) for file, name in named if not (ROOT / name).exists() and name not in MADE} == set()


def test_the_glossary_lists_no_term_twice_and_all_in_order() -> None:
    terms = [term.casefold() for term in TERM.findall(GLOSSARY.read_text("utf-8"))]

    assert {"slot", "position", "offset"} <= set(terms)
    assert terms == sorted(set(terms))


def test_every_term_of_the_events_stands_in_the_glossary() -> None:
    """Those are the noun of every event type, that of every field that is an id, and those listed above."""
    terms = set(TERM.findall(GLOSSARY.read_text("utf-8")))
    ours = {t: cls for t, cls in events.types().items() if cls.__module__.startswith("asof_streams.")}
    fields = {field for cls in ours.values() for field in cls.model_fields}
    ids = {field for field in fields if field.endswith("_id")} - TERMS_OF_FIELDS.keys()

    assert fields == ids | TERMS_OF_FIELDS.keys() | PLAIN_FIELDS
    assert {type_.partition(".")[0] for type_ in ours} - terms == set()
    assert {field.removesuffix("_id") for field in ids} - terms == set()
    assert set(TERMS_OF_FIELDS.values()) - terms == set()


def test_every_folder_of_tests_is_described() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"__pycache__"}

    assert "hostile" in folders
    described = re.findall(r"^\| `tests/(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert folders == set(described)


def test_the_architecture_names_every_package_and_its_parts() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = [path.parent.relative_to(ROOT) for root in FLOORS for path in (ROOT / root).glob("asof*/**/__init__.py")]

    assert len(packages) > 25
    unnamed = {str(p) for p in packages if not re.search(rf"`{p}[`/]|`{p.name}/`|[`/]{p.name}/|\b{p}/", text)}
    assert unnamed == set()


def test_the_files_that_are_taken_for_each_other_are_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    section = text.partition("## Files that are easily taken for each other")[2].partition("\n## ")[0]
    modules = {path.stem for root in FLOORS for path in (ROOT / root).rglob("*.py")}
    named = {name.rpartition("/")[2] for name in re.findall(r"`([\w/]*\w)(?:\.py)?`", section)}

    assert len(named) > 80
    assert named - modules == set()


def test_the_lines_that_the_architecture_looks_for_are_in_the_files_that_it_names() -> None:
    written = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    section = written.partition("## Can a line be found from here?")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `(.+)` \| `([\w/]+\.py)` \| ", section, re.MULTILINE)
    lines = [(line.replace("\\|", "|"), file) for line, file in found]

    assert len(lines) == LINES_LOOKED_FOR
    assert [line for line, file in lines if line not in map(str.strip, (ROOT / file).read_text().splitlines())] == []


def _first_cells(section: str) -> list[str]:
    return [row.split("`")[1] for row in section.splitlines() if row.startswith("| `")]


def _names(annotation: ast.expr | None) -> Iterator[str]:
    """Yield the classes that an annotation names, also where it is a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if annotation is not None:
        yield from (n.id for n in ast.walk(annotation) if isinstance(n, ast.Name) and not hasattr(builtins, n.id))

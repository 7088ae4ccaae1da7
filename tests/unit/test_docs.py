"""The reference pages say all that there is, and what they say is so."""

import ast
import builtins
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from asof.memory import Memory
from asof.settings import Settings
from asof_streams import events

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ["cli.md", "events.md", "python.md", "settings.md"]
NOT_OURS = {"Iterator", "Any"}


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


def test_every_command_takes_a_directory_and_gives_json(making: ModuleType) -> None:
    taken = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in making.command_line.commands().items()
    }

    assert taken
    assert [name for name, options in taken.items() if not {"--data", "--json"} <= options] == []


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


def test_every_verb_of_a_memory_is_documented_with_all_that_it_gives_back(
    pages: dict[str, str], making: ModuleType
) -> None:
    verbs = {name for name in dir(Memory) if not name.startswith("_")}
    titles = [line.removeprefix("### ") for line in pages["python.md"].splitlines() if line.startswith("### ")]

    assert verbs <= set(titles)
    returned = {name for _, verb in making.python_api.verbs() for name in _names(verb.returns)}
    assert returned - set(titles) - NOT_OURS == set()
    assert "Fact" in returned


def _names(annotation: ast.expr | None) -> Iterator[str]:
    """Yield the classes that an annotation names, also where it is a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if annotation is not None:
        yield from (n.id for n in ast.walk(annotation) if isinstance(n, ast.Name) and not hasattr(builtins, n.id))

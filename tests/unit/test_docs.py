"""The reference pages say all that there is, and what they say is so."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from asof.settings import Settings

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The script that makes the reference pages."""
    spec = spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["cli.md", "settings.md"])
def test_a_page_is_what_its_script_makes_of_the_code(generate: ModuleType, page: str) -> None:
    assert (DOCS / "reference" / page).read_text("utf-8") == generate.pages()[page], "run docs/generate.py"


def test_every_command_and_every_option_of_it_is_documented_with_help(generate: ModuleType) -> None:
    sections = {section.partition("\n")[0]: section for section in generate.pages()["cli.md"].split("## asof ")[1:]}

    assert sections.keys() == generate.commands().keys()
    for name, command in generate.commands().items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)
            written = parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0]
            assert parameter.name == "help" or f"| `{written}" in sections[name], (name, parameter.name)


def test_every_command_takes_a_directory_and_gives_json(generate: ModuleType) -> None:
    taken = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in generate.commands().items()
    }

    assert taken
    assert [name for name, options in taken.items() if not {"--data", "--json"} <= options] == []


def test_every_setting_is_documented(generate: ModuleType) -> None:
    page = generate.pages()["settings.md"]

    assert Settings.model_fields
    assert [name for name in Settings.model_fields if f"| `ASOF_{name.upper()}` | `{name}` |" not in page] == []

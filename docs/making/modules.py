"""The page of modules: each folder of the packages, and each module in it with the first sentence of its docstring."""

import ast
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "entrypoints/asof",
    "agents/asof_agents",
    "projections/asof_projections",
    "streams/asof_streams",
    "ontologies/asof_ontologies",
)

_BEFORE_CODE = {tokenize.COMMENT, tokenize.NL}

PAGE = """\
# Modules

<!-- Made by docs/generate.py: change the docstrings of the modules instead. -->

Every module with what it is, floor by floor from the top. [ARCHITECTURE.md](../../ARCHITECTURE.md) tells how they work
together.
"""


def page() -> str:
    """Return the page."""
    return PAGE + "".join(_section(folder) for package in PACKAGES for folder in _folders(ROOT / package))


def _folders(package: Path) -> Iterator[Path]:
    """Yield a package and the packages inside it, each before those inside it, in the order of their names."""
    yield package
    for inner in sorted(path.parent for path in package.glob("*/__init__.py")):
        yield from _folders(inner)


def _section(folder: Path) -> str:
    modules = sorted(path for path in folder.glob("*.py") if path.stem != "__init__")
    rows = "".join(f"| `{path.stem}` | {_first_paragraph(path)} |\n" for path in modules)
    title = f"\n## `{folder.relative_to(ROOT)}`\n\n{_first_paragraph(folder / '__init__.py')}\n"
    return title + (f"\n| module | |\n|---|---|\n{rows}" if rows else "")


def _first_paragraph(module: Path) -> str:
    with tokenize.open(module) as source:
        text = next(
            token.string for token in tokenize.generate_tokens(source.readline) if token.type not in _BEFORE_CODE
        )
    assert text.startswith('"""'), f"{module} has no docstring"
    return " ".join(ast.literal_eval(text).partition("\n\n")[0].split()).replace("|", "\\|")

"""The page of the Python API: asof.open, the verbs of Memory under the headings of their class, what comes back."""

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import asof
from asof import memory, readings
from asof.runtime import integrity, results
from asof_agents import dry_run
from asof_projections import generations, rows
from asof_projections.graph import ports
from asof_projections.queries import answers as shapes
from asof_projections.queries import diffs, evidence, timelines
from asof_projections.retrieval import search
from asof_streams import events
from making.source import annotated, described, methods, signature

PAGE = """\
# Python

<!-- Made by docs/generate.py: change the docstrings in entrypoints/asof instead. -->

{about}

`valid_at` left out is now, `known_at` left out is all that is known so far, `group_id` left out is every group. A
`Progress` is called with (done, total) during long work.

Whatever asof raises on purpose is an `AsofError` of `asof_streams.errors`: a `ContractError` where the same call can
never succeed, an `UnavailableError` where it may work later.
"""

ABOUT_RETURNED = """\
Times in these are UTC microseconds; an open end is `asof_streams.instants.INF`. Nearly all have `to_json()`, which
gives what the command line prints."""

RETURNED: tuple[type[Any], ...] = (
    results.Added,
    results.Produced,
    results.Refused,
    rows.Fact,
    rows.Entity,
    rows.Attribute,
    rows.Community,
    search.Hit,
    shapes.Portrait,
    shapes.Link,
    shapes.Level,
    timelines.Segment,
    timelines.Believed,
    shapes.Rectangle,
    shapes.Turn,
    diffs.Change,
    shapes.ChangesPage,
    ports.VersionChange,
    evidence.Why,
    evidence.Evidence,
    evidence.Consequence,
    dry_run.WhatIf,
    events.Record,
    generations.GenerationInfo,
    integrity.Check,
)

CLASSES = (memory.Memory, readings.MemoryQueries)


def page() -> str:
    """Return the page."""
    return "\n".join([PAGE.format(about=described(memory)), *_opening(), *_verbs(), *_returned()])


def verbs() -> list[tuple[str, ast.FunctionDef]]:
    """Return the public methods of a Memory, each with its heading."""
    return [found for cls in CLASSES for found in methods(cls) if found[1].name != "close"]


def _opening() -> Iterator[str]:
    yield "## Opening and closing\n"
    (definition,) = ast.parse(inspect.getsource(asof.open)).body
    assert isinstance(definition, ast.FunctionDef)
    yield _entry("asof.open", definition)
    closing = {function.name: function for cls in CLASSES for _, function in methods(cls)}["close"]
    yield _entry("memory.close", closing)


def _verbs() -> Iterator[str]:
    last = ""
    for heading, function in verbs():
        if heading != last:
            yield f"## {heading.capitalize()}\n"
            last = heading
        yield _entry(f"memory.{function.name}", function)


def _entry(name: str, function: ast.FunctionDef) -> str:
    return f"### {function.name}\n\n```\n{signature(name, function)}\n```\n\n{_docstring(function)}\n"


def _docstring(function: ast.FunctionDef) -> str:
    text = ast.get_docstring(function)
    assert text, f"{function.name} has no docstring"
    return described(type(function.name, (), {"__doc__": text}))


def _returned() -> Iterator[str]:
    yield f"## What comes back\n\n{ABOUT_RETURNED}\n"
    for cls in RETURNED:
        fields = "\n".join(
            f"{name}: {type_}  # {comment}" if comment else f"{name}: {type_}"
            for name, type_, comment in annotated(cls)
        )
        yield f"### {cls.__name__}\n\n{described(cls)}\n\n```\n{fields}\n```\n"

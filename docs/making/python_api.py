"""The page of the Python API: asof.open and restore, the verbs of Memory under their headings, what comes back."""

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import asof
from asof.api import memory
from asof.runtime import backup, checkout, integrity, log_compression, replay
from asof_projections import generations, makers
from asof_projections.graph.sqlite_store import snapshots
from asof_projections.model import answers, builds, comparisons, contexts, prompts, usage, write_answers
from making.source import annotated, described, methods, signature

PAGE = """\
# Python

<!-- Made by docs/generate.py: change the docstrings in entrypoints/asof instead. -->

{about}

`valid_at` left out is now, `known_at` left out is all that is known so far. A list is whole where no `limit` is
given. A `Progress` is called with (done, total) during long work.

When a write returns, its message is on the log. A message that names an entity, a fact or an episode which its group
lacks is parked, and `parked` says why.

Whatever asof raises on purpose is an `AsofError` of `asof_streams.errors`: a `ContractError` where the same call can
never succeed, an `UnavailableError` where it may work later.
"""

ABOUT_RETURNED = """\
Times are aware datetimes in UTC; None is an open end. `to_json()` gives what the command line prints; `str` of a fact
is its claim in words, a `repr` shows ids alone."""

RETURNED: tuple[type[Any], ...] = (
    answers.Page,
    answers.SearchedPage,
    answers.Hits,
    write_answers.Added,
    write_answers.IngestionReport,
    write_answers.IngestionTimes,
    write_answers.Produced,
    write_answers.Imported,
    write_answers.Refused,
    answers.Fact,
    answers.Hit,
    answers.EpisodeHit,
    write_answers.EpisodeRecord,
    answers.Scores,
    contexts.Context,
    contexts.EntityLine,
    contexts.FactLine,
    contexts.ChangeLine,
    contexts.EpisodeLine,
    contexts.EntityOutline,
    contexts.LeftOut,
    answers.Entity,
    answers.EntityProfile,
    answers.Attribute,
    answers.Link,
    answers.NodeName,
    answers.Community,
    answers.Hop,
    answers.Segment,
    write_answers.Settled,
    write_answers.Erasure,
    write_answers.ErasedMessage,
    write_answers.ErasurePreview,
    write_answers.GroupRecords,
    answers.BeliefPeriod,
    answers.FactVersion,
    answers.Cause,
    answers.Difference,
    answers.Embedded,
    answers.Changes,
    answers.Change,
    answers.Explanation,
    answers.Evidence,
    answers.Consequence,
    answers.WhatIf,
    answers.Objective,
    answers.Feedback,
    answers.Contradiction,
    answers.ParkedMessage,
    write_answers.Retried,
    write_answers.Consolidated,
    write_answers.Consolidation,
    write_answers.UndoneConsolidation,
    write_answers.CommunityChange,
    write_answers.NameMerge,
    answers.Episode,
    answers.GroupInfo,
    write_answers.Queued,
    write_answers.Done,
    write_answers.Parked,
    write_answers.Erased,
    answers.LogEvent,
    generations.GenerationInfo,
    makers.Makers,
    builds.UnfinishedBuild,
    builds.RebuildEstimate,
    builds.PromptEstimate,
    usage.ModelUsage,
    prompts.RegisteredPrompt,
    comparisons.GenerationDifference,
    comparisons.RelationDifferences,
    comparisons.ComparisonPage,
    integrity.Check,
    log_compression.LogCompression,
    snapshots.GraphSnapshot,
    backup.Backup,
    backup.BackupLog,
    checkout.Checkout,
    replay.Replay,
    replay.Projection,
)

CLASSES = (memory.Memory,)


def page() -> str:
    """Return the page."""
    return "\n".join([PAGE.format(about=described(memory)), *_opening(), *_verbs(), *_returned()])


def verbs() -> list[tuple[str, ast.FunctionDef]]:
    """Return the public methods of a Memory, each with its heading."""
    return [found for cls in CLASSES for found in methods(cls) if found[1].name != "close"]


def _opening() -> Iterator[str]:
    yield "## Opening and closing\n"
    for name, opening in (("asof.open", asof.open), ("asof.restore", asof.restore)):
        (definition,) = ast.parse(inspect.getsource(opening)).body
        assert isinstance(definition, ast.FunctionDef)
        yield _entry(name, definition)
    closing = {function.name: function for cls in CLASSES for _, function in methods(cls)}["close"]
    yield _entry("memory.close", closing)


def _verbs() -> Iterator[str]:
    last = ""
    for heading, function in verbs():
        if heading != last:
            yield f"## {heading.capitalize().removesuffix('.')}\n"
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

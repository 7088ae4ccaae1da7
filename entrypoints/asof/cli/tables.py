"""The tables in which commands show lists of answers, each declared by its columns."""

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from asof.cli import show
from asof.operations.periods import is_right_before

_WORDS: Final = 120  # characters of what was said that a table shows

Column = tuple[str, str | Callable[[Any], Any]]
"""A header, and the path of an attribute or a function of an answer."""


class Table:
    """A view of a list of answers. Where they are of several groups, its first column says which."""

    def __init__(self, *columns: Column, nothing: str = "nothing found") -> None:
        self._columns = columns
        self._tells_groups = all(of != "group_id" for _, of in columns)
        self._nothing = nothing

    def __call__(self, answers: Sequence[Any]) -> None:
        """Print a row for each answer; where there is none, say so on stderr."""
        groups = {getattr(answer, "group_id", None) for answer in answers}
        columns = (("group", "group_id"), *self._columns) if len(groups) > 1 and self._tells_groups else self._columns
        values = [attrgetter(of) if isinstance(of, str) else of for _, of in columns]
        rows = ([_cell(value(answer)) for value in values] for answer in answers)
        show.table([header for header, _ in columns], rows, nothing=self._nothing)


def _cell(value: Any) -> show.Cell:
    return show.when(value) if isinstance(value, datetime) else value


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WORDS else f"{line[: _WORDS - 1]}…"


def sentence(fact: Any) -> str:
    """Return the sentence of a fact, marked where it is a plan."""
    return f"{fact.fact} (planned)" if fact.planned else str(fact.fact)


def start(fact: Any) -> Any:
    """Return from when on a fact holds, if somebody said so."""
    return "(unknown)" if is_right_before(fact.valid_at, fact.invalid_at) else fact.valid_at


FACTS: Final = Table(
    ("fact", sentence),
    ("from", start),
    ("until", "invalid_at"),
    ("known since", "created_at"),
    ("id", "uuid"),
    nothing="no such fact, as of then",
)
EPISODES: Final = Table(
    ("said", "valid_at"),
    ("speaker", "role"),
    ("words", lambda episode: _shortened(episode.content)),
    ("facts", lambda episode: len(episode.facts) or ""),
    ("id", "uuid"),
)
RANKING: Final = Table(
    ("kind", "kind"),
    ("score", "score"),
    ("similarity", "similarity"),
    ("centrality", "centrality"),
    ("recency", "recency"),
    ("mindset", "mindset"),
    ("way", "way"),
    ("hops", "hops"),
    ("id", "uuid"),
)
SEGMENTS: Final = Table(
    ("subject", "subject"),
    ("relation", "relation"),
    ("object", lambda segment: f"{segment.object or '(unknown)'}{' (planned)' if segment.planned else ''}"),
    ("from", "valid_at"),
    ("until", "invalid_at"),
)
CHANGES: Final = Table(
    ("message", "position"),
    ("change", lambda change: "believed" if change.change == "opened" else "no longer"),
    ("fact", lambda change: sentence(change.fact)),
    ("from", lambda change: start(change.fact)),
    ("until", "fact.invalid_at"),
    ("id", "fact.uuid"),
    nothing="nothing changed",
)

"""How often a change told in everyday words is believed: python -m bench.changes [FILE] [--failures].

Each case is two messages of one speaker, in order. Right: a fact that holds at last has the new value, and none that
began with the first message, or begins with the second, has the old one. A case without a new value is right where the
old one was believed and has ended. Only states count: that somebody "finished Dune" or "sold the Civic" stays true, and
says neither what holds nor what does not. FILE holds a list of further cases, as JSON.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import asof
from asof_ontologies.registry import load

CASES: Final = Path(__file__).with_suffix(".json")
TOLD: Final = ("2024-05-15T10:00:00Z", "2024-06-12T10:00:00Z")
AFTER: Final = "2024-06-13T10:00:00Z"
ONTOLOGY: Final = load("default")


class Change(NamedTuple):
    """Two messages, and the values of which the second one ends the old, or puts the new in its place."""

    group: str
    before: str
    after: str
    old: str
    new: str | None


class Outcome(NamedTuple):
    """What is believed after the two messages of a change."""

    change: Change
    read: bool  # whether the old value was believed after the first
    right: bool
    facts: tuple[str, ...]  # those that hold at last


def sets(path: Path = CASES) -> dict[str, list[Change]]:
    """Return the cases of a file, by set."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: [Change(group=f"{name}-{number}", **case) for number, case in enumerate(cases)]
        for name, cases in (kept if isinstance(kept, dict) else {path.stem: kept}).items()
    }


def outcomes(changes: Iterable[Change]) -> list[Outcome]:
    """Tell each change to a group of its own, and return what is then believed."""
    with TemporaryDirectory() as folder, asof.open(folder) as memory:
        return [_outcome(memory, change) for change in changes]


def _outcome(memory: asof.Memory, change: Change) -> Outcome:
    believed = []
    for told, text in zip(TOLD, (change.before, change.after), strict=True):
        memory.add(text, role="Ana", group_id=change.group, timestamp=told)
        facts = memory.facts(group_id=change.group, valid_at=AFTER)
        believed.append(
            {(fact.uuid, fact.subject, fact.relation, fact.object) for fact in facts if _is_state(fact.relation)}
        )
    first, last = believed
    old = {fact for fact in first if _has(fact[1:], change.old)}
    kept = old & last or {fact for fact in last - first if _has(fact[3:], change.old)}
    new = change.new is not None and any(_has(fact[1:], change.new) for fact in last)
    right = not kept and (new if change.new is not None else bool(old))
    return Outcome(change, bool(old), right, tuple(sorted(" ".join(map(str, fact[1:])) for fact in last)))


def _is_state(name: str) -> bool:
    relation = ONTOLOGY.relation(name)
    return relation is None or not relation.is_deed


def _has(fact: Iterable[str | None], value: str) -> bool:
    """Whether one of the parts of a fact has a value among its words."""
    return any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w])", part or "", re.IGNORECASE) for part in fact)


def report(*files: Path, failures: bool = False) -> Iterator[str]:
    """Yield a line about each set of cases, and with `failures` about each case that is wrong."""
    for name, changes in sets(*files).items():
        found = outcomes(changes)
        right, read = sum(each.right for each in found), sum(each.read for each in found)
        yield f"{name}: {right} of {len(found)} right ({right / len(found):.0%}); the old value was read in {read}"
        for each in found if failures else ():
            if not each.right:
                held = "; ".join(each.facts) or "nothing"
                yield f"  {each.change.before} {each.change.after}\n    holds: {held}"


def main() -> None:
    files = [Path(each) for each in sys.argv[1:] if not each.startswith("--")]
    print(*report(*files, failures="--failures" in sys.argv[1:]), sep="\n")


if __name__ == "__main__":
    main()

"""How often a change told in everyday words is believed: python -m bench.changes [FILE] [--failures].

Each case is two messages of one speaker, in order. Right: a fact that holds at last has the new value, and none that
began with the first message, or begins with the second, has the old one. A case without a new value is right where the
old one was believed and has ended. Only states count: that somebody "finished Dune" or "sold the Civic" stays true, and
says neither what holds nor what does not. FILE holds a list of further cases, as JSON.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import asof
from asof_ontologies.registry import load

CASES: Final = Path(__file__).with_suffix(".json")
TOLD: Final = ("2024-05-15T10:00:00Z", "2024-06-12T10:00:00Z")
AFTER: Final = "2024-06-13T10:00:00Z"
UNCHANGED: Final = "unchanged"  # the set of pairs that have no value
ONTOLOGY: Final = load("default")

_ARTICLE: Final = re.compile(  # with the preposition before it, of which a fact has no more than the relation
    r"^(?:(?:in|on|under|at|with|w) )?(?:an?|the|my|our|his|her|their) ", re.IGNORECASE
)


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
        if name != UNCHANGED
    }


def pairs() -> list[tuple[str, str]]:
    """Return the messages of which the second changes nothing that the first says."""
    return [(each["before"], each["after"]) for each in json.loads(CASES.read_text(encoding="utf-8"))[UNCHANGED]]


def disturbed(told: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of which the second message ends a fact of the first, or says more than it does alone."""
    found = []
    with TemporaryDirectory() as folder, asof.open(folder) as memory:
        for number, (before, after) in enumerate(told):
            first = _believed(memory, f"pair-{number}", (before,))
            alone = _believed(memory, f"alone-{number}", (after,))
            if _believed(memory, f"both-{number}", (before, after)) != first | alone:
                found.append((before, after))
    return found


def _believed(memory: asof.Memory, group: str, texts: Sequence[str]) -> set[tuple[str, str, str | None]]:
    for told, text in zip(TOLD, texts, strict=False):
        memory.add(text, role="Ana", group_id=group, timestamp=told)
    facts = memory.facts(group_id=group, valid_at=AFTER)
    return {(fact.subject, fact.relation, fact.object) for fact in facts}


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
    """Whether one of the parts of a fact has a value among its words: "the meter box" is "meter box"."""
    bare = re.escape(_ARTICLE.sub("", value))
    return any(re.search(rf"(?<![\w.]){bare}s?(?![\w])", part or "", re.IGNORECASE) for part in fact)


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
    if not files:
        told = pairs()
        wrong = disturbed(told)
        yield f"{UNCHANGED}: {len(told) - len(wrong)} of {len(told)} right"
        yield from (f"  {' '.join(each)}" for each in wrong if failures)


def main() -> None:
    files = [Path(each) for each in sys.argv[1:] if not each.startswith("--")]
    print(*report(*files, failures="--failures" in sys.argv[1:]), sep="\n")


if __name__ == "__main__":
    main()

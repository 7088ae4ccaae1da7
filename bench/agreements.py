"""How well agreements of work are believed: python -m bench.agreements [--failures].

agreements.json has conversations of one speaker with an agent, in which minds change, under `agent_memory_v1`. A turn
says which facts hold after it, and which no longer; of the set `tuned` the rules have been mended, of `untouched`
not. A turn is right if all of that is so; what else a turn makes hold is invented.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import asof

CONVERSATIONS: Final = Path(__file__).with_suffix(".json")
SPEAKER: Final = "Ana"
DAY: Final = "2024-06-{:02}T10:00:00Z"

_ARTICLE: Final = re.compile(r"^(?:an?|the|my|our) ", re.IGNORECASE)
_Fact = tuple[str, str, str]


class Outcome(NamedTuple):
    """What a turn has made of the beliefs before it."""

    text: str
    missing: frozenset[_Fact]  # what should hold
    kept: frozenset[_Fact]  # what should hold no longer
    invented: frozenset[_Fact]

    @property
    def right(self) -> bool:
        """Whether all holds that should, and nothing that should not."""
        return not (self.missing or self.kept)


def outcomes(name: str) -> list[Outcome]:
    """Tell each conversation of a set to a group of its own, and return what came of each turn."""
    conversations = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))[name]
    with TemporaryDirectory() as folder, asof.open(folder, ontology="agent_memory_v1", embedder="none") as memory:
        return [each for number, turns in enumerate(conversations) for each in _told(memory, f"{name}-{number}", turns)]


def _told(memory: asof.Memory, group: str, turns: list[dict[str, list[list[str]]]]) -> Iterator[Outcome]:
    before: frozenset[_Fact] = frozenset()
    for day, turn in enumerate(turns, 1):
        text = str(turn["text"])
        memory.add(text, role=SPEAKER, group_id=group, timestamp=DAY.format(day))
        facts = memory.facts(group_id=group, valid_at=DAY.format(day))
        now = frozenset(_plain(fact.subject, fact.relation, fact.object) for fact in facts)
        wanted, over = (frozenset(_plain(*fact) for fact in turn[part]) for part in ("facts", "ends"))
        yield Outcome(text, wanted - now, over & now, now - before - wanted)
        before = now


def _plain(subject: str, relation: str, object_: str | None) -> _Fact:
    return (_ARTICLE.sub("", subject).casefold(), relation, _ARTICLE.sub("", object_ or "").casefold())


def report(*, failures: bool = False) -> Iterator[str]:
    """Yield a line about each set, and with `failures` about each turn that is wrong or of which more is believed."""
    for name in json.loads(CONVERSATIONS.read_text(encoding="utf-8")):
        found = outcomes(name)
        right, invented = sum(each.right for each in found), sum(len(each.invented) for each in found)
        yield f"{name}: {right} of {len(found)} turns right ({right / len(found):.0%}), {invented} facts invented"
        for each in found if failures else ():
            parts = {"missing": each.missing, "kept": each.kept, "invented": each.invented}
            told = [f"{part} {', '.join(map(' '.join, sorted(facts)))}" for part, facts in parts.items() if facts]
            if told:
                yield f"  {each.text}\n    {'; '.join(told)}"


def main() -> None:
    print(*report(failures="--failures" in sys.argv[1:]), sep="\n")


if __name__ == "__main__":
    main()

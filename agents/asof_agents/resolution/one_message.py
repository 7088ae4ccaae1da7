"""Names within one message, where one name means one entity: full names and their parts, nouns in either number."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from asof_projections.names import key, words
from asof_streams.episodic import MentionObserved

PERSON: Final = "Person"
_SHORTEST: Final = 3  # characters of a noun whose last "s" may make the plural


class FullNames:
    """The full names of the people whom a message names, by their parts: beginnings and last words."""

    def __init__(self, observed: Iterable[MentionObserved] = ()) -> None:
        self._by_part: defaultdict[str, dict[str, MentionObserved]] = defaultdict(dict)  # then by key
        for mention in observed:
            name = words(mention.text)
            if mention.entity_type == PERSON and not mention.speaker and len(name) > 1:
                for part in (*(" ".join(name[:count]) for count in range(1, len(name))), name[-1]):
                    self._by_part[part].setdefault(key(mention.text), mention)

    def of(self, part: str) -> MentionObserved | None:
        """Return the first mention of the one full name that has a part; None: none has, or several have."""
        full = self._by_part.get(key(part), {})
        return next(iter(full.values())) if len(full) == 1 else None

    def is_one(self, first: str) -> bool:
        """Whether at most one full name begins or ends with a word."""
        return len(self._by_part.get(first, ())) < 2

    def before_parts(self, observed: Sequence[MentionObserved]) -> Iterator[MentionObserved]:
        """Yield the mentions, full names before the parts that they explain."""
        parts = [(m, m.entity_type == PERSON and not m.speaker and self.of(m.text) is not None) for m in observed]
        yield from (mention for mention, part in parts if not part)
        yield from (mention for mention, part in parts if part)


def is_common(name: str) -> bool:
    """Whether a name is a common noun: it has no capital."""
    return name.islower()


def is_possessive(name: str) -> bool:
    """Whether a name ends with "'s"."""
    return name.casefold().rstrip(' .,;:!?"').endswith(("'s", "\u2019s"))


def singular(noun: str) -> str:
    """Return the key of a common noun, its last word in the singular: "dogs" and "dog" have one."""
    same = key(noun)
    if len(same) <= _SHORTEST or not same.endswith("s") or same.endswith(("ss", "us", "is")):
        return same
    if same.endswith("ies") and len(same) > len("pies"):
        return same[:-3] + "y"
    if same.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return same[:-2]
    return same[:-1]

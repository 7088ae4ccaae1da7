"""Subjects of clauses: the speaker, a name, or a pronoun that can mean only one person."""

from collections.abc import Sequence
from dataclasses import dataclass

from asof_agents.extraction.english.first_names import FEMALE, MALE
from asof_agents.extraction.english.lexicon import HE, PEOPLE_NOUNS, SHE
from asof_agents.extraction.english.sentences import Sentence, parse_sentences
from asof_agents.extraction.ports import Mention, Turn

UNTYPED = ""  # the type of a subject whose name tells no type


@dataclass(frozen=True, slots=True)
class Subject:
    """The sources of a clause's relationships; `next` is the word at which its verb may begin."""

    mentions: tuple[Mention, ...]
    next: int
    third: bool  # its verb stands in the third person singular
    confidence: float


class People:
    """The people whom "he" or "she" may mean: those named in the turns before and in this turn so far."""

    def __init__(self, before: Sequence[Turn], roles: frozenset[str]) -> None:
        self._before = before
        self._roles = {role.casefold() for role in roles if role}
        self._here: list[Mention] = []
        self._earlier: list[Mention] | None = None
        self._unnamed_before: bool | None = None
        self._unnamed_here = False

    def add(self, mention: Mention) -> None:
        """Note a person whom this turn names."""
        self._here.append(mention)

    def end_sentence(self, sentence: Sentence) -> None:
        """Note the end of a sentence: a pronoun after it may also mean a person whom it does not name."""
        self._unnamed_here = self._unnamed_here or _speaks_of_unnamed(sentence, self._here)

    def resolve_pronoun(self, pronoun: str, at: int) -> Mention | None:
        """Return the only person, named before offset `at`, whom a pronoun can mean; None: none, or several."""
        if self._unnamed_here:
            return None
        if self._earlier is None:
            self._earlier = [
                mention
                for turn in self._before
                for mention in turn.mentions
                if mention.type == "Person" and not mention.speaker
            ]
        excluded = MALE - FEMALE if pronoun in SHE else FEMALE - MALE if pronoun in HE else frozenset()
        candidates: dict[str, Mention] = {}
        here = [mention for mention in self._here if mention.start < at]
        for mention in (*self._earlier, *here):
            folded = mention.text.casefold()
            if folded not in self._roles and folded.split()[0] not in excluded:
                candidates.setdefault(folded, mention)
        if len(candidates) != 1 or (not here and self._unnamed()):
            return None
        return next(iter(candidates.values()))

    def _unnamed(self) -> bool:
        if self._unnamed_before is None:
            self._unnamed_before = any(
                _speaks_of_unnamed(sentence, self._earlier or ())
                for turn in self._before
                for sentence in parse_sentences(turn.text)
            )
        return self._unnamed_before


def _speaks_of_unnamed(sentence: Sentence, named: Sequence[Mention]) -> bool:
    """Whether a sentence has a noun for a person and does not name one."""
    return bool(PEOPLE_NOUNS.intersection(sentence.low)) and not any(
        mention.text.casefold().split()[0] in sentence.low for mention in named
    )

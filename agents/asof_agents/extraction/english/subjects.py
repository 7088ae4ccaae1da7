"""Subjects: who a clause is about: the speaker, a name, or a pronoun that can mean only one person."""

from collections.abc import Sequence
from dataclasses import dataclass

from asof_agents.extraction.english.first_names import FEMALE, MALE
from asof_agents.extraction.english.lexicon import HE, PEOPLE_NOUNS, SHE
from asof_agents.extraction.english.sentences import Sentence, read
from asof_agents.extraction.ports import Mention, Turn

UNTYPED = ""  # the type of a subject's name that nothing tells the type of


@dataclass(frozen=True, slots=True)
class Subject:
    """One or more sources of what a clause says; `next` is where its verb may begin."""

    mentions: tuple[Mention, ...]
    next: int
    third: bool  # its verb stands in the third person singular
    confidence: float


class People:
    """The people whom he and she may mean: those named in the turns before and in this turn so far."""

    def __init__(self, before: Sequence[Turn], roles: frozenset[str]) -> None:
        self._before = before
        self._roles = {role.casefold() for role in roles if role}
        self._here: list[Mention] = []
        self._earlier: list[Mention] | None = None
        self._unnamed_before: bool | None = None
        self._unnamed_here = False

    def named(self, mention: Mention) -> None:
        """A person was named in this turn."""
        self._here.append(mention)

    def passed(self, sentence: Sentence) -> None:
        """A sentence of this turn has been read: its unnamed people may be meant from now on."""
        self._unnamed_here = self._unnamed_here or _speaks_of_unnamed(sentence, self._here)

    def meant_by(self, pronoun: str, at: int) -> Mention | None:
        """The one person, named before offset `at`, whom a pronoun can mean, or None."""
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
                for sentence in read(turn.text)
            )
        return self._unnamed_before


def _speaks_of_unnamed(sentence: Sentence, named: Sequence[Mention]) -> bool:
    """Whether the sentence has a noun for a person who is not named in it."""
    return bool(PEOPLE_NOUNS.intersection(sentence.low)) and not any(
        mention.text.casefold().split()[0] in sentence.low for mention in named
    )

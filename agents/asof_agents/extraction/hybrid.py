"""Extractors of rules and a model together. Pure.

The hybrid one keeps the findings of rules, and a model adds those that the rules did not find. The one with a fallback
uses the rules alone where the model gave no answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from asof_agents.extraction.llm.extractor import LLMExtractor
from asof_agents.extraction.ports import Extraction, Extractor, KnownNames, Mention, ModelRequest, Relationship, Turn


class HybridExtractor:
    """Implements ports.Extractor by an extractor of rules and one of a model."""

    def __init__(self, rules: Extractor, model: LLMExtractor) -> None:
        self._rules = rules
        self._model = model

    @property
    def version(self) -> str:
        return f"{self._rules.version}+{self._model.version}"

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest:
        """Return the model's request, about the whole turn: the rules cannot tell what they have missed."""
        return self._model.request(turn, before)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the findings of the rules, then those of the model alone; without an answer, the rules' findings."""
        sure = self._rules.extract(turn, before, known)
        return merge(sure, self._model.extract(turn, before, known, answer))


class FallbackExtractor:
    """Implements ports.Extractor by a model; by rules, where it gave no answer. The version is the model's."""

    def __init__(self, rules: Extractor, model: LLMExtractor) -> None:
        self._rules = rules
        self._model = model

    @property
    def version(self) -> str:
        return self._model.version

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest:
        """Return the model's request."""
        return self._model.request(turn, before)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the findings of the model; without an answer, the rules' findings."""
        extractor = self._rules if answer is None else self._model
        return extractor.extract(turn, before, known, answer)


def merge(sure: Extraction, more: Extraction) -> Extraction:
    """Return two extractions as one, the sure one first.

    The same words are one mention, with the sure type. The same two mentions have each relation once, and
    a mention each attribute.
    """
    same = {(m.text.casefold(), m.speaker): m for m in sure.mentions}
    speaker = next((m for m in sure.mentions if m.speaker), None)

    def of(mention: Mention) -> Mention:
        if mention.speaker:
            return speaker or mention
        return same.get((mention.text.casefold(), False), mention)

    stated = {_ends(r) for r in sure.relationships}
    added = [replace(r, source=of(r.source), target=of(r.target)) for r in more.relationships]
    mentions = dict.fromkeys((*sure.mentions, *map(of, more.mentions)))
    new = tuple(r for r in added if _ends(r) not in stated)
    given = {(attribute.mention, attribute.name) for attribute in sure.attributes}
    more_attributes = (replace(attribute, mention=of(attribute.mention)) for attribute in more.attributes)
    described = tuple(each for each in more_attributes if (each.mention, each.name) not in given)
    attributes = (*sure.attributes, *described)
    return Extraction(tuple(mentions), (*sure.relationships, *new), more.refused, attributes, more.goals)


def _ends(stated: Relationship) -> tuple[str, str, str]:
    source, target = (("" if m.speaker else m.text.casefold()) for m in (stated.source, stated.target))
    return source, stated.relation, target

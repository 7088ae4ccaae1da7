"""The facts that a message may end without saying so in words that the rules know: what a language model is shown.

They are asked about in two cases: a message states an ending of something that no fact holds, or it has a word for an
end and the words of a fact about what it names. So most messages ask nothing, and beliefs are asked as they were
before the message, in the order of the log.
"""

from collections.abc import Collection, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from asof_agents.extraction.english.word_roots import ENDED, roots_of
from asof_agents.extraction.llm.prompts import fill
from asof_agents.extraction.llm.schemas import object_of, pieces, schema_of
from asof_agents.extraction.ports import ModelRequest, RejectedPart
from asof_agents.ports import BeliefView
from asof_ontologies.prompts import Prompt
from asof_projections.model.rows import FactRow, Moment
from asof_streams.episodic import EpisodeRecorded

_SURE: Final = 0.8  # the least confidence in an end: a fact that is lost costs more than one that stays too long
_SHOWN: Final = 10  # facts in a prompt
_LOOKED_AT: Final = 64  # facts in each direction
_TEXT: Final = 1_000  # characters of the message
_FACT: Final = 160  # characters of a fact


class EndedAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    fact: int
    confidence: float


class Endings(BaseModel):
    """The schema of an answer."""

    ended: list[EndedAnswered]


def facts_in_doubt(
    episode: EpisodeRecorded, named: Collection[str], ended: Collection[str], known: BeliefView, known_at: int
) -> list[FactRow]:
    """Return the states that an episode may end, likeliest first; at most ten.

    named: the entities that it names. ended: those of which it states an ending that meets no fact.
    """
    said = roots_of(episode.content[:_TEXT])
    tells = not ENDED.isdisjoint(episode.content[:_TEXT].casefold().split())
    if not episode.content or not (ended or (tells and named)):
        return []
    around = known.facts_around(sorted({*named, *ended}), Moment(episode.valid_at, known_at), _LOOKED_AT)
    states = {fact.uuid: fact for fact in around if not fact.occurrence and not fact.planned}
    shared = {uuid: len(said & _own_roots(fact)) for uuid, fact in states.items()}
    likely = [
        fact
        for uuid, fact in states.items()
        if fact.subject_uuid in ended or (tells and shared[uuid] and fact.confidence > 0)
    ]
    return sorted(likely, key=lambda fact: (-shared[fact.uuid], -fact.number))[:_SHOWN]


def _own_roots(fact: FactRow) -> set[str]:
    """Return the roots of what is said of a subject: its name is in every fact of it."""
    return roots_of(f"{fact.relation.replace('_', ' ')} {fact.object}") - roots_of(fact.subject)


def request_about(episode: EpisodeRecorded, facts: Sequence[FactRow], prompt: Prompt, model: str) -> ModelRequest:
    """Return the request that asks which of these facts an episode ends."""
    lines = (f"{number}. {' '.join(fact.fact.split())[:_FACT]}" for number, fact in enumerate(facts, 1))
    user = fill(
        prompt.user,
        speaker=episode.role or episode.role_type,
        text=episode.content[:_TEXT],
        facts="\n".join(lines),
    )
    return ModelRequest(prompt.key, prompt.version, model, prompt.temperature, prompt.system, user, schema_of(Endings))


def parse_endings(answer: str, facts: Sequence[FactRow]) -> tuple[list[FactRow], list[RejectedPart]]:
    """Return the facts that an answer ends, and its rejected parts."""
    refused: list[RejectedPart] = []
    ended: dict[int, FactRow] = {}
    for part in pieces("ending", (object_of(answer) or {}).get("ended"), EndedAnswered, refused):
        if part.fact in ended or not 1 <= part.fact <= len(facts):
            refused.append(RejectedPart("ending", "id"))
        elif not 0.0 <= part.confidence <= 1.0:
            refused.append(RejectedPart("ending", "confidence"))
        elif part.confidence < _SURE:
            refused.append(RejectedPart("ending", "unsure"))
        else:
            ended[part.fact] = facts[part.fact - 1]
    return list(ended.values()), refused

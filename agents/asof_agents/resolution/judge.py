"""A language model as judge of whom a name means: asked only what rules leave open, once a message for all of it.

What it says is taken piece by piece: numbers must be those that it was shown, and what it is not sure of is left as it
was. A wrong merge costs more than a duplicate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from asof_agents.extraction.llm.prompts import fill
from asof_agents.extraction.llm.schemas import object_of, pieces, schema_of
from asof_agents.extraction.ports import Answers, ModelRequest, RejectedPart
from asof_agents.handlers.mentions import answer_events, turn_of
from asof_agents.resolution.candidates import Candidate, NameIndex
from asof_ontologies.prompts import Prompt
from asof_projections.rows import Entity
from asof_streams.episodic import EpisodeRecorded, MentionObserved
from asof_streams.events import Event

_SURE: Final = 0.5  # what a model is less sure of is not taken: of a name
_SURE_OF_TWO: Final = 0.8  # and of two things that would be one from then on
_WHOLE: Final = 1_000  # characters of a message that are shown whole
_AROUND: Final = 200  # of a longer one, those on either side of a name
_NAMES: Final = 4  # of a known thing


class MeantAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    mention: int
    known: int
    confidence: float


class SameAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    one: int
    other: int
    confidence: float


class Resolution(BaseModel):
    """What a model is asked to give."""

    meant: list[MeantAnswered]
    same: list[SameAnswered]


SCHEMA: Final = schema_of(Resolution)


class Doubt(NamedTuple):
    """A mention, and whom it may mean."""

    mention: MentionObserved
    candidates: list[Candidate]


class Verdict(NamedTuple):
    """What of an answer can stand."""

    meant: dict[str, tuple[Entity, float]]  # by mention id; with how sure the model is
    same: list[tuple[Entity, Entity]]
    refused: list[RejectedPart]


@dataclass(frozen=True, slots=True)
class Judge:
    """What to ask of a model, where its answers come from, and what knows which names are near (None: nothing)."""

    prompt: Prompt
    model: str
    answers: Answers
    names: NameIndex | None = None

    def decide(self, group: str, episode: EpisodeRecorded, doubts: Sequence[Doubt]) -> tuple[Verdict, list[Event]]:
        """Return what is decided of the doubts of an episode, and the events of having asked."""
        request = self.request(episode, doubts)
        reply = self.answers.reply(group, request)
        verdict = Verdict({}, [], []) if reply.answer is None else parse_verdict(reply.answer, doubts)
        return verdict, answer_events(turn_of(episode), request, reply, verdict.refused)

    def request(self, episode: EpisodeRecorded, doubts: Sequence[Doubt]) -> ModelRequest:
        """Return the one question about all doubts of an episode."""
        numbers = _numbers(doubts)
        mentions = [
            f"{n}. {_line(doubt.mention.text)} ({doubt.mention.entity_type}): "
            + ", ".join(str(numbers[c.entity.uuid]) for c in doubt.candidates)
            for n, doubt in enumerate(doubts, 1)
        ]
        user = fill(
            self.prompt.user,
            speaker=episode.role or episode.role_type,
            text=_shown(episode.content, doubts),
            mentions="\n".join(mentions),
            known="\n".join(f"{n}. {_told(c)}" for n, c in enumerate(_known(doubts), 1)),
        )
        prompt = self.prompt
        return ModelRequest(prompt.key, prompt.version, self.model, prompt.temperature, prompt.system, user, SCHEMA)


def parse_verdict(answer: str, doubts: Sequence[Doubt]) -> Verdict:
    """Return what an answer decides, and what of it was refused. Pure."""
    given = object_of(answer) or {}
    known = {n: c.entity for n, c in enumerate(_known(doubts), 1)}
    refused: list[RejectedPart] = []
    meant: dict[str, tuple[Entity, float]] = {}
    answered: set[int] = set()
    for said in pieces("mention", given.get("meant"), MeantAnswered, refused):
        if said.mention in answered or not 1 <= said.mention <= len(doubts):
            refused.append(RejectedPart("mention", "id"))
            continue
        answered.add(said.mention)
        mention, candidates = doubts[said.mention - 1]
        entity = known.get(said.known)
        if said.known != 0 and entity not in [c.entity for c in candidates]:
            refused.append(RejectedPart("mention", "id"))
        elif why := _unsure(said.confidence, _SURE):
            refused.append(RejectedPart("mention", why))
        elif entity is not None:
            meant[mention.mention_id] = (entity, said.confidence)
    same: list[tuple[Entity, Entity]] = []
    for pair in pieces("pair", given.get("same"), SameAnswered, refused):
        one, other = known.get(pair.one), known.get(pair.other)
        if one is None or other is None or one == other:
            refused.append(RejectedPart("pair", "id"))
        elif None not in (one.type, other.type) and one.type != other.type:
            refused.append(RejectedPart("pair", "type"))
        elif why := _unsure(pair.confidence, _SURE_OF_TWO):
            refused.append(RejectedPart("pair", why))
        else:
            same.append((one, other))
    return Verdict(meant, same, refused)


def _unsure(confidence: float, least: float) -> str | None:
    """Return why a piece cannot stand: it says no confidence, or too little."""
    if not 0.0 <= confidence <= 1.0:
        return "confidence"
    return "unsure" if confidence < least else None


def _known(doubts: Sequence[Doubt]) -> list[Candidate]:
    """Return every candidate once, in the order in which they are shown."""
    return list({c.entity.uuid: c for doubt in doubts for c in doubt.candidates}.values())


def _numbers(doubts: Sequence[Doubt]) -> dict[str, int]:
    return {c.entity.uuid: n for n, c in enumerate(_known(doubts), 1)}


def _told(candidate: Candidate) -> str:
    name, *others = candidate.names[:_NAMES]
    also = f", also {', '.join(others)}" if others else ""
    return _line(f"{name}{also}: {'; '.join(candidate.facts) or '-'}")


def _line(words: str) -> str:
    """Return words on one line, so that none of them passes for another entry of the list."""
    return " ".join(words.split())


def _shown(text: str, doubts: Sequence[Doubt]) -> str:
    if len(text) <= _WHOLE:
        return text
    starts = sorted({doubt.mention.start for doubt in doubts})
    return " ... ".join(text[max(0, start - _AROUND) : start + _AROUND] for start in starts)

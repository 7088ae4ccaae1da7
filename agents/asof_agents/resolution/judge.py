"""A language model as the judge of what the rules leave open: names and endings, each one request a message at most.

The answer is validated part by part: its numbers must be those of the request, and a part of low confidence is
rejected, because a wrong merge costs more than a duplicate.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from asof_agents.extraction.llm.prompts import fill
from asof_agents.extraction.llm.schemas import object_of, pieces, schema_of
from asof_agents.extraction.ports import Answers, ModelRequest, RejectedPart
from asof_agents.extraction.replies import answer_events
from asof_agents.extraction.turns import turn_of
from asof_agents.resolution.candidates import NEAR, Candidate, NameIndex, Nearest
from asof_agents.resolution.open_facts import parse_endings, request_about
from asof_ontologies.prompts import Prompt
from asof_projections.model.rows import EntityRow, FactRow
from asof_streams.episodic import EpisodeRecorded, ExtractionFailed, MentionObserved
from asof_streams.errors import ModelUnavailable
from asof_streams.events import Event

_SURE: Final = 0.5  # the least confidence in the entity of a name
_SURE_OF_TWO: Final = 0.8  # the least confidence in a merge of two entities, which lasts
_WHOLE: Final = 1_000  # characters up to which the prompt has the whole message
_AROUND: Final = 200  # characters on either side of each name, in a longer message
_NAMES: Final = 4  # of a candidate, in the prompt


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
    """The schema of an answer."""

    meant: list[MeantAnswered]
    same: list[SameAnswered]


class Doubt(NamedTuple):
    """A mention, with the entities that it may mean."""

    mention: MentionObserved
    candidates: list[Candidate]


class Verdict(NamedTuple):
    """The valid parts of an answer, and the rejected ones."""

    meant: dict[str, tuple[EntityRow, float]]  # by mention id: the entity and the model's confidence
    same: list[tuple[EntityRow, EntityRow]]
    refused: list[RejectedPart]


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides doubts by a model's answers. names: finds candidates of similar meaning; None: nothing does.

    endings: asks which facts a message ends; None: nobody is asked.
    """

    prompt: Prompt
    model: str
    answers: Answers
    names: NameIndex | None = None
    endings: Prompt | None = None

    def near(
        self, group: str, episode: EpisodeRecorded, texts: Sequence[str], cause: int
    ) -> tuple[Mapping[str, Nearest], list[Event]]:
        """Return the entities with a name near to each text; none, and the failure, where the embedder fails.

        cause: the position of the message. A failure recorded about it stands, so that a rebuild finds none either.
        """
        if self.names is None:
            return {}, []
        model = self.names.model_id
        request = sha256(json.dumps([model, *texts]).encode()).hexdigest()
        if self.answers.failure(group, request, cause) is None:
            with suppress(ModelUnavailable):
                return self.names.nearest(group, texts, NEAR), []
        failed = ExtractionFailed(
            episode_id=episode.episode_id,
            request=request,
            prompt="names",
            prompt_version=1,
            model=model,
            reason="unavailable",
            calls=1,
            prompt_tokens=0,
            completion_tokens=0,
        )
        return {}, [failed]

    def decide(
        self, group: str, episode: EpisodeRecorded, doubts: Sequence[Doubt], cause: int
    ) -> tuple[Verdict, list[Event]]:
        """Return the decisions about an episode's doubts, and the events of the model's reply."""
        request = self.request(episode, doubts)
        reply = self.answers.reply(group, request, cause)
        verdict = Verdict({}, [], []) if reply.answer is None else parse_verdict(reply.answer, doubts)
        return verdict, answer_events(turn_of(episode), request, reply, verdict.refused)

    def ended(
        self, group: str, episode: EpisodeRecorded, facts: Sequence[FactRow], cause: int
    ) -> tuple[list[FactRow], list[Event]]:
        """Return which of some facts an episode ends, and the events of the model's reply."""
        if self.endings is None or not facts:
            return [], []
        request = request_about(episode, facts, self.endings, self.model)
        reply = self.answers.reply(group, request, cause)
        ended, refused = ([], []) if reply.answer is None else parse_endings(reply.answer, facts)
        return ended, answer_events(turn_of(episode), request, reply, refused)

    def request(self, episode: EpisodeRecorded, doubts: Sequence[Doubt]) -> ModelRequest:
        """Return the request about all doubts of an episode."""
        numbers = _numbers(doubts)
        mentions = [
            f"{n}. {_line(doubt.mention.text)} ({doubt.mention.entity_type}): "
            + ", ".join(str(numbers[c.entity.uuid]) for c in doubt.candidates)
            for n, doubt in enumerate(doubts, 1)
        ]
        user = fill(
            self.prompt.user,
            speaker=episode.role or episode.role_type,
            text=_excerpt(episode.content, doubts),
            mentions="\n".join(mentions),
            known="\n".join(f"{n}. {_entry(c)}" for n, c in enumerate(_known(doubts), 1)),
        )
        prompt = self.prompt
        return ModelRequest(
            prompt.key, prompt.version, self.model, prompt.temperature, prompt.system, user, schema_of(Resolution)
        )


def parse_verdict(answer: str, doubts: Sequence[Doubt]) -> Verdict:
    """Return the decisions of an answer, and its rejected parts."""
    fields = object_of(answer) or {}
    known = {n: c.entity for n, c in enumerate(_known(doubts), 1)}
    refused: list[RejectedPart] = []
    meant: dict[str, tuple[EntityRow, float]] = {}
    answered: set[int] = set()
    for part in pieces("mention", fields.get("meant"), MeantAnswered, refused):
        if part.mention in answered or not 1 <= part.mention <= len(doubts):
            refused.append(RejectedPart("mention", "id"))
            continue
        answered.add(part.mention)
        mention, candidates = doubts[part.mention - 1]
        entity = known.get(part.known)
        if part.known != 0 and entity not in [c.entity for c in candidates]:
            refused.append(RejectedPart("mention", "id"))
        elif reason := _unsure(part.confidence, _SURE):
            refused.append(RejectedPart("mention", reason))
        elif entity is not None:
            meant[mention.mention_id] = (entity, part.confidence)
    same: list[tuple[EntityRow, EntityRow]] = []
    for pair in pieces("pair", fields.get("same"), SameAnswered, refused):
        one, other = known.get(pair.one), known.get(pair.other)
        if one is None or other is None or one == other:
            refused.append(RejectedPart("pair", "id"))
        elif None not in (one.type, other.type) and one.type != other.type:
            refused.append(RejectedPart("pair", "type"))
        elif reason := _unsure(pair.confidence, _SURE_OF_TWO):
            refused.append(RejectedPart("pair", reason))
        else:
            same.append((one, other))
    return Verdict(meant, same, refused)


def _unsure(confidence: float, least: float) -> str | None:
    """Return the reason to reject a confidence: it is none, or too low."""
    if not 0.0 <= confidence <= 1.0:
        return "confidence"
    return "unsure" if confidence < least else None


def _known(doubts: Sequence[Doubt]) -> list[Candidate]:
    """Return every candidate once, in the order of their numbers in the prompt."""
    return list({c.entity.uuid: c for doubt in doubts for c in doubt.candidates}.values())


def _numbers(doubts: Sequence[Doubt]) -> dict[str, int]:
    return {c.entity.uuid: n for n, c in enumerate(_known(doubts), 1)}


def _entry(candidate: Candidate) -> str:
    name, *others = candidate.names[:_NAMES]
    also = f", also {', '.join(others)}" if others else ""
    return _line(f"{name}{also}: {'; '.join(candidate.facts) or '-'}")


def _line(text: str) -> str:
    """Return a text on one line, so that no part of it can pass for another entry of the list."""
    return " ".join(text.split())


def _excerpt(text: str, doubts: Sequence[Doubt]) -> str:
    if len(text) <= _WHOLE:
        return text
    starts = sorted({doubt.mention.start for doubt in doubts})
    return " ... ".join(text[max(0, start - _AROUND) : start + _AROUND] for start in starts)

"""The events of a model's reply: recorded before anything follows from it, so that nobody is asked twice."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from asof_agents.extraction.ports import ModelReply, ModelRequest, RejectedPart, Turn
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed, ExtractionRefused
from asof_streams.events import Event


def answer_events(turn: Turn, request: ModelRequest, reply: ModelReply, refused: Sequence[RejectedPart]) -> list[Event]:
    """Return the events of a model's reply: the answer and the counts of its rejected parts, or the failure."""
    about: dict[str, Any] = {
        "episode_id": turn.episode_id,
        "request": request.digest,
        "prompt": request.prompt,
        "prompt_version": request.prompt_version,
        "model": request.model,
        "calls": reply.calls,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
    if reply.answer is None:
        return [ExtractionFailed(reason=reply.failure, **about)]
    answered = ExtractionAnswered(answer=reply.answer, latency_ms=reply.latency_ms, **about)
    return [
        answered,
        *(
            ExtractionRefused(
                episode_id=turn.episode_id, request=answered.request, part=part, reason=reason, count=count
            )
            for (part, reason), count in sorted(Counter(refused).items())
        ),
    ]

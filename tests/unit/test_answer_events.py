"""The events of a model's reply."""

from typing import Any

from asof_agents.extraction.ports import ModelReply, ModelRequest, RejectedPart, Turn
from asof_agents.extraction.replies import answer_events
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed, ExtractionRefused

REQUEST = ModelRequest("extract", 3, "m", 0.0, "system", "user", "{}")
ABOUT: dict[str, Any] = {
    "episode_id": "e",
    "request": REQUEST.digest,
    "prompt": "extract",
    "prompt_version": 3,
    "model": "m",
}
COUNTS: dict[str, Any] = {"calls": 2, "prompt_tokens": 30, "completion_tokens": 4}
TURN = Turn("e", "Ana", "user", "Hm.", 0)


def test_an_answer_stands_with_its_counts_and_how_often_each_part_of_it_was_rejected() -> None:
    refused = [RejectedPart("mention", "id"), RejectedPart("ending", "unsure"), RejectedPart("mention", "id")]

    assert answer_events(TURN, REQUEST, ModelReply("{}", **COUNTS, latency_ms=50), refused) == [
        ExtractionAnswered(answer="{}", latency_ms=50, **ABOUT, **COUNTS),
        ExtractionRefused(episode_id="e", request=REQUEST.digest, part="ending", reason="unsure", count=1),
        ExtractionRefused(episode_id="e", request=REQUEST.digest, part="mention", reason="id", count=2),
    ]


def test_where_there_is_no_answer_its_reason_stands_with_the_counts() -> None:
    reply = ModelReply(None, "schema", **COUNTS, latency_ms=50)

    assert answer_events(TURN, REQUEST, reply, []) == [ExtractionFailed(reason="schema", **ABOUT, **COUNTS)]
    assert answer_events(TURN, REQUEST, ModelReply(""), [])[0].type == "extraction.answered"

"""What a rebuild would ask a language model: it is rehearsed with the recorded answers alone, and the rest is counted.

The requests about texts depend on nothing else, so their number is exact. What is asked about names and endings depends
on what was answered before: where an answer is not recorded, the rules go on alone, and the number is an estimate.
"""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from asof.runtime.extractors import ExtractorFactory
from asof.runtime.layout import DirectoryLayout
from asof.runtime.recorded_answers import each_reply, find_answer, find_failure, open_answers
from asof.runtime.rehearsal import open_rehearsal, temporary_layout
from asof.runtime.wiring import Progress
from asof.settings import Settings
from asof_agents.extraction.llm.budget import ANSWER_TOKENS
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_ontologies.model import Ontology
from asof_ontologies.prompts import prompt
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.builds import PromptEstimate, RebuildEstimate
from asof_projections.model.prices import price_of
from asof_projections.retrieval.token_count import tokens
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed

_SAMPLE: Final = 5_000  # events after which a rebuild that asks no model is known well enough
_LATENCY_SECONDS: Final = 1.0  # of a call, where none was ever made


class _Prompt(NamedTuple):
    """What is asked: the key of a prompt, its version, and the model."""

    key: str
    version: int
    model: str


class RecordedAnswers:
    """Implements ports.Answers by the recorded answers alone; it counts the requests that a model would be asked."""

    def __init__(self, stores: Sequence[SqliteGraph]) -> None:
        self.held = Counter[_Prompt]()
        self.calls = Counter[_Prompt]()
        self.tokens = Counter[_Prompt]()  # of the calls
        self.scale = _Scale()
        self._stores = stores
        self._seen: set[bytes] = set()

    def failure(self, group: str, request: str, cause: int) -> ExtractionFailed | None:
        """Return the recorded failure of a request about a message."""
        return find_failure(self._stores, group, request, cause)

    def reply(self, group: str, request: ModelRequest, cause: int) -> ModelReply:
        """Return the recorded reply; a failure without a call, where there is none."""
        digest, asked = request.digest, _Prompt(request.prompt, request.prompt_version, request.model)
        if failed := self.failure(group, digest, cause):
            self.held[asked] += 1
            return ModelReply(None, failed.reason, failed.calls, failed.prompt_tokens, failed.completion_tokens)
        if recorded := find_answer(self._stores, group, digest):
            self.held[asked] += 1
            self.scale.add(recorded.prompt_tokens, _tokens_of(request))
            return ModelReply(recorded.answer, "", recorded.calls, recorded.prompt_tokens, recorded.completion_tokens)
        key = bytes.fromhex(digest) + group.encode()
        if key in self._seen:
            self.held[asked] += 1  # by then it is
        else:
            self._seen.add(key)
            self.calls[asked] += 1
            self.tokens[asked] += _tokens_of(request)
        return ModelReply(None, "unasked", 0)


@dataclass(slots=True)
class _Scale:
    """How many tokens a server counts for one by our rule, as far as recorded answers tell."""

    counted: int = 0
    by_rule: int = 0

    def add(self, counted: int, by_rule: int) -> None:
        if counted:
            self.counted += counted
            self.by_rule += by_rule

    def of(self, by_rule: int) -> int:
        return round(by_rule * self.counted / self.by_rule) if self.by_rule else by_rule


class _Ledger:
    """What earlier answers came to on average."""

    def __init__(self, stores: Sequence[SqliteGraph]) -> None:
        self._answers, self._written = Counter[str](), Counter[str]()
        self._milliseconds = 0
        for _, reply in each_reply(stores, None):
            if isinstance(reply, ExtractionAnswered):
                self._answers[reply.prompt] += 1
                self._written[reply.prompt] += reply.completion_tokens
                self._milliseconds += reply.latency_ms

    def written(self, key: str) -> float:
        """Return the tokens of an answer to a prompt."""
        return self._written[key] / self._answers[key] if self._answers[key] else ANSWER_TOKENS

    @property
    def latency(self) -> float:
        """The seconds of a call."""
        answers = self._answers.total()
        return self._milliseconds / 1_000 / answers if answers else _LATENCY_SECONDS


def estimate_rebuild(
    parts: Sequence[DirectoryLayout],
    settings: Settings,
    info: GenerationInfo,
    ontology: Ontology,
    extractors: ExtractorFactory,
    progress: Progress | None = None,
) -> RebuildEstimate:
    """Return what a rebuild of a directory, or of all its partitions, would cost; only temporary files are written."""
    with ExitStack() as opened:
        stores = [store for places in parts for store in open_answers(opened, places, info.name)]
        answers = RecordedAnswers(stores)
        events, seconds = 0, 0.0
        for places in parts:
            with (
                temporary_layout(places, settings) as scratch,
                open_rehearsal(places, scratch, info, ontology, extractors, answers) as rehearsal,
            ):
                began = time.monotonic()
                done = rehearsal.run(most=rehearsal.end if extractors.asks else _SAMPLE, progress=progress)
                seconds += (time.monotonic() - began) * (rehearsal.end / done if done else 1.0)
                events += rehearsal.end
        ledger = _Ledger(stores if extractors.asks else ())
    prompts = _prompts(answers, ledger, settings)
    ahead = prompt("extract").key  # many at once, while the others wait for each other
    waits = [one.calls / (settings.model_calls if one.prompt == ahead else 1) for one in prompts]
    costs = [one.cost for one in prompts if one.calls]
    return RebuildEstimate(
        *(info.name, info.ontology, info.input, events),
        sum(one.calls for one in prompts),
        sum(one.prompt_tokens for one in prompts),
        sum(one.completion_tokens for one in prompts),
        None if None in costs else sum(cost or 0.0 for cost in costs),
        seconds + ledger.latency * sum(waits),
        prompts,
    )


def _prompts(answers: RecordedAnswers, ledger: _Ledger, settings: Settings) -> tuple[PromptEstimate, ...]:
    found = []
    for asked in sorted({*answers.held, *answers.calls}):
        calls = answers.calls[asked]
        read, written = answers.scale.of(answers.tokens[asked]), round(calls * ledger.written(asked.key))
        price = price_of(settings.model_prices, asked.model)
        cost = None if price is None else price.of(read, written)
        estimated = asked.key != prompt("extract").key and answers.calls.total() > 0
        found.append(PromptEstimate(*asked, answers.held[asked], calls, read, written, cost, estimated))
    return tuple(found)


def _tokens_of(request: ModelRequest) -> int:
    return _frame(request.system, request.schema) + tokens(request.user)


@lru_cache(maxsize=32)
def _frame(system: str, schema: str) -> int:
    """Return the tokens of what the requests by one prompt have in common."""
    return tokens(system) + tokens(schema)

"""The ledger of calls to language models: what the recorded answers and failures of a directory say they cost."""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack

from asof.runtime.layout import DirectoryLayout
from asof.runtime.recorded_answers import each_reply, open_answers
from asof_projections.model.prices import ModelPrice, price_of
from asof_projections.model.usage import ModelUsage
from asof_streams.episodic import ExtractionAnswered

_Key = tuple[str, str, int, str]


def model_usage(places: DirectoryLayout, group: str | None, prices: Mapping[str, ModelPrice]) -> list[ModelUsage]:
    """Return what calls have cost, by group, prompt and model."""
    counted: dict[_Key, Counter[str]] = {}
    with ExitStack() as opened:
        for name, reply in each_reply(open_answers(opened, places), group):
            key = name, reply.prompt, reply.prompt_version, reply.model
            kind = "answers" if isinstance(reply, ExtractionAnswered) else "failures"
            tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
            counted.setdefault(key, Counter()).update({kind: 1, "calls": reply.calls, **tokens})
    return [_line(key, numbers, price_of(prices, key[3])) for key, numbers in sorted(counted.items())]


def _line(key: _Key, numbers: Counter[str], price: ModelPrice | None) -> ModelUsage:
    read, written = numbers["prompt_tokens"], numbers["completion_tokens"]
    cost = None if price is None else price.of(read, written)
    return ModelUsage(*key, numbers["answers"], numbers["failures"], numbers["calls"], read, written, cost)

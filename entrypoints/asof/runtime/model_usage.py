"""The ledger of calls to language models: what the recorded answers and failures of a directory say they cost."""

from collections import Counter
from contextlib import ExitStack

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.usage import ModelUsage
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed

_Key = tuple[str, str, int, str]


def model_usage(places: DirectoryLayout, group: str | None) -> list[ModelUsage]:
    """Return what calls have cost, by group, prompt and model.

    A generation that uses the answer of another records it too: it counts where it was recorded first.
    """
    counted: dict[_Key, Counter[str]] = {}

    def count(name: str, reply: ExtractionAnswered | ExtractionFailed, kind: str) -> None:
        key = name, reply.prompt, reply.prompt_version, reply.model
        tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
        counted.setdefault(key, Counter()).update({kind: 1, "calls": reply.calls, **tokens})

    with ExitStack() as opened:
        logs = {"episodic": places.episodes}
        logs |= {f"semantic.{info.name}": places.graph(info.name) for info in existing(places).generations}
        earlier: list[SqliteGraph] = []
        for log, path in logs.items():
            store = opened.enter_context(SqliteGraph(path, log))
            for name, answered in store.answers(group):
                if all(one.answer(name, answered.request) is None for one in earlier):
                    count(name, answered, "answers")
            for name, cause, failed in store.failures(group):
                if all(one.failure(name, failed.request, cause) is None for one in earlier):
                    count(name, failed, "failures")
            earlier.append(store)
    fields = ("answers", "failures", "calls", "prompt_tokens", "completion_tokens")
    return [ModelUsage(*key, *(numbers[field] for field in fields)) for key, numbers in sorted(counted.items())]

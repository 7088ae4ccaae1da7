"""Chat read by a language model that answers after 300 ms: how many calls, how many tokens, how many messages a second.

The model is the fake one of the tests, in a process of its own: what it answers is what the rules find.
"""

import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import asof
from asof.api.memory import Memory
from asof_streams.episodic import ExtractionAnswered
from bench.figures import Figure, Target, percentiles
from bench.material import Material

_SERVER = Path(__file__).resolve().parents[1] / "tests" / "model_server.py"
_LATENCY = 0.3  # seconds a call
_AT_ONCE = 8


def measure(material: Material) -> Iterator[Figure]:
    name, lines = material.chat(material.count(2_760, 100))
    with fake_model(_LATENCY) as url:
        settings = {"extractor": "model", "model_name": "fake", "model_url": url, "model_calls": _AT_ONCE}
        with asof.open(material.folder / "asked", **settings) as memory:
            began = time.perf_counter()
            done = memory.produce(lines)
            seconds = time.perf_counter() - began
            assert not done.refused
            calls, tokens = _cost(memory)
    rate, turns = {"messages/s": done.accepted / seconds}, f"{done.accepted:,} turns of {name}"
    yield Figure(
        f"{turns}, {_AT_ONCE} calls at once", "messages/s", rate, targets=(Target("messages/s", 20, at_least=True),)
    )
    most = Target("median of groups", 1.2)
    yield Figure("calls a message, second ones included", "calls", {"median of groups": median(calls)}, targets=(most,))
    least = Target("p50", 1_200)
    yield Figure("prompt tokens a message, schemas included", "tokens", percentiles(tokens, 1), targets=(least,))


@contextmanager
def fake_model(latency: float) -> Iterator[str]:
    """Start a model that answers after so many seconds; give its address."""
    command = [sys.executable, str(_SERVER), str(latency), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield re.findall(r"ASOF_MODEL_URL=(\S+)", process.stdout.readline())[0]
        finally:
            process.kill()


def _cost(memory: Memory) -> tuple[list[float], list[float]]:
    """Return the calls a message of each group, and the prompt tokens of each message."""
    calls: Counter[str] = Counter()
    tokens: dict[str, Counter[str]] = defaultdict(Counter)
    for log in ("episodic", "semantic"):
        for event in memory.events(log):
            if event.type == ExtractionAnswered.type:
                calls[event.group_id] += event.data["calls"]
                tokens[event.group_id][event.data["episode_id"]] += event.data["prompt_tokens"]
    return (
        [calls[group] / len(episodes) for group, episodes in tokens.items()],
        [float(read) for episodes in tokens.values() for read in episodes.values()],
    )

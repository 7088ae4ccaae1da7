"""A benchmark of two clocks: what memories answer about when things were true, and when that was known.

Generated lives are told in pieces: late, corrected, retracted, restated, with returns, merges and their undoing. Each
memory is told the same statements one by one, and then asked the same questions; an oracle knows the right answers. No
language model takes part, nothing depends on the clock of the machine, and a seed says all.
"""

from collections.abc import Iterator
from random import Random

from bench.figures import Figure
from bench.material import Material
from bench.two_clocks.adapters import adapters
from bench.two_clocks.oracle import Oracle
from bench.two_clocks.questions import questions_about
from bench.two_clocks.story import story
from bench.two_clocks.told import CATEGORIES, Adapter, Question, tell

SEED = 262
PEOPLE = 40  # at full scale


def measure(material: Material) -> Iterator[Figure]:
    """Yield a figure for each category: of how many questions, and how many each memory answered rightly."""
    told = story(Random(SEED), material.count(PEOPLE, 3))
    oracle = Oracle(told)
    questions = questions_about(told, Random(SEED + 1))
    memories = {name: make(material.folder / f"two-clocks-{name}") for name, make in adapters().items()}
    right = {name: rightly(adapter, questions, oracle) for name, adapter in tell(memories, told)}
    for category in CATEGORIES:
        asked = [n for n, question in enumerate(questions) if question.category == category]
        values = {"questions": float(len(asked))}
        values |= {name: float(sum(found[n] for n in asked)) for name, found in right.items()}
        yield Figure(f"two clocks: {category}", "right answers", values, note=f"seed {SEED}, {len(told)} statements")


def rightly(adapter: Adapter, questions: list[Question], oracle: Oracle) -> list[bool]:
    """Return of each question whether a memory answers it as the oracle does."""
    return [adapter.ask(question) == oracle.ask(question) for question in questions]

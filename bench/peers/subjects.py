"""What peers are measured at, and the protocol by which they are: imported by every interpreter that takes part."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from bench import synthetic

LATENCY: Final = 0.3  # seconds a call of the model takes
AT_ONCE: Final = 8  # calls of the model, where a peer makes several at once
TOGETHER: Final = 1_000  # records of an append
Fact = dict[str, str]
Message = dict[str, str]


class Peer(Protocol):
    """What takes part. Each subject is a method of its name; a peer without the method has no part in that subject.

    state(fact): takes one structured fact, durably. say(message): takes one message of a chat, without a model.
    slot(fact): says what the subject has by the relation when the fact begins. about(fact): all that it has then.
    entity(fact): all that it then has, or that has it. hops(fact): that, and the same of all that it leads to.
    search(question): finds texts. append(facts): appends records to a log in one commit. read(messages): takes messages
    with a model, and returns once all are taken. generation(facts): derives anew all that follows of what was taken,
    these facts, beside what answers. projection(facts): makes anew what answers of what was derived before.
    """

    version: str
    """Of the package that is measured."""

    def __init__(self, folder: Path, model: str) -> None:
        """Take part: `folder` is there to write in, `model` the address of a model."""

    def load(self, facts: Sequence[Fact]) -> None:
        """Take the facts that questions are asked among, by the quickest way that there is."""

    def close(self) -> None:
        """Write down what is still to be written."""


@dataclass(frozen=True)
class Subject:
    """One thing that is measured: a method of peers. A call with a list is measured by what is in the list."""

    name: str
    title: str
    calls: int  # of one round at full scale; of `read` the messages
    drawn: Callable[[int, int, int], Sequence[Any]]  # what it is called with, from which on, how many, among how many
    writes: bool = False  # so that what is left to do behind it counts too
    rounds: int = 5  # at full scale


def facts(start: int, count: int, among: int) -> Sequence[Fact]:
    return [synthetic.fact(number % (2 * among), 2 * among) for number in range(start, start + count)]


def messages(start: int, count: int, among: int) -> Sequence[Message]:  # noqa: ARG001 - as the others are called
    return [json.loads(line) for line in islice(synthetic.chat_lines(start + count), start, None)]


def fresh_facts(start: int, count: int, among: int) -> Sequence[Fact]:
    """Return facts that were not loaded: the second half of a history of which the first was."""
    return facts(among + start, count, among)


def asked_facts(start: int, count: int, among: int) -> Sequence[Fact]:
    """Return facts from all over those that were loaded."""
    return [synthetic.fact(number * 7919 % among, 2 * among) for number in range(start, start + count)]


def questions(start: int, count: int, among: int) -> Sequence[str]:
    people = synthetic.subjects(2 * among)
    return [f"Where does {synthetic.person(number * 7 % people)} live?" for number in range(start, start + count)]


def appends(start: int, count: int, among: int) -> Sequence[Sequence[Fact]]:
    """Return the facts of each append."""
    return [facts(number * TOGETHER, TOGETHER, among) for number in range(start, start + count)]


def conversations(start: int, count: int, among: int) -> Sequence[Sequence[Message]]:
    return [messages(start, count, among)]


def all_facts(start: int, count: int, among: int) -> Sequence[Sequence[Fact]]:  # noqa: ARG001 - as the others are called
    """Return all facts that were loaded, for each call."""
    return [facts(0, among, among)] * count


def text_of(fact: Fact) -> str:
    """Return a fact in words, for what takes texts."""
    return f"{fact['subject']} {fact['relation'].replace('_', ' ')} {fact['object']}"


SUBJECTS: Final = (
    Subject("state", "one structured fact a call", 10, fresh_facts, writes=True),
    Subject("say", "one chat message a call, without a model", 10, messages, writes=True),
    Subject("slot", "what holds of a subject and a relation", 100, asked_facts),
    Subject("about", "all that holds of a subject", 100, asked_facts),
    Subject("entity", "all of an entity, as subject and as object", 100, asked_facts),
    Subject("hops", "two hops around an entity", 20, asked_facts),
    Subject("search", "search", 5, questions),
    Subject("append", f"append of {TOGETHER:,} records, a record", 2, appends, writes=True),
    Subject("read", f"one message read by a model, {AT_ONCE} at once", 16, conversations, writes=True),
    Subject("generation", "a new generation, a fact", 1, all_facts, writes=True, rounds=2),
    Subject("projection", "a graph from its log, a fact", 1, all_facts, writes=True, rounds=2),
)

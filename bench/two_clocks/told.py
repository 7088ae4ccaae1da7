"""What a memory is told and asked, and the five methods by which it is: the protocol that adapters follow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol

SINGLE: Final = ("lives_in", "works_at", "located_in")  # relations that have one object at a time
MANY: Final = ("knows",)
SAME: Final = "also_known_as"  # the subject is another name of the object, for as long as that is believed

Category = Literal[
    "true then", "known then", "known since", "what changed", "two hops", "who says so", "names", "nothing to say"
]
CATEGORIES: Final[tuple[Category, ...]] = (
    "true then",
    "known then",
    "known since",
    "what changed",
    "two hops",
    "who says so",
    "names",
    "nothing to say",
)


class Stated(NamedTuple):
    """The source called `ref` says that something holds from `start` until `end` (None: it gives no end)."""

    ref: str
    recorded: datetime
    subject: str
    relation: str
    object: str
    start: datetime
    end: datetime | None


class Ended(NamedTuple):
    """The world changed: what `of` stated holds no longer from `at` on."""

    ref: str
    recorded: datetime
    of: str
    at: datetime


class Retracted(NamedTuple):
    """It was wrong to say what `of` said, a statement or an ending: as if it had never been said."""

    recorded: datetime
    of: str


Said = Stated | Ended | Retracted


@dataclass(frozen=True)
class Question:
    """What is asked, by category; an answer is a set of texts.

    The objects of a subject and a relation that held at `valid`, as known at `known` (None: as known now). For "two
    hops" those of the objects by the relation `then`. For "known since" the day, such as 2021-03-05, since when it is
    known without a break that `object` held at `valid`. For "what changed" "-Rome" for each object that was believed at
    `known` and is no longer, and "+Oslo" for each that is believed now and was not. For "who says so" the refs of the
    statements that say now that `object` held at `valid`. Where there is nothing to say, the empty set.
    """

    category: Category
    subject: str
    relation: str
    valid: datetime
    known: datetime | None = None
    then: str | None = None
    object: str | None = None
    asks: Category = "true then"  # in place of the category, where that says why something is asked, not what


def kind_of(question: Question) -> Category:
    """Return what is asked: the category, unless that says why something is."""
    return question.asks if question.category in ("names", "nothing to say") else question.category


class Adapter(Protocol):
    """A memory that takes part. It is told everything in the order in which it was recorded, then asked."""

    def reset(self, single: Sequence[str]) -> None:
        """Begin with nothing. single: the relations that have one object at a time."""
        ...

    def state(self, said: Stated) -> None:
        """Take a statement."""
        ...

    def end(self, said: Ended) -> None:
        """Take an ending."""
        ...

    def retract(self, said: Retracted) -> None:
        """Take a retraction."""
        ...

    def ask(self, question: Question) -> frozenset[str]:
        """Answer a question."""
        ...


def tell(memories: Mapping[str, Adapter], told: Sequence[Said]) -> Iterator[tuple[str, Adapter]]:
    """Yield each memory once it was told everything."""
    for name, memory in memories.items():
        memory.reset(SINGLE)
        for said in told:
            match said:
                case Stated():
                    memory.state(said)
                case Ended():
                    memory.end(said)
                case Retracted():
                    memory.retract(said)
        yield name, memory

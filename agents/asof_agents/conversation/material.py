"""What a reply is made of: the turns before it, and what is known that fits the message. Pure data."""

from typing import NamedTuple


class ShownTurn(NamedTuple):
    """A turn of the conversation, as a prompt shows it."""

    position: int  # in the messages log
    who: str
    is_bot: bool
    text: str
    said_at: int


class ShownFact(NamedTuple):
    """A fact that holds, as a prompt shows it."""

    uuid: str
    sentence: str
    subject: str
    relation: str
    object: str


class ReplyMaterial(NamedTuple):
    """All that is shown of a memory: the turns as they were said, the rest with the best first."""

    turns: tuple[ShownTurn, ...] = ()
    facts: tuple[ShownFact, ...] = ()  # that fit the message
    related: tuple[ShownFact, ...] = ()  # of whom and what those facts are about, step by step away from them
    context: str = ""  # what is known about the message, as one text
    archetype: str = "default"

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """The ids of all facts, each once."""
        return tuple(dict.fromkeys(fact.uuid for fact in (*self.facts, *self.related)))

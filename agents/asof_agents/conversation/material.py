"""What a reply is made of: the turns before it, and what is known that fits the message. Pure data."""

from typing import Final, NamedTuple

UNTIL_NOW: Final = "until now"  # the period of a question such as "Where did I live?"


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

    @property
    def names(self) -> tuple[str, ...]:
        """Whom and what it is about."""
        return self.subject, self.object


class ShownObjective(NamedTuple):
    """An objective of the group, as a prompt shows it. owners: names; none: the speaker's, or unknown."""

    uuid: str
    description: str
    owners: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The words in which it is shown."""
        return (
            f"a goal of {' and '.join(self.owners)}: {self.description}"
            if self.owners
            else f"a goal: {self.description}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Whose it is, as far as that is shown."""
        return self.owners


class ReplyMaterial(NamedTuple):
    """All that is shown of a memory: the turns as they were said, the rest with the best first."""

    turns: tuple[ShownTurn, ...] = ()
    facts: tuple[ShownFact, ...] = ()  # that fit the message
    related: tuple[ShownFact, ...] = ()  # of whom and what those facts are about, step by step away from them
    context: str = ""  # what is known about the message, as one text
    archetype: str = "default"
    objectives: tuple[ShownObjective, ...] = ()  # that fit the message
    period: str = ""  # that the message names, if it asks about one: the facts are of that

    @property
    def sentences(self) -> tuple[str, ...]:
        """What fits the message in words: the facts, then the objectives."""
        return (*(fact.sentence for fact in self.facts), *(objective.sentence for objective in self.objectives))

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """The ids of all facts and objectives, each once."""
        facts = (fact.uuid for fact in (*self.facts, *self.related))
        return tuple(dict.fromkeys((*facts, *(objective.uuid for objective in self.objectives))))

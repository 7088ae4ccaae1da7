"""The events of the control log: which generations are complete, which one answers, which were dropped.

And whether the content of the topics is encrypted.
"""

from typing import ClassVar

from asof_streams.events import Event, register


@register
class GenerationBuilt(Event):
    """A generation has come to the end of the episodes that there were: whoever works follows for it from here on."""

    type: ClassVar[str] = "generation.built"

    generation: str
    build: str


@register
class GenerationSwitched(Event):
    """Another generation answers from here on, for every reader."""

    type: ClassVar[str] = "generation.switched"

    generation: str


@register
class GenerationDropped(Event):
    """A generation is no more. The one that answers cannot be dropped; a name is not used again."""

    type: ClassVar[str] = "generation.dropped"

    generation: str


@register
class RewriteBegun(Event):
    """These topics are being made of those of another prefix, without what was erased.

    Until that is done nobody works here. `ends` are where the partitions of the other topics end, by the topic's name:
    they have to stay so.
    """

    type: ClassVar[str] = "rewrite.begun"

    prefix: str
    ends: dict[str, tuple[int, ...]]


@register
class RewriteFinished(Event):
    """These topics have all that the others had.

    Below the marks, one for each partition, messages tell the time that they had there.
    """

    type: ClassVar[str] = "rewrite.finished"

    marks: tuple[int, ...]


@register
class RewriteAnnounced(Event):
    """Those of another prefix have all that these have, without what was erased: work goes on there, not here."""

    type: ClassVar[str] = "rewrite.announced"

    prefix: str


@register
class EncryptionChosen(Event):
    """The content of the topics is encrypted, with the keys that a store has under a name. It stays so."""

    type: ClassVar[str] = "encryption.chosen"

    memory: str

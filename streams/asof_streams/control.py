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
class EncryptionChosen(Event):
    """The content of the topics is encrypted, with the keys that a store has under a name. It stays so."""

    type: ClassVar[str] = "encryption.chosen"

    memory: str

"""The events of the control log: which generations are complete, which one answers, and which were dropped."""

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

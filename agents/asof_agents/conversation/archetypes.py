"""Archetypes of messages: how much of a memory is gathered for the answer to each kind. Data, with a rule to choose.

A message is of the archetype whose examples it is most like, and of the default one if it is like none.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

LIKE: Final = 0.5  # the least cosine with an example


class Archetype(BaseModel):
    """A kind of message. The bounds are what a machine of one processor and 2 GB answers in time with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z_]*$", description="Its key.")
    turns: int = Field(default=8, ge=0, le=32, description="So many turns before the message.")
    vector_limit: int = Field(default=5, ge=0, le=20, description="So many facts that fit it at most.")
    similarity_threshold: float = Field(
        default=0.75, ge=0.0, le=1.0, description="Facts found by meaning are as similar."
    )
    triple_depth: int = Field(default=1, ge=0, le=3, description="So many steps away from what was found.")
    examples: tuple[str, ...] = Field(default=(), description="Messages that are of it.")


DEFAULT: Final = Archetype(name="default")
ARCHETYPES: Final = (
    DEFAULT,
    Archetype(
        name="recall",
        turns=4,
        vector_limit=10,
        similarity_threshold=0.6,
        triple_depth=2,
        examples=(
            "What do you remember about me?",
            "What did I tell you about my family?",
            "Do you remember where I work?",
            "When did I say that I would move?",
        ),
    ),
    Archetype(
        name="follow_up",
        turns=16,
        vector_limit=3,
        examples=("What do you mean by that?", "Can you explain that again?", "And why is that?", "Go on, please."),
    ),
    Archetype(
        name="small_talk",
        turns=6,
        vector_limit=2,
        triple_depth=0,
        examples=("Hi, how are you?", "Good morning!", "Thanks a lot!", "Good night, see you tomorrow."),
    ),
    Archetype(
        name="advice",
        vector_limit=8,
        similarity_threshold=0.65,
        triple_depth=2,
        examples=(
            "What should I do next?",
            "Can you help me plan my week?",
            "Which one would you recommend to me?",
            "How can I get better at this?",
        ),
    ),
)
EXAMPLES: Final = tuple((archetype, example) for archetype in ARCHETYPES for example in archetype.examples)


def choose(similarities: Sequence[float]) -> Archetype:
    """Return the archetype of a message, by its cosines with EXAMPLES, in their order; of none: the default one.

    Of equal ones the first stands.
    """
    best = max(zip(similarities, EXAMPLES, strict=True), key=lambda pair: pair[0]) if similarities else None
    return DEFAULT if best is None or best[0] < LIKE else best[1][0]

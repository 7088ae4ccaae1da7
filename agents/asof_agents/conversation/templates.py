"""Answers without a language model: by templates, from memory alone. Pure."""

from typing import Final

from asof_agents.conversation.material import ReplyMaterial

NOTED: Final = "Noted 🌟"  # the answer to a goal
SALUTE: Final = "🫡"  # the reaction to feedback
UNDO: Final = "🗑️"  # the reaction by which its author takes feedback or a goal back
APOLOGY: Final = "Sorry, I cannot answer just now. I have kept what you said."
GREETING: Final = "Hello! How are things going?"  # a check-in that no model words
_NO_MODEL: Final = "(No language model is set.)"
_NOTHING: Final = f"I know nothing about this yet, and have kept it. {_NO_MODEL}"
_FOUND: Final = f"This is what I remember. {_NO_MODEL}"
_SHOWN: Final = 5  # facts


def from_memory(material: ReplyMaterial) -> str:
    """Return an answer that tells the facts and objectives found, and says that no model was asked."""
    facts = list(dict.fromkeys(fact.sentence for fact in material.facts))[:_SHOWN]
    objectives = [objective.sentence for objective in material.objectives]
    if not facts and not objectives:
        return _NOTHING
    return "\n".join([_FOUND, *(f"- {sentence}" for sentence in (*facts, *objectives))])

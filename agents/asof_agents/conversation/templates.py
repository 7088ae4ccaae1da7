"""Answers without a language model: by templates, from memory alone. Pure."""

from typing import Final

from asof_agents.conversation.material import UNTIL_NOW, ReplyMaterial
from asof_agents.conversation.questions import asks_about_speaker, is_question
from asof_agents.conversation.small_talk import SmallTalk, small_talk_of

NOTED: Final = "Noted 🌟"  # the answer to a goal
SALUTE: Final = "🫡"  # the reaction to feedback
UNDO: Final = "🗑️"  # the reaction by which its author takes feedback or a goal back
APOLOGY: Final = "Sorry, I cannot answer just now. I have kept what you said."
GREETING: Final = "Hello! How are things going?"  # a check-in that no model words
_NO_MODEL: Final = "(No language model is set.)"
_NOTHING: Final = f"I know nothing about this yet. {_NO_MODEL}"
_FOUND: Final = f"This is what I remember. {_NO_MODEL}"
_KEPT: Final = f"I have kept this. {_NO_MODEL}"
_KEPT_BESIDE: Final = f"I have kept this. Until now I remembered this about it. {_NO_MODEL}"
_SMALL_TALK: Final[dict[SmallTalk, str]] = {
    "greeting": "Hello! What would you like to tell me, or to know?",
    "wellbeing": "I am well, thank you. I hope that you are, too.",
    "abilities": 'I remember what you tell me, and answer from it: ask "What do you know about me?", or about whom and '
    f'what you told me of. Tell me a goal by "My goal is to ...". {_NO_MODEL}',
    "thanks": "You are welcome.",
    "farewell": "Goodbye, and until next time!",
    "assent": "All right.",
}
_SHOWN: Final = 5  # facts, unless the question is for all


def from_memory(material: ReplyMaterial, words: str) -> str:
    """Return an answer to a message that tells the facts and objectives found, and says that no model was asked.

    Of what is no question it says that it is kept, and what was known before it. Small talk is answered by small talk,
    which is of no memory.
    """
    if small_talk := small_talk_of(words):
        return _SMALL_TALK[small_talk]
    facts = list(dict.fromkeys(fact.sentence for fact in material.facts))
    facts = facts if asks_about_speaker(words) else facts[:_SHOWN]
    objectives = [objective.sentence for objective in material.objectives]
    asks = is_question(words)
    if not facts and not objectives:
        return _of_period(_NOTHING, "" if material.period == UNTIL_NOW else material.period) if asks else _KEPT
    opening = _of_period(_FOUND, material.period) if asks else _KEPT_BESIDE
    return "\n".join([opening, *(f"- {sentence}" for sentence in (*facts, *objectives))])


def _of_period(opening: str, period: str) -> str:
    """Return an opening that says which period it is about, if any."""
    if not period:
        return opening
    opening = opening if opening.startswith("I ") else opening[0].lower() + opening[1:]
    return f"{period[0].upper()}{period[1:]}: {opening}"

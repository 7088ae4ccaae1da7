"""What a message of a chat is: a turn of the conversation, feedback, a goal, or a change of what was sent. Pure.

Only turns are of the conversation. The recorder and whoever answers a chat classify by the same function, so that no
message gets an acknowledgement and becomes a turn as well.
"""

import re
from typing import Final, Literal, NamedTuple

from asof_agents.extraction.aims import aim_of
from asof_streams.messages import Message

Class = Literal["turn", "feedback", "goal", "undo", "edit", "deletion", "none"]

UNDO: Final = "\N{WASTEBASKET}"
_AS_EMOJI: Final = "\N{VARIATION SELECTOR-16}"
MAX_DESCRIPTION: Final = 500  # characters; more is a story, and is read as a turn

_OWN: Final = r"(?:(?:main|top|big|biggest|first|current|new|ultimate|primary|long[- ]term|number one)\s+)?"
_WHEN: Final = r"(?:\s+(?:now|right now|today|this (?:week|month|quarter|year)|for (?:this|the next|now)(?:\s\w+)?))?"
_IS: Final = rf"{_WHEN}\s+is\s+(?:to(?:\s+|$))?"
_HAVE: Final = r"i(?:\s+have|['\N{RIGHT SINGLE QUOTATION MARK}]ve\s+got)"
_DECLARED: Final = {  # by the words of a declaration: its saliency
    rf"(?:my\s+{_OWN}(?:goal|objective)|one\s+of\s+my\s+{_OWN}(?:goal|objective)s){_IS}": 1.0,
    rf"(?:my\s+{_OWN}(?:aim|ambition)|one\s+of\s+my\s+{_OWN}(?:aim|ambition)s){_WHEN}\s+is\s+to\s+": 1.0,
    rf"my\s+{_OWN}(?:goal|objective|aim|ambition)s{_WHEN}\s+are\s+to\s+": 1.0,
    rf"{_HAVE}\s+(?:a|one)\s+{_OWN}goal\s+(?:to\s+|of\s+(?=\w+ing\b))": 1.0,
    rf"(?:my\s+{_OWN}priority|one\s+of\s+my\s+{_OWN}priorities){_IS}": 0.9,
    r"i(?:\s+aim|(?:['\N{RIGHT SINGLE QUOTATION MARK}]m|\s+am)\s+aiming)\s+to\s+": 0.8,
    r"i(?:['\N{RIGHT SINGLE QUOTATION MARK}]d like to| would like to| want to| wanna)\s+focus\s+on\s+": 0.8,
}
_GOALS: Final = [(re.compile(words, re.IGNORECASE), saliency) for words, saliency in _DECLARED.items()]
_MARKED: Final = re.compile(r"(?:my\s+)?north\s+star(?:\s+goal)?\s*(?::|\bis\s+(?:to(?:\s+|$))?)\s*", re.IGNORECASE)
_DENIED: Final = re.compile(r"(?:not|no|never|unclear|unknown|still|also)\b", re.IGNORECASE)
_SENTENCES: Final = re.compile(r"[.!?…]\s+\S|\n")  # more than one


class Goal(NamedTuple):
    """A goal as a message declares it: in its words, and how salient the declaration makes it, 0 to 1."""

    description: str
    saliency: float


def classify(message: Message, replies_to_bot: bool) -> Class:
    """Return what a message is; `replies_to_bot`: whether the message that it replies to is one of the bot.

    Only a message of kind `message` may be feedback (a reply to the bot) or a goal; what the bot says is a turn. `undo`
    is a wastebasket, whatever it is put on: it undoes feedback and goals, of its own author, and nothing else.
    """
    match message.kind:
        case None:
            return "turn"
        case "reaction":
            return "undo" if message.content.strip().removesuffix(_AS_EMOJI) == UNDO else "none"
        case "edit" | "deletion" | "feedback":
            return message.kind
    if message.role_type != "user":
        return "turn"
    if replies_to_bot:
        return "feedback"
    return "turn" if goal_of(message.content) is None else "goal"


def goal_of(content: str) -> Goal | None:
    """Return the goal that a message declares; None: it says anything else, or more than that.

    A declaration is one sentence that begins with its words, such as "One of my goals is to ...", "I aim to ..." or "I
    want to focus on ...". What somebody only wants or tries is a turn, of which facts are made. Behind "North star:"
    everything is the goal. A question or a denial declares nothing.
    """
    text = content.strip()
    if marked := _MARKED.match(text):
        return _goal(text[marked.end() :], 1.0)
    if _SENTENCES.search(text):
        return None
    for words, saliency in _GOALS:
        if declared := words.match(text):
            return _goal(text[declared.end() :], saliency)
    return None


def _goal(words: str, saliency: float) -> Goal | None:
    description = aim_of(" ".join(words.split()).rstrip(".!… "))
    is_said = description and len(description) <= MAX_DESCRIPTION and not description.endswith("?")
    return Goal(description, saliency) if is_said and not _DENIED.match(description) else None

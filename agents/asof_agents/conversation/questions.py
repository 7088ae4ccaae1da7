"""What a message asks for, by its words alone: whether it is a question, and whether of the goals of who asks. Pure."""

import re
from typing import Final

_OPENING: Final = r"(?:(?:and|but|so|then|ok|okay|hey|hi|hello|please)\W+)*"
_ASKS: Final = re.compile(
    rf"{_OPENING}(?:wh(?:at|en|ere|o|om|ose|ich|y)|how|am|are|is|was|were|do|does|did|have|has|had|can|could|may|might|"
    r"shall|should|will|would)(?:n?['’][a-z]+)?\b",
    re.IGNORECASE,
)
_BIDS: Final = re.compile(rf"{_OPENING}(?:tell|remind) (?:me|us)\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_GOAL: Final = re.compile(r"\b(?:goals?|objectives?|north star)\b", re.IGNORECASE)


def is_question(text: str) -> bool:
    """Return whether a text asks something: by its mark, or without one by how it begins; or bids to be told."""
    said = text.strip()
    if said.endswith("?") or _BIDS.match(said):
        return True
    return not said.endswith((".", "!", "…")) and _ASKS.match(said) is not None


def is_own(text: str) -> bool:
    """Return whether a text is in the first person singular."""
    return _OWN.search(text) is not None


def asks_for_goals(text: str) -> bool:
    """Return whether a text asks for the goals of who says it, such as "What is my goal?"."""
    return is_own(text) and _GOAL.search(text) is not None and is_question(text)

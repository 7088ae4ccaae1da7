"""Small talk: what is said for company's sake, and asks no memory anything. Recognised by its words alone. Pure."""

import re
from typing import Final, Literal

from asof_agents.conversation.questions import is_pleasantry

SmallTalk = Literal["greeting", "wellbeing", "abilities", "thanks", "farewell", "assent"]

_MOST: Final = 16  # words; a longer question is no small talk
_WORD: Final = re.compile(r"[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}][^\W_]+)?")
_OPENING: Final = (
    r"(?:(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening)|so|and|well|ok|okay|oh|please)(?: there)? )*"
)
_ASKED: Final[dict[SmallTalk, str]] = {
    "greeting": r"(?:is )?(?:any|some)(?:one|body) (?:there|here|home|in)|(?:are )?you (?:there|here|awake|around)|yo",
    "wellbeing": r"how(?: are|'re) (?:you|things)(?: doing| feeling)?|how(?:'s| is) it going|hows it going|"
    r"how(?:'s| is) your day(?: going)?|how(?: was|'s) your (?:day|week|weekend|night)|how do you do|"
    r"how have you been|what(?:'s| is) up|whats up|(?:are )?you (?:ok|okay|well|good)|and you|how about you",
    "abilities": r"(?:what|who) are you|what(?:'s| is) your name|"
    r"what (?:can|do) you do|what(?: else)? can (?:i|we) (?:ask|tell|say to)(?: you)?|what can you help(?: me)? with|"
    r"(?:how )?can you help(?: me)?|how (?:can|do) (?:you|i use you|i use this|we use this)(?: help(?: me)?| work)?|"
    r"how does (?:this|it|that) work|(?:i need |can i get )?help(?: me)?|are you (?:an? )?"
    r"(?:bot|robot|human|person|real|ai|machine|program)|is this an? (?:bot|robot|ai|machine|program)",
}
_CLOSING: Final = (
    r"(?: (?:today|then|now|doing|these days|lately|there|again|please|exactly|for me|mate|buddy|my friend))*"
)
_QUESTIONS: Final = [(kind, re.compile(f"{_OPENING}(?:{words}){_CLOSING}")) for kind, words in _ASKED.items()]
_BY_WORD: Final[dict[SmallTalk, frozenset[str]]] = {  # of several, the first
    "farewell": frozenset("bye goodbye night later cya".split()),
    "thanks": frozenset("thank thanks thx cheers".split()),
    "greeting": frozenset("hi hello hey hiya howdy welcome morning afternoon evening".split()),
}
_SEEN_AGAIN: Final = re.compile(r"see (?:you|ya)\b")


def small_talk_of(text: str) -> SmallTalk | None:
    """Return which small talk a text is; None: it says or asks anything beside.

    A text without any word, such as a smile, is as a nod: assent. One of question marks alone asks something.
    """
    words = [word.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for word in _WORD.findall(text)]
    if not words:
        return None if "?" in text or not text.strip() else "assent"
    said = " ".join(words)
    if len(words) <= _MOST:
        asked = next((kind for kind, question in _QUESTIONS if question.fullmatch(said)), None)
        if asked is not None:
            return asked
    if not is_pleasantry(text):
        return None
    if _SEEN_AGAIN.search(said):
        return "farewell"
    return next((kind for kind, own in _BY_WORD.items() if not own.isdisjoint(words)), "assent")

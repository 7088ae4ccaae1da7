"""What a model answered, read: the reply that a user is shown, and when the bot is to speak first. Pure."""

import json
import re
from typing import Any, Final, NamedTuple

from asof_agents.extraction.llm.schemas import object_of

MINUTES: Final = "next_proactive_in_minutes"
SCHEMA: Final[dict[str, Any]] = {  # of an answer, for models that keep to one
    "type": "object",
    "properties": {
        "reply": {"type": "string", "description": "What the user is shown."},
        MINUTES: {"type": ["integer", "null"], "description": "In how many minutes to write again unasked, or null."},
    },
    "required": ["reply", MINUTES],
    "additionalProperties": False,
}
MOST_CHARACTERS: Final = 16_000  # of a reply: a model that does not end is cut off
_NAME: Final = r"(?:[^\w\n]|_){0,9}".join(MINUTES.split("_"))  # its underscores may be escaped, or spaces
_MARK: Final = re.compile(
    rf"""[*#>`"'(\[{{<\- \t]{{0,16}}{_NAME}[^\w\n]*(?:\n(?=[ \t]*\d+[^\w\n]*(?:\n|\Z)))?"""
    r"[ \t]*(?P<minutes>(?<![-\N{MINUS SIGN}])\d{1,9})?[^\n]*",
    re.IGNORECASE,
)
_CUT_MARK: Final = re.compile(  # at the beginning of a line so much of it, elsewhere more: "next_" may be a word
    r"(?:(?:\A|\n)[*#>`\s]{0,16}|[*#>`\s]{0,16}(?=NEXT_PROACTIVE))(NEXT_[A-Z_]{0,21})\Z", re.IGNORECASE
)
_OBJECT: Final = re.compile(r'\{\s*"reply"\s*:')
_BEGUN: Final = re.compile(r'[`\s]*(?:json\s)?\s*\{\s*"reply"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)(.?)', re.DOTALL)
_ESCAPE: Final = 6  # characters at most
_CUT: Final = "…"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class ParsedReply(NamedTuple):
    """A reply, "" where there is none to show; and in how many minutes the bot is to speak first."""

    text: str
    minutes: int | None = None


def parse_reply(content: str) -> ParsedReply:
    """Return the reply in a model's answer: an object of SCHEMA, or a text with NEXT_PROACTIVE_IN_MINUTES.

    That mark is never shown, nor what follows it on its line, wherever it stands; of several the last counts. An object
    without a reply has none; of one that ends in the midst of it, as where the model may say no more, the reply is what
    there is. A reply has MOST_CHARACTERS at most.
    """
    answered = object_of(content.strip()) or _object_within(content)
    if answered is None:
        return _begun(content) if content.lstrip("` \n").startswith(("{", "json\n{")) else _of_text(content)
    reply, minutes = answered.get("reply"), answered.get(MINUTES)
    if not isinstance(reply, str):
        return ParsedReply("")
    said = _of_text(reply)
    return ParsedReply(said.text, minutes if type(minutes) is int else said.minutes)


def _object_within(content: str) -> dict[str, Any] | None:
    """Return the object in a text that says more beside it."""
    begins = _OBJECT.search(content)
    try:
        found: dict[str, Any] | None = begins and json.JSONDecoder().raw_decode(content, begins.start())[0]
    except (ValueError, RecursionError):
        return None
    return found


def _begun(content: str) -> ParsedReply:
    """Return the reply in an object that is cut short; an ellipsis says where the reply is, too."""
    begun = _BEGUN.match(content)
    if begun is None:
        return ParsedReply("")
    text = _unescaped(begun[1])
    said = _of_text(text)
    if begun[2] == '"' or not said.text or _cut_mark(text):
        return said
    return said._replace(text=said.text[: MOST_CHARACTERS - 1] + _CUT)


def _unescaped(text: str) -> str:
    """Return a string of JSON as it reads, without an escape that its end cuts short."""
    for end in range(len(text), max(len(text) - _ESCAPE, -1), -1):
        try:
            return str(json.loads(f'"{text[:end]}"', strict=False))
        except ValueError:
            continue
    return ""


def _of_text(text: str) -> ParsedReply:
    text = _CONTROLS.sub("", text)
    found = [mark["minutes"] for mark in _MARK.finditer(text) if mark["minutes"]]
    shown = _MARK.sub("", text).strip()
    if cut := _cut_mark(shown):
        shown = shown[: cut.start()]
    return ParsedReply(shown[:MOST_CHARACTERS].rstrip(), int(found[-1]) if found else None)


def _cut_mark(text: str) -> re.Match[str] | None:
    """Return the beginning of the mark with which a text ends, if it does."""
    cut = _CUT_MARK.search(text)
    return cut if cut and MINUTES.startswith(cut[1].casefold()) else None

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
_OBJECT: Final = re.compile(r'\{\s*"reply"\s*:')
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class ParsedReply(NamedTuple):
    """A reply, "" where there is none to show; and in how many minutes the bot is to speak first."""

    text: str
    minutes: int | None = None


def parse_reply(content: str) -> ParsedReply:
    """Return the reply in a model's answer: an object of SCHEMA, or a text with NEXT_PROACTIVE_IN_MINUTES.

    That mark is never shown, nor what follows it on its line, wherever it stands; of several the last counts. An object
    without a reply, or a text that begins one and does not end it, has none. A reply has MOST_CHARACTERS at most.
    """
    answered = object_of(content.strip()) or _object_within(content)
    if answered is None:
        return ParsedReply("") if content.lstrip("` \n").startswith(("{", "json\n{")) else _of_text(content)
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


def _of_text(text: str) -> ParsedReply:
    text = _CONTROLS.sub("", text)
    found = [mark["minutes"] for mark in _MARK.finditer(text) if mark["minutes"]]
    shown = _MARK.sub("", text).strip()[:MOST_CHARACTERS].rstrip()
    return ParsedReply(shown, int(found[-1]) if found else None)

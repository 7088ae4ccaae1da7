"""What a model answered, read: the reply that a user is shown, and when the bot is to speak first. Pure."""

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
_MARK: Final = re.compile(rf"^.*{MINUTES}\W*(?P<minutes>\d{{1,9}})?.*$", re.IGNORECASE | re.MULTILINE)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class ParsedReply(NamedTuple):
    """A reply, "" where there is none to show; and in how many minutes the bot is to speak first."""

    text: str
    minutes: int | None = None


def parse_reply(content: str) -> ParsedReply:
    """Return the reply in a model's answer: an object of SCHEMA, or a text with a line NEXT_PROACTIVE_IN_MINUTES.

    That line is never shown, whatever it says; of several the last counts. An object without a reply, or a text that
    begins one and does not end it, has none.
    """
    answered = object_of(content.strip())
    if answered is None:
        return ParsedReply("") if content.lstrip("` \n").startswith(("{", "json\n{")) else _of_text(content)
    reply, minutes = answered.get("reply"), answered.get(MINUTES)
    if not isinstance(reply, str):
        return ParsedReply("")
    said = _of_text(reply)
    return ParsedReply(said.text, minutes if type(minutes) is int else said.minutes)


def _of_text(text: str) -> ParsedReply:
    text = _CONTROLS.sub("", text)
    found = [mark["minutes"] for mark in _MARK.finditer(text) if mark["minutes"]]
    return ParsedReply(_MARK.sub("", text).strip(), int(found[-1]) if found else None)

"""Blanks the markup of an agent's episode: tags, headers and the names of directives.

<graphiti_episode kind="decision">
source: copilot-chat
content:
We settled on ruff.
</graphiti_episode>
"""

import re
from typing import Final

_MARKUP: Final = re.compile(
    r"</?[A-Za-z_][^<>]*>"
    r"|^[ \t]*(?:source|scope|timestamp):[^\n]*$"
    r"|(?:^|(?<=>))[ \t]*(?:content|[a-z_]+ \((?:user|workspace|session|global|project)\)):",
    re.MULTILINE,
)
_LETTER: Final = re.compile(r"[^\n]")


def words(content: str) -> str:
    """Return a content with its markup replaced by blanks, so that all offsets stay as they are."""
    return _MARKUP.sub(_blank, content)


def _blank(markup: re.Match[str]) -> str:
    """Return as many blanks. A tag becomes the end of a line, because it also ends a sentence."""
    blank = _LETTER.sub(" ", markup[0])
    return "\n" + blank[1:] if markup[0].startswith("<") else blank

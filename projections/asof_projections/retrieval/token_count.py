"""The number of tokens of a text, by a rule that needs no tokenizer.

No two language models cut text alike, and a budget has to hold for each of them. So the rule counts a little more than
they do for ordinary text. Of ASCII, a word counts one for every six letters begun, and from the
nineteenth on one for each; digits, and capitals in a row, count one for every two; a sign, the end of a line and a row
of spaces count one. Any other character counts one less than its bytes in UTF-8. A single space counts nothing.
"""

import re
from typing import Final

_LETTERS, _LONG = 6, 18
_PIECE: Final = re.compile(rf"[A-Z]?[a-z]{{1,{_LETTERS}}}|[A-Z]{{1,2}}|[0-9]{{1,2}}|\n|  +|[!-/:-@\[-`{{-~]")
_LONG_WORD: Final = re.compile(rf"[a-z]{{{_LONG + 1},}}")


def tokens(text: str) -> int:
    """Return the number of tokens of a text; that of lines is the sum of theirs, and one for each break."""
    beyond_ascii = len(text.encode()) - len(text)
    return len(_PIECE.findall(text)) + beyond_ascii + sum(map(_further, _LONG_WORD.findall(text)))


def _further(word: str) -> int:
    """Return what the letters of a long word count beyond one for every six."""
    further = len(word) - _LONG
    return further - (-(-len(word) // _LETTERS) - _LONG // _LETTERS)

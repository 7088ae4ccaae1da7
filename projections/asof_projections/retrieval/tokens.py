"""The number of tokens of a text, by a rule that needs no tokenizer.

No two language models cut text alike, and a budget has to hold for each of them. So the rule counts a little more than
they do: some fifteen per cent for English. Of ASCII, a word counts one for every six letters begun, and one more for
each letter beyond the fifteenth; digits, and capitals in a row, count one for every two; a sign or the end of a line
counts one. Any other character counts one less than its bytes in UTF-8. A single space counts nothing.
"""

import re
from typing import Final

_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\s+|.", re.DOTALL)  # a capital begins a word
_LETTERS, _LONG, _PAIR = 6, 15, 2


def tokens(text: str) -> int:
    """Return the number of tokens of a text; that of lines is the sum of theirs, and one for each break."""
    return sum(map(_of_piece, _PIECE.findall(text)))


def _of_piece(piece: str) -> int:
    last = piece[-1]
    if not piece.isascii():
        return sum(max(len(sign.encode()) - 1, 1) for sign in piece)
    if last.islower():
        return max(-(-len(piece) // _LETTERS), len(piece) - _LONG)
    if last.isspace():
        return len(piece) - piece.count(" ") + (" " * 2 in piece)
    return -(-len(piece) // _PAIR)  # of a sign one

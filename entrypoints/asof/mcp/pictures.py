"""The picture of a slot on both clocks, as SVG: a rectangle for each version of its facts.

Right is later in the world, down is later in what was known. Each moment at which something changed has a line, all
at the same distance: what was recorded within a second and what lasted for years are both to be seen.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Final

from asof.mcp.text import when
from asof.operations.answers import FactVersion

_MOST: Final = 30  # versions: the last ones
_LEFT, _TOP, _WIDTH, _HEIGHT = 150, 40, 480, 44  # pixels: margins, all columns, a row
_LETTERS: Final = 7  # pixels of one
_COLOURS: Final = ("#f2c14e", "#7fb7be", "#d88c9a", "#a9c47f", "#b59ac9", "#e0a370")


def picture_of(versions: Sequence[FactVersion]) -> str:
    """Return the picture of versions, in their order."""
    shown = versions[-_MOST:]
    valid = _moments(time for one in shown for time in (one.valid_at, one.invalid_at))
    known = _moments(time for one in shown for time in (one.known_from, one.known_to))
    column = _WIDTH / (len(valid) + 1)
    bottom = _TOP + _HEIGHT * len(known)
    colours = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(dict.fromkeys(one.object for one in shown))}

    def x(time: datetime | None, default: int) -> float:
        return _LEFT + column * (default if time is None else valid.index(time) + 1)

    def y(time: datetime | None) -> float:
        return bottom if time is None else _TOP + _HEIGHT * known.index(time)

    parts = [_text(_LEFT, 14, "valid: true in the world (UTC) →"), _text(4, 14, "↓ known (UTC)")]
    for one in shown:
        left, right = x(one.valid_at, 0), x(one.invalid_at, len(valid) + 1)
        top, end = y(one.known_from), y(one.known_to)
        parts.append(
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" height="{end - top:.0f}" '
            f'fill="{colours[one.object]}" stroke="#fff" stroke-width="2"><title>{_escaped(one.fact)}</title></rect>'
        )
        parts.append(_text(left + 6, top + 18, one.object[: max(int((right - left - 12) / _LETTERS), 1)]))
    parts += (_text(x(time, 0), 32, when(time)[:10]) for time in valid)
    parts += (_text(4, y(time) + 14, when(time)[:19].replace("T", " ")) for time in known)
    size = f'width="{_LEFT + _WIDTH + 10}" height="{bottom + 10}"'
    style = "<style>text{font:12px system-ui,sans-serif;fill:#222}</style>"
    whole = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>On both clocks</title>{style}'
        f'<rect width="100%" height="100%" fill="#fff"/>{whole}</svg>'
    )


def _moments(times: Iterable[datetime | None]) -> list[datetime]:
    return sorted({time for time in times if time is not None})


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Return a text for XML, which has no place for signs of control."""
    return escape("".join(sign if sign.isprintable() else "�" for sign in text))

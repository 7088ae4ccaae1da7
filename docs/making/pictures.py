"""The pictures, as SVG: drawn from a little history that a memory keeps, so that they show what it answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from asof.api.memory import Memory
from asof.settings import Settings

SAID = [
    (datetime(2024, 1, 10, tzinfo=UTC), "I live in Madrid."),
    (datetime(2024, 4, 2, tzinfo=UTC), "I moved to Berlin in March."),
    (datetime(2024, 7, 10, tzinfo=UTC), "It was Munich, not Berlin."),
]
ASKED = [  # valid, known
    (datetime(2024, 2, 10, tzinfo=UTC), datetime(2024, 2, 20, tzinfo=UTC)),
    (datetime(2024, 5, 15, tzinfo=UTC), datetime(2024, 5, 15, tzinfo=UTC)),
    (datetime(2024, 5, 15, tzinfo=UTC), datetime(2024, 8, 20, tzinfo=UTC)),
]
FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 10, 1, tzinfo=UTC)
COLOURS = {"Madrid": "#f2c14e", "Berlin": "#7fb7be", "Munich": "#d88c9a"}
STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#222}.small{font-size:11px;fill:#555}"
    ".title{font-weight:600}.line{stroke:#888;fill:none}</style>"
)


def files() -> dict[str, str]:
    """Return the text of each picture by its path below docs."""
    with _told() as memory:
        versions = memory.history("Ana")
        answers = [_home(memory, valid, known) for valid, known in ASKED]
        logs = {log: [*memory.events(log=log)] for log in ("messages", "episodic", "semantic")}
    return {
        "pictures/two-clocks.svg": _two_clocks(versions, answers),
        "pictures/way-of-a-message.svg": _way(logs, answers),
    }


@contextmanager
def _told() -> Iterator[Memory]:
    """Give a memory that was told all, each at its moment."""
    now = FIRST
    with TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), embedder="none")
        with Memory(settings, lambda: int(now.timestamp()) * 1_000_000) as memory:
            for now, text in SAID:
                memory.add(text, role="Ana", timestamp=now)
            yield memory


def _home(memory: Memory, valid: datetime, known: datetime) -> str:
    [fact] = memory.facts(about="Ana", relation="lives_in", valid_at=valid, known_at=known)
    return fact.object


# The two clocks: valid time to the right, known time downwards.

_LEFT, _TOP, _WIDE, _HIGH = 70, 50, 450, 270


def _x(time: datetime | None) -> float:
    return _LEFT + _WIDE * _share(time)


def _y(time: datetime | None) -> float:
    return _TOP + _HIGH * _share(time)


def _share(time: datetime | None) -> float:
    return ((time or LAST) - FIRST) / (LAST - FIRST)


def _two_clocks(versions: list[Any], answers: list[str]) -> str:
    shapes = [_text(_LEFT, 22, "Where does Ana live? Each rectangle is one version of a fact.", "title")]
    for version in versions:
        left, right = _x(version.valid_at), _x(version.invalid_at)
        top, bottom = _y(version.known_from), _y(version.known_to)
        size = f'width="{right - left:.0f}" height="{bottom - top:.0f}"'
        look = f'fill="{COLOURS[version.object]}" stroke="#fff" stroke-width="2"'
        shapes.append(f'<rect x="{left:.0f}" y="{top:.0f}" {size} {look}/>')
        shapes.append(_text(left + 8, top + 18, version.object))
    for said, text in SAID:
        shapes += [
            f'<path class="line" stroke-dasharray="4 3" d="M{_LEFT} {_y(said):.0f}H{_LEFT + _WIDE + 8}"/>',
            _text(_LEFT + _WIDE + 14, _y(said) + 4, f"“{text}”"),
        ]
    for (valid, known), answer in zip(ASKED, answers, strict=True):
        shapes += [
            f'<circle cx="{_x(valid):.0f}" cy="{_y(known):.0f}" r="4" fill="#222"/>',
            _text(_x(valid) + 9, _y(known) + 4, f"asked here: {answer}"),
        ]
    for month in range(FIRST.month, LAST.month, 2):
        time = FIRST.replace(month=month)
        shapes += [
            _text(_x(time), _TOP + _HIGH + 18, f"{time:%b}", "small"),
            _text(_LEFT - 32, _y(time) + 10, f"{time:%b}", "small"),
        ]
    shapes += [
        f'<path class="line" d="M{_LEFT} {_TOP}V{_TOP + _HIGH}H{_LEFT + _WIDE}"/>',
        _text(_LEFT + _WIDE - 130, _TOP + _HIGH + 38, "valid: true in the world →", "small"),
        f'<g transform="rotate(-90 20 {_TOP + _HIGH})">'
        + _text(20, _TOP + _HIGH, "← known: when asof held it so", "small")
        + "</g>",
    ]
    return _svg(740, _TOP + _HIGH + 55, "The versions of where Ana lives, on both clocks", shapes)


# The way of a message: one column for each log, with what the second message put there.

_COLUMN, _ROW, _GAP = 190, 30, 30


def _way(logs: dict[str, list[Any]], answers: list[str]) -> str:
    position, (_, text) = 1, SAID[1]
    titles = {"messages": "messages log", "episodic": "episodic log", "semantic": "semantic log"}
    subtitles = {"messages": "what was said", "episodic": "what was read in it", "semantic": "what is believed"}
    columns = [
        (titles[log], subtitles[log], [f"{one.position}  {one.type}" for one in events if one.cause == position])
        for log, events in logs.items()
    ]
    asked = [f"{valid:%B}: Ana lives in {answer}" for (valid, _), answer in zip(ASKED[:2], answers, strict=False)]
    columns.append(("answers", "from tables and vectors", asked))
    shapes = [_text(20, 24, f"Ana: “{text}”", "title")]
    for number, (title, subtitle, rows) in enumerate(columns):
        left = 20 + number * (_COLUMN + _GAP)
        shapes += [_text(left, 58, title, "title"), _text(left, 74, subtitle, "small")]
        for row, shown in enumerate(rows):
            top = 86 + row * (_ROW + 6)
            shapes += [
                f'<rect x="{left}" y="{top}" width="{_COLUMN}" height="{_ROW}" rx="4" fill="#eef3f4" stroke="#9bb"/>',
                _text(left + 10, top + 20, shown),
            ]
        if number:
            shapes.append(f'<path class="line" d="M{left - _GAP + 4} 101H{left - 6}m-6 -4l6 4l-6 4"/>')
    height = 86 + max(len(rows) for _, _, rows in columns) * (_ROW + 6) + 30
    shapes.append(
        _text(20, height - 14, "What stands behind the messages log follows from it, and can be made again.", "small")
    )
    return _svg(20 + 4 * (_COLUMN + _GAP), height, "From a message to answers", shapes)


def _text(x: float, y: float, text: str, kind: str = "plain") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, shapes: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    back = f'<rect {size} fill="#fff"/>'
    return "\n".join([opening, f"<title>{escape(title)}</title>", STYLE, back, *shapes, "</svg>", ""])

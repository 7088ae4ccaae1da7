"""Write what was measured into docs/explanation/comparison.md: python -m bench.peers.page RESULT.

RESULT is the JSON of `python -m bench peers agent-memory`. Each subject has a table between two marks in the page.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "comparison.md"


def written(page: str, result: dict[str, Any]) -> str:
    """Return the text of the page with the tables of a result in place of those that it has."""
    for subject in dict.fromkeys(figure["subject"] for figure in result["figures"]):
        figures = [figure for figure in result["figures"] if figure["subject"] == subject]
        begin, end = f"<!-- bench {subject} -->\n", "<!-- end -->"
        before, marked, rest = page.partition(begin)
        assert marked, f"the page has no place for {subject}"
        page = before + begin + table(figures) + "\n" + machine(result) + rest[rest.index(end) :]
    return page


def table(figures: list[dict[str, Any]]) -> str:
    """Return a row for each figure, with a column for each that takes part: what asof loses the most comes first.

    Where questions are counted, figures keep their order.
    """
    titles = list(dict.fromkeys(title for figure in figures for title in figure["values"]))
    lines = [["what", *titles], ["---"] * (len(titles) + 1)]
    for figure in sorted(figures, key=_loss, reverse=True):
        what = ", ".join(part for part in (figure["name"], _unit(figure), figure["note"]) if part)
        lines.append([what, *(_short(figure["values"].get(title)) for title in titles)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _loss(figure: dict[str, Any]) -> float:
    """Return how many times the least of the others asof takes; 0: nothing is beside it, or answers are counted."""
    ours, *others = figure["values"].values()
    return ours / min(others) if others and figure["unit"] != "right answers" else 0.0


def machine(result: dict[str, Any]) -> str:
    """Return in a sentence what was measured on."""
    on = result["machine"]
    load = f"{on['load_average'][0]:.0f} at the start and {result['load_average_at_end'][0]:.0f} at the end"
    python = f"Python {on['python']}, SQLite {on['sqlite']}, {on['file_system']}"
    return f"{on['cores']} cores, {python}; the load from all work on the machine was {load}.\n"


def _unit(figure: dict[str, Any]) -> str:
    return "" if figure["unit"] in ("right answers", "calls") else figure["unit"].removesuffix(" of processor time")


def _short(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), json.loads(Path(sys.argv[1]).read_text())))

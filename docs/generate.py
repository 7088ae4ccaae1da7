"""Writes the pages of docs/reference, all of which follow from the code.

Run it after a change of a command, a setting, an event or the Python API: .venv/bin/python docs/generate.py. A test
holds that it was.
"""
# ruff: noqa: INP001 - a script, in a folder of texts

from pathlib import Path

from making import command_line, events, python_api, settings

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Return each page's text by its file name."""
    return {
        "cli.md": command_line.page(),
        "events.md": events.page(),
        "python.md": python_api.page(),
        "settings.md": settings.page(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page, text in pages().items():
        (FOLDER / page).write_text(text, encoding="utf-8")

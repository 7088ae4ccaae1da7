"""Writes what follows from the code: docs/reference, docs/schemas, docs/asyncapi.yaml, docs/pictures, and AsyncMemory.

Run it after a change of a command, a setting, an event or the Python API: .venv/bin/python docs/generate.py, then
`make format`. A test holds that it was run. The schema of a version that is no longer written stays as it was.
"""
# ruff: noqa: INP001 - a script, in a folder of texts

from pathlib import Path

from making import (
    async_memory,
    asyncapi,
    command_line,
    events,
    mcp_tools,
    modules,
    pictures,
    python_api,
    schemas,
    settings,
    topics,
)

DOCS = Path(__file__).parent


def pages() -> dict[str, str]:
    """Return the text of each page of docs/reference by its file name."""
    return {
        "cli.md": command_line.page(),
        "events.md": events.page(),
        "mcp.md": mcp_tools.page(),
        "modules.md": modules.page(),
        "python.md": python_api.page(),
        "settings.md": settings.page(),
        "topics.md": topics.page(),
    }


def contracts() -> dict[str, str]:
    """Return the text of what programs read, by its path below docs."""
    return {"asyncapi.yaml": asyncapi.text(), **{f"schemas/{name}": text for name, text in schemas.files().items()}}


def drawings() -> dict[str, str]:
    """Return the text of each picture, by its path below docs."""
    return pictures.files()


if __name__ == "__main__":
    references = {f"reference/{page}": text for page, text in pages().items()}
    for path, text in {**references, **contracts(), **drawings()}.items():
        file = DOCS / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (DOCS.parent / "entrypoints" / "asof" / "api" / "async_memory.py").write_text(
        async_memory.source(), encoding="utf-8"
    )

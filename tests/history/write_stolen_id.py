"""Writes stolen_id.tar.xz: run once, at commit f6e23ee, whose code cannot open the directory that it writes here.

    .venv/bin/python tests/history/write_stolen_id.py

One group states an entity under the id that the next entity of another group will get: the other group's message then
has an entity introduced whose id is taken.
"""

import json
import os
import sqlite3
import tarfile
import tempfile
from pathlib import Path

os.environ["ASOF_EMBEDDER"] = "none"

import asof
from asof_agents.handlers.episodes import episode_id
from asof_streams.ids import derive

HERE = Path(__file__).resolve().parent


def write(data: Path) -> None:
    """Write the directory, up to the message after which it does not open."""
    with asof.open(data) as memory:
        memory.add("I live in Lisbon.", role="Ana", group_id="ana", timestamp="2024-01-01T00:00:00Z")
        build = json.loads((data / "catalog.json").read_text("utf-8"))["generations"][0]["build"]
        taken = derive("entity", build, episode_id("ana", 2), "Location", "Berlin")
        memory.state_entity(taken, "Mallory", group_id="mallory")
    try:
        with asof.open(data) as memory:
            memory.add("I moved to Berlin.", role="Ana", group_id="ana", timestamp="2024-04-02T00:00:00Z")
    except sqlite3.IntegrityError:
        return
    raise RuntimeError("it opens still")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "stolen_id"
        write(data)
        for left in (*data.rglob("*-shm"), *data.rglob("writer.lock")):
            left.unlink()
        with tarfile.open(HERE / "stolen_id.tar.xz", "w:xz") as archive:
            for file in sorted(data.rglob("*")):
                if file.is_file():
                    archive.add(file, f"stolen_id/{file.relative_to(data)}")


if __name__ == "__main__":
    main()

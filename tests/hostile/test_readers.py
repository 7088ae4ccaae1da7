"""Processes that read the files of a writer, and what they must leave alone."""

import subprocess
import sys
from pathlib import Path

from world import World

READING = """\
import sqlite3, sys
for path in sys.argv[1:]:
    reader = sqlite3.connect(path)
    reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    reader.close()
"""


def test_a_process_that_reads_files_and_ends_leaves_the_write_ahead_logs_of_a_writer(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.memory.add("I live in Madrid.", role="Ana", suppress_content=True)
    logs = {path for path in world.path.rglob("*-wal") if path.name != "vectors.db-wal"}
    assert {path.name for path in logs} >= {"messages.sqlite-wal", "episodic.sqlite-wal", "graph.db-wal"}

    files = [str(path).removesuffix("-wal") for path in logs]
    subprocess.run([sys.executable, "-c", READING, *files], check=True)

    assert {path for path in logs if not path.exists()} == set()
    world.memory.close()

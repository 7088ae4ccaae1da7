"""Where there is a terminal, a bar counts the lines that are done, not the bytes that are read ahead of them."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from asof_process import ASOF, launcher

LINE = '{"subject": "Ana", "relation": "knows", "object": "Ben", "valid_at": "2024-05-01"}'


def shown(tmp_path: Path, *command: str, fresh: bool = False) -> str:
    """Run a command whose stderr is a terminal; return what is shown there. `fresh`: by a new interpreter."""
    ours, theirs = pty.openpty()
    arguments = [*command, "--data", str(tmp_path / "data")]
    started = [str(ASOF), *arguments] if fresh else launcher(*arguments)
    with subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=theirs):
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:  # it has ended, and its side of the terminal is closed
            pass
    os.close(ours)
    return b"".join(pieces).decode()


@pytest.mark.parametrize("end", ["\n", ""])
def test_an_import_is_shown_as_the_lines_that_are_acknowledged(tmp_path: Path, end: str) -> None:
    (tmp_path / "facts.jsonl").write_text(f"{LINE}\nno fact\n{LINE}{end}", encoding="utf-8")

    assert "3/3" in shown(tmp_path, "import", str(tmp_path / "facts.jsonl"))


EMPTY_LINES = f"\n{LINE}\n  \n\n{LINE}\n\n"
CSV = 'subject,relation,object\nAna,knows,Ben\n\nAna,knows,"Ben\nor so"\n'
EXPORT = '[\n{"memory": "Likes tea", "id": "1"},\n{"memory": "Likes rye", "id": "2"}\n]\n'


@pytest.mark.parametrize(
    ("name", "content", "options", "figures"),
    [
        ("facts.jsonl", EMPTY_LINES, (), "2/2"),
        ("facts.csv", CSV, (), "2/2"),
        ("export.json", EXPORT, ("--product", "mem0"), "2/?"),
    ],
)
def test_what_is_no_item_of_a_file_is_not_counted(
    tmp_path: Path, name: str, content: str, options: tuple[str, ...], figures: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    assert figures in shown(tmp_path, "import", str(tmp_path / name), *options)


def test_a_rebuild_is_shown_up_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(LINE, encoding="utf-8")
    shown(tmp_path, "import", str(tmp_path / "facts.jsonl"))

    assert "1/1" in shown(tmp_path, "rebuild", fresh=True)


def test_a_pipe_that_has_a_name_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", f"echo '{LINE}' > {tmp_path / 'pipe'}"]):
        told = shown(tmp_path, "import", str(tmp_path / "pipe"))

    assert "1/?" in told


def test_a_batch_of_questions_is_shown_as_those_that_are_answered(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(LINE, encoding="utf-8")
    shown(tmp_path, "import", str(tmp_path / "facts.jsonl"))

    assert "1/1" in shown(tmp_path, "facts", "--batch", str(tmp_path / "facts.jsonl"))

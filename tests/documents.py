"""Documents that do what they say: every block of one is run, in order, in the current directory.

```python             is run; a ```text block right behind it is what it prints
```console            each line `$ asof ...` is run, on a file after `<`, and succeeds; below it is what it prints
```LANGUAGE FILE      is a file of that name

In what is printed, `...` stands for anything, and spaces and rules may be of any length.
"""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from asof.cli import app, calls

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("tutorials", "how-to")
DOCUMENTS_ON_KAFKA = ("kafka-topics", "produce-to-kafka", "replay-from-kafka", "run-several-workers")
ON_KAFKA = [ROOT / "docs" / "how-to" / f"{name}.md" for name in DOCUMENTS_ON_KAFKA]
DOCUMENTS_SERVED = ("agent-memory", "move-from-graphiti", "serve", "talk-over-http")
SERVED = [ROOT / "docs" / "how-to" / f"{name}.md" for name in DOCUMENTS_SERVED]
IN_ARANGODB = ROOT / "docs" / "how-to" / "arangodb.md"
IN_MCP = ROOT / "docs" / "how-to" / "mcp.md"  # tests/integration/test_mcp.py does what it says
ON_DISCORD = ROOT / "docs" / "how-to" / "discord.md"  # tests/integration/test_discord.py does what it says
OFFLINE = [
    path
    for path in (ROOT / "README.md", *(path for part in PARTS for path in sorted((ROOT / "docs" / part).glob("*.md"))))
    if path not in [*ON_KAFKA, *SERVED, IN_ARANGODB, IN_MCP, ON_DISCORD]
]
FENCED = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOPIC = re.compile(r"\basof(?=\.(messages|episodic|semantic|dead-letters|control|replies)\b)")
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Block(NamedTuple):
    language: str
    file: str
    text: str


def run(document: Path, prefix: str = "asof") -> None:
    """Run all blocks of a document, on topics of a prefix, and hold what is shown against what was printed."""
    written = TOPIC.sub(prefix, document.read_text("utf-8"))
    found = [Block(language, file, text) for language, file, text in FENCED.findall(written)]
    following = [block.text if block.language == "text" else "" for block in found[1:]]
    names: dict[str, object] = {}
    done = 0

    for block, shown in zip(found, [*following, ""], strict=True):
        match block:
            case Block(file=str(name)) if name:
                Path(name).write_text(block.text, encoding="utf-8")
            case Block("python"):
                done += 1
                with printing() as printed:
                    exec(compile(block.text, document.name, "exec"), names)
                compare(block.text, shown, printed.getvalue())
            case Block("console"):
                done += sum(1 for _ in commands(block.text))
    assert done, "nothing of it was run"


def commands(text: str) -> Iterator[str]:
    """Run the commands of a block, each of which is to succeed; yield each."""
    for command, shown in COMMAND.findall(text):
        if command.startswith("asof "):
            arguments, _, file = command.partition(" < ")
            with reading(file), printing() as printed:
                code = calls.run(app, shlex.split(arguments, comments=True)[1:])
            assert code == 0, (command, printed.getvalue())
            compare(command, shown, printed.getvalue())
            yield command


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Let a command read a file as its input; "" is none."""
    with Path(file or os.devnull).open(encoding="utf-8") as opened, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", opened)
        yield


@contextmanager
def printing() -> Iterator[StringIO]:
    """Keep what is printed, on either stream, in order."""
    both = StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        yield both


def compare(what: str, shown: str, printed: str) -> None:
    """Hold what is shown against what was printed; where nothing is shown anything goes."""
    same = OutputChecker().check_output(even(shown), even(printed), ELLIPSIS | NORMALIZE_WHITESPACE)
    assert not shown.strip() or same, f"{what}\nprinted:\n{printed}"


def even(text: str) -> str:
    return re.sub("─+", "─", text)

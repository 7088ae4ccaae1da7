"""Running commands of `asof` on one directory, and lines that they read."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from asof.cli import app, calls

ASOF = [sys.executable, "-c", "import asof.cli; asof.cli.script()"]


class Asof:
    """Runs commands on one directory, in this process; keeps what the last one printed."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data = data
        self.out = self.err = ""
        self._capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> str:
        ended = calls.run(app, [*arguments, "--data", str(self.data)])
        self.out, self.err = self._capsys.readouterr()
        assert ended == code, (ended, self.out, self.err)
        assert "Traceback" not in self.err
        return self.out

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))

    def lines(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self(*arguments).splitlines()]


def said(content: str = "I live in Oslo.", **fields: Any) -> dict[str, Any]:
    return {"group_id": "default", "role": "Ana", "role_type": "user", "content": content, **fields}


def fact(**fields: Any) -> dict[str, Any]:
    return {"group_id": "default", "subject": "Ana", "relation": "lives_in", "object": "Oslo", **fields}

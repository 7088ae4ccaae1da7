"""A peer as the parent sees it: a process, told what to measure by a line, that answers with a line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from bench.peers.environments import interpreter

_ROOT: Final = Path(__file__).resolve().parents[2]


class PeerProcess:
    """A peer that has loaded so many facts in a folder of its own."""

    def __init__(self, name: str, folder: Path, model: str, facts: int) -> None:
        self._folder, self._facts, self._stated = folder / "store", facts, 0
        self._folder.mkdir(parents=True)
        command = [interpreter(name), "-m", "bench.peers.child", name, self._folder, model, facts]
        paths = os.pathsep.join(map(str, (_ROOT, _ROOT / "projections")))
        self._process = subprocess.Popen(
            list(map(str, command)), cwd=folder, env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=(folder / "stderr").open("wb"), text=True,
        )  # fmt: skip

    def loaded(self) -> dict[str, Any]:
        """Wait until the facts are loaded; return its version, and the names of what it can do."""
        return self._answer()

    def measure(self, subject: str, start: int, count: int) -> dict[str, float]:
        assert self._process.stdin is not None
        print(json.dumps({"subject": subject, "start": start, "count": count}), file=self._process.stdin, flush=True)
        self._stated += count * (subject == "state")
        return self._answer()

    def end(self) -> dict[str, float]:
        """Let it close; return the megabytes that it had resident at most, and the bytes on disk of a fact."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        peak = self._answer()["peak"]
        self._process.wait()
        size = sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())
        return {"peak": peak, "disk": size / (self._facts + self._stated)}

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError((self._folder.parent / "stderr").read_text()[-2_000:])
        answer: dict[str, Any] = json.loads(line)
        return answer

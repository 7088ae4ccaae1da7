"""A server as an operator starts it: `asof serve`, in a process of its own, on a free port."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

ASOF = Path(sys.executable).with_name("asof")


class Server:
    """A running server, with a client of it."""

    def __init__(self, data: Path, host: str = "127.0.0.1", **settings: str) -> None:
        self.data = data
        self.log_file = data.with_suffix(".log")
        environment = {**os.environ, "ASOF_EMBEDDER": "hash", **settings}
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [ASOF, "serve", "--host", host, "--port", "0", "--json", "--data", data],
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
            )
        assert self.process.stdout is not None
        announced = self.process.stdout.readline()
        assert announced, self.log
        self.announced: dict[str, Any] = json.loads(announced)
        self.url: str = self.announced["url"]
        self.client = httpx2.Client(base_url=self.url, timeout=60)

    @property
    def log(self) -> str:
        return self.log_file.read_text("utf-8")

    def say(self, group: str, *texts: str, role: str = "Ana", **fields: Any) -> httpx2.Response:
        """Post messages of one group, and wait until they are processed."""
        messages = [{"content": text, "role_type": "user", "role": role, **fields} for text in texts]
        answer = self.client.post("/messages", json={"group_id": group, "messages": messages})
        assert answer.status_code == 202, answer.text
        self.settled(int(answer.headers["asof-position"]) + len(texts) - 1)
        return answer

    def settled(self, position: int) -> None:
        """Wait until a message is processed."""
        wait_for(lambda: f"message {position} done" in self.log)

    def episodes(self, group: str, last_n: int = 1_000) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(f"/episodes/{group}", params={"last_n": last_n}).json()
        return found

    def search(self, query: str, *groups: str, **fields: Any) -> list[dict[str, Any]]:
        answer = self.client.post("/search", json={"query": query, "group_ids": list(groups), **fields})
        assert answer.status_code == 200, answer.text
        facts: list[dict[str, Any]] = answer.json()["facts"]
        return facts

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        code = self.process.wait(60)
        self.client.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def serving(data: Path, host: str = "127.0.0.1", **settings: str) -> Iterator[Server]:
    server = Server(data, host, **settings)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)


def wait_for(so: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.01)

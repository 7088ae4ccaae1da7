"""A server as an operator starts it: `asof serve`, in a process of its own, on a free port."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

import asof_process
from patience import SECONDS, wait_until

CERTIFICATES = httpx2.create_ssl_context()  # none is needed, but each client would read them, for 25 ms


class Server:
    """A running server, with a client of it."""

    def __init__(
        self,
        data: Path,
        host: str = "127.0.0.1",
        *,
        fresh: bool = False,
        has_children: bool = False,
        **settings: str,
    ) -> None:
        self.data = data
        self.log_file, output = data.with_suffix(".log"), data.with_suffix(".out")
        output.write_bytes(b"")
        command = ["serve", "--host", host, "--port", "0", "--json", "--data", str(data)]
        start = asof_process.spawn if fresh else partial(asof_process.fork, has_children=has_children)
        self.process = start(command, {**os.environ, "ASOF_EMBEDDER": "hash", **settings}, output, self.log_file)
        try:
            self.announced: dict[str, Any] = self._announced(output)
        except BaseException:
            asof_process.kill(self.process)
            raise
        self.url: str = self.announced["url"]
        self.client = httpx2.Client(base_url=self.url, timeout=SECONDS, verify=CERTIFICATES)

    def _announced(self, output: Path) -> dict[str, Any]:
        """Wait until it says where it is; return what it says."""
        wait_until(lambda: output.read_text("utf-8").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, self.log
        announced: dict[str, Any] = json.loads(output.read_text("utf-8"))
        return announced

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

    def settled(self, position: int, headers: dict[str, str] | None = None) -> None:
        """Wait until a message is processed."""

        def processed() -> bool:
            asked = f"/v1/messages/{position}?min_position={position}"
            answer = self.client.get(asked, headers=headers)
            assert answer.status_code in {200, 503}, answer.text  # 503: it waits still
            return bool(answer.is_success)

        wait_until(processed)

    def queued(self, position: int) -> bool:
        """Whether a message waits to be processed."""
        return bool(self.client.get(f"/v1/messages/{position}").json()["state"] == "queued")

    def not_ready(self) -> str:
        """Return why the service is not ready; nothing where it is."""
        return str(self.client.get("/readyz").json().get("reason", ""))

    def metric(self, name: str) -> float:
        """Return a metric that has no labels."""
        lines = self.client.get("/metrics").text.splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))

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
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        self.client.close()
        return asof_process.wait(self.process)


@contextmanager
def serving(data: Path, host: str = "127.0.0.1", *, fresh: bool = False, **settings: str) -> Iterator[Server]:
    """Serve a directory. `fresh` is needed where the environment says how Python starts."""
    server = Server(data, host, fresh=fresh, has_children=False, **settings)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)

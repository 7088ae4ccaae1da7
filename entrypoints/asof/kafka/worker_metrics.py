"""Metrics and readiness of a worker over HTTP, from its health. No label holds a group, an id or content."""

import json
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from socket import AF_INET, AF_INET6
from socketserver import TCPServer
from threading import Thread
from typing import Any, Final, Literal, Self

from asof.runtime import clock
from asof.runtime.replica_health import ReplicaHealth, ReplicaProgress, UnassignedAgent
from asof_streams.errors import InvalidInput
from asof_streams.instants import SECOND

_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_READY_TYPE: Final = "application/json"
_REQUEST_SECONDS: Final = 2.0  # to wait for a caller; the next one waits as long
_MILLISECOND: Final = SECOND // 1_000

Kind = Literal["counter", "gauge"]


def _open(of: ReplicaProgress) -> int:
    return int(of.offset >= 0)


def _age(of: ReplicaProgress, now: int) -> float:
    return 0 if of.oldest is None else max(now - of.oldest * _MILLISECOND, 0) / SECOND


_PARTITION: Final[tuple[tuple[str, Kind, str, Callable[[ReplicaProgress, int], float | None]], ...]] = (
    ("partition_open", "gauge", "1, if the partition is open; 0 while it is being opened.", lambda p, _: _open(p)),
    ("offset", "gauge", "The offset of the next record to take.", lambda p, _: p.offset if _open(p) else None),
    ("end", "gauge", "The offset at which the topic ends.", lambda p, _: p.end),
    ("lag", "gauge", "Records that wait.", lambda p, _: p.end - p.offset if _open(p) else None),
    ("oldest_seconds", "gauge", "The age of the oldest record that an agent is at, else 0.", _age),
    (
        "parked",
        "gauge",
        "Messages that nothing could be made of, and that were not retried since.",
        lambda p, _: p.parked,
    ),
    ("restarts_total", "counter", "How often it was opened again after a failure.", lambda p, _: p.restarts),
)


def text(health: ReplicaHealth, now: int) -> str:
    """Return a state of health in the text format of Prometheus. now: microseconds."""
    return "".join(f"{line}\n" for line in _lines(health, now))


def _lines(health: ReplicaHealth, now: int) -> Iterator[str]:
    yield from _family("well", "gauge", "1, if `asof worker --health` says that all is well; else 0.")
    yield f"asof_worker_well {int(not health.faults(now))}"
    yield from _family("topic_errors", "gauge", "Settings of topics by which history or order would be lost.")
    yield f"asof_worker_topic_errors {len(health.errors)}"
    for name, kind, what, of in _PARTITION:
        yield from _family(name, kind, what)
        for each in health.partitions:
            if (value := of(each, now)) is not None:
                labels = {**_agent_labels(each), "topic": each.topic, "partition": each.partition}
                yield f"asof_worker_{name}{{{_labels(labels)}}} {value}"
    yield from _family("unassigned_seconds", "gauge", "For how long an agent has had no partition of its topic.")
    for agent in health.unassigned:
        labels = {**_agent_labels(agent), "topic": agent.topic, "spare": int(agent.is_spare)}
        yield f"asof_worker_unassigned_seconds{{{_labels(labels)}}} {max(now - agent.since, 0) / SECOND}"


def _family(name: str, kind: Kind, what: str) -> Iterator[str]:
    yield f"# HELP asof_worker_{name} {what}"
    yield f"# TYPE asof_worker_{name} {kind}"


def _agent_labels(of: ReplicaProgress | UnassignedAgent) -> dict[str, str | int]:
    return {"agent": of.agent, "generation": of.generation}


def _labels(labels: Mapping[str, str | int]) -> str:
    """Return labels whose values need no escapes: names of topics and generations are plain."""
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


class WorkerMetrics:
    """Serves /metrics and /readyz of this process's worker on a thread; without an address it serves nothing.

    address: HOST:PORT. InvalidInput: it cannot be listened on.
    """

    def __init__(self, address: str | None) -> None:
        self.health = ReplicaHealth(0, ())  # as the worker wrote it down last; not well before it did
        self._server = None if address is None else _listen(address, self)

    def text(self) -> bytes:
        """Return the metrics as of now."""
        return text(self.health, clock.system()).encode()

    def faults(self) -> list[str]:
        """Return why the worker is not ready, as of now; nothing: it is."""
        return self.health.faults(clock.system())

    def __enter__(self) -> Self:
        if self._server is not None:
            Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def _listen(address: str, metrics: WorkerMetrics) -> "_Server":
    host, _, port = address.rpartition(":")
    try:
        return _Server(host.strip("[]"), int(port), metrics)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "no such port"
        raise InvalidInput(f"{address} cannot be listened on: {why}", "worker_metrics") from None


class _Server(TCPServer):
    """Answers one caller after the other: whoever asks slowly or often keeps other callers waiting, not the worker."""

    allow_reuse_address = True

    def __init__(self, host: str, port: int, metrics: WorkerMetrics) -> None:
        self.metrics = metrics
        self.address_family = AF_INET6 if ":" in host else AF_INET
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a caller go that went away."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _REQUEST_SECONDS
    server_version, sys_version = "asof", ""

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/metrics":
                self._answer(200, _METRICS_TYPE, self.server.metrics.text())
            case "/readyz":
                faults = self.server.metrics.faults()
                said = {"status": "not ready", "reason": "; ".join(faults)} if faults else {"status": "ready"}
                self._answer(503 if faults else 200, _READY_TYPE, json.dumps(said).encode())
            case _:
                self.send_error(404)

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: that it was asked is no news."""

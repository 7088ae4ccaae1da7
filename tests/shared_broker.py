"""One Kafka broker for all processes of a run: the first to need it starts it, and stops it after the last."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from pathlib import Path
from typing import IO, NamedTuple

from kafka_broker import Broker

_LOOK_SECONDS = 0.1
_SESSION_SECONDS = 120  # nobody kills it, and the machine may be busy


class SharedBroker(NamedTuple):
    """A broker that is not this process's to stop, as kafka_broker lays out its ports."""

    port: int

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def sasl_bootstrap(self) -> str:
        return f"127.0.0.1:{self.port + 2}"


@contextmanager
def shared_broker(folder: Path) -> Iterator[SharedBroker]:
    """Use the broker of a folder; start it if none runs, and then stop it once nobody uses it."""
    folder.mkdir(exist_ok=True)
    port = folder / "port"
    with (folder / "users").open("w") as users:
        started = None
        with _alone(folder):
            flock(users, LOCK_SH)
            if not port.exists():
                started = Broker(folder / "kafka", session=_SESSION_SECONDS)
                started.start()
                port.write_text(str(started.port))
        try:
            yield SharedBroker(int(port.read_text()))
        finally:
            flock(users, LOCK_UN)
            if started:
                with _after_the_last(folder, users):
                    port.unlink()
                    started.stop()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else start or stop the broker meanwhile."""
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        yield


@contextmanager
def _after_the_last(folder: Path, users: IO[str]) -> Iterator[None]:
    """Wait until nobody uses the broker, and let nobody begin to meanwhile."""
    while True:
        with _alone(folder):
            try:
                flock(users, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                pass
            else:
                yield
                return
        time.sleep(_LOOK_SECONDS)

"""An address of this machine at which nobody listens, and nobody else can begin to while a test needs it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing() -> Iterator[str]:
    """Yield HOST:PORT. Its port is taken, so that no other process is given it, and a connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"

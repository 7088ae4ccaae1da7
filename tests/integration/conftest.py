"""One server for the tests of a process that need none of their own."""

from collections.abc import Iterator

import pytest

from http_server import Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that many tests share: each tells it of groups of its own, and counts from what it finds."""
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        yield running

"""One Kafka broker for all tests of this folder, and for each test names of topics that nobody else has."""

import asyncio
import gc
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from kafka_broker import NEEDED, Broker, can_run
from kafka_worker import Running, World
from shared_broker import SharedBroker, shared_broker
from unchecked import not_checked

HERE = Path(__file__).parent
GIVEN = os.environ.get("ASOF_TEST_KAFKA")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("broker")


def require_kafka() -> None:
    """Leave a test out where there is no Kafka; fail it where CI demands one."""
    if not (GIVEN or can_run()):
        not_checked(f"on a broker: install {NEEDED}, or name one in ASOF_TEST_KAFKA=HOST:PORT", demanded=True)


@pytest.fixture(autouse=True)
def cleanliness(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave nothing of a test behind, once its other fixtures have ended: this one, which is automatic, ends last.

    Every client of a broker reads of all its topics, so those of earlier tests would slow each test down. Connections
    that aiokafka leaves open where a broker goes while one begins are collected: their warnings would else fail another
    test, whichever is running when Python finds them.
    """
    names = request.fixturenames
    bootstrap = request.getfixturevalue("bootstrap") if {"bootstrap", "prefix"} <= {*names} else None
    prefix: str = request.getfixturevalue("prefix") if bootstrap else ""
    yield
    if bootstrap:
        with suppress(KafkaError):  # those that are left only take time
            asyncio.run(_delete_topics(bootstrap, prefix))
    if "own_kafka" in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


async def _delete_topics(bootstrap: str, prefix: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        if names := [name for name in await admin.list_topics() if name.startswith(prefix)]:
            await admin.delete_topics(names)
    finally:
        await admin.close()


@pytest.fixture(scope="session")
def started_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedBroker]:
    """The broker that all tests share: no test stops it or reads topics that are not of its own prefix."""
    require_kafka()
    if not can_run():
        not_checked(f"on a broker of ours, as ASOF_TEST_KAFKA may ask for no password: install {NEEDED}")
    folder = tmp_path_factory.getbasetemp()
    with shared_broker((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "kafka") as broker:
        yield broker


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    """The address of the broker that all tests share, or of the one that ASOF_TEST_KAFKA names, HOST:PORT."""
    if GIVEN:
        return GIVEN
    broker: SharedBroker = request.getfixturevalue("started_broker")
    return broker.bootstrap


@pytest.fixture
def prefix() -> str:
    """What the names of a test's topics and consumer groups begin with."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def own_kafka() -> None:
    """For a test that starts a broker itself: skips where the only one is that of ASOF_TEST_KAFKA."""
    require_kafka()
    if not can_run():
        not_checked(f"on a broker of its own, as ASOF_TEST_KAFKA is not ours to kill: install {NEEDED}")


@pytest.fixture
def own_broker(own_kafka: None, tmp_path: Path) -> Iterator[Broker]:  # noqa: ARG001
    """A broker of the test's own, running: to kill, to restart, to ask for a password."""
    with Broker(tmp_path / "kafka") as started:
        yield started


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a worker of a world, or another command, in the directory `data` or another; none outlives the test."""
    started: list[Running] = []

    def start(world: World, name: str = "data", command: Sequence[str] = ("worker",), **settings: str) -> Running:
        started.append(Running(tmp_path / name, world, command, **settings))
        return started[-1]

    yield start
    for running in started:
        running.kill()


@pytest.fixture
def world(bootstrap: str, prefix: str) -> Iterator[World]:
    """The topics of a test, of one partition, on the broker that all share."""
    with World(bootstrap, prefix) as world:
        yield world

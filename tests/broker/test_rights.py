"""A cluster with ACLs: what is documented is enough, and what is missing is named, with what to do."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from asof.kafka.follower import ReplicaFollower
from asof.kafka.producer import Producer
from asof.operations.kafka import check_topics, create_topics
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.layout import DirectoryLayout
from asof.runtime.server_checks import examine_servers
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.errors import AccessDenied, NotFound
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.rights import MissingRight, Right
from asof_streams.kafka.topics import Topics, check_rights, create
from asof_streams.messages import FactStatement, accept
from kafka_broker import SASL_PASSWORD, Broker
from kafka_rights import Grant, documented, grant
from kafka_worker import PROJECTOR, Running, World, dump, fact, until, until_known

Start = Callable[..., Running]
TOPICS = Topics("asof")
MADE = Topics("made")
DERIVED = (TOPICS.episodic, TOPICS.semantic("main"), TOPICS.replies)
READ = (TOPICS.messages, *DERIVED)
ALL = (*READ, TOPICS.dead_letters)
GROUPS = (TOPICS.recorders, TOPICS.believers("main"), TOPICS.responders)
NEEDED = [
    *(MissingRight("Read", "topic", name) for name in READ),
    *(MissingRight("Write", "topic", name) for name in (*DERIVED, TOPICS.dead_letters)),
    *(MissingRight("DescribeConfigs", "topic", name) for name in ALL),
    *(MissingRight("Read", "group", name) for name in GROUPS),
]
LACKING = {f"lacks{number}": right for number, right in enumerate(NEEDED)}
USERS = ("worker", "projector", "producer", "maker", "nobody", *LACKING)


def all_but_one(user: str) -> Iterator[Grant]:
    """Yield what a worker needs, without the one right that the user lacks."""
    yield from (Grant(user, *right) for right in NEEDED if right != LACKING[user])
    yield from (Grant(user, "Describe", "topic", name) for name in ALL)


def lacks(right: tuple[Right, Literal["topic", "group"], str]) -> str:
    """Return the user who has all rights of a worker but this one."""
    return next(user for user, lacking in LACKING.items() if lacking == right)


@pytest.fixture(scope="module")
def guarded(own_kafka: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:  # noqa: ARG001
    """A broker with ACLs and the topics of a memory."""
    with Broker(tmp_path_factory.mktemp("guarded"), users=USERS) as broker:
        asyncio.run(create(Connection(broker.bootstrap), TOPICS, ["main"], replies=True))
        grants = [
            *documented("workers", "worker"),
            *documented("projectors, and questions with `--kafka`", "projector"),
            *documented("producers", "producer"),
            *documented("whoever runs `asof topics create`", "maker", MADE.prefix),
            *(found for user in LACKING for found in all_but_one(user)),
        ]
        grant(broker.bootstrap, grants)
        yield broker


# What is documented is enough.


def signed_in(broker: Broker, user: str) -> dict[str, str]:
    return {
        "kafka": broker.sasl_bootstrap,
        "kafka_security_protocol": "SASL_PLAINTEXT",
        "kafka_sasl_mechanism": "PLAIN",
        "kafka_sasl_username": user,
        "kafka_sasl_password": SASL_PASSWORD,
    }


def settings_of(broker: Broker, user: str, data: Path) -> Settings:
    return Settings(data=data, embedder="none", **signed_in(broker, user))


def test_the_documented_rights_are_enough_for_a_worker_a_producer_and_a_projector(
    guarded: Broker, start: Start, tmp_path: Path
) -> None:
    with World(guarded.bootstrap, TOPICS.prefix) as world:
        working = start(world, **signed_in(guarded, "worker"))
        projecting = start(world, "copy", PROJECTOR, **signed_in(guarded, "projector"))
        with closing(Producer(settings_of(guarded, "producer", tmp_path))) as producer:
            producer.put([InboundMessage(accept(FactStatement, fact(1)))])
        until_known(working, world.send([b"poison"]))
        until_known(projecting, 2)
        until(lambda: world.records(TOPICS.replies), working)  # the responder has claimed it
        assert len(world.records(TOPICS.dead_letters)) == 1
        working.stop()
        projecting.stop()
        assert dump(working.data) == dump(projecting.data)


def test_the_documented_rights_are_enough_to_create_topics(guarded: Broker, tmp_path: Path) -> None:
    settings = settings_of(guarded, "maker", tmp_path).model_copy(update={"kafka_prefix": MADE.prefix})

    made, findings = create_topics(settings, [], partitions=None, replication=None)

    assert made == [*MADE.all(["main"])]
    assert {finding.severity for finding in findings} == {"warning"}, "the maker need not be able to work"


def test_each_right_that_a_worker_lacks_is_found(guarded: Broker, tmp_path: Path) -> None:
    found = {
        user: [*asyncio.run(check_rights(connection_of(settings_of(guarded, user, tmp_path)), TOPICS))]
        for user in LACKING
    }

    assert found == {user: [right] for user, right in LACKING.items()}


@pytest.mark.parametrize("right", [("Write", "topic", TOPICS.episodic), ("Read", "group", TOPICS.recorders)])
def test_checks_name_a_missing_right_and_the_command_that_grants_it(
    guarded: Broker, tmp_path: Path, right: tuple[Right, Literal["topic", "group"], str]
) -> None:
    user = lacks(right)
    settings = settings_of(guarded, user, tmp_path)
    operation, kind, name = right
    command = f"--allow-principal User:{user} --operation {operation} --{kind} {name}"

    warnings = [finding for finding in check_topics(settings, []) if finding.setting == f"right {operation}"]
    assert [(warning.topic, warning.severity) for warning in warnings] == [(name, "warning")]
    assert command in warnings[0].fix

    (found,) = [found for found in examine_servers(settings) if found.what.startswith("right")]
    assert found.what == f"right {operation} on {kind} {name}"
    assert command in found.remedy


def test_checks_name_the_topic_whose_settings_one_may_not_see(guarded: Broker, tmp_path: Path) -> None:
    settings = settings_of(guarded, lacks(("DescribeConfigs", "topic", TOPICS.episodic)), tmp_path)
    named = rf"DescribeConfigs topic {TOPICS.episodic}\. Run: kafka-acls\.sh .* --topic {TOPICS.episodic}"

    with pytest.raises(AccessDenied, match=named):
        check_topics(settings, [])
    assert [re.search(named, found.found) is not None for found in examine_servers(settings)] == [True]


def test_a_worker_without_a_right_ends_with_2_and_names_it_before_it_takes_anything(
    guarded: Broker, start: Start
) -> None:
    user = lacks(("Write", "topic", TOPICS.dead_letters))
    with World(guarded.bootstrap, TOPICS.prefix) as world:
        running = start(world, "refused", **signed_in(guarded, user))
        assert running.wait() == 2

    line = running.said().splitlines()[-1]
    assert f"it lacks Write on topic {TOPICS.dead_letters}. Run: kafka-acls.sh " in line
    assert f"--allow-principal User:{user} --operation Write --topic {TOPICS.dead_letters}" in line


def test_an_agent_needs_no_rights_of_the_others(guarded: Broker, tmp_path: Path) -> None:
    for agent, right in (
        ("recorder", ("Write", "topic", TOPICS.semantic("main"))),
        ("recorder", ("Read", "group", TOPICS.believers("main"))),
        ("believer", ("Write", "topic", TOPICS.episodic)),
        ("believer", ("Read", "topic", TOPICS.replies)),
    ):
        connection = connection_of(settings_of(guarded, lacks(right), tmp_path))
        assert not asyncio.run(check_rights(connection, TOPICS, [agent])), agent


def test_a_right_that_is_taken_away_later_is_told_with_the_topic(guarded: Broker, tmp_path: Path) -> None:
    user = lacks(("Read", "topic", TOPICS.episodic))
    with (
        Client(connection_of(settings_of(guarded, user, tmp_path))) as client,
        pytest.raises(AccessDenied, match=f"does not let {user} use {TOPICS.episodic} "),
    ):
        list(client.read(TOPICS.episodic, 0, 0, 1))


def test_a_topic_that_one_may_not_see_is_not_said_to_be_absent(guarded: Broker, tmp_path: Path) -> None:
    settings = settings_of(guarded, "nobody", tmp_path)
    unseen = "there is no topic asof.messages, or this user may not see it"

    with pytest.raises(NotFound, match=unseen):
        ReplicaFollower(DirectoryLayout(tmp_path), connection_of(settings), TOPICS)
    assert {finding.why for finding in check_topics(settings, ["main"]) if finding.setting == "topic"} == {
        "it is not there, or this user may not see it"
    }

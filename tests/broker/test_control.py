"""The control topic: what stands on it, whoever writes."""

import asyncio
from collections.abc import Callable

import pytest

from asof_streams.control import GenerationDropped, GenerationSwitched
from asof_streams.errors import InvalidInput
from asof_streams.events import Draft, Event
from asof_streams.kafka.client import Client
from asof_streams.kafka.control_topic import LOG, ControlTopic
from asof_streams.kafka.envelope import event
from asof_streams.kafka.topics import create, delete_generation
from kafka_worker import World
from patience import wait_until


def decision(topic: ControlTopic, wanted: Event) -> Callable[[], Event | None]:
    """Decide for an event, unless it was the last one."""
    return lambda: None if topic.events[-1:] == [wanted] else wanted


def test_who_decides_knows_all_that_was_decided_and_no_record_stands_twice(world: World) -> None:
    with Client(world.connection) as one, Client(world.connection) as two:
        here, there = ControlTopic(one, world.topics), ControlTopic(two, world.topics)
        here.catch_up()
        assert (here.events, here.end) == ([], None)  # a memory that nobody has rebuilt has no such topic
        asyncio.run(create(world.connection, world.topics, ["main"], control=True))
        second, main = GenerationSwitched(generation="second"), GenerationSwitched(generation="main")

        here.append(decision(here, second), 1)
        there.append(decision(there, second), 2)  # it is so already
        there.append(decision(there, main), 3)
        records = world.records(world.topics.control)
        stale = event(LOG, 2, Draft("", 4, 2, 0, 1, second), 1, 3, "somebody")  # of one who was deposed meanwhile
        copy = next(raw for raw in records if raw.headers and raw.value != b"{}")
        world.send_raw(world.topics.control, [stale])
        one.send(world.topics.control, 0, [stale._replace(key=copy.key, value=copy.value, headers=list(copy.headers))])

        for topic in (here, there):
            topic.catch_up()
            assert topic.events == [second, main]

        def refuse() -> Event:
            raise InvalidInput("no")

        with pytest.raises(InvalidInput):
            here.append(refuse, 5)
        here.append(decision(here, dropped := GenerationDropped(generation="second")), 6)
        there.catch_up()
        assert there.events == [second, main, dropped]


def test_the_topic_of_a_generation_is_deleted_and_to_delete_it_again_is_no_error(world: World) -> None:
    asyncio.run(create(world.connection, world.topics, ["second"], control=True))
    group = f"{world.topics.prefix}.believers.second"
    assert world.topics.semantic("second") in world.client.topics()

    for _ in range(2):  # as after a drop that was interrupted
        asyncio.run(delete_generation(world.connection, world.topics, "second", group))

    wait_until(lambda: world.topics.semantic("second") not in world.client.topics(), str)
    assert {world.topics.semantic("main"), world.topics.control} <= world.client.topics()

"""A group lives where Kafka's own clients put a record with the group as its key."""

import pytest

from asof_streams.kafka.partitioning import partition_of

HASHED = {  # murmur2, as Kafka's own tests have it: signed, 32 bits
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.mark.parametrize("partitions", [1, 2, 12, 1_000])
def test_a_group_lives_where_kafka_puts_its_key(partitions: int) -> None:
    found = {group: partition_of(group, partitions) for group in HASHED}

    assert found == {group: (hashed & 0x7FFFFFFF) % partitions for group, hashed in HASHED.items()}

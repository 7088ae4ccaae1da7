"""Which partition a group lives in: where Kafka's own clients put a record with the group as its key."""

from functools import lru_cache

from aiokafka.partitioner import murmur2


@lru_cache(maxsize=10_000)
def partition_of(group: str, partitions: int) -> int:
    """Return a group's partition, the same for ever while the number of partitions is."""
    hashed: int = murmur2(group.encode()) & 0x7FFFFFFF
    return hashed % partitions

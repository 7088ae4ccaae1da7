"""The partition of a group: the one to which Kafka's own clients send a record with the group as its key."""

from functools import lru_cache

from aiokafka.partitioner import murmur2


@lru_cache(maxsize=10_000)
def partition_of(group: str, partitions: int) -> int:
    """Return a group's partition, from 0. It changes only if the number of partitions does."""
    hashed: int = murmur2(group.encode()) & 0x7FFFFFFF
    return hashed % partitions

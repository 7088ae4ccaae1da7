"""The hash chain over a log: each record's hash covers all records before it, so no change goes unnoticed.

A payload enters the chain only as its seal, a hash of the payload and a salt of its own. Erasure replaces salt and
payload by the seal: the chain still verifies, and without the salt nobody can test a guess at the payload.
"""

from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Any, Final

SALT_BYTES: Final = 16
_pack: Final = Struct(">7q").pack

# position, group, recorded_at, cause, place, size, term, type, version
Envelope = tuple[int, str, int, int, int, int, int, str, int]

# an envelope, then hash, salt, seal, payload: a record has salt and payload, an erased one the seal alone
Row = tuple[Any, ...]


def genesis(log: str) -> bytes:
    """Return the hash before the first record; it covers the log's name, so no log can pass for another."""
    return sha256(b"asof log " + log.encode()).digest()


def seal(salt: bytes, payload: bytes) -> bytes:
    """Return the hash that represents a payload in the chain."""
    return sha256(salt + payload).digest()


def link(previous: bytes, envelope: Envelope, sealed: bytes) -> bytes:
    """Return a record's hash, over the previous hash, its envelope and its seal."""
    position, group, recorded_at, cause, place, size, term, type_, version = envelope
    numbers = _pack(position, recorded_at, cause, place, size, term, version)
    return sha256(previous + sealed + numbers + _names(type_, group)).digest()


@lru_cache(maxsize=4_096)
def _names(type_: str, group: str) -> bytes:
    """Return the type and the group of a record as its hash covers them: those of one batch are few."""
    return f"{type_}\0{group}".encode()

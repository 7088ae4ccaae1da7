"""The hash chain over a log: each record's hash covers all that came before it, so that nothing changes unseen.

A payload enters the chain only as its seal, a hash of it under a salt of its own. Erasing puts the seal in the place of
salt and payload: the chain still verifies, and no guess at the payload can be tested against it any more.
"""

from hashlib import sha256
from struct import Struct
from typing import Final

SALT_BYTES: Final = 16
_NUMBERS: Final = Struct(">7q")

# position, group, recorded_at, cause, place, size, term, type, version
Envelope = tuple[int, str, int, int, int, int, int, str, int]


def genesis(log: str) -> bytes:
    """Return the hash before the first record; it holds the log's name, so that no log can stand in for another."""
    return sha256(b"asof log " + log.encode()).digest()


def seal(salt: bytes, payload: bytes) -> bytes:
    """Return what stands for a payload in the chain."""
    return sha256(salt + payload).digest()


def link(previous: bytes, envelope: Envelope, sealed: bytes) -> bytes:
    """Return the hash of a record: of the hash before it, its envelope and its seal."""
    position, group, recorded_at, cause, place, size, term, type_, version = envelope
    numbers = _NUMBERS.pack(position, recorded_at, cause, place, size, term, version)
    names = f"{type_}\0{group}".encode()
    return sha256(previous + sealed + numbers + names).digest()

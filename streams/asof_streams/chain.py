"""The hash chain over a log: each record's hash covers all records before it, so no change goes unnoticed.

A payload enters the chain only as its seal, a hash of the payload and a salt of its own. Erasure replaces salt and
payload by the seal: the chain still verifies, and without the salt nobody can test a guess at the payload.
"""

from hashlib import sha256
from operator import itemgetter
from struct import Struct
from typing import Any, Final

SALT_BYTES: Final = 16
_NUMBERS: Final = Struct(">7q")
_NUMBERED: Final = itemgetter(0, 2, 3, 4, 5, 6, 8)  # of an envelope: all but group and type

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
    numbers = _NUMBERS.pack(*_NUMBERED(envelope))
    names = f"{envelope[7]}\0{envelope[1]}".encode()
    return sha256(previous + sealed + numbers + names).digest()

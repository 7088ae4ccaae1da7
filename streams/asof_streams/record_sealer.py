"""The sealer of records on topics: one that is sent is encrypted before anybody knows where it will stand.

    1 byte    0x02
    4 bytes   the number of the tree of keys, big-endian
    8 bytes   the number of the key in that tree, big-endian
    12 bytes  the nonce, random
    rest      AES-256-GCM of the value, with its tag of 16 bytes at the end; associated data: the context

The context are the source, type, version and id of the record (CloudEvents), joined by zero bytes. Topic, partition and
offset are not in it: who sends does not know the offset, and all three change where topics are copied. What is bound
goes with the record wherever it is copied to. So nobody without keys can say a thing once more under another id, let a
message pass for a fact, or move it to another group, whose keys are others. The same id a second time adds nothing.

The key of an event is that of the position of its message, as in the logs of a directory. A message has no position
before it is on the topic: its sender numbers it. A sender begins at random in the upper half of all numbers, and counts
on. So an erasure destroys exactly the keys of what stands before it, and what one sender sent lies together.

The nonce is random, as several writers may use a key: a second worker that has not seen yet that it was replaced.
"""

from collections.abc import Callable, Iterable
from itertools import count, groupby
from secrets import randbits, token_bytes
from struct import Struct
from typing import Final

from asof_streams.ciphers import NONCE_BYTES, cipher, decrypt, pack, unpack
from asof_streams.errors import KeysUnavailable
from asof_streams.key_store import KeyStore
from asof_streams.key_tree import DEPTH, KEY_BYTES

MARK: Final = b"\x02"
_HEADER: Final = Struct(f">cIQ{NONCE_BYTES}s")
_COUNTED: Final = 24  # bits of a number that a sender counts in
_RANDOM: Final = 38  # bits above them; the highest bit of all numbers is set


def is_sealed_record(value: bytes | None) -> bool:
    """Return whether the value of a record is encrypted; a JSON object begins with a brace."""
    return value is not None and value.startswith(MARK)


def context(source: str, type_: str, version: int, id_: str) -> bytes:
    """Return the associated data of a record."""
    return f"{source}\0{type_}\0{version}\0{id_}".encode()


def number_of(sealed: bytes) -> int:
    """Return the number of the key of a record that is encrypted; -1: it has none that there can be."""
    number = int(_HEADER.unpack_from(sealed)[2]) if len(sealed) >= _HEADER.size else -1
    return number if number < 1 << DEPTH else -1


def new_numbers() -> "count[int]":
    """Return the numbers that a sender gives its messages."""
    return count((1 << _RANDOM | randbits(_RANDOM)) << _COUNTED)


def runs_of(numbers: Iterable[int]) -> list[range]:
    """Return ranges of numbers that senders gave: of each the first to the last, which nobody else gives."""
    senders = groupby(sorted(numbers), lambda number: number >> _COUNTED)
    of_each = ([*given] for _, given in senders)
    return [range(given[0], given[-1] + 1) for given in of_each]


class RecordSealer:
    """Seals the values of records, and opens them."""

    def __init__(self, keys: KeyStore, used: Callable[[str], int] = lambda _: 0) -> None:
        """used: returns how many trees of a group are known to have been used."""
        self._keys = keys
        self._used = used

    def seal(self, group: str, number: int, context: bytes, value: bytes) -> bytes:
        """Return a value encrypted. KeysUnavailable.

        A key that was destroyed is replaced by one that nobody keeps: an event may be made of a message while that is
        erased elsewhere, and is to be read no more than the message.
        """
        tree, key = self._keys.latest(group, number, self._used)
        nonce = token_bytes(NONCE_BYTES)
        sealed: bytes = cipher(key or token_bytes(KEY_BYTES)).encrypt(nonce, pack(value), context)
        return _HEADER.pack(MARK, tree, number, nonce) + sealed

    def open(self, group: str, context: bytes, sealed: bytes) -> bytes | None:
        """Return what `seal` was given; None: its key was destroyed. KeysUnavailable: it is not to be had."""
        if number_of(sealed) >= 0:
            _, tree, number, nonce = _HEADER.unpack_from(sealed)
            key = self._keys.find(group, tree, number)
            if key is None:
                return None
            packed = decrypt(key, nonce, sealed[_HEADER.size :], context)
            if packed is not None:
                return unpack(packed)
        raise KeysUnavailable(
            "a record was encrypted with another key than the store of keys has for its group: give the store that it"
            " was encrypted with, or a later backup of it"
        )

    def can_open(self, group: str, sealed: bytes) -> bool:
        """Return whether the key of an encrypted value is left. KeysUnavailable."""
        _, tree, number, _ = _HEADER.unpack_from(sealed.ljust(_HEADER.size, b"\0"))
        return self._keys.find(group, tree, number) is not None

    def expect(self, group: str) -> None:
        """Expect the trees of a group that are known to have been used. KeysUnavailable: the store has fewer."""
        self._keys.expect(group, self._used(group))

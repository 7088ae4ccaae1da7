"""The sealer of a log: it compresses payloads, then encrypts them by AES-256-GCM under their message's key.

    1 byte    0x01
    4 bytes   the number of the tree of keys, big-endian
    rest      AES-256-GCM of the payload, with its tag of 16 bytes at the end; the nonce is the first 12 bytes of the
              record's salt; associated data: the log's name, a zero byte, the position as 8 bytes

A payload of 256 bytes or more is compressed before, by zlib; then it does not begin with a brace.

The salt is random and new with each record. A nonce that was made of a record's id would come again where a copy of a
directory goes on by itself: the same position, another text.
"""

from collections.abc import Callable
from struct import Struct
from typing import Final

from asof_streams.ciphers import NONCE_BYTES, cipher, decrypt, pack, unpack
from asof_streams.conversation import ReplyErased
from asof_streams.episodic import GroupErased
from asof_streams.errors import KeysUnavailable
from asof_streams.key_store import KeyStore
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.record_sealer import MARK as RECORD
from asof_streams.record_sealer import RecordSealer, is_sealed_record

NOT_SEALED: Final = (  # nor erased: they outlive keys
    ErasureRequest.type,
    RedactionRequest.type,
    GroupErased.type,
    ReplyErased.type,
)
MARK: Final = b"\x01"  # before encrypted bytes; an encoded event begins with a brace
_HEADER: Final = Struct(">cI")
_POSITION: Final = Struct(">q")


def is_sealed(payload: bytes) -> bool:
    """Return whether a payload was sealed, here or as a record of a topic."""
    return payload.startswith((MARK, RECORD))


class Sealer:
    """Seals the payloads of one log, and opens them."""

    def __init__(self, keys: KeyStore, log: str, used: Callable[[str], int]) -> None:
        """used: returns how many trees of a group its records in the log name."""
        self._keys = keys
        self._used = used
        self._log = log.encode() + b"\0"
        self.records: Final = RecordSealer(keys, used)  # of what comes from topics

    def seal(self, group: str, cause: int, position: int, salt: bytes, payload: bytes) -> bytes:
        """Return a payload encrypted. KeysUnavailable."""
        tree, key = self._keys.choose(group, cause, self._used)
        sealed: bytes = cipher(key).encrypt(salt[:NONCE_BYTES], pack(payload), self._place(position))
        return _HEADER.pack(MARK, tree) + sealed

    def open(self, group: str, cause: int, position: int, salt: bytes, sealed: bytes) -> bytes | None:
        """Return what `seal` was given; None: its key was destroyed. KeysUnavailable: it is not to be had."""
        _, tree = _HEADER.unpack_from(sealed.ljust(_HEADER.size, MARK))  # damage may have cut it short
        key = self._keys.find(group, tree, cause)
        if key is None:
            return None
        packed = decrypt(key, salt[:NONCE_BYTES], sealed[_HEADER.size :], self._place(position))
        if packed is None:
            raise KeysUnavailable(
                f"position {position} was encrypted with another key than the store of keys has for its group: give "
                "the store that it was encrypted with, or a later backup of it"
            )
        return unpack(packed)

    def expect(self, group: str) -> None:
        """Expect the trees that a group's records name. KeysUnavailable."""
        self._keys.expect(group, self._used(group))

    def destroy(self, group: str, *messages: range) -> None:
        """Destroy the keys of a group's messages in some ranges. KeysUnavailable: nothing was destroyed."""
        self.expect(group)
        self._keys.destroy(group, *messages)

    def holds(self, group: str, *messages: range) -> bool:
        """Return whether a key of a group's messages in some ranges is left. KeysUnavailable."""
        return self._keys.holds(group, *messages)

    def can_open(self, group: str, cause: int, sealed: bytes) -> bool:
        """Return whether the key of a sealed payload is left. KeysUnavailable."""
        if is_sealed_record(sealed):
            return self.records.can_open(group, sealed)
        _, tree = _HEADER.unpack_from(sealed.ljust(_HEADER.size, MARK))
        return self._keys.find(group, tree, cause) is not None

    def _place(self, position: int) -> bytes:
        return self._log + _POSITION.pack(position)

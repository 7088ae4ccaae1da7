"""Encrypted payloads of a log: compressed, then sealed by AES-256-GCM under the key of the message that caused them.

    1 byte    0x01
    4 bytes   the number of the tree of keys, big-endian
    rest      AES-256-GCM of the payload, with its tag of 16 bytes at the end; the nonce is the first 12 bytes of the
              record's salt; associated data: the log's name, a zero byte, the position as 8 bytes

A payload of 256 bytes or more is compressed before, by zlib; then it does not begin with a brace.

The salt is random and new with each record. A nonce that was made of a record's id would come again where a copy of a
directory goes on by itself: the same position, another text.
"""

import zlib
from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Final

from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput, KeysUnavailable
from asof_streams.key_store import KeyStore

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MARK: Final = b"\x01"  # before encrypted bytes; an encoded event begins with a brace
_HEADER: Final = Struct(">cI")
_POSITION: Final = Struct(">q")
_NONCE_BYTES: Final = 12
_EVENT: Final = b"{"
_LONG: Final = 256  # bytes; what is shorter gets hardly smaller, and takes longer to compress than to encrypt
_WINDOW, _MEMORY = 12, 4  # of zlib: most payloads fit, and making room for more takes longest


def is_sealed(payload: bytes) -> bool:
    """Return whether a payload was sealed."""
    return payload.startswith(MARK)


def cipher(key: bytes) -> "AESGCM":
    """Return AES-256-GCM under a key. InvalidInput: the package that has it is not installed."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra
    except ImportError:
        raise InvalidInput(
            f"encryption needs cryptography, which is not installed. Get it with: {install_command('encryption')}"
        ) from None
    return AESGCM(key)


class Sealer:
    """Seals the payloads of one log, and opens them."""

    def __init__(self, keys: KeyStore, log: str, used: Callable[[str], int]) -> None:
        """used: returns how many trees of a group its records in the log name."""
        self._keys = keys
        self._used = used
        self._log = log.encode() + b"\0"

    def seal(self, group: str, cause: int, position: int, salt: bytes, payload: bytes) -> bytes:
        """Return a payload encrypted. KeysUnavailable."""
        tree, key = self._keys.choose(group, cause, self._used)
        sealed: bytes = cipher(key).encrypt(salt[:_NONCE_BYTES], _pack(payload), self._place(position))
        return _HEADER.pack(MARK, tree) + sealed

    def open(self, group: str, cause: int, position: int, salt: bytes, sealed: bytes) -> bytes | None:
        """Return what `seal` was given; None: its key was destroyed. KeysUnavailable: it is not to be had."""
        _, tree = _HEADER.unpack_from(sealed.ljust(_HEADER.size, MARK))  # damage may have cut it short
        key = self._keys.find(group, tree, cause)
        if key is None:
            return None
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

        try:
            packed: bytes = cipher(key).decrypt(salt[:_NONCE_BYTES], sealed[_HEADER.size :], self._place(position))
        except InvalidTag:
            raise KeysUnavailable(
                f"position {position} was encrypted with another key than the store of keys has for its group: give "
                "the store that it was encrypted with, or a later backup of it"
            ) from None
        return packed if packed.startswith(_EVENT) else zlib.decompress(packed)

    def expect(self, group: str) -> None:
        """Expect the trees that a group's records name. KeysUnavailable."""
        self._keys.expect(group, self._used(group))

    def destroy(self, group: str, stop: int) -> None:
        """Destroy the keys of a group's messages before a position. KeysUnavailable: nothing was destroyed."""
        self.expect(group)
        self._keys.destroy(group, 0, stop)

    def holds(self, group: str, stop: int) -> bool:
        """Return whether a key of a group's messages before a position is left. KeysUnavailable."""
        return self._keys.holds(group, 0, stop)

    def _place(self, position: int) -> bytes:
        return self._log + _POSITION.pack(position)


def _pack(payload: bytes) -> bytes:
    if len(payload) < _LONG:
        return payload
    packer = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packer.compress(payload) + packer.flush()

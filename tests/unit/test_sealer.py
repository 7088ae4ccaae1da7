"""Sealed payloads: read as docs/how-to/encrypt.md says, whatever their size."""

import hmac
import json
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from asof_streams.errors import KeysUnavailable
from asof_streams.key_store import KeyFolder
from asof_streams.sealer import Sealer, is_sealed


def none(_: str) -> int:
    return 0


SALT = bytes(range(16))


@pytest.mark.parametrize("content", ["", "short", "long " * 100])
def test_a_payload_can_be_read_by_the_description_alone(tmp_path: Path, content: str) -> None:
    payload = json.dumps({"content": content}).encode()

    sealed = Sealer(KeyFolder(tmp_path), "messages", none).seal("ana", 3, 5, SALT, payload)

    [file] = tmp_path.iterdir()
    key = bytes.fromhex(json.loads(file.read_text())["trees"][int.from_bytes(sealed[1:5])][""])
    for digit in format(3, "063b"):
        key = hmac.digest(key, bytes([int(digit)]), "sha256")
    opened = AESGCM(key).decrypt(SALT[:12], sealed[5:], b"messages\0" + (5).to_bytes(8))
    assert (opened if opened.startswith(b"{") else zlib.decompress(opened)) == payload
    assert is_sealed(sealed)
    assert len(sealed) < len(payload) + 22


def test_a_payload_is_of_its_log_its_position_its_group_and_its_cause(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path)
    sealer = Sealer(keys, "messages", none)
    sealed = sealer.seal("ana", 3, 5, SALT, b"{}")
    sealer.seal("ben", 3, 6, SALT, b"{}")

    assert sealer.open("ana", 3, 5, SALT, sealed) == b"{}"
    for log, group, cause, position in (
        ("episodic", "ana", 3, 5),
        ("messages", "ben", 3, 5),
        ("messages", "ana", 4, 5),
        ("messages", "ana", 3, 6),
    ):
        with pytest.raises(KeysUnavailable, match="another key"):
            Sealer(keys, log, none).open(group, cause, position, SALT, sealed)

"""API keys: the callers of a service, read once from a file. Of a key only its digest is kept."""

import os
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, SecretStr, TypeAdapter, ValidationError, field_validator

from asof_streams.errors import InvalidInput

_LEAST_LENGTH: Final = 16


class Permission(IntEnum):
    """The permissions of callers; each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, with its permission and its groups."""

    name: str
    permission: Permission
    groups: str = ""  # what the id of each of their groups begins with; empty: all groups are theirs

    def owns(self, group: str) -> bool:
        """Whether a group is one of theirs."""
        return group.startswith(self.groups)


EVERYBODY: Final = Caller("", Permission.ADMIN)  # where there are no keys


class _Entry(BaseModel):
    """One table of the file."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    key: SecretStr
    permission: Literal["read", "write", "admin"]
    groups: str = ""

    @field_validator("key")
    @classmethod
    def _can_be_sent(cls, key: SecretStr) -> SecretStr:
        secret = key.get_secret_value()
        if len(secret) < _LEAST_LENGTH or not all("!" <= character <= "~" for character in secret):
            raise ValueError(f"a key is at least {_LEAST_LENGTH} visible ASCII characters, without a space")
        return key


_FILE: Final = TypeAdapter(dict[str, _Entry])


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a service, each known by its SHA-256."""

    _known: Sequence[tuple[bytes, Caller]] = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a TOML file with a table for each key.

        InvalidInput names the table and the field, never a key; or says that other users may read or change the file.
        """
        try:
            with path.open(encoding="utf-8") as file:
                _expect_private(file.fileno(), path)
                entries = _FILE.validate_python(tomllib.loads(file.read()))
        except OSError as error:
            raise InvalidInput(f"ASOF_KEYS_FILE, {path}: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidInput(f"ASOF_KEYS_FILE, {path}: {where}: {first['msg']}") from None
        except ValueError:  # its text may quote the file
            raise InvalidInput(f"ASOF_KEYS_FILE, {path}: it is not a TOML file") from None
        known = [
            (_digest(entry.key.get_secret_value()), Caller(name, Permission[entry.permission.upper()], entry.groups))
            for name, entry in entries.items()
        ]
        if not known or len({digest for digest, _ in known}) < len(known):
            raise InvalidInput(f"ASOF_KEYS_FILE, {path}: it must name one key at least, and none twice")
        return cls(known)

    def caller(self, key: str) -> Caller | None:
        """Return whose key this is; None: nobody's. It takes as long, whatever of it is right."""
        given, found = _digest(key), None
        for digest, caller in self._known:
            if compare_digest(digest, given):
                found = caller
        return found


def _expect_private(descriptor: int, path: Path) -> None:
    """Refuse a file that other users may read, or that anybody but its user may change. Its group may read it."""
    if os.fstat(descriptor).st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        raise InvalidInput(f"ASOF_KEYS_FILE, {path}: other users may read or change it. Mend it: chmod 600 {path}")


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "replace")).digest()

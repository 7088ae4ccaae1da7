"""Compares the settings of an agent with those of the process that serves it, without showing what they say."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from asof.settings import Settings

OWN: Final = frozenset({"mcp_profile", "mcp_read_only", "mcp_instructions", "ontology"})
"""Settings that each agent has for itself."""
UNUSED: Final = frozenset(
    {
        "data",  # which is the same
        "settings_file",  # whose settings are compared
        "keys_file",
        "rate_limit",
        "mcp_oauth",
        "quiet_hours",
        "discord",
        "discord_token",
        "worker_patience",
        "worker_metrics",
        "log_level",
        "log_format",
    }
)
"""Settings that change nothing for an agent on this machine."""
_KEPT: Final = frozenset({"ontology", "policy", "ingestion", "consolidation"})  # as a directory was made


def fingerprints(settings: Settings) -> dict[str, str]:
    """Return a digest of every setting that the process of a directory uses, by its name."""
    names = Settings.model_fields.keys() - OWN - UNUSED
    return {name: sha256(f"{name}={_plain(getattr(settings, name))!r}".encode()).hexdigest() for name in sorted(names)}


def differing(asked: Mapping[str, str], used: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the settings whose fingerprints differ, in their order."""
    return tuple(sorted(name for name in asked.keys() | used.keys() if asked.get(name) != used.get(name)))


def of_settings(names: Sequence[str]) -> str:
    """Return the sentence about settings of an agent that are not used: which, and what to do."""
    kept = _variables(name for name in names if name in _KEPT)
    made = f"; of {kept} a directory keeps what it was made with" if kept else ""
    return (
        f"another agent started the process that serves this directory, and these settings of yours are not used, "
        f"since they were others there: {_variables(names)}. Give all agents the same, end them all, and start again "
        f"ten seconds later{made}"
    )


def _variables(names: Iterable[str]) -> str:
    return ", ".join(f"ASOF_{name.upper()}" for name in names)


def _plain(value: Any) -> Any:
    """Return a value as one that is written the same in every process."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value.absolute())
        case BaseModel():
            return _plain(dict(value))
        case Mapping():
            return [(str(name), _plain(value[name])) for name in sorted(value)]
        case _:
            return value

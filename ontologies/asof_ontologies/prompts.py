"""Prompts: what a language model is told, as data, under a key with a version. New words are a new version."""

import hashlib
from functools import lru_cache
from importlib.resources import files

import yaml
from pydantic import Field

from asof_ontologies.model import Part

_DATA = files("asof_ontologies") / "data" / "prompts"


class Prompt(Part):
    """A prompt in two parts; words that begin with $ are filled in where it is used."""

    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(ge=1)
    temperature: float = Field(ge=0.0, le=2.0)
    system: str = Field(min_length=1)
    user: str = Field(min_length=1)
    open: dict[str, str] = Field(default_factory=dict)  # filled in for an ontology that is not closed

    @property
    def digest(self) -> str:
        """SHA-256 of all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def version_id(self) -> str:
        """Key, version and the beginning of the digest."""
        return f"{self.key}-{self.version}@{self.digest[:12]}"


@lru_cache
def prompt(key: str) -> Prompt:
    """Return a prompt that comes with asof."""
    return Prompt.model_validate(yaml.safe_load((_DATA / f"{key}.yaml").read_text("utf-8")))

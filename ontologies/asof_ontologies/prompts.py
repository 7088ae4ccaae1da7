"""The prompts of language models: data under a key and a version. Any change of a prompt's words is a new version."""

import hashlib
from functools import lru_cache
from importlib.resources import files

from pydantic import Field

from asof_ontologies.model import Part

_DATA = files("asof_ontologies") / "data" / "prompts"


class Prompt(Part):
    """A prompt for the system role and one for the user role, with placeholders that begin with $."""

    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(ge=1)
    temperature: float = Field(ge=0.0, le=2.0)
    system: str = Field(min_length=1)
    user: str = Field(min_length=1)
    open: dict[str, str] = Field(default_factory=dict)  # values of placeholders, for an ontology that is not closed

    @property
    def digest(self) -> str:
        """SHA-256 of the whole prompt."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def version_id(self) -> str:
        """Key, version and the beginning of the digest, such as `extract-1@0123456789ab`."""
        return f"{self.key}-{self.version}@{self.digest[:12]}"


@lru_cache
def prompt(key: str) -> Prompt:
    """Return a prompt of asof's own, by its key: `extract`, `extract_chat`, `resolve` or `end`."""
    import yaml  # noqa: PLC0415 - rules read no prompt

    return Prompt.model_validate(yaml.safe_load((_DATA / f"{key}.yaml").read_text("utf-8")))

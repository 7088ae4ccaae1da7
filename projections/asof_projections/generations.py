"""The catalogue of a directory's generations, the builds of the semantic layer; one of them is active and answers.

It is a small JSON file, which is replaced by renaming: a reader sees the old list or the new one. On Kafka it is made
from the control topic, and is each directory's copy of what that says.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, computed_field

from asof_projections import names
from asof_projections.makers import Makers, makers_of
from asof_streams.consolidation_config import ConsolidationConfig
from asof_streams.errors import ContractError, DamagedFile, InvalidInput, NotFound
from asof_streams.extraction_options import unset
from asof_streams.files import replace_file
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.json_document import read_json

FORMAT: Final = 1
FILE: Final = "catalog.json"
FIRST: Final = "main"
_CONFIGURATIONS: Final[dict[str, type[BaseModel]]] = {
    "consolidation": ConsolidationConfig,
    "ingestion": IngestionConfig,
}
_STORED: Final = {"input": "source"}  # fields that files and events have under another name
_REBUILD: Final = {  # what to do about a generation, by the version of its rule of belief
    1: "it keeps deeds as states, as earlier versions did: rebuild dates them (asof rebuild, then switch)",
    2: "a start that nobody stated holds in it against what was told later, as in earlier versions: rebuild mends that"
    " (asof rebuild, then switch)",
}
_RULES: Final = re.compile(r"\brules-\d+")
_FIRST_END: Final = re.compile(r"\+end-1@[0-9a-f]{12}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)


def _is_first(rule: int) -> bool:
    """Whether a rule is left out: generations of earlier versions name none."""
    return rule == 1


@dataclass(frozen=True, slots=True)
class GenerationInfo:
    """The inputs that decide a generation's content; `build` is their digest, `made_by` says what derives it."""

    name: str
    ontology: str
    ontology_digest: str
    extractor: str
    policy: Literal["recency", "graded"]
    input: Literal["mentions", "episodes"]
    build: str
    consolidation: Annotated[
        ConsolidationConfig | None, Field(exclude_if=unset, description="Left out: the defaults.")
    ] = None
    ingestion: Annotated[IngestionConfig | None, Field(exclude_if=unset, description="Left out: the defaults.")] = None

    rule: Annotated[int, Field(exclude_if=_is_first, description="Of belief: the version. Left out: the first.")] = 1

    @computed_field(description="What derives it, each by its version.")  # type: ignore[prop-decorator]
    @property
    def made_by(self) -> Makers:
        """What derives it, each by its version."""
        known = next((version for version in names.VERSIONS if self.build == self.digest(version)), None)
        return makers_of(self.extractor, known, self.rule, endings=self.asks_of_endings)

    @property
    def asks_of_endings(self) -> bool:
        """Whether a model, where one is set, is asked which facts a message ends."""
        return self.ingestion is not None and self.ingestion.enable_ending_questions

    def digest(self, names_version: str = names.VERSION) -> str:
        """Return what `build` is where names are compared by a version."""
        return build_digest(
            self.ontology_digest,
            self.extractor,
            self.policy,
            [chosen for chosen in (self.consolidation, self.ingestion) if chosen is not None],
            names_version,
        )

    @property
    def advice(self) -> str | None:
        """What is to be done about it: it was begun under an earlier rule of belief. None: nothing."""
        return _REBUILD.get(self.rule)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is shown; what has its default is left out."""
        shown = asdict(self)
        for name in _CONFIGURATIONS:
            if (chosen := shown.pop(name)) is not None:
                shown[name] = chosen.model_dump(mode="json")
        if _is_first(self.rule):
            del shown["rule"]
        return shown

    def to_stored(self) -> dict[str, Any]:
        """Return it as files of every version have it: its `input` is called `source` there."""
        return {_STORED.get(name, name): value for name, value in self.to_json().items()}

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "GenerationInfo":
        """Return it from its stored form. KeyError, TypeError, ValueError: it is not one."""
        chosen = {name: model.model_validate(stored[name]) for name, model in _CONFIGURATIONS.items() if name in stored}
        named = {name: stored[under] for name, under in _STORED.items()}
        rest = {name: value for name, value in stored.items() if name not in _STORED.values()}
        return cls(**rest | chosen, **named)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The generations of a directory, in the order in which they were made.

    It is a projection of the control log: `control` is how far that was read, `dropped` has the names that were used.
    """

    active: str
    generations: tuple[GenerationInfo, ...]
    control: Annotated[int, Field(exclude=True)] = 0
    dropped: Annotated[tuple[str, ...], Field(exclude=True)] = ()

    def __getitem__(self, name: str) -> GenerationInfo:
        for info in self.generations:
            if info.name == name:
                return info
        known = ", ".join(g.name for g in self.generations)
        raise NotFound(f"no generation {name!r}: there are {known}")

    def with_(self, info: GenerationInfo) -> "Catalog":
        """Return the catalogue with one more generation."""
        return replace(self, generations=(*self.generations, info))

    def switched(self, name: str) -> "Catalog":
        """Return the catalogue with another generation answering."""
        return replace(self, active=self[name].name)

    def without(self, name: str) -> "Catalog":
        """Return the catalogue without a generation; the one that answers cannot go."""
        if self[name].name == self.active:
            raise InvalidInput(f"{name} is the active generation: switch to another one first", "name")
        return replace(self, generations=tuple(g for g in self.generations if g.name != name))


def build_digest(
    ontology_digest: str,
    extractor: str,
    policy: str,
    chosen: Sequence[BaseModel],
    names_version: str = names.VERSION,
) -> str:
    """Return the digest of what decides a generation's content; its ids are made from it.

    Rules that read otherwise keep the ids of what they read alike, so that a rebuild can be compared with what answers.
    The first prompt about endings is left out, as earlier versions did not name it.
    """
    read = _FIRST_END.sub("", _RULES.sub("rules-1", extractor))
    parts = [ontology_digest, read, policy, names_version, *(one.model_dump_json() for one in chosen)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def is_name(name: str) -> bool:
    """Whether a generation may have this name."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str, field: str = "name") -> str:
    """Return a generation's name if it is one. InvalidInput names the field that it was given in."""
    if not is_name(name):
        raise InvalidInput("a generation's name has lower-case letters, digits, - and _, 63 at most", field)
    return name


def load(directory: Path) -> Catalog | None:
    """Read the catalogue; None where the directory has none yet."""
    try:
        text = (directory / FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        stored = read_json(text)
        if stored["format"] != FORMAT:
            raise ContractError(
                f"{FILE} has format {stored['format']}: the directory was made by another version of asof"
            )
        infos = tuple(map(GenerationInfo.of, stored["generations"]))
        catalog = Catalog(stored["active"], infos, stored.get("control", 0), tuple(stored.get("dropped", ())))
        named = [*(info.name for info in infos), *catalog.dropped]
        are_names = all(isinstance(name, str) and is_name(name) for name in named)
        if (
            are_names and isinstance(catalog.control, int) and stored["digest"] == _digest(catalog)
        ):  # a name becomes a path, and anybody can make a digest
            return catalog
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedFile(f"{FILE} is damaged: restore it, or rebuild the directory from its messages log")


def save(directory: Path, catalog: Catalog) -> None:
    """Replace the catalogue in one step."""
    stored = {"format": FORMAT, "digest": _digest(catalog), **_stored(catalog)}
    replace_file(directory / FILE, [json.dumps(stored, indent=2).encode(), b"\n"])


def _digest(catalog: Catalog) -> str:
    return hashlib.sha256(json.dumps(_stored(catalog)).encode()).hexdigest()


def _stored(catalog: Catalog) -> dict[str, Any]:
    stored: dict[str, Any] = {
        "active": catalog.active,
        "generations": [info.to_stored() for info in catalog.generations],
    }
    if catalog.control:  # earlier versions knew no control log
        stored |= {"control": catalog.control, "dropped": list(catalog.dropped)}
    return stored

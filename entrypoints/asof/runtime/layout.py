"""The layout of a data directory: its logs, graphs and vectors, and the ontology of each generation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asof_projections.generations import FILE

BUILD: Final = "build.lock"


@dataclass(frozen=True, slots=True)
class DirectoryLayout:
    """The paths of the files in a data directory."""

    root: Path

    @property
    def catalog(self) -> Path:
        """The catalogue: the generations, and the one that answers."""
        return self.root / FILE

    @property
    def keys(self) -> Path:
        """Where the keys of encrypted content are; there is no such file where content is not encrypted."""
        return self.root / "keys.json"

    @property
    def messages(self) -> Path:
        """The messages log."""
        return self.root / "messages.sqlite"

    @property
    def episodic(self) -> Path:
        """The episodic log."""
        return self.root / "episodic.sqlite"

    @property
    def control(self) -> Path:
        """The control log; there is none before the first decision about generations, nor in a copy of topics."""
        return self.root / "control.sqlite"

    @property
    def conversation(self) -> Path:
        """The conversation log; there is none where no bot answers."""
        return self.root / "conversation.sqlite"

    @property
    def conversations(self) -> Path:
        """The projection of conversations."""
        return self.root / "conversations.db"

    @property
    def episodes(self) -> Path:
        """The episodic graph."""
        return self.root / "episodes.db"

    @property
    def vectors(self) -> Path:
        """Vectors by content."""
        return self.root / "vectors.db"

    @property
    def turns_index(self) -> Path:
        """Vectors of turns."""
        return self.root / "turns.index"

    @property
    def ontology(self) -> Path:
        """The ontology that messages are read with, as it was when the directory was made."""
        return self.root / "ontology.json"

    def named_ontology(self, name: str) -> Path:
        """An ontology that a message named, as it was when the first one did."""
        return self.root / "ontologies" / f"{name}.json"

    @property
    def generations(self) -> Path:
        """A folder for each generation."""
        return self.root / "generations"

    def generation(self, name: str) -> Path:
        """The folder of one generation."""
        return self.generations / name

    def ontology_of(self, name: str) -> Path:
        """The ontology that one generation is built with, as it was then: a later edit changes no history."""
        return self.generation(name) / "ontology.json"

    def unfinished(self, name: str) -> Path:
        """The build that is under way in the folder of a generation: a file that exists until the build is complete."""
        return self.generation(name) / "unfinished"

    def build_lock(self, name: str) -> Path:
        """The lock that whoever builds a generation holds."""
        return self.generation(name) / BUILD

    def stop_request(self, name: str) -> Path:
        """The file that asks for a stop of the build of a generation."""
        return self.generation(name) / "stop"

    def semantic(self, name: str) -> Path:
        """The semantic log of one generation."""
        return self.generation(name) / f"semantic.{name}.sqlite"

    def graph(self, name: str) -> Path:
        """One generation's graph."""
        return self.generation(name) / "graph.db"

    def building(self, name: str, process: int) -> Path:
        """One generation's graph while a process loads it."""
        return self.generation(name) / f"graph.db.building-{process}"

    def index(self, name: str) -> Path:
        """One generation's vectors, by fact."""
        return self.generation(name) / "vectors.index"

    def names_index(self, name: str) -> Path:
        """One generation's vectors, by name."""
        return self.generation(name) / "names.index"

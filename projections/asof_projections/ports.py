"""The ports of one generation's graph and of all turns, with the reads that questions, search and export need."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from asof_projections.graph.ports import EntityDetails, GraphStore, Neighbourhood, Surroundings, Turns
from asof_projections.model.rows import EntityRow, EpisodeRow, FactRow, LinkRow, Moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BeliefStore(GraphStore, Protocol):
    """The graph store of one generation: it also finds entities by name, and their duplicates."""

    def called(self, group: str | None, name: str, known: int | None) -> list[EntityRow]:
        """Return the entities that have this name at a moment: exactly, else by its normalised key; oldest first.

        A group of None is every group, a known moment of None is now.
        """
        ...

    def meant(self, group: str | None, name: str, known: int | None) -> list[str]:
        """Return the ids of the entities that `called` returns, and of all their duplicates; sorted."""
        ...

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Neighbourhood:
        """Return the facts from and to some entities and all their duplicates: one step of a traversal, in one read.

        who: a name; an id, where no entity has that name; or several ids. `limit` bounds the facts of each direction.
        """
        ...

    def details(self, group: str | None, name: str, known: int | None) -> list[EntityDetails]:
        """Return what is known of the entities that `called` returns, or else of the one with this id, in that order.

        Duplicates share one entry, that of the first of them.
        """
        ...

    def surroundings(self, entities: Sequence[str], at: Moment, limit: int | None, latest: int) -> Surroundings:
        """Return the facts from entities and to them at a moment, and the `latest` of them, as `reach` and `latest` do.

        entities: ids, with those of all duplicates. The facts from them come first, then those to them that are not
        from them, each by valid_at, then in log order. `limit` bounds the facts of each direction, and not the latest.
        """
        ...

    def links(self, uuids: Sequence[str], known: int | None) -> list[LinkRow]:
        """Return the duplicate_of links of these entities that were made by a moment (None: ever), oldest first."""
        ...

    def appearances(self, uuids: Sequence[str], known: int | None) -> int:
        """Return how many mentions were resolved to one of these entities by a moment (None: now)."""
        ...

    def each_entity(self, group: str | None, known: int) -> Iterator[EntityRow]:
        """Yield the entities known at a moment, oldest first."""
        ...

    def each_link(self, group: str | None, known: int) -> Iterator[LinkRow]:
        """Yield the duplicate_of links believed at a moment, oldest first."""
        ...

    def single(self, group: str, relation: str) -> bool:
        """Whether a relation was declared single-valued: in a group, or else in every one."""
        ...

    def fact_count(self) -> int:
        """Return the number of facts, believed or not: as many as `sentences` yields."""
        ...

    def names(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, group, name) of every name with a greater number, ascending, of entities and communities.

        A name's number is the position in the log of the record that gave it, so it never changes.
        """
        ...

    def name_count(self) -> int:
        """Return the number of names: as many as `names` yields."""
        ...

    def names_known(self, group: str | None, known: int | None) -> "NDArray[np.int64]":
        """Return the numbers of the names of entities that count at a moment (None: now), ascending."""
        ...

    def named(self, numbers: Sequence[int]) -> list[EntityRow]:
        """Return the entities that have the names with these numbers, in their order, each once."""
        ...


class SubjectStore(BeliefStore, Protocol):
    """The graph store of one generation in a directory: it also yields subjects in one order, whatever built it."""

    def group_names(self, start: str) -> Iterator[str]:
        """Yield the names of the groups from one on, ascending."""
        ...

    def subject_keys(self, group: str, start: str) -> Iterator[str]:
        """Yield the keys of the names by which entities of a group were introduced from one on, ascending."""
        ...

    def introduced(self, group: str, name_key: str) -> list[str]:
        """Return the ids of the entities that were introduced by a name with this key, oldest first."""
        ...

    def asserted(self, group: str, recorded_at: int) -> list[FactRow]:
        """Return the facts that were asserted by the message recorded then, as first said, in the order of the log."""
        ...


class TurnStore(Protocol):
    """The turns of an episodic graph, by number."""

    def turns(self, groups: Sequence[str] | None, known: int) -> Turns:
        """Return the turns of some groups (None: of all) that are recorded by a known moment, and not withdrawn."""
        ...

    def having(self, words: Sequence[str], turns: Turns) -> "list[NDArray[np.int64]]":
        """Return, for each word, numbers of turns that have it in text or speaker's name, in another form too.

        All of `turns` that have it are among them, and perhaps others.
        """
        ...

    def turn_texts(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, group, text) of every turn with a greater number, ascending, withdrawn or not.

        The text is without the names of those who had spoken in the group up to then.
        """
        ...

    def turn_count(self) -> int:
        """Return the number of turns: as many as `turn_texts` yields."""
        ...

    def episodes_numbered(self, numbers: Sequence[int]) -> dict[int, EpisodeRow]:
        """Return the episodes with these numbers, in their order."""
        ...

    def turn_numbers(self, uuids: Sequence[str]) -> list[int]:
        """Return the numbers of the episodes with these ids."""
        ...

    def begin_read(self) -> bool:
        """Begin a consistent read: until `end_read` all reads see one state. False: they do so already."""
        ...

    def end_read(self) -> None:
        """End a consistent read: later reads see what was committed since `begin_read`."""
        ...

"""Edits and deletions of messages that are not believed yet: an answer shows nothing of what they take back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from asof.runtime.wiring import open_log
from asof.service.read_sessions import ReadSession
from asof_agents.extraction.ports import MOST_GOALS
from asof_agents.handlers.objectives import implied_goal_id
from asof_projections.conversation.model import MessageChange
from asof_projections.model.answers import EpisodeHit, Hit, Hits
from asof_projections.model.rows import ObjectiveRow
from asof_streams.messages import Message


class Evidenced(Protocol):
    """A fact, with the ids of the episodes that say it."""

    @property
    def episodes(self) -> tuple[str, ...]: ...


E = TypeVar("E", bound=Evidenced)


class PendingChanges:
    """The episodes and goals of a group whose edit or deletion is on the messages log and not believed yet, by id."""

    def __init__(self, words: Mapping[str, str | None]) -> None:
        self._words = words  # that an edited one has now; None: it is deleted

    @classmethod
    def of(cls, source: ReadSession, group: str, changes: Sequence[MessageChange], believed: int) -> Self:
        """Return those of some changes that are not believed. believed: the position before which every message is."""
        words: dict[str, str | None] = {}
        episodes = source.opened().episodes
        for change in changes:
            if change.position < believed or (post := episodes.post(group, change.external_id)) is None:
                continue
            if change.is_deletion:
                words[post.uuid] = None
            elif post.uuid not in words:
                words[post.uuid] = _words(source, change.position)
        return cls(words)

    @property
    def ids(self) -> Collection[str]:
        """The ids of the episodes and goals."""
        return self._words.keys()

    def standing(self, facts: Iterable[E]) -> list[E]:
        """Return the facts that rest on anything else, in their order."""
        if not self._words:
            return list(facts)
        return [fact for fact in facts if not fact.episodes or not self._words.keys() >= {*fact.episodes}]

    def shown(self, hits: Hits[Hit]) -> Hits[Hit]:
        """Return what a search found: the facts that stand, without deleted turns, and the others as they read now."""
        if not self._words:
            return hits
        shown = Hits(self.standing(hits), [turn for hit in hits.episodes for turn in self._turn(hit)])
        shown.probable, shown.unavailable, shown.vectors_behind = hits.probable, hits.unavailable, hits.vectors_behind
        return shown

    def pursued(self, objectives: Iterable[ObjectiveRow]) -> list[ObjectiveRow]:
        """Return the objectives for which another goal was declared or implied, in their order."""
        if not self._words:
            return list(objectives)
        implied = {implied_goal_id(turn, number) for turn in self._words for number in range(MOST_GOALS)}
        gone = implied | self._words.keys()
        return [row for row in objectives if not row.goals or not gone >= {*row.goals}]

    def _turn(self, hit: EpisodeHit) -> Iterable[EpisodeHit]:
        if hit.uuid not in self._words:
            return (hit,)
        words = self._words[hit.uuid]
        return () if words is None else (replace(hit, content=words),)


def _words(source: ReadSession, position: int) -> str | None:
    """Return the words of a message; None: they were erased."""
    with open_log(source.places, "messages") as messages:
        found = [record.event for record in messages.read(position, position + 1)]
    return next((event.content for event in found if isinstance(event, Message)), None)

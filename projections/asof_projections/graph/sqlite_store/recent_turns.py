"""The last turns of groups with their mentions, as a writer keeps them: each message is read beside those before it.

To read them from the file, all rows that wait to be written would have to be written first, message by message.
"""

from bisect import insort_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache
from asof_projections.model.rows import EpisodeRow, MentionRow
from asof_streams.episodic import EpisodeRecorded, MentionObserved
from asof_streams.events import Record

KEPT: Final = 8  # turns of a group, the latest ones in valid time; a message asks for five
_GROUPS: Final = 250
_LONG: Final = 10_000  # characters of a turn: a group that has such a one is read from the file
_MENTIONED: Final = itemgetter("mention_id", "episode_id", "entity_type", "text", "start", "speaker", "repeats")
_SAID: Final = itemgetter(
    "name", "source", "source_description", "role", "role_type", "body", "content_length", "valid_at"
)
_Mentions = tuple[int, list[tuple[int, MentionRow]]]  # when an episode was said; its mentions, with their row ids


class RecentTurns:
    """Turns by group and source, in valid time, then in the order of the log, none of them withdrawn."""

    def __init__(self) -> None:
        self._turns: GenerationalCache[list[EpisodeRow]] = GenerationalCache(_GROUPS)
        self._mentions: GenerationalCache[_Mentions] = GenerationalCache(_GROUPS * KEPT)

    def clear(self) -> None:
        """Forget all: turns may be gone."""
        self._turns.clear()
        self._mentions.clear()

    def record(self, record: Record, episode: EpisodeRecorded) -> None:
        """Add an episode, where the turns of its group are kept."""
        key = record.group, episode.source
        turns = self._turns[key]
        if turns is None:
            return
        if len(episode.body) > _LONG:
            self._turns.drop(key)
            return
        said = (*_SAID(episode.__dict__), record.recorded_at)
        row = EpisodeRow(episode.episode_id, record.group, record.cause, *said)
        if turns and turns[-1].valid_at > row.valid_at:
            insort_right(turns, row, key=_said_at)
        else:  # so it is in nearly all conversations
            turns.append(row)
        del turns[:-KEPT]
        self._mentions[episode.episode_id] = (episode.valid_at, [])

    def observe(self, record: Record, mention: MentionObserved) -> None:
        """Add a mention, where those of its episode are kept."""
        kept = self._mentions[mention.episode_id]
        if kept is not None:
            row = MentionRow._make((*_MENTIONED(mention.__dict__), kept[0], record.recorded_at))
            kept[1].append((record.position, row))

    def recent(
        self, group: str, source: str, until: int, before: int, limit: int, load: Callable[[], list[EpisodeRow]]
    ) -> list[EpisodeRow] | None:
        """Return the last turns said until a moment by messages before a position; None: they are not kept.

        load: reads the last KEPT turns.
        """
        turns = self._turns[group, source]
        if turns is None:
            turns = load()
            if all(len(turn.body) <= _LONG for turn in turns):
                self._turns[group, source] = turns
        found = [turn for turn in turns if turn.valid_at <= until and turn.position < before]
        return found[-limit:] if len(turns) < KEPT or len(found) >= limit else None

    def mentions_of(self, episodes: Sequence[str]) -> list[MentionRow] | None:
        """Return the mentions of episodes in the order of the log; None: those of one are not kept."""
        rows: list[tuple[int, MentionRow]] = []
        for episode in dict.fromkeys(episodes):
            kept = self._mentions[episode]
            if kept is None:
                return None
            rows += kept[1]
        rows.sort()
        return [row for _, row in rows]


def _said_at(turn: EpisodeRow) -> int:
    return turn.valid_at

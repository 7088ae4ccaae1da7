"""Episodes as the turns that an extractor gets."""

from collections.abc import Sequence
from functools import lru_cache

from asof_agents.extraction.markup import words
from asof_agents.extraction.ports import Mention, Turn
from asof_agents.extraction.registry import TAG
from asof_projections.model.rows import EpisodeRow, MentionRow
from asof_streams.episodic import EpisodeRecorded


def turn_of(episode: EpisodeRecorded, content: str | None = None) -> Turn:
    """Return an episode as an extractor's input; `content`: the message's content, if the episode has it suppressed."""
    text = _without_markup(episode.content if content is None else content)
    is_json = episode.source == "json"
    return Turn(
        episode.episode_id,
        episode.role,
        episode.role_type,
        text,
        episode.valid_at,
        is_json=is_json,
        timezone=episode.timezone or "UTC",
        chat=episode.external_id is not None and episode.role_type == "user",
    )


def turns(episodes: Sequence[EpisodeRow], rows: Sequence[MentionRow] = ()) -> list[Turn]:
    """Return recorded episodes as an extractor's input, with their mentions."""
    by_episode: dict[str, list[MentionRow]] = {}
    for row in rows:
        by_episode.setdefault(row.episode_id, []).append(row)
    return [_earlier(each, tuple(by_episode.get(each.uuid, ()))) for each in episodes]


@lru_cache(maxsize=64)  # several messages have the same turns before them
def _earlier(e: EpisodeRow, rows: tuple[MentionRow, ...]) -> Turn:
    mentions = tuple([Mention(r.episode_id, r.type, r.text, r.start, r.speaker) for r in rows])
    text, is_json = _without_markup(e.content), e.source == "json"
    return Turn(e.uuid, e.role, e.role_type, text, e.valid_at, mentions, is_json=is_json)


def _without_markup(content: str) -> str:
    return words(content) if TAG in content else content

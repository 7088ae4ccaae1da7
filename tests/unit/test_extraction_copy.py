"""The extraction of an episode is copied to a generation whose mentions of the turns before it are its own."""

from collections.abc import Sequence

from asof_agents.handlers.extraction_copy import copy_extraction
from asof_projections.model.rows import EpisodeRow, MentionRow
from asof_streams.episodic import AttributeStated, EpisodeRecorded, MentionObserved, RelationshipStated
from asof_streams.events import Event, Record


class Turns:
    """Episodes, oldest first, and their mentions."""

    def __init__(self, episodes: Sequence[str], *mentions: MentionRow) -> None:
        self._episodes = episodes
        self._mentions = mentions

    def episode(self, uuid: str) -> EpisodeRow | None:
        number = self._episodes.index(uuid)
        return EpisodeRow(uuid, "g", number, "", "message", "", "Ana", "user", "", 0, number, number)

    def mentions_of(self, episodes: Sequence[str]) -> list[MentionRow]:
        return [each for each in self._mentions if each.episode_id in episodes]


def row(uuid: str, episode: str, text: str, type_: str = "Thing", *, speaker: bool = False, repeats: str | None = None):
    return MentionRow(uuid, episode, type_, text, 0, speaker, repeats, 0, 0)


def mention(uuid: str, text: str, repeats: str | None) -> MentionObserved:
    return MentionObserved(mention_id=uuid, episode_id="e", entity_type="Thing", text=text, start=0, repeats=repeats)


def stated(source: str, target: str) -> RelationshipStated:
    about = {"relationship_id": "r", "episode_id": "e", "relation": "owns", "stance": "holds"}
    return RelationshipStated(source=source, target=target, confidence=1.0, start=0, end=1, **about)


def described(uuid: str) -> AttributeStated:
    about = {"attribute_id": "a", "episode_id": "e", "name": "color", "value": "red"}
    return AttributeStated(mention_id=uuid, confidence=1.0, start=0, end=1, **about)


def copied(episodes: Turns, own: Turns, *extracted: Event, before: Sequence[str] = ("old", "new")) -> list[Event]:
    about = {"name": "", "source": "message", "source_description": "", "role": "Ana", "role_type": "user", "body": ""}
    episode = EpisodeRecorded(
        episode_id="e", content_length=0, valid_at=9, previous_episode_ids=list(before), suppressed=True, **about
    )
    events = [episode, *extracted]
    records = [Record(n, "g", 9, 9, n, len(events), 1, event) for n, event in enumerate(events)]
    return copy_extraction(records, episodes, own)


OLD = ("old", "new")
EPISODES = Turns(
    OLD,
    row("car", "old", "car"),
    row("car again", "new", "car", repeats="car"),
    row("boat", "old", "boat"),
    row("I", "new", "I", "Person", speaker=True),
    row("I before", "old", "I", "Person", speaker=True),
)


def test_what_refers_to_an_earlier_turn_refers_to_the_generation_s_mention_of_the_same_words() -> None:
    own = Turns(
        OLD,
        row("own car", "old", "car"),
        row("own car again", "new", "car", repeats="own car"),
        row("another", "new", "car", "Tool"),
        row("own I", "new", "I", "Person", speaker=True),
        row("own I before", "old", "I", "Person", speaker=True),
    )

    assert copied(EPISODES, own, mention("m", "car", "car"), stated("I", "car"), described("I before")) == [
        mention("m", "car", "own car"),
        stated("own I", "own car"),
        described("own I before"),
    ]


def test_where_the_generation_has_no_such_mention_it_is_the_one_of_this_episode_that_repeats_it() -> None:
    own = Turns(OLD)

    assert copied(EPISODES, own, mention("m", "car", "car"), stated("car", "boat"), described("car")) == [
        mention("m", "car", None),
        stated("m", "boat"),
        described("m"),
    ]
    assert copied(EPISODES, own, mention("new here", "bus", None), stated("x", "y"), described("z")) == [
        mention("new here", "bus", None),
        stated("x", "y"),
        described("z"),
    ]


def test_of_mentions_of_the_same_words_the_first_is_meant() -> None:
    own = Turns(OLD, row("first", "old", "car"), row("second", "new", "car"))

    assert copied(EPISODES, own, described("car")) == [described("first")]


def test_an_episode_of_which_nothing_was_extracted_has_nothing_to_copy() -> None:
    assert copied(Turns([]), Turns([]), before=["unknown"]) == []

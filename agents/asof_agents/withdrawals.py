"""The withdrawals agent: an episode that counts no longer takes back what rests on it alone. Pure.

Whatever it said is retracted, as if it had never been said: what it had displaced or ended holds again, and so does
what it had taken back; two things that were joined for it are two again. A fact that another episode said as well
stays, as last attested by that. Nothing of the past changes. Whom a name that it gave calls, and when what it said
again was last said, needs no event: whoever follows the log knows that it counts no longer.
"""

from asof_agents import attributes
from asof_agents.episodes import episode_id
from asof_agents.ports import BeliefKnown, EpisodesKnown
from asof_agents.scribe import MERGE, Build, Scribe
from asof_streams.episodic import EpisodeRecorded, EpisodeWithdrawn
from asof_streams.events import Event, Record
from asof_streams.semantic import EntityUnmerged


def withdraw(
    first: Record, withdrawn: EpisodeWithdrawn, build: Build, episodes: EpisodesKnown, known: BeliefKnown
) -> list[Event]:
    """Return the semantic events of a withdrawal: that it was made, then what follows, the latest statement first."""
    episode = episodes.episode(withdrawn.episode_id)
    assert episode is not None, f"episode {withdrawn.episode_id} is in no log"
    scribe = Scribe(first, _wordless(first), build, known, tuple)
    for uuid in known.resting_on(episode.uuid, episode.created_at):
        scribe.retract(scribe.statement(uuid), "retracted")
    for uuid, attested in known.attested_without(episode.uuid, episode.created_at):
        scribe.beliefs.attest(scribe.statement(uuid), attested)
    merges = known.merged(first.group, episode.created_at)
    scribe.beliefs.said += [EntityUnmerged(merge_id=merge) for merge in merges if not merge.startswith(MERGE)]
    return [withdrawn, *scribe.events(), *attributes.withdraw(episode.uuid, known)]


def _wordless(first: Record) -> EpisodeRecorded:
    """Return what stands for the episode of a withdrawal, which has no words and is recorded as none."""
    return EpisodeRecorded(
        episode_id=episode_id(first.group, first.cause),
        name="",
        source="fact",
        source_description="",
        role="",
        role_type="",
        body="",
        content_length=0,
        valid_at=first.recorded_at,
    )

"""The withdrawals agent: an episode that counts no longer takes back what rests on it alone. Pure.

Whatever it said is retracted, as if it had never been said: what it had displaced or ended holds again, and so does
what it had taken back; two things that were joined for it are two again. A fact that another episode said as well
stays, as last attested by that; another name that it gave is given by one that says it as well. Nothing of the past
changes. That a name it alone gave calls nobody, and what it said again was last said before, needs no event: whoever
follows the log knows that it counts no longer.
"""

from collections.abc import Iterator

from asof_agents.handlers import attributes
from asof_agents.handlers.statement_writer import MERGE, Build, StatementWriter, wordless
from asof_agents.ports import BeliefView, EpisodeView
from asof_agents.resolution.exact import ExactNames
from asof_streams.episodic import EpisodeWithdrawn
from asof_streams.events import Event, Record
from asof_streams.semantic import EntityDescribed, EntityUnmerged


def withdraw(
    first: Record,
    withdrawn: EpisodeWithdrawn,
    build: Build,
    episodes: EpisodeView,
    seen: EpisodeView,
    known: BeliefView,
) -> list[Event]:
    """Return the semantic events of a withdrawal: that it was made, then what follows, the latest statement first.

    seen: has the mentions that the generation is built of.
    """
    episode = episodes.episode(withdrawn.episode_id)
    assert episode is not None, f"episode {withdrawn.episode_id} is in no log"
    names = ExactNames(known, build.digest, first.group, first.recorded_at, wordless(first))
    scribe = StatementWriter(names, build, first.cause)
    for uuid in known.resting_on(episode.uuid, episode.created_at):
        scribe.retract(scribe.statement(uuid), "retracted")
    for uuid, attested in known.attested_without(episode.uuid, episode.created_at):
        scribe.beliefs.attest(scribe.statement(uuid), attested)
    merges = known.merged(first.group, episode.created_at)
    scribe.beliefs.said += [EntityUnmerged(merge_id=merge) for merge in merges if not merge.startswith(MERGE)]
    given = _given_by_others(first.group, episode.uuid, seen, known)
    return [withdrawn, *scribe.events(), *given, *attributes.withdraw(episode.uuid, known)]


def _given_by_others(group: str, episode: str, seen: EpisodeView, known: BeliefView) -> Iterator[Event]:
    """Give the names that an episode gave in the name of others: the first that says each of the same entity.

    Mentions that the generation has not come to yet mean nothing, so a rebuild finds what was found at the time.
    """
    said = dict.fromkeys(mention.text for mention in seen.mentions_of([episode]))
    for entity, name in known.names_given(group, list(said), episode):
        other = known.meaning(entity, seen.mentions_called(group, name), episode)
        if other is not None:
            yield EntityDescribed(entity_id=entity, alias=name, episode_id=other)

"""The withdrawals handler: retracts the statements that rest on a withdrawn episode alone. Pure.

They count as if they had never been made: facts that they had displaced, ended or retracted hold again, and merged
entities are two again. In a group that was consolidated, an entity that no fact connects any longer leaves its
community. A fact that another episode states as well stays, with the time at which that episode attested it; an alias
stays with the first other episode that uses it. A fact that later words put back to an earlier time goes with the
episode that stated it. Answers as of earlier known times do not change. The loss of an alias,
or of a reinforcement, needs no event of its own: episode.withdrawn tells every reader of the log.
"""

from collections.abc import Iterator, Sequence

from asof_agents.handlers import attributes
from asof_agents.handlers.communities import leave_communities
from asof_agents.handlers.statement_writer import MERGE, Build, StatementWriter, wordless
from asof_agents.ports import BeliefView, ConsolidationView, EpisodeView
from asof_agents.resolution.exact import ExactNames
from asof_streams.episodic import EpisodeRecorded, EpisodeWithdrawn
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.semantic import EntityDescribed, EntityUnmerged


def withdraw(
    first: Record,
    withdrawn: EpisodeWithdrawn,
    build: Build,
    episodes: EpisodeView,
    mentioned: EpisodeView,
    known: ConsolidationView,
    retried: Sequence[int],
) -> list[Event]:
    """Return the semantic events of a withdrawal: the withdrawal itself, then its consequences, latest statement first.

    mentioned: has the mentions from which the generation is built. retried: when the message was retried, since a retry
    may have made statements of the episode.
    """
    episode = episodes.episode(withdrawn.episode_id)
    assert episode is not None, f"episode {withdrawn.episode_id} is in no log"
    names = ExactNames(known, build.digest, first.group, first.recorded_at, _own(first))
    writer = StatementWriter(names, build, first.cause)
    recorded_at = [episode.created_at, *retried]
    resting = known.resting_on(episode.uuid, recorded_at)
    for uuid in [*dict.fromkeys([*known.put_back(resting), *resting])]:
        writer.retract(writer.statement(uuid), "retracted")
    for uuid, attested in known.attested_without(episode.uuid, recorded_at):
        writer.changes.attest(writer.statement(uuid), attested)
    for uuid, granules in known.granules_without(episode.uuid, recorded_at):
        writer.changes.restate(writer.statement(uuid), granules)
    merges = [*known.merged(first.group, recorded_at), *known.merged_names(first.group, episode.uuid)]
    writer.changes.statements += [EntityUnmerged(merge_id=merge) for merge in merges if not merge.startswith(MERGE)]
    aliases = _names_by_others(first.group, episode.uuid, mentioned, known)
    events = writer.events()
    left = leave_communities(events, names, known) if known.last_pass(first.group) else []
    return [withdrawn, *events, *aliases, *attributes.withdraw(episode.uuid, known), *left]


def _own(first: Record) -> EpisodeRecorded:
    """Return what stands for the episode of a withdrawal: where an edit withdraws, not the one that it records."""
    own = wordless(first)
    return own if first.size == 1 else own.model_copy(update={"episode_id": derive("edit", first.group, first.cause)})


def _names_by_others(group: str, episode: str, mentioned: EpisodeView, known: BeliefView) -> Iterator[Event]:
    """Yield each alias of a withdrawn episode again, as given by the first other episode that uses it so.

    Mentions that the generation has not resolved yet do not count, so that a rebuild gives the same events.
    """
    names = dict.fromkeys(mention.text for mention in mentioned.mentions_of([episode]))
    for entity, name in known.names_given(group, list(names), episode):
        other = known.meaning(entity, mentioned.mentions_called(group, name), episode)
        if other is not None:
            yield EntityDescribed(entity_id=entity, alias=name, episode_id=other)

"""Withdrawn episodes and stated entities by worked example: what they leave behind, at once and in a rebuild."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import facts_at
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import describe
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_projections.model.rows import FactRow, Moment
from asof_streams.ids import episode_id
from asof_streams.instants import DAY, parse
from asof_streams.messages import AnyMessage, EntityStatement, FactStatement, Message, WithdrawalRequest
from histories import History

START = parse("2024-01-01T00:00:00Z")
ANY = Moment(None, START + 1_000 * DAY)


class Memory:
    """A directory that takes one message a day."""

    def __init__(self, data: Path) -> None:
        self.writer = open_writer(DirectoryLayout(data), Settings(data=data, embedder="none"))

    def tell(self, *messages: AnyMessage) -> list[str]:
        """Take messages; return the ids of their episodes."""
        told = []
        for message in messages:
            day = self.writer.messages.end()
            self.writer.messages.accept([message], clock=START + day * DAY)
            told.append(episode_id(message.group_id, day))
        self.writer.process(flush=True)
        return told

    def withdraw(self, episode: str, group: str = "g") -> None:
        self.tell(WithdrawalRequest(group_id=group, episode_id=episode))

    def facts(self, at: Moment = ANY) -> list[str]:
        return sorted(fact.fact for fact in self._facts(at))

    def places(self) -> list[str]:
        """Return where Ana lives, long after everything was said."""
        return sorted(fact.object for fact in self._facts(ANY._replace(valid=ANY.known)) if fact.relation == "lives_in")

    def _facts(self, at: Moment) -> list[FactRow]:
        return facts_at(self.writer.generations["main"].store, "g", at)

    def listed(self, source: str = "message") -> list[str]:
        far = 2**62
        return [episode.uuid for episode in self.writer.episodes.recent("g", source, far, far, 100)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(tmp_path / "data")
    yield memory
    memory.writer.close()


def said(content: str, group: str = "g") -> Message:
    return Message(group_id=group, content=content, role_type="user", role="Ana")


def stated(object_: str, **fields: object) -> FactStatement:
    given = {"group_id": "g", "subject": "Ana", "relation": "lives_in", "object": object_}
    return FactStatement.model_validate(given | fields)


def test_what_rests_on_a_withdrawn_episode_alone_is_retracted_and_what_it_displaced_holds_again(memory):
    _, paris = memory.tell(said("I live in Berlin."), said("I live in Paris."))
    assert memory.places() == ["Paris"]

    memory.withdraw(paris)

    assert memory.places() == ["Berlin"]
    assert len(memory.listed()) == 1


def test_its_past_can_still_be_asked_about(memory):
    _, paris = memory.tell(said("I live in Berlin."), said("I live in Paris."))
    memory.withdraw(paris)

    then = Moment(START + 5 * DAY, START + 1 * DAY)

    assert memory.facts(then) == ["Ana lives in Paris"]
    assert memory.writer.episodes.episode(paris).content == "I live in Paris."


def test_a_fact_that_another_episode_said_as_well_stays_until_both_are_withdrawn(memory):
    first, again = memory.tell(said("I live in Berlin."), said("I live in Berlin."))

    memory.withdraw(first)
    assert memory.places() == ["Berlin"]

    memory.withdraw(again)
    assert memory.places() == []


def test_a_fact_stays_where_only_its_repetition_is_withdrawn(memory):
    _, again = memory.tell(said("I live in Berlin."), said("I live in Berlin."))

    memory.withdraw(again)

    assert memory.places() == ["Berlin"]


def stay():
    """Return what says Berlin, Berlin again after the stay in Paris was over, and that stay."""
    days = [parse(f"{year}-01-01T00:00:00Z") for year in (2015, 2016, 2019, 2020, 2021, 2023)]
    berlin = stated("Berlin", valid_at=days[0], said_at=days[1])
    again = berlin.model_copy(update={"said_at": days[5]})
    return berlin, again, stated("Paris", valid_at=days[2], invalid_at=days[3], said_at=days[4])


def test_a_withdrawn_repetition_no_longer_attests_what_it_repeated(memory):
    _, again, _ = memory.tell(*stay())
    assert memory.places() == ["Berlin"]

    memory.withdraw(again)

    assert memory.places() == []
    berlin, paris = sorted(memory._facts(ANY), key=lambda fact: fact.valid_at)
    store = memory.writer.generations["main"].store
    closing = store.provenance(berlin.uuid).revisions[-1]
    assert (closing.kind, closing.statement) == ("superseded", paris.uuid)


def test_what_only_a_repetition_still_says_is_attested_by_that(memory):
    early, late, paris = stay()
    first, _, _ = memory.tell(late, early, paris)
    store = memory.writer.generations["main"].store
    fact = next(fact.uuid for fact in memory._facts(ANY) if fact.object == "Berlin")

    memory.withdraw(first)

    assert store.statement(fact).assertion.attested == early.said_at


def test_a_later_message_counts_on_what_is_still_attested(memory):
    *berlin, paris = stay()
    _, again = memory.tell(*berlin)
    memory.withdraw(again)

    memory.tell(paris)

    assert memory.places() == []


def test_a_fact_names_no_withdrawn_episode_among_those_that_say_it_but_as_of_before(memory):
    first, again, _ = memory.tell(said("I live in Berlin."), said("I live in Berlin."), said("I like tea."))
    memory.withdraw(again)
    memory.withdraw(first)  # on the fifth day, after a day on which the first alone says it
    store = memory.writer.generations["main"].store

    def episodes(day):
        known = Moment(START + day * DAY, START + day * DAY)
        return [fact.episodes for fact in facts_at(store, "g", known) if fact.object == "Berlin"]

    assert [episodes(day) for day in range(5)] == [[(first,)], [(first, again)], [(first, again)], [(first,)], []]


def test_what_is_attested_last_is_what_an_episode_that_counts_says_last(memory):
    _, _, again = memory.tell(said("I like tea."), said("I like chess."), said("I like tea."))
    store = memory.writer.generations["main"].store
    [ana, *_] = store.meant("g", "Ana", None)

    def latest(day):
        return [fact.object for fact in store.latest([ana], Moment(START + 2 * DAY, START + day * DAY), 9)]

    memory.withdraw(again)

    assert (latest(2), latest(3)) == (["tea", "chess"], ["chess", "tea"])


def test_a_name_that_a_withdrawn_episode_gave_calls_nobody_and_can_be_given_again(memory):
    _, full = memory.tell(said("My sister Eva works at SAP."), said("Eva Sole lives in Rome."))
    store = memory.writer.generations["main"].store
    [eva] = store.meant("g", "Eva", None)
    assert store.meant("g", "Eva Sole", None) == [eva]

    memory.withdraw(full)
    assert store.aliases(eva, None) == ["Eva"]
    assert store.meant("g", "Eva Sole", None) == []
    assert store.meant("g", "Eva Sole", START + DAY) == [eva]

    memory.tell(said("Eva Sole lives in Oslo."))
    assert store.aliases(eva, None) == ["Eva", "Eva Sole"]


def test_a_name_that_another_episode_says_as_well_calls_whom_it_called_until_that_is_withdrawn_too(memory):
    memory.tell(said("My sister Eva works at SAP."))
    first, again, third = memory.tell(*(said(f"Eva Sole lives in {place}.") for place in ("Rome", "Oslo", "Lima")))
    memory.tell(said("Eva likes tea."))
    store = memory.writer.generations["main"].store
    [eva] = store.meant("g", "Eva", None)

    for gone in (again, first):
        memory.withdraw(gone)
        assert store.aliases(eva, None) == ["Eva", "Eva Sole"]
        assert store.meant("g", "Eva Sole", None) == [eva]
    memory.withdraw(third)

    assert store.aliases(eva, None) == ["Eva"]
    assert store.meant("g", "Eva Sole", None) == []
    assert [len(store.meant("g", "Eva Sole", START + day * DAY)) for day in range(9)] == [0, 1, 1, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_gives_names_as_they_were_given_whatever_was_said_or_withdrawn_later(memory, source):
    memory.tell(said("My sister Eva works at SAP."))
    first, again = memory.tell(said("Eva Sole lives in Rome."), said("Eva Sole lives in Oslo."))
    for gone in (first, again):
        memory.withdraw(gone)
    memory.tell(said("Eva Sole lives in Lima."))
    writer = memory.writer
    active, ontology = writer.catalog["main"], writer.ontology("main")

    writer.build(describe("anew", ontology, active.policy, source, active.extractor), ontology)

    main, anew = (writer.generations[name].store for name in ("main", "anew"))
    for day in range(7):
        known = START + day * DAY
        [[ours], [theirs]] = [[e.uuid for e in store.called("g", "Eva", known)] for store in (main, anew)]
        assert main.aliases(ours, known) == anew.aliases(theirs, known)
    assert main.aliases(ours, None) == ["Eva", "Eva Sole"]
    assert source == "episodes" or main.digest() == anew.digest()


def test_what_a_withdrawn_correction_took_back_holds_again(memory):
    _, corrected = memory.tell(
        stated("Berlin", ref="b", valid_at=START), stated("Munich", op="correct", ref="b", valid_at=START)
    )
    assert memory.places() == ["Munich"]

    memory.withdraw(corrected)

    assert memory.places() == ["Berlin"]


def test_what_a_withdrawn_episode_had_ended_goes_on(memory):
    _, ended = memory.tell(stated("Berlin"), stated("Berlin", op="end"))
    assert memory.places() == []

    memory.withdraw(ended)

    assert memory.places() == ["Berlin"]


def test_an_episode_that_took_back_what_it_said_itself_leaves_nothing(memory):
    [both] = memory.tell(said("I live in Berlin. I do not live in Berlin."))

    memory.withdraw(both)

    assert memory.places() == []


def test_two_names_that_a_withdrawn_episode_made_one_are_two_again(memory):
    memory.tell(stated("Tea", relation="likes"), stated("Car", subject="Annie", relation="owns"))
    [same] = memory.tell(stated("Annie", relation="also_known_as"))
    store = memory.writer.generations["main"].store
    assert len(store.meant("g", "Ana", None)) == 2

    memory.withdraw(same)

    assert len(store.meant("g", "Ana", None)) == 1


def spelled_apart(memory):
    """Let a turn join two names of one company; return its episode, and what gives those that mean the company."""
    memory.tell(
        *(
            stated(place, subject=name, subject_type="Organization", relation="located_in")
            for name, place in (("Acme", "Oslo"), ("ACME", "Rome"))
        )
    )
    [joined] = memory.tell(said("I work at acme."))
    store = memory.writer.generations["main"].store
    assert len(store.meant("g", "Acme", None)) == 2
    return joined, lambda: store.meant("g", "Acme", None)


def test_what_was_joined_for_a_withdrawn_episode_is_joined_again_for_a_later_one(memory):
    joined, meant = spelled_apart(memory)
    memory.withdraw(joined)
    assert len(meant()) == 1

    memory.tell(said("I work at acme."))

    assert len(meant()) == 2


def test_what_somebody_took_apart_is_not_joined_again_also_once_what_joined_it_is_withdrawn(memory):
    joined, meant = spelled_apart(memory)
    [link] = memory.writer.generations["main"].store.links(meant(), None)
    memory.tell(FactStatement(group_id="g", op="retract", ref=link.uuid))
    memory.withdraw(joined)

    memory.tell(said("I work at acme."))

    assert len(meant()) == 1


def test_no_turn_sees_a_turn_before_it_that_was_withdrawn_before_it_was_said(memory):
    first, second = memory.tell(said("I live in Berlin."), said("I like tea."))
    memory.withdraw(first)
    episodes = memory.writer.episodes

    assert [e.uuid for e in episodes.recent("g", "message", 2**62, 1, 10)] == [first]  # as it was read then
    assert [e.uuid for e in episodes.recent("g", "message", 2**62, 4, 10)] == [second]


@pytest.mark.parametrize("group", ["g", "other"])
def test_an_episode_that_the_group_does_not_have_cannot_be_withdrawn(memory, group):
    [episode] = memory.tell(said("I live in Berlin."))

    memory.withdraw("nobody" if group == "g" else episode, group)

    assert memory.places() == ["Berlin"]
    assert [parked.reason for parked in memory.writer.episodes.parked(group, limit=9)] == [
        "episode_id: no episode of this group has it"
    ]


@pytest.mark.parametrize("field", ["uuid", "previous_episode_ids"])
def test_a_message_that_names_a_withdrawn_episode_is_parked(memory, field):
    [episode] = memory.tell(said("I live in Berlin."))
    memory.withdraw(episode)

    memory.tell(said("I live in Rome.").model_copy(update={field: episode if field == "uuid" else [episode]}))

    [parked] = memory.writer.episodes.parked("g", limit=9)
    assert parked.reason.startswith(field)
    assert memory.places() == []


def test_an_episode_is_withdrawn_once(memory):
    [episode] = memory.tell(said("I live in Berlin."))
    memory.withdraw(episode)
    before = memory.writer.episodic.end()

    memory.withdraw(episode)

    assert memory.writer.episodic.end() == before
    assert memory.writer.episodes.parked("g", limit=9) == []


def test_a_stated_entity_has_the_id_it_was_given_and_words_mean_it(memory):
    memory.tell(EntityStatement(group_id="g", entity_id="node-1", name="Ana", summary="a cook"))
    memory.tell(stated("Berlin"))

    [fact] = memory._facts(ANY)

    assert fact.subject_uuid == "node-1"
    assert memory.listed("fact") != []  # the fact's own episode alone
    assert len(memory.listed("fact")) == 1


def test_an_entity_stated_again_under_its_id_is_the_same_under_one_more_name(memory):
    for name in ("Ana", "Annie", "Ana"):
        memory.tell(EntityStatement(group_id="g", entity_id="node-1", name=name))
    store = memory.writer.generations["main"].store

    assert [entity.uuid for entity in store.entities("g", None)] == ["node-1"]
    assert store.aliases("node-1", None) == ["Ana", "Annie"]


def test_an_id_that_an_entity_of_another_group_has_names_an_entity_of_this_group_too(memory):
    memory.tell(EntityStatement(group_id="other", entity_id="node-1", name="Bo"))

    memory.tell(EntityStatement(group_id="g", entity_id="node-1", name="Ana"))

    store = memory.writer.generations["main"].store
    assert store.parked("g", limit=9) == []
    assert [entity.name for entity in store.entities("g", None)] == ["Ana"]
    assert [entity.name for entity in store.entities("other", None)] == ["Bo"]


def test_a_directory_written_anew_from_the_same_messages_believes_the_same(memory, tmp_path):
    _, paris, _ = memory.tell(said("I live in Berlin."), said("I live in Paris."), said("I like tea."))
    memory.tell(EntityStatement(group_id="g", entity_id="node-1", name="Ana", summary="a cook"))
    [*_, full] = memory.tell(said("My sister Eva works at SAP."), said("Eva Sole lives in Rome."))
    for episode in (paris, full):
        memory.withdraw(episode)
    memory.tell(said("I live in Rome."), said("Eva Sole lives in Oslo."))
    records = list(memory.writer.messages.read())
    other = Memory(tmp_path / "other")
    other.writer.messages.accept(
        [record.event for record in records], clock=0, recorded=[record.recorded_at for record in records]
    )

    other.writer.process(flush=True)

    pairs: list[tuple[Any, Any]] = [
        (memory.writer.episodes, other.writer.episodes),
        (memory.writer.generations["main"].store, other.writer.generations["main"].store),
    ]
    for ours, theirs in pairs:
        assert ours.digest() == theirs.digest()
    other.writer.close()


def test_a_retry_names_a_message_of_its_own_group_or_changes_nothing(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.say("2024-01-01", "Hello", uuid="nothing", group_id="other")
    history.say("2024-01-01", "Hello", uuid="nothing")
    for position in (0, 1):
        history.retry("2024-01-02", position)
    caused = [(r.cause, r.group, type(r.event).__name__) for r in history.engine.episodic.log.read() if r.cause > 1]
    history.close()

    assert caused == [(3, "g", "MessageRetried"), (3, "g", "MessageParked")]

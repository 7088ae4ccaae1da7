"""What nobody foresaw in one message parks that message, in every layer, and those behind it go on."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from asof_agents.extraction.ports import Extraction
from asof_agents.handlers.statement_writer import Build
from asof_agents.parking import park_if_unexpected
from asof_ontologies.model import Ontology
from asof_streams.episodic import MessageParked
from asof_streams.errors import InvalidInput, ModelUnavailable, StorageFailed
from asof_streams.events import Event
from asof_streams.messages import RetryRequest
from histories import ONTOLOGY, History

UNREADABLE = "-> secret"  # words at which the extractor of these histories fails


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path)
    yield history
    history.close()


def reasons(history: History) -> list[tuple[int, str]]:
    stores = (history.episodes, history.beliefs)
    return [(row.position, row.reason) for store in stores for row in store.parked("g", limit=9)]


def test_a_message_that_an_extractor_fails_at_is_parked_and_the_next_one_goes_on(history: History) -> None:
    history.say("2024-01-01", UNREADABLE)
    history.say("2024-01-02", "Ana -lives_in-> Berlin")

    assert reasons(history) == [(0, "unexpected: ValueError")]
    assert history.beliefs.fact_count() == 1


def test_a_message_that_a_generation_fails_at_is_parked_there_alone(history: History) -> None:
    [generation] = history.engine.generations
    faulty = [
        kind.model_copy(update={"sentence": "{nothing}"}) if kind.name == "likes" else kind
        for kind in ONTOLOGY.relation_types
    ]
    ontology = Ontology.model_construct(**{**dict(ONTOLOGY), "relation_types": tuple(faulty)})
    generation.build = Build("test", ontology, "recency")
    history.say("2024-01-01", "Ana -likes-> Berlin")
    history.say("2024-01-02", "Ana -lives_in-> Berlin")

    assert reasons(history) == [(0, "unexpected: KeyError")]
    assert (history.episodes.counts()["episodes"], history.beliefs.fact_count()) == (2, 1)

    generation.build = Build("test", ONTOLOGY, "recency")  # the fault is mended
    history.retry("2024-01-03", 0)
    assert reasons(history) == []
    assert history.beliefs.fact_count() == 2


def test_what_failed_unexpectedly_is_recorded_by_a_retry_once_the_fault_is_mended(history: History) -> None:
    history.say("2024-01-01", UNREADABLE)
    history.retry("2024-01-02", 0)
    assert reasons(history) == [(0, "unexpected: ValueError")]
    history.extractor.extract = lambda *_: Extraction()  # type: ignore[method-assign]
    history.retry("2024-01-03", 0)

    assert reasons(history) == []
    [episode] = history.episodes.episodes("g")
    assert episode.valid_at < episode.created_at


def test_what_is_no_fault_of_a_message_is_raised_at_once() -> None:
    calls: list[int] = []

    def fail(error: Exception) -> list[Event]:
        calls.append(1)
        raise error

    for error in (StorageFailed("the disk is full"), ModelUnavailable("away"), OSError()):
        with pytest.raises(type(error)):
            park_if_unexpected(partial(fail, error))
    assert len(calls) == 3
    assert park_if_unexpected(lambda: fail(InvalidInput("no", "ref"))) == [MessageParked(reason="ref: no")]
    assert len(calls) == 4
    assert park_if_unexpected(lambda: fail(KeyError("a secret"))) == [MessageParked(reason="unexpected: KeyError")]
    assert len(calls) == 7


def test_a_retry_of_a_retry_changes_nothing(history: History) -> None:
    history.say("2024-01-01", UNREADABLE)
    history.retry("2024-01-02", 0)
    before = history.episodes.digest(), history.beliefs.digest()
    history.send("2024-01-03", RetryRequest(group_id="g", position=1))
    history.send("2024-01-04", RetryRequest(group_id="h", position=0))

    assert (history.episodes.digest(), history.beliefs.digest()) == before

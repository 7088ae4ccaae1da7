"""A record that another process sends by its values is the one that it read: test_golden_events tries every event."""

import numpy as np
import pytest

from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import DecodeError
from asof_streams.events import Event, Record, decode
from asof_streams.messages import FactStatement
from asof_streams.plain_records import pack, unpack
from asof_streams.semantic import MentionResolved


def record(event: Event) -> Record:
    return Record(7, "Zoë's", 1_714_555_800_000_000, 5, 1, 3, 2, event)


def episode_of(body: bytes, version: int = FactStatement.version) -> EpisodeRecorded:
    return EpisodeRecorded(
        episode_id="e",
        name="",
        source="fact",
        source_description="",
        role="",
        role_type="user",
        body=body.decode(),
        content_length=0,
        valid_at=1,
        statement_version=version,
    )


def test_the_statement_of_an_episode_comes_along() -> None:
    stated = FactStatement(group_id="g", subject="Ana", relation="is", object=7, valid_at=3, confidence=0.3)
    [made] = unpack(pack([record(episode_of(stated.encode()))]))

    assert isinstance(made.event, EpisodeRecorded)
    assert made.event.__dict__["statement"] == stated
    assert made.event.statement.encode() == stated.encode()
    assert [*made.event.statement.__dict__] == [*FactStatement.model_fields]


def test_qualifiers_of_a_statement_come_along() -> None:
    stated = FactStatement(group_id="g", subject="Ana", relation="likes", object="chess", qualifiers={"how": "well"})
    [made] = unpack(pack([record(episode_of(stated.encode()))]))

    assert isinstance(made.event, EpisodeRecorded)
    assert made.event.__dict__["statement"] == stated
    assert made.event.statement.qualifiers == {"how": "well"}


def test_an_episode_whose_statement_was_read_before_comes_along_as_one_that_was_not() -> None:
    stated = FactStatement(group_id="g", subject="Ana", relation="likes", object="chess")
    episode = episode_of(stated.encode())
    assert episode.statement == stated
    [made, other] = unpack(pack([record(episode), record(episode_of(stated.encode()))]))

    assert made == other
    assert isinstance(made.event, EpisodeRecorded)
    assert made.event.statement == stated


def test_a_statement_that_cannot_be_read_stops_whoever_asks_for_it() -> None:
    [made] = unpack(pack([record(episode_of(b"{}", FactStatement.version + 1))]))

    assert isinstance(made.event, EpisodeRecorded)
    with pytest.raises(DecodeError, match="newer"):
        made.event.statement  # noqa: B018 - to read it is what raises


@pytest.mark.parametrize(("field", "value"), [("score", np.float64(0.75)), ("reason", np.str_("similar name"))])
def test_a_value_of_another_library_comes_along_as_it_is_stored(field: str, value: object) -> None:
    """They look like a number and a text, and marshal takes their memory for bytes."""
    resolved = MentionResolved(mention_id="m", episode_id="e", entity_id="a", reason="name", score=1.0)
    other = MentionResolved(mention_id="m", episode_id="e", entity_id="a", reason="name", score=1.0)
    other.__dict__[field] = value
    made = [record.event for record in unpack(pack([record(resolved), record(other)]))]

    assert made == [resolved, decode(other.type, other.version, other.encode())]
    assert type(getattr(made[1], field)) is type(getattr(resolved, field))


def test_a_qualifier_of_another_library_comes_along_as_it_is_stored() -> None:
    stated = FactStatement(group_id="g", subject="Ana", relation="likes", object="chess", qualifiers={"how": 0.5})
    stated.__dict__["qualifiers"] = {"how": np.float64(0.75)}
    [made] = unpack(pack([record(stated)]))

    assert isinstance(made.event, FactStatement)
    assert made.event.qualifiers == {"how": 0.75}

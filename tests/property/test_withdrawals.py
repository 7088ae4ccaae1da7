"""What is believed once episodes are withdrawn is what would be believed had they never been said."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import facts_at
from asof.runtime.layout import DirectoryLayout
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_projections.model.rows import Moment
from asof_streams.ids import episode_id
from asof_streams.instants import DAY
from asof_streams.messages import AnyMessage, FactStatement, WithdrawalRequest

START = 1_577_836_800_000_000  # 2020-01-01
NOW = START + 10_000 * DAY
PLACES = ["Berlin", "Paris", "Rome", "Lima", "Oslo"]
KNOWN = [FactStatement(group_id="g", subject="Ana", relation="visited", object=place) for place in PLACES]
DAYS = st.integers(0, 40)


@st.composite
def statements(draw: st.DrawFn) -> list[FactStatement]:
    """Draw what is said of where Ana lives: of each place at most one of each kind; an end may be of any place.

    What is said again is said in the same words, at once but at another time: on its own it says no less.
    """
    said: list[dict[str, object]] = []
    for place in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=5, unique=True)):
        start = draw(DAYS)
        stop = draw(st.none() | DAYS.map((start + 1).__add__))
        said.append({"object": place, "valid_at": start, "invalid_at": stop})
        if draw(st.booleans()):
            said.append({**said[-1], "said_at": draw(DAYS)})
        if draw(st.booleans()):
            said.append({"op": "end", "object": draw(st.sampled_from([place, None])), "invalid_at": draw(DAYS)})
        if draw(st.booleans()):
            said.append({"op": "retract", "object": place})
    return list(map(_statement, said))


@st.composite
def stays(draw: st.DrawFn) -> list[FactStatement]:
    """Draw a place with no end that is said twice, at once but at two times, and then stays elsewhere that end."""
    lasting = {"object": PLACES[0], "valid_at": draw(st.integers(0, 5))}
    said: list[dict[str, object]] = [lasting, {**lasting, "said_at": draw(st.integers(0, 90))}]
    for place in draw(st.lists(st.sampled_from(PLACES[1:]), min_size=1, max_size=2, unique=True)):
        start = draw(DAYS)
        said.append({"object": place, "valid_at": start, "invalid_at": start + 1 + draw(DAYS)})
    return list(map(_statement, said))


@st.composite
def visits(draw: st.DrawFn) -> list[FactStatement]:
    """Draw what is said of one evening, more exactly or less."""
    grains = draw(st.lists(st.sampled_from(["day", "month", "quarter", "year"]), min_size=2, max_size=5))
    evening = {"relation": "attended", "object": PLACES[0], "said_at": 400, "valid_at": 40}
    return [_statement({**evening, "grain": grain}) for grain in grains]


def _statement(fields: dict[str, object]) -> FactStatement:
    """Return what is said of where Ana lives; times are in days, and what has none was said on the first."""
    times = {
        name: START + int(str(day)) * DAY for name, day in fields.items() if name.endswith("_at") and day is not None
    }
    return FactStatement.model_validate(
        {"group_id": "g", "subject": "Ana", "relation": "lives_in", "said_at": START, **fields, **times}
    )


def believed(messages: list[AnyMessage], relation: str = "lives_in") -> list[list[str]]:
    """Return where Ana is believed to live at the end, or what else, day by day. All names are known before."""
    with TemporaryDirectory() as folder:
        writer = open_writer(DirectoryLayout(Path(folder)), Settings(data=Path(folder), embedder="none"))
        writer.messages.accept([*KNOWN, *messages], clock=START)
        writer.process(flush=True)
        store = writer.generations["main"].store
        days = [
            sorted(
                fact.object
                for fact in facts_at(store, "g", Moment(START + day * DAY, NOW))
                if fact.relation == relation
            )
            for day in range(-1, 84)
        ]
        writer.close()
    return days


@pytest.mark.long
@given(said=statements(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_withdrawn_is_as_never_said(said: list[FactStatement], data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.integers(0, len(said) - 1), min_size=1, max_size=3, unique=True))

    assert believed([*said, *withdrawn(gone)]) == believed(left(said, gone))


@pytest.mark.long
@given(said=stays(), gone=st.sampled_from([[0], [1], [1, 2], [2, 1]]))
@settings(max_examples=15, deadline=None)
def test_what_is_withdrawn_attests_nothing(said: list[FactStatement], gone: list[int]) -> None:
    assert believed([*said, *withdrawn(gone)]) == believed(left(said, gone))


@pytest.mark.long
@given(said=visits(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_visit_is_believed_as_exactly_as_what_is_left_says(said: list[FactStatement], data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.integers(0, len(said) - 1), min_size=1, max_size=3, unique=True))

    assert believed([*said, *withdrawn(gone)], "attended") == believed(left(said, gone), "attended")


def withdrawn(gone: list[int]) -> list[WithdrawalRequest]:
    return [WithdrawalRequest(group_id="g", episode_id=episode_id("g", len(KNOWN) + at)) for at in gone]


def left(said: list[FactStatement], gone: list[int]) -> list[FactStatement]:
    return [statement for at, statement in enumerate(said) if at not in gone]

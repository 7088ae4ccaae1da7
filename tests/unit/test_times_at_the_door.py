"""Times as the Python API takes them: whatever is none is refused, and never taken for "any time"."""

from datetime import UTC, date, datetime

import pytest

from asof_projections.model.queries import instant
from asof_streams.errors import InvalidInput
from asof_streams.instants import SECOND

FIRST = 1_704_067_200 * SECOND  # 2024-01-01


@pytest.mark.parametrize("time", ["2024", "2024-01-01T01:00:00+01:00", datetime(2024, 1, 1, tzinfo=UTC), FIRST])
def test_a_time_is_text_an_aware_datetime_or_microseconds(time):
    assert instant(time) == FIRST


def test_a_date_is_its_first_instant_in_utc_as_in_text():
    assert instant(date(2024, 1, 1)) == FIRST


@pytest.mark.parametrize("time", [1.5, True, 10**30, -(10**30), b"2024", "", "now", datetime(2024, 1, 1)])
def test_what_is_no_time_is_refused(time):
    with pytest.raises(InvalidInput):
        instant(time)

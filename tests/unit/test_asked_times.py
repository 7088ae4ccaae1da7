"""The time that a question names."""

from zoneinfo import ZoneInfo

import pytest

from asof_agents.conversation.asked_times import asked_period
from asof_streams.instants import INF, NEG, parse

SAID_AT = parse("2025-01-15T10:30:00Z")
UTC = ZoneInfo("UTC")


def instant(day: str) -> int:
    return parse(day if "T" in day else f"{day}T00:00:00Z")


@pytest.mark.parametrize(
    ("question", "name", "start", "end"),
    [
        ("Where did I live in 2012?", "in 2012 (2012-01-01 to 2012-12-31)", "2012-01-01", "2013-01-01"),
        ("Where will I be in June?", "in June (2025-06-01 to 2025-06-30)", "2025-06-01", "2025-07-01"),
        ("What have I planned in June?", "in June (2025-06-01 to 2025-06-30)", "2025-06-01", "2025-07-01"),
        ("Where was I in June?", "in June (2024-06-01 to 2024-06-30)", "2024-06-01", "2024-07-01"),
        ("Tell me what I did yesterday.", "yesterday (2025-01-14)", "2025-01-14", "2025-01-15"),
        ("Where have I worked since 2015?", "since 2015 (from 2015-01-01)", "2015-01-01", None),
        ("Where did I live until 2015?", "until 2015 (until 2015-12-31)", None, "2016-01-01"),
        ("Where did I work?", "until now", None, "2025-01-15T10:30:00Z"),
        ("Did I have a dog?", "until now", None, "2025-01-15T10:30:00Z"),
        ("Who was my boss?", "until now", None, "2025-01-15T10:30:00Z"),
        ("Where have I lived before?", "until now", None, "2025-01-15T10:30:00Z"),
        ("Which car did Ana use to drive?", "until now", None, "2025-01-15T10:30:00Z"),
    ],
)
def test_a_question_names_a_period(question: str, name: str, start: str | None, end: str | None) -> None:
    period = asked_period(question, SAID_AT, UTC)

    assert period is not None
    assert (period.name, period.start, period.end) == (
        name, NEG if start is None else instant(start), INF if end is None else instant(end)
    )  # fmt: skip
    assert period.start <= period.moment(SAID_AT) < period.end


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "Where do I live now?",
        "Where do I live this year?",
        "What am I doing today?",
        "I lived in Rome in 2012.",
        "May I ask where I live?",
        "What happened in March and in May?",
        "What do I do on Fridays?",
        "How was your day?",
        "Did you know that I live in Rome?",
        "Before I go, where do I live?",
    ],
)
def test_other_texts_ask_about_no_other_time(text: str) -> None:
    assert asked_period(text, SAID_AT, UTC) is None


def test_a_day_begins_where_who_asks_is() -> None:
    period = asked_period("What did I do yesterday?", parse("2025-01-15T23:30:00Z"), ZoneInfo("Asia/Tokyo"))

    assert period is not None
    assert (period.name, period.end) == ("yesterday (2025-01-15)", parse("2025-01-15T15:00:00Z"))

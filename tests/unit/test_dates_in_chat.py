"""How wide a time in chat is, how far back it lies, and what is not understood whole and so means no time."""

import pytest

from asof_agents.extraction.english.dates import find_times, read_time
from asof_streams.instants import parse, render

SAID = parse("2024-05-15T14:20:00Z")  # a Wednesday


def short(instant: int) -> str:
    return (render(instant) or "open").removesuffix("Z").removesuffix("T00:00:00")


def in_chat(text: str) -> list[tuple[str, str, str, str]]:
    return [(hint.words, short(hint.start), short(hint.end), hint.grain) for hint in find_times(text, SAID)]


@pytest.mark.parametrize(
    ("words", "start", "end", "grain"),
    [
        ("three years ago", "2021-01-01", "2022-01-01", "year"),
        ("a decade ago", "2014-01-01", "2015-01-01", "year"),
        ("a month ago", "2024-04-01", "2024-05-01", "month"),
        ("18 months ago", "2022-11-01", "2022-12-01", "month"),
        ("two weeks ago", "2024-04-29", "2024-05-06", "week"),
        ("10 days ago", "2024-05-05", "2024-05-06", "day"),
        ("two hours ago", "2024-05-15T12:20:00", "2024-05-15T12:21:00", "minute"),
        ("a few days ago", "2024-05-10", "2024-05-14", "day"),
        ("a few weeks ago", "2024-04-08", "2024-05-06", "week"),
        ("several years ago", "2019-01-01", "2023-01-01", "year"),
        ("two or three years ago", "2021-01-01", "2023-01-01", "year"),
        ("3-4 years ago", "2020-01-01", "2022-01-01", "year"),
        ("a week or two ago", "2024-04-29", "2024-05-13", "week"),
        ("a year ago today", "2023-05-15", "2023-05-16", "day"),
        ("last week", "2024-05-06", "2024-05-15", "week"),
        ("the other day", "2024-05-08", "2024-05-15", "day"),
        ("in March last year", "2023-03-01", "2023-04-01", "month"),
        ("the Friday before last", "2024-05-03", "2024-05-04", "day"),
        ("Tuesday before last", "2024-05-07", "2024-05-08", "day"),
        ("the week before last", "2024-04-29", "2024-05-06", "week"),
        ("the month before last", "2024-03-01", "2024-04-01", "month"),
        ("the summer before last", "2022-06-21", "2022-09-24", "quarter"),
        ("the weekend before last", "2024-05-03T18:00:00", "2024-05-06", "day"),
        ("the night before last", "2024-05-13T18:00:00", "2024-05-14", "hour"),
        ("two weekends ago", "2024-05-03T18:00:00", "2024-05-06", "day"),
        ("a few weekends ago", "2024-04-08", "2024-05-06", "week"),
        ("two summers ago", "2022-06-21", "2022-09-24", "quarter"),
        ("over the summer", "2023-06-21", "2023-09-24", "quarter"),
        ("on 6/12", "2023-06-12", "2023-06-13", "day"),
        ("on 15/6", "2023-06-15", "2023-06-16", "day"),
    ],
)
def test_a_distance_is_as_wide_as_its_unit(words, start, end, grain):
    assert in_chat(f"I ran into her {words}.") == [(words, start, end, grain)]


@pytest.mark.parametrize(
    "words",
    [
        "the Friday before my birthday",
        "the following Friday",
        "that Friday",
        "on a Friday",
        "one Friday",
        "two months and three weeks ago",
        "2 years 3 months ago",
        "last Tuesday week",
        "in May or June",
        "in late May or early June",
        "the second Tuesday after Easter",
        "years ago",
        "some time ago",
        "the other week",
        "on 24/7",
        "on 13/13",
        "by 3/4",
    ],
)
def test_what_is_understood_in_part_is_no_time(words):
    assert in_chat(f"I ran into her {words}.") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I lived there for two years and last week I left", ["for two years", "last week"]),
        ("I met him one Tuesday last month", ["last month"]),
        ("on Friday before lunch we met", ["on Friday"]),
        ("I cut it by 1/2 on 6/12", ["on 6/12"]),
    ],
)
def test_a_time_beside_one_that_is_not_understood_stands(text, words):
    assert [hint.words for hint in find_times(text, SAID)] == words


def test_a_distance_alone_is_exact():
    alone = {text: read_time(text, SAID) for text in ("two years ago", "a month ago", "a few days ago")}

    assert {text: hint and (short(hint.start), hint.grain) for text, hint in alone.items()} == {
        "two years ago": ("2022-05-01", "month"),
        "a month ago": ("2024-04-15", "day"),
        "a few days ago": ("2024-05-12", "day"),
    }

"""English time expressions: worked examples in chat and alone, what must not be taken for a time, and properties."""

from datetime import timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.extraction.english.dates import find_times, read_time
from asof_streams.instants import DAY, INF, NEG, parse, render

SAID = parse("2024-05-15T14:20:00Z")  # a Wednesday


def short(instant: int) -> str:
    text = render(instant) or "open"
    return text.removesuffix("Z").removesuffix("T00:00:00")


def in_chat(text: str, tense: str = "past") -> list[tuple[str, str, str, str]]:
    hints = find_times(text, SAID, tense=tense)
    return [(hint.words, hint.kind, short(hint.start), short(hint.end)) for hint in hints]


@pytest.mark.parametrize(
    ("text", "words", "kind", "start", "end"),
    [
        ("I moved to Lisbon in March.", "in March", "point", "2024-03-01", "2024-04-01"),
        ("back in may it was quiet", "in may", "point", "2024-05-01", "2024-06-01"),
        ("She joined us on June 3rd, 2021 as a cook", "on June 3rd, 2021", "point", "2021-06-03", "2021-06-04"),
        ("We married on the 3rd of June 2021!", "on the 3rd of June 2021", "point", "2021-06-03", "2021-06-04"),
        ("shipped 2023-11-30 at 16:45", "2023-11-30 at 16:45", "point", "2023-11-30T16:45:00", "2023-11-30T16:46:00"),
        ("the invoice of 30.11.2023", "30.11.2023", "point", "2023-11-30", "2023-12-01"),
        ("In 2018 I lived in Graz", "In 2018", "point", "2018-01-01", "2019-01-01"),
        ("Revenue of Q3 2022 was fine", "Q3 2022", "point", "2022-07-01", "2022-10-01"),
        ("I grew up in the 1990s", "in the 1990s", "point", "1990-01-01", "2000-01-01"),
        ("I quit in early 2020", "in early 2020", "point", "2020-01-01", "2020-04-01"),
        ("mid-April was cold", "mid-April", "point", "2024-04-11", "2024-04-21"),
        ("rent is due at the end of the month", "at the end of the month", "point", "2024-05-21", "2024-06-01"),
        ("I saw Ana yesterday", "yesterday", "point", "2024-05-14", "2024-05-15"),
        ("it rained the day before yesterday", "the day before yesterday", "point", "2024-05-13", "2024-05-14"),
        ("Last night we danced", "Last night", "point", "2024-05-14T18:00:00", "2024-05-15"),
        ("Last Friday I signed", "Last Friday", "point", "2024-05-10", "2024-05-11"),
        ("on Monday I signed", "on Monday", "point", "2024-05-13", "2024-05-14"),
        ("we met last week", "last week", "point", "2024-05-06", "2024-05-15"),
        ("we hiked over the weekend", "over the weekend", "point", "2024-05-10T18:00:00", "2024-05-13"),
        ("see you this weekend", "this weekend", "point", "2024-05-17T18:00:00", "2024-05-20"),
        ("it opened last spring", "last spring", "point", "2023-03-20", "2023-06-21"),
        ("in the fall of 2021 I left", "in the fall of 2021", "point", "2021-09-23", "2021-12-21"),
        ("my trip is next month", "next month", "point", "2024-06-01", "2024-07-01"),
        ("I bought it two years ago", "two years ago", "point", "2022-01-01", "2023-01-01"),
        ("He left a week ago", "a week ago", "point", "2024-05-06", "2024-05-13"),
        ("I moved 2.5 years ago", "2.5 years ago", "point", "2021-11-01", "2021-12-01"),
        ("I start in three weeks", "in three weeks", "point", "2024-06-05", "2024-06-06"),
        ("in March two years ago", "in March two years ago", "point", "2022-03-01", "2022-04-01"),
        ("the week before 9 June 2023", "the week before 9 June 2023", "point", "2023-06-02", "2023-06-09"),
        ("the first Monday of last month", "the first Monday of last month", "point", "2024-04-01", "2024-04-02"),
        ("tomorrow at 5 we eat", "tomorrow at 5", "point", "2024-05-16T05:00:00", "2024-05-16T06:00:00"),
        ("we met at seven o'clock", "at seven o'clock", "point", "2024-05-15T07:00:00", "2024-05-15T08:00:00"),
        ("we met at half past six", "at half past six", "point", "2024-05-15T06:30:00", "2024-05-15T06:31:00"),
        ("a call tonight at 8", "tonight at 8", "point", "2024-05-15T20:00:00", "2024-05-15T21:00:00"),
        ("since 2019 I bake", "since 2019", "since", "2019-01-01", "open"),
        ("I've had her since last summer", "since last summer", "since", "2023-06-21", "open"),
        ("from Monday on I fast", "from Monday on", "since", "2024-05-13", "open"),
        ("I've been vegan for three years", "for three years", "since", "2021-05-01", "open"),
        ("I've sung for the past five months", "for the past five months", "since", "2023-12-15", "open"),
        ("I quit after March 2020", "after March 2020", "since", "2020-04-01", "open"),
        ("I stayed until 2019", "until 2019", "until", "open", "2020-01-01"),
        ("I smoked before 2015", "before 2015", "until", "open", "2015-01-01"),
        ("I worked there from March to May 2020", "from March to May 2020", "during", "2020-03-01", "2020-06-01"),
        ("between 2015 and 2018 I taught", "between 2015 and 2018", "during", "2015-01-01", "2019-01-01"),
        ("we camp July 13-15", "July 13-15", "during", "2023-07-13", "2023-07-16"),
        ("I ran in the last two weeks", "in the last two weeks", "during", "2024-05-01", "2024-05-15T14:20:00"),
        (
            "open Friday from 9am to 5pm",
            "Friday from 9am to 5pm",
            "during",
            "2024-05-10T09:00:00",
            "2024-05-10T18:00:00",
        ),
        ("between March and May I paint", "between March and May", "during", "2024-03-01", "2024-06-01"),
        (
            "between the 3rd and the 5th of May",
            "between the 3rd and the 5th of May",
            "during",
            "2024-05-03",
            "2024-05-06",
        ),
        ("free between 3 and 4pm", "between 3 and 4pm", "during", "2024-05-14T15:00:00", "2024-05-14T17:00:00"),
        ("from now on I save", "from now on", "since", "2024-05-15T14:20:00", "open"),
        ("in the year 2015 I was ill", "in the year 2015", "point", "2015-01-01", "2016-01-01"),
        ("the 2015-2018 term", "2015-2018", "during", "2015-01-01", "2019-01-01"),
        ("I saw her on 5 May", "on 5 May", "point", "2024-05-05", "2024-05-06"),
        ("my visit in the fall was short", "in the fall", "point", "2023-09-23", "2023-12-21"),
        ("yesterday at noon it rang", "yesterday at noon", "point", "2024-05-14T12:00:00", "2024-05-14T13:00:00"),
        ("we spoke 3-4pm on Monday", "3-4pm on Monday", "during", "2024-05-13T15:00:00", "2024-05-13T17:00:00"),
        ("Sat at 9am I ran", "Sat at 9am", "point", "2024-05-11T09:00:00", "2024-05-11T10:00:00"),
        ("I fasted from 2 Jan for 10 days", "from 2 Jan for 10 days", "during", "2024-01-02", "2024-01-12"),
        ("we flew at Easter 2022", "at Easter 2022", "point", "2022-04-17", "2022-04-18"),
    ],
)
def test_a_time_in_a_sentence_is_found_and_means_its_interval(text, words, kind, start, end):
    assert in_chat(text) == [(words, kind, start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you something? We may go, she may not.",
        "Sun City is far. The sun is out, and the Sun sets.",
        "On second thought, wait a second.",
        "Soldiers march on, and the march was long.",
        "It is in 15 minutes walk from here.",
        "I have 3 cats, 12 books and 2000 euros; 24/7; 5k; B12; 80%.",
        "I am 25 years old and she turned 30.",
        "It took me two years to write 1984.",
        "Good morning! Good night. Have a nice day.",
        "April called, and June sat down with August.",
        "We need a Christmas tree.",
        "The song of the year, the end of the road, the rest of us.",
        "We live on the 3rd floor; on the first day it was fine.",
        "In 2000 words or less.",
        "I love spring water, and I fall for it.",
        "I run every Monday and on Sundays, each morning.",
        "A boy threw a ball at 5 people.",
        "Version 2.3.1 at 10.0.0.1, call 555-1234 or 12345678.",
        "She is now my boss.",
        "",
    ],
)
def test_words_that_are_no_time_are_left_alone(text):
    assert find_times(text, SAID) == []


@pytest.mark.parametrize(
    ("text", "past", "future"),
    [
        ("on Friday", "2024-05-10", "2024-05-17"),
        ("in March", "2024-03-01", "2025-03-01"),
        ("on 20 May", "2023-05-20", "2024-05-20"),
        ("at 3pm", "2024-05-14T15:00:00", "2024-05-15T15:00:00"),
        ("on Wednesday", "2024-05-08", "2024-05-22"),
    ],
)
def test_tense_decides_which_way_a_bare_name_points(text, past, future):
    assert [start for _, _, start, _ in in_chat(text)] == [past]
    assert [start for _, _, start, _ in in_chat(text, "future")] == [future]


def test_several_times_are_found_in_order():
    text = "We met two years ago, moved in March 2023. Since Monday we are three!"

    assert [words for words, *_ in in_chat(text)] == ["two years ago", "in March 2023", "Since Monday"]


def test_a_whole_expression_may_use_words_that_prose_must_not():
    reading = {
        text: read_time(text, SAID)
        for text in ("may", "sat.", "in 15", "15:00", "ten thirty", "2019", "EOY", "the 90s")
    }

    assert {text: hint and short(hint.start) for text, hint in reading.items()} == {
        "may": "2024-05-01",
        "sat.": "2024-05-18",
        "in 15": "2024-05-15T14:35:00",
        "15:00": "2024-05-15T15:00:00",
        "ten thirty": None,
        "2019": "2019-01-01",
        "the 90s": "1990-01-01",
        "EOY": "2024-09-01",
    }


@pytest.mark.parametrize("text", ["hello", "yesterday we met", "30 February 2024", "in 9999999 years", "31 June", ""])
def test_what_is_not_one_expression_of_a_real_time_is_none(text):
    assert read_time(text, SAID) is None


def test_days_are_those_of_the_speakers_offset():
    late = parse("2024-05-15T23:30:00Z")
    at_home = find_times("I arrived today", late, zone=timezone(timedelta(hours=2)))[0]

    assert (render(at_home.start), render(at_home.end)) == ("2024-05-15T22:00:00Z", "2024-05-16T22:00:00Z")


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("said", "text", "start", "end"),
    [
        ("2024-05-15T22:30:00Z", "today", "2024-05-15T22:00:00Z", "2024-05-16T22:00:00Z"),  # 00:30 on the 16th
        ("2024-05-15T22:30:00Z", "in January", "2023-12-31T23:00:00Z", "2024-01-31T23:00:00Z"),  # in winter time
        ("2024-04-01T10:00:00Z", "yesterday", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"),  # a day of 23 hours
        ("2024-04-01T10:00:00Z", "yesterday at 2am", "2024-03-31T01:00:00Z", "2024-03-31T02:00:00Z"),  # passed over
    ],
)
def test_a_day_has_the_offset_that_its_zone_has_on_that_day(said, text, start, end):
    [hint] = find_times(f"I arrived {text}", parse(said), zone=BERLIN)

    assert (render(hint.start), render(hint.end)) == (start, end)


def test_a_stamp_with_its_own_offset_keeps_it():
    found = find_times("logged 2024-03-15T10:20:30+02:00 there", SAID, zone=timezone(timedelta(hours=-5)))

    assert [render(hint.start) for hint in found] == ["2024-03-15T08:20:30Z"]


def test_the_words_are_not_shown_in_a_repr():
    assert "yesterday" not in repr(find_times("yesterday", SAID))


WORDS = (
    "in on at the of from to until since before after between and for last next this every a two 3 15th 2019 31 "
    "May march Monday Sun second week month year days quarter morning night weekend spring today tomorrow "
    "ago back now early mid end half past 3pm 10:30 2.5 1/2 Mondays 15h Christmas EOY , - . walk Ana"
).split()
moments = st.integers(parse("1950-01-01T00:00:00Z"), parse("2090-01-01T00:00:00Z"))
texts = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


zones = st.one_of(
    st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    st.sampled_from(["Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe"]).map(ZoneInfo),
)


@given(text=texts, said=moments, tense=st.sampled_from(["past", "future"]), zone=zones)
def test_any_text_gives_intervals_in_order_that_stand_where_they_say(text, said, tense, zone):
    hints = find_times(text, said, tense=tense, zone=zone)
    alone = read_time(text, said, tense=tense, zone=zone)

    end = 0
    for hint in hints:
        assert end <= hint.span[0] < hint.span[1] <= len(text)
        assert hint.words == text[slice(*hint.span)]
        end = hint.span[1]
    for hint in [*hints, *([alone] if alone else [])]:
        assert NEG <= hint.start < hint.end <= INF
        assert (hint.start == NEG) == (hint.kind == "until")
        assert (hint.end == INF) == (hint.kind == "since")


@given(
    text=st.sampled_from(
        [
            "yesterday",
            "last Friday",
            "next week",
            "this weekend",
            "3 days ago",
            "since Monday",
            "tomorrow at 9am",
            "tonight",
        ]
    ),
    said=moments,
    weeks=st.integers(-500, 500),
)
def test_weeks_later_the_same_words_mean_weeks_later(text, said, weeks):
    by = weeks * 7 * DAY
    now, then = find_times(text, said)[0], find_times(text, said + by)[0]

    assert then.start - now.start == by
    assert then.end - now.end in (by, 0)  # 0: an open end stays open


@given(said=moments)
def test_a_season_last_year_is_over_and_the_next_one_has_not_begun(said):
    last, after = (find_times(text, said)[0] for text in ("last winter", "next winter"))

    assert last.end <= said < after.start
    assert after.start - last.start <= 2 * 366 * DAY

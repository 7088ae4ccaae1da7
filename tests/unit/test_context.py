"""A context is one text about a question: what is known, in the reader's times, and never over its budget."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof_projections.model.queries import MIN_BUDGET
from asof_projections.retrieval.quotes import excerpt, quote
from asof_projections.retrieval.token_count import tokens

NOON = "2024-06-01T10:00:00Z"
HOME = "Where does Ana live?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path / "data", embedder="hash") as opened:
        opened.add("I live in Madrid.", role="Ana", timestamp="2024-01-10T09:00:00Z")
        opened.add("I moved to Berlin in March.", role="Ana", timestamp="2024-04-02T22:30:00Z")
        opened.add("Such loud trams.", role="", role_type="assistant", timestamp="2024-04-03T09:00:00Z")
        yield opened


def lines(context: asof.Context, kind: str) -> list[str]:
    return [item.line for item in context.items if item.kind == kind]


def test_a_context_says_whom_it_is_about_what_holds_what_it_replaced_and_who_said_it(memory: Memory) -> None:
    context = memory.context(HOME, valid_at=NOON)

    assert lines(context, "entity")[0] == '- "Ana" ("Person")'
    [berlin] = (item.fact for item in context.items if item.kind == "fact")
    assert lines(context, "fact") == [f'- "Ana lives in Berlin", since 2024-03-01 [{berlin.uuid[:8]}]']
    [change] = (item for item in context.items if item.kind == "change")
    assert (change.fact.object, change.changed_at) == ("Madrid", berlin.valid_at)
    assert change.other == memory.fact(berlin.uuid)
    assert f'2024-01-10 09:00 to 2024-03-01 [{change.fact.uuid[:8]}]; then "Ana lives in Berlin"' in change.line
    assert [line[:-11] for line in lines(context, "episode")] == [
        '- 2024-01-10 09:00, "Ana": "I live in Madrid."',
        '- 2024-04-02 22:30, "Ana": "I moved to Berlin in March."',
        '- 2024-04-03 09:00, assistant: "Such loud trams."',
    ]
    assert all(item.line in context.text.splitlines() for item in context.items)
    assert str(context) == context.text


def test_times_are_of_the_readers_zone_and_a_day_is_the_same_day_in_each(memory: Memory) -> None:
    berlin = memory.context(HOME, valid_at=NOON, timezone="Europe/Berlin")
    honolulu = memory.context(HOME, valid_at=NOON, timezone="Pacific/Honolulu")

    assert "- 2024-04-03 00:30," in berlin.text
    assert "Times are of Europe/Berlin. As of 2024-06-01 12:00;" in berlin.text
    assert "- 2024-04-02 12:30," in honolulu.text
    for context in (berlin, honolulu):
        assert "since 2024-03-01 [" in context.text
        assert context.valid_at == datetime(2024, 6, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("name", ["Europe", "Nowhere/City", "../UTC", "/etc/localtime", "", "x" * 300, "a\0b"])
def test_a_time_zone_that_is_none_is_refused_by_name(memory: Memory, name: str) -> None:
    with pytest.raises(asof.InvalidInput, match="no time zone of this name") as caught:
        memory.context(HOME, timezone=name)

    assert caught.value.field == "timezone"
    assert len(str(caught.value)) < 120


def test_the_nearest_time_zone_is_named(memory: Memory) -> None:
    with pytest.raises(asof.InvalidInput, match=r"did you mean Europe/Berlin\?"):
        memory.context(HOME, timezone="europe/berlin")


def test_times_at_the_ends_of_the_calendar_are_shown(memory: Memory) -> None:
    memory.state_fact(subject="Ana", relation="works_at", object="Acme", valid_at="0001-01-01T00:00:01Z")
    last = "9999-12-31T23:59:59Z"

    west = memory.context("Where does Ana work?", valid_at=last, timezone="Pacific/Honolulu").text
    east = memory.context("Where does Ana work?", valid_at=last, timezone="Asia/Tokyo").text

    assert "since 0001-01-01 00:00 [" in west
    assert "As of 9999-12-31 23:59;" in east
    assert memory.context(HOME, valid_at=2**62, known_at=2**62).position is None


def test_a_context_is_as_of_both_clocks(memory: Memory) -> None:
    then = memory.context(HOME, valid_at="2024-02-01")
    before = memory.context(HOME, valid_at=NOON, known_at="2020")

    assert [line[:24] for line in lines(then, "fact")] == ['- "Ana lives in Madrid",']
    [ahead] = lines(then, "change")
    assert '"Ana lives in Berlin", since 2024-03-01 [' in ahead
    assert '; until then "Ana lives in Madrid" [' in ahead
    assert before.items == ()
    assert "Nothing is known about this." in before.text
    assert before.position is None


def test_a_context_says_up_to_when_it_knows(memory: Memory) -> None:
    context = memory.context(HOME)

    assert context.position == 3
    assert context.known_at == max(episode.created_at for episode in memory.episodes())
    assert memory.context(HOME, group_id="other").known_at is None


def test_what_the_memory_was_withdrawn_or_told_later_is_not_in_a_context_of_before(memory: Memory) -> None:
    first = memory.context(HOME, valid_at=NOON)
    [berlin] = (item.episode for item in first.items if item.kind == "episode" and "Berlin" in item.episode.content)
    memory.withdraw(berlin.uuid)
    memory.add("I moved to Rome in May.", role="Ana", timestamp="2024-05-20T09:00:00Z")

    now = memory.context(HOME, valid_at=NOON)
    again = memory.context(HOME, valid_at=NOON, known_at=first.known_at)

    assert "Berlin" not in now.text
    assert '"Ana lives in Rome", since 2024-05-01' in now.text
    assert (again.text, again.items, again.left_out) == (first.text, first.items, first.left_out)


def test_a_fact_that_was_retracted_is_a_change_and_as_of_before_it_holds(memory: Memory) -> None:
    [berlin] = memory.facts(about="Ana", relation="lives_in", valid_at=NOON)
    before = memory.context(HOME, valid_at=NOON)
    memory.retract(berlin.uuid)

    context = memory.context(HOME, valid_at=NOON)
    again = memory.context(HOME, valid_at=NOON, known_at=before.known_at)

    [change] = (item for item in context.items if item.kind == "change")
    assert (change.fact.object, change.retracted, change.other) == ("Berlin", True, None)
    assert change.changed_at == context.known_at
    assert re.search(rf'"Ana lives in Berlin", since 2024-03-01 \[{berlin.uuid[:8]}\]; retracted 20', change.line)
    assert [item.fact.object for item in context.items if item.kind == "fact"] == ["Madrid"]
    assert (again.text, again.items) == (before.text, before.items)

    memory.withdraw(memory.episodes()[-1].uuid)
    assert "retracted 20" not in memory.context(HOME, valid_at=NOON).text
    memory.retract(berlin.uuid)
    once_more = memory.context(HOME, valid_at=NOON, known_at=context.known_at)
    assert (once_more.text, once_more.items) == (context.text, context.items)


def test_a_fact_that_was_corrected_or_taken_back_with_its_message_is_no_change(memory: Memory) -> None:
    [berlin] = memory.facts(about="Ana", relation="lives_in", valid_at=NOON)
    memory.state_fact(
        op="correct", ref=berlin.uuid, subject="Ana", relation="lives_in", object="Bern", valid_at="2024-03"
    )
    memory.add("I like tea.", role="Ana", timestamp="2024-04-04T09:00:00Z")
    [tea] = (episode for episode in memory.episodes() if "tea" in episode.content)
    memory.withdraw(tea.uuid)

    context = memory.context("What does Ana like, and where does she live?", valid_at=NOON)

    assert [item.fact.object for item in context.items if item.kind == "change"] == ["Madrid"]
    assert "tea" not in context.text


def test_an_empty_memory_knows_nothing_and_says_so(tmp_path: Path) -> None:
    with asof.open(tmp_path / "data", embedder="none") as opened:
        context = opened.context(HOME)

    assert context.text.splitlines()[-2:] == ["Nothing is known about this.", "</memory>"]
    assert (context.items, context.left_out, context.known_at, context.position) == ((), (), None, 0)


def test_an_erased_group_is_in_no_context(memory: Memory) -> None:
    first = memory.context(HOME, valid_at=NOON)
    memory.erase("default")

    for known_at in (None, first.known_at):
        context = memory.context(HOME, valid_at=NOON, known_at=known_at)
        assert context.items == ()
        assert "Nothing is known about this." in context.text


def test_groups_stay_apart(memory: Memory) -> None:
    memory.add("I live in Oslo.", role="Ana", group_id="other", timestamp="2024-01-10T09:00:00Z")

    assert "Oslo" not in memory.context(HOME, valid_at=NOON).text
    assert "Madrid" not in memory.context(HOME, valid_at=NOON, group_id="other").text
    assert {"Oslo", "Berlin"} <= {
        item.fact.object for item in memory.context(HOME, valid_at=NOON, all_groups=True).items if item.kind == "fact"
    }


def test_the_least_budget_has_something_of_each_part_and_tells_what_was_left_out(memory: Memory) -> None:
    for number in range(30):
        memory.add(f"Ana lives near the station number {number}, I think.", role="Ben")

    context = memory.context(HOME, valid_at=NOON, budget=MIN_BUDGET)

    assert context.tokens == tokens(context.text) <= MIN_BUDGET
    assert {item.kind for item in context.items} >= {"entity", "fact", "episode"}
    assert {left.kind for left in context.left_out} == {"change", "episode"}
    assert "\nLeft out for the budget: 1 change, " in context.text


def test_a_context_has_the_kinds_of_lines_that_are_asked_for(memory: Memory) -> None:
    whole = memory.context(HOME, valid_at=NOON)
    kinds = {item.kind for item in whole.items}

    assert kinds == {"entity", "fact", "change", "episode"}
    for kind in kinds:
        some = memory.context(HOME, valid_at=NOON, kinds=[kind])
        assert [item.line for item in some.items] == lines(whole, kind)
        assert not some.left_out


def test_a_context_has_only_what_is_as_probable_as_is_asked_for(memory: Memory) -> None:
    memory.add("Elephants are grey.", role="Ben")
    whole = [item.fact.probability for item in memory.context(HOME, valid_at=NOON).items if item.kind == "fact"]
    least = max(one for one in whole if one is not None)

    some = memory.context(HOME, valid_at=NOON, min_probability=least)

    told = [item.fact.probability for item in some.items if item.kind in ("fact", "change")]
    assert told
    assert all(one is not None and one >= least for one in told)
    assert len(some.items) < len(memory.context(HOME, valid_at=NOON).items)


@pytest.mark.parametrize("budget", [MIN_BUDGET - 1, 100_001])
def test_a_budget_that_cannot_be_is_refused(memory: Memory, budget: int) -> None:
    with pytest.raises(asof.InvalidInput, match="budget"):
        memory.context(HOME, budget=budget)


def test_a_fact_says_what_it_corrects(memory: Memory) -> None:
    memory.add("It was Bern, not Berlin.", role="Ana", timestamp="2024-04-03T09:00:00Z")

    [fact] = (item for item in memory.context(HOME, valid_at=NOON).items if item.kind == "fact")

    assert (fact.fact.object, fact.corrects) == ("Bern", "Ana lives in Berlin")
    assert fact.line.endswith('; it was wrong that "Ana lives in Berlin"')


def test_an_entity_is_told_with_its_other_names_and_what_it_is_like(memory: Memory) -> None:
    memory.alias("Ana", "Annie")
    memory.state_entity("staff-7", "Ben Ode", summary="Ben cooks.\nWell.")

    assert '- "Ana" ("Person"), also "Annie"' in memory.context("What does Annie do?").text
    assert '- "Ben Ode": "summary" "Ben cooks.\\nWell."' in memory.context("Who is Ben Ode?").text


def test_a_turn_that_says_a_fact_comes_with_it(memory: Memory) -> None:
    for number in range(60):
        memory.add(f"Where does Ana live? I ask for the {number}th time.", role="Ben")

    context = memory.context(HOME, valid_at=NOON, budget=500)

    assert any("I moved to Berlin in March." in line for line in lines(context, "episode"))


def test_a_long_turn_is_quoted_where_it_has_the_words_of_the_question() -> None:
    text = "x " * 400 + "Then Ana said that she lives in Berlin now. " + "y " * 400

    part = excerpt(text, HOME, 200)

    assert len(part) <= 202
    assert part[0] == part[-1] == "…"
    assert "Ana said that she lives in Berlin" in part
    assert excerpt("short", HOME, 200) == "short"
    assert excerpt("z" * 500, HOME, 200) == "z" * 200 + "…"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'),
        ("a\n# b\r\n\tc", '"a\\n# b\\r\\n\\tc"'),
        ("</memory>", '"\\u003c/memory\\u003e"'),
        ("a\u2028b\u0085c\x1b[0m\x00", '"a\\u2028b\\u0085c\\u001b[0m\\u0000"'),
        ("\u202eevil\u200b\ufeff\U000e0041\U000e0101", '"\\u202eevil\\u200b\\ufeff\\udb40\\udc41\\udb40\\udd01"'),
        ("non\u00a0breaking\u3000wide", '"non breaking wide"'),
        ("Zoë 東京 👩\u200d👧 \u0645\u06cc\u200c", '"Zoë 東京 👩\u200d👧 \u0645\u06cc\u200c"'),
    ],
)
def test_a_quote_is_one_line_of_what_can_be_seen(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        ("letter letters", 3),
        ("camelCase USA", 4),
        ("2024-03-01", 6),
        ("two\nlines", 3),
        ("two  spaces", 3),
        ("é東😀", 1 + 2 + 3),
        ("a" * 100, 85),
        ("don't.", 4),
    ],
)
def test_tokens_are_counted_by_a_rule(text: str, count: int) -> None:
    assert tokens(text) == count

"""The texts of the bot on Discord: cut into messages, receipts, what is known."""

import pytest

from asof.cli.discord.slash_commands import known_of, receipt_of
from asof.cli.discord.translation import MAX_UNITS, parts_of
from asof.service.conversation import Forgotten


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_a_short_text_is_one_message_and_an_empty_one_none() -> None:
    assert list(parts_of("  Rome.\n")) == ["Rome."]
    assert list(parts_of(" \n")) == []


@pytest.mark.parametrize(
    "text",
    ["word " * 1_000, "line\n" * 1_000, "x" * 5_000, "🙂" * 3_000, "a " + "x" * 4_000, "🙂 word\n" * 700],
    ids=["words", "lines", "letters", "emoji", "a long word", "all"],
)
def test_a_long_text_is_cut_into_messages_that_discord_takes_and_nothing_is_lost(text: str) -> None:
    parts = list(parts_of(text))

    assert len(parts) > 1
    assert all(0 < units(part) <= MAX_UNITS for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_text_is_cut_where_a_line_ends_rather_than_between_words() -> None:
    first, second = "word " * 300, "word " * 300

    assert list(parts_of(f"{first}\n{second}")) == [first.strip(), second.strip()]


def test_a_receipt_counts_what_was_erased_and_says_whether_files_still_hold_it() -> None:
    own, direct = Forgotten("discord-9-1", 3, erased=True), Forgotten("discord-dm-2", None, erased=True)

    assert "3 messages" in receipt_of([own])
    assert "direct" not in receipt_of([own])
    assert receipt_of([direct]).startswith("Erased: our direct messages, all of them. No file here")
    assert "7 messages" in receipt_of([own, Forgotten("discord-9-2", 4, erased=True), direct])
    assert "Some files still hold it" in receipt_of([own, Forgotten("discord-9-2", 4, erased=False)])
    assert "I knew nothing" in receipt_of([])


def test_what_is_known_is_cut_to_one_message_that_says_how_much_more_there_is() -> None:
    facts = [f"Alice knows somebody whose name is number {number}" for number in range(100)]

    shown = known_of(facts)

    assert units(shown) <= MAX_UNITS
    *listed, more = shown.split("\n")
    assert listed == [f"- {fact}" for fact in facts[: len(listed)]]
    assert more == f"… and {100 - len(listed)} more"
    assert known_of(facts[:2]) == f"- {facts[0]}\n- {facts[1]}"
    assert "nothing" in known_of([])

"""The bot on Discord, against a stand-in for its HTTP API and gateway."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.cli.discord.client import Bot
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof.service.conversation import Outgoing
from asof_streams.conversation import CheckinScheduled
from asof_streams.instants import parse
from discord_bot import running_bot, said, until
from discord_server import (
    ALICE,
    ANOTHER_BOT,
    BOB,
    BOT,
    CATEGORY,
    DIRECT,
    GENERAL,
    GUILD,
    SECRET,
    SHY,
    THREAD,
    FakeDiscord,
    discord_server,
)

HERE = f"discord-{GUILD}-{GENERAL}"
ASIDE = f"discord-{GUILD}-{THREAD}"
PRIVATE = f"discord-dm-{DIRECT}"


@pytest.fixture
def server() -> Iterator[FakeDiscord]:
    with discord_server() as running:
        yield running


def groups(directory: Path) -> set[str]:
    with asof.open(directory) as memory:
        return {group.group_id for group in memory.groups()}


def test_of_one_who_did_not_opt_in_nothing_is_taken(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        message = server.say(ALICE, "I live in Rome.")
        server.edit(message, "I live in Oslo.")
        server.react(ALICE, "🗑️", message)
        server.delete(message)
        bot.handled()
        assert server.sent == []

        called = server.say(ALICE, f"<@{BOT}> I live in Rome.")
        server.say(ALICE, "I live in Rome.", DIRECT)
        bot.handled()

        assert ["/remember-me" in message["content"] for message in server.sent] == [True, True]
        assert server.sent[0]["message_reference"]["message_id"] == called
        assert "did not opt in" in bot.command(ALICE, "what-do-you-know")

    with asof.open(tmp_path) as memory:
        assert list(memory.events(log="messages")) == []


def test_who_opted_in_is_answered_and_remembered(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        assert "I remember what you say" in bot.command(ALICE, "remember-me")
        assert "before" in bot.command(ALICE, "remember-me")

        told = server.say(ALICE, f"<@{BOT}>, I live in Rome.")
        bot.handled()
        server.say(ALICE, "Where do I live?")
        bot.handled()

        assert [message["channel"] for message in server.sent] == [GENERAL, GENERAL]
        assert server.sent[0]["message_reference"]["message_id"] == told
        assert all(message["allowed_mentions"]["parse"] == [] for message in server.sent)
        assert "Rome" in server.sent[1]["content"]
        assert "Rome" in bot.command(ALICE, "what-do-you-know")
        server.say(ALICE, "My goal is to run a marathon")
        bot.handled()
        assert "- a goal of Alice: run a marathon" in bot.command(ALICE, "what-do-you-know")
        answers = [message["content"] for message in server.sent]

    assert said(tmp_path, HERE) == ["I live in Rome.", answers[0], "Where do I live?", answers[1]]


def test_opting_in_is_for_one_guild_or_for_direct_messages(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me", at=DIRECT)
        server.say(ALICE, "I live in Oslo.")
        server.say(ALICE, "I live in Rome.", DIRECT)
        server.say(BOB, "I live in Bern.")
        bot.handled()

    assert groups(tmp_path) == {PRIVATE}


def test_threads_and_direct_messages_have_memories_of_their_own(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        for at in (GENERAL, DIRECT):
            bot.command(ALICE, "remember-me", at=at)
        for at in (GENERAL, THREAD, SECRET, DIRECT):
            server.say(ALICE, "I live in Rome.", at)
        bot.handled()

    assert groups(tmp_path) == {HERE, ASIDE, f"discord-{GUILD}-{SECRET}", PRIVATE}


def test_a_guild_may_share_one_memory(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path, memory="guild") as bot:
        for who in (ALICE, BOB):
            bot.command(who, "remember-me")
        server.say(ALICE, "I live in Rome.", SECRET)
        server.say(BOB, "I live in Oslo.", THREAD)
        server.say(ALICE, "My goal is to run a marathon", SECRET)
        bot.handled()

        assert "Rome" not in bot.command(BOB, "what-do-you-know")  # it was said where Bob may not be
        assert "marathon" not in bot.command(BOB, "what-do-you-know")
        assert "marathon" in bot.command(ALICE, "what-do-you-know")
        assert "Oslo" in bot.command(BOB, "what-do-you-know")

    assert groups(tmp_path) == {f"discord-{GUILD}"}


@pytest.mark.parametrize("excluded", [GENERAL, CATEGORY])
def test_of_an_excluded_channel_its_threads_and_a_category_nothing_is_taken(
    server: FakeDiscord, tmp_path: Path, excluded: int
) -> None:
    with running_bot(server, tmp_path, excluded_channels=[excluded]) as bot:
        bot.command(ALICE, "remember-me", at=SECRET)
        assert "Nothing of this channel" in bot.command(ALICE, "remember-me")
        for at in (GENERAL, THREAD, SECRET):
            server.say(ALICE, f"<@{BOT}> I live in Rome.", at)
        bot.handled()

    assert groups(tmp_path) == {f"discord-{GUILD}-{SECRET}"}


def test_of_bots_webhooks_excluded_roles_and_discord_itself_nothing_is_taken(
    server: FakeDiscord, tmp_path: Path
) -> None:
    with running_bot(server, tmp_path, excluded_roles=[SHY]) as bot:
        for who in (ALICE, BOB, ANOTHER_BOT):
            bot.command(who, "remember-me")
        assert "Nothing of this channel" in bot.command(ALICE, "remember-me", roles=(SHY,))
        server.say(ANOTHER_BOT, "I live in Rome.")
        server.say(ALICE, "I live in Rome.", roles=(SHY,))
        server.say(ALICE, "I live in Rome.", webhook_id=str(BOB))
        server.say(ALICE, "Alice pinned a message.", type=6)
        server.say(ALICE, "")
        server.say(ALICE, f"<@{BOT}>")
        server.say(ALICE, "I live in Rome.", GENERAL + 50)  # a channel that the bot does not know
        bot.handled()

    with asof.open(tmp_path) as memory:
        assert list(memory.events(log="messages")) == []


def test_a_reply_to_the_bot_is_feedback_and_the_wastebasket_takes_it_back(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.say(ALICE, "I live in Rome.")
        bot.handled()
        feedback = server.reply(ALICE, "Shorter, please.", server.sent[0]["id"])
        bot.handled()
        assert server.reactions == [("PUT", feedback, "🫡", "@me")]

        server.react(BOB, "🗑️", feedback)  # it is not Bob's
        server.react(ALICE, "👍", feedback)
        bot.handled()
        assert len(server.reactions) == 1

        server.react(ALICE, "🗑️", feedback)
        bot.handled()

        assert server.reactions[1:] == [("DELETE", feedback, "🫡", "@me"), ("DELETE", feedback, "🗑️", str(ALICE))]

    assert said(tmp_path, HERE) == ["I live in Rome.", server.sent[0]["content"]]


def test_edits_and_deletions_change_what_was_said_and_a_preview_does_not(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        home, job, pet, friend = [
            server.say(ALICE, text)
            for text in ("I live in Rome.", "I work at Acme.", "I have a dog named Max.", "My sister is Eva.")
        ]
        server.preview(home)
        bot.handled()
        count = len(server.sent)

        server.edit(home, "I live in Oslo.")
        server.preview(home)
        server.delete(job)
        server.delete(pet, friend)
        server.delete(GENERAL)  # of a message that was never taken
        bot.handled()

        assert len(server.sent) == count
    answers = {message["content"] for message in server.sent}
    assert [content for content in said(tmp_path, HERE) if content not in answers] == ["I live in Oslo."]
    with asof.open(tmp_path) as memory:
        assert memory.parked() == []


@pytest.mark.parametrize("repeated", [0, 3])
def test_what_was_said_between_two_connections_is_answered_once(
    server: FakeDiscord, tmp_path: Path, repeated: int
) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.say(ALICE, "I live in Rome.")
        bot.handled()

        server.again = repeated
        server.while_away(lambda: server.say(ALICE, "I work at Acme."))
        bot.handled()
        server.ask_to_reconnect()
        server.say(ALICE, "My sister is Eva.")
        bot.handled()

        assert len(server.resumed) == 2
        assert len(server.identified) == bot.connections == 1
        assert len(server.sent) == 3
    mine = [content for content in said(tmp_path, HERE) if content not in {sent["content"] for sent in server.sent}]
    assert mine == ["I live in Rome.", "I work at Acme.", "My sister is Eva."]


def test_a_session_that_discord_ended_is_followed_by_a_new_one(
    server: FakeDiscord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bot, "before_identify_hook", at_once)
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.invalidate()
        bot.do(lambda: until(lambda: bot.connections == 2))
        server.say(ALICE, "I live in Rome.")
        bot.handled()

        assert len(server.identified) == 2
        assert len(server.sent) == 1


def test_an_answer_that_comes_too_fast_is_sent_once_discord_takes_it(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.limits = 2
        server.say(ALICE, "I live in Rome.")
        bot.handled()

        assert server.limits == 0
        assert len(server.sent) == 1


def test_an_answer_that_discord_refuses_is_left_out_and_the_next_one_is_given(
    server: FakeDiscord, tmp_path: Path
) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.refuses = {"POST": (403, 50013)}
        server.say(ALICE, "I live in Rome.")
        bot.handled()
        server.refuses = {}
        server.say(ALICE, "I work at Acme.")
        bot.handled()

        assert len(server.sent) == 1
    assert said(tmp_path, HERE) == ["I live in Rome.", "I work at Acme.", server.sent[0]["content"]]


def test_who_is_forgotten_leaves_no_word_here_and_others_stay(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        for who, at in ((ALICE, GENERAL), (ALICE, DIRECT), (BOB, GENERAL)):
            bot.command(who, "remember-me", at=at)
        home = server.say(ALICE, "I live in Canarywood.")
        bot.handled()
        server.edit(home, "I live in Canaryhill.")
        server.say(ALICE, "I work at Canarymill.", DIRECT)
        bot.handled()
        server.say(BOB, "Bob lives in Oslo. Who lives elsewhere?")
        bot.handled()
        assert any("Canary" in message["content"] for message in server.sent)  # the bot may tell it to Bob

        receipt = bot.command(ALICE, "forget-me")
        assert "Erased: 4 messages" in receipt
        assert "direct messages" in receipt
        server.say(ALICE, "I live in Canarywood.")
        bot.handled()

        assert "did not opt in" in bot.command(ALICE, "what-do-you-know")
        assert "Oslo" in bot.command(BOB, "what-do-you-know")
        assert "I knew nothing" in bot.command(ALICE, "forget-me")

    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Canary" not in kept
    assert str(ALICE).encode() not in (tmp_path / "discord.sqlite").read_bytes()
    assert said(tmp_path, HERE) == ["Bob lives in Oslo. Who lives elsewhere?"]


def test_what_is_older_than_the_policy_keeps_is_erased(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
        server.say(ALICE, "I live in Canarywood.")  # at the time of the stand-in, in January 2025
        bot.handled()
    with running_bot(server, tmp_path, retention_days=30) as bot:
        bot.do(bot.bot.expire)
        assert "believe nothing" in bot.command(ALICE, "what-do-you-know")

    assert b"Canarywood" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_what_the_bot_says_first_is_sent_where_its_group_was_last_spoken_in(
    server: FakeDiscord, tmp_path: Path
) -> None:
    with running_bot(server, tmp_path, memory="guild") as bot:
        bot.command(ALICE, "remember-me")
        server.say(ALICE, "I live in Rome.")
        server.say(ALICE, "I work at Acme.", SECRET)
        bot.handled()
        with ConversationLog(DirectoryLayout(tmp_path), beside=True) as log:
            scheduled = CheckinScheduled(checkin_id="first", answers=0, due_at=parse("2025-01-15T13:30:00Z"))
            assert log.append(f"discord-{GUILD}", 0, [scheduled], parse("2025-01-15T10:30:00Z"))

        for _ in range(2):
            bot.do(bot.bot.check_in)
            bot.handled()

        assert [(message["channel"], "message_reference" in message) for message in server.sent[2:]] == [
            (SECRET, False)
        ]
    assert said(tmp_path, f"discord-{GUILD}")[-1] == server.sent[2]["content"]


def test_a_long_answer_is_several_messages_that_count_as_one(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        answer = Outgoing("reply", "an-answer", "word " * 1_000, str(GENERAL + 1), HERE)
        for _ in range(2):
            bot.do(lambda: bot.bot._send(answer, GENERAL))  # sent again, it is known by its nonce
        first, *others = [message["id"] for message in server.sent]

        assert len(others) == 2
        assert [("message_reference" in message) for message in server.sent] == [True, False, False]
        assert {bot.consents.first_part(str(part)) for part in (first, *others)} == {str(first)}


def test_a_restart_keeps_who_opted_in(server: FakeDiscord, tmp_path: Path) -> None:
    with running_bot(server, tmp_path) as bot:
        bot.command(ALICE, "remember-me")
    with running_bot(server, tmp_path) as bot:
        server.say(ALICE, "I live in Rome.")
        bot.handled()
        assert len(server.sent) == 1


async def at_once(*_: object, initial: bool) -> None:
    """Wait for nothing: before it identifies itself anew, discord.py waits five seconds."""

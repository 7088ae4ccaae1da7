"""Erasing reaches a conversation: no byte of what was said and answered is left in its log and projection either."""

import asyncio
from pathlib import Path

import pytest

import asof
from asof.service.conversation import Incoming
from asof.service.local_conversation import LocalConversation
from asof.settings import Settings
from asof_projections.conversation.store import ConversationStore
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from conversing import NOW, platform, settings_of
from reply_server import replying

ERASED, KEPT = "Qvanished", "Qremains"


def left(folder: Path, word: str) -> list[str]:
    """Return the files that have a word, in whatever case."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return sorted(file.name for file in files if word.lower().encode() in file.read_bytes().lower())


async def talk(settings: Settings, *words: str) -> None:
    """Have a conversation in a group of each word, all of which is of that word: names, ids, questions and answers."""
    async with platform(settings) as here:
        for word in words:
            said = Incoming("message", word, f"{word}-1", f"{word}-author", word, f"I live in {word}town.", NOW)
            [answer] = await here.conversation.take(said)
            await here.conversation.sent(answer, f"{word}-2", NOW)
            goal = Incoming("message", word, f"{word}-3", f"{word}-author", word, f"My goal is to see {word}land.", NOW)
            [noted] = await here.conversation.take(goal)
            await here.conversation.sent(noted, f"{word}-4", NOW)
        await here.learned()


def with_model(directory: Path, url: str, **more: object) -> Settings:
    return settings_of(directory, model_url=url, model_name="m", **more)


def test_an_erasure_by_any_door_leaves_nothing_of_a_conversation(tmp_path: Path) -> None:
    with replying() as server:
        server.says = [f'{{"reply": "{word}!", "next_proactive_in_minutes": 9}}' for word in (ERASED, KEPT)]
        asyncio.run(talk(with_model(tmp_path, server.url), ERASED, KEPT))
    assert "conversation.sqlite" in left(tmp_path, ERASED)
    assert "conversations.db" in left(tmp_path, ERASED)

    with asof.open(tmp_path, embedder="hash") as memory:
        certificate = memory.erase(ERASED)
        assert certificate.done
        assert {one.log: one.held for one in certificate.logs} == {
            "messages": 0,
            "episodic": 0,
            "semantic.main": 0,
            "conversation": 0,
        }
        assert [check for check in memory.verify() if not check.ok] == []

    assert left(tmp_path, f"{ERASED}town") == left(tmp_path, f"{ERASED}!") == left(tmp_path, f"{ERASED}-") == []
    with SqliteLog(tmp_path / "conversation.sqlite") as log:
        assert {record.group for record in log.read()} == {"", KEPT}
    with ConversationStore(tmp_path / "conversations.db") as store:
        assert store.message(ERASED, f"{ERASED}-1") is None
        assert store.message(KEPT, f"{KEPT}-1") is not None
        assert [checkin.group for checkin in store.scheduled()] == [KEPT]


def test_who_is_forgotten_is_gone_with_what_the_bot_said_since_and_others_stay(tmp_path: Path) -> None:
    async def main() -> None:
        with replying() as server:
            server.says = [f"{word}!" for word in (KEPT, ERASED)]
            async with platform(with_model(tmp_path, server.url)) as here:
                for word in (KEPT, ERASED):
                    [answer] = await here.say(f"I live in {word}town.", author=f"{word}-author", name=word)
                    await here.send(answer)
                await here.learned()
                receipt = await here.conversation.forget(here.group, f"{ERASED}-author")
                assert (receipt.messages, receipt.erased) == (2, True)

    asyncio.run(main())

    assert left(tmp_path, ERASED) == []
    assert "conversation.sqlite" in left(tmp_path, f"{KEPT}!")
    with asof.open(tmp_path, embedder="hash") as memory:
        assert [episode.content for episode in memory.episodes(group_id="guild")] == [
            f"I live in {KEPT}town.",
            f"{KEPT}!",
        ]
        assert [check for check in memory.verify() if not check.ok] == []


def test_a_backup_has_the_conversation_and_nothing_is_answered_twice_after_it_is_restored(tmp_path: Path) -> None:
    data, copy, file = tmp_path / "data", tmp_path / "copy", tmp_path / "b"

    async def again() -> None:
        async with platform(settings_of(copy)) as here:
            assert await here.conversation.resume() == []
            told = Incoming("message", KEPT, f"{KEPT}-1", "x", "x", "I live in Oslo.", NOW)
            assert await here.conversation.take(told) == []

    asyncio.run(talk(settings_of(data), KEPT))
    with asof.open(data, embedder="hash") as memory:
        assert "conversation.sqlite" in {log.log for log in memory.backup(file).logs}
    asof.restore(file, data=copy)
    asyncio.run(again())

    with SqliteLog(data / "conversation.sqlite") as before, SqliteLog(copy / "conversation.sqlite") as after:
        assert after.head(before.end()) == before.head(before.end())


def test_an_encrypted_conversation_cannot_be_read_in_a_copy_once_its_group_is_erased(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    data, old = tmp_path / "data", tmp_path / "old.sqlite"
    with replying() as server:
        server.says = [f"{ERASED}!"]
        asyncio.run(talk(with_model(data, server.url, keys=tmp_path / "keys"), ERASED))
    assert [name for name in left(data, f"{ERASED}!") if name.endswith(".sqlite")] == []  # graphs are in clear
    old.write_bytes((data / "conversation.sqlite").read_bytes())

    with asof.open(data, embedder="hash", keys=tmp_path / "keys") as memory:
        assert memory.erase(ERASED).done

    (data / "conversation.sqlite").write_bytes(old.read_bytes())
    with SqliteLog(data / "conversation.sqlite") as log:
        assert {record.group for record in log.read()} == {""}


@pytest.mark.parametrize("is_erased", [False, True])
def test_what_is_not_to_be_kept_is_answered_however_soon_it_is_gone_unless_it_is_erased(
    tmp_path: Path, is_erased: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path, suppress_content=True)) as here:
            assert isinstance(here.conversation, LocalConversation)
            put = here.conversation._put

            async def put_and_learn(message: Message) -> int | None:
                position = await put(message)
                assert position is not None
                await here.service.done(position)  # its content cannot be read any more
                if is_erased:
                    assert await here.service.erase([message.group_id])
                return position

            monkeypatch.setattr(here.conversation, "_put", put_and_learn)
            answers = await here.say("I live in Rome.") + await here.say("My goal is to run.")
            assert len(answers) == (0 if is_erased else 2)

    asyncio.run(main())


def test_what_is_not_to_be_kept_is_answered_and_stands_on_no_log(tmp_path: Path) -> None:
    async def main() -> None:
        with replying() as server:
            server.says = [f"{ERASED}!"] * 2
            async with platform(with_model(tmp_path, server.url, suppress_content=True)) as here:
                assert await here.talk(f"My word is {ERASED}.") == f"{ERASED}!"
                await here.learned()
                assert await here.talk(f"My word is still {ERASED}.") == f"{ERASED}!"
                await here.learned()

    asyncio.run(main())

    assert [name for name in left(tmp_path, f"{ERASED}!") if name.endswith(".sqlite")] == []

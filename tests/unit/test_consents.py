"""The store of who opted in on a chat platform."""

from pathlib import Path

import pytest

from asof.service.consents import Consents


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "discord.sqlite"


def test_nobody_opted_in_until_they_did_and_only_to_that(path: Path) -> None:
    with Consents(path) as consents:
        assert consents.since("201", "900") is None

        assert consents.give("201", "900", 1_000)
        assert not consents.give("201", "900", 2_000)

        assert consents.since("201", "900") == 1_000
        assert consents.since("201", "dm") is None
        assert consents.since("202", "900") is None


def test_what_was_said_once_is_known_after_a_restart(path: Path) -> None:
    with Consents(path) as consents:
        consents.give("201", "900", 1_000)
        consents.spoke("201", "discord-900", "911")
        consents.spoke("202", "discord-900", "912")
        consents.spoke("201", "discord-dm-920", "920")
        consents.split("7", ["8", "9"])

    with Consents(path) as again:
        assert again.since("201", "900") == 1_000
        assert again.channel("discord-900") == "912"
        assert again.channel("discord-901") is None
        assert again.groups("201") == ["discord-900", "discord-dm-920"]
        assert again.groups("203") == []
        assert [again.first_part(message) for message in ("7", "8", "9", "10")] == ["7", "7", "7", "10"]


def test_who_takes_it_back_has_opted_in_to_nothing_and_is_still_found(path: Path) -> None:
    with Consents(path) as consents:
        for scope in ("900", "901", "dm"):
            consents.give("201", scope, 1_000)
        consents.give("202", "900", 1_000)
        consents.spoke("201", "discord-900", "911")

        consents.withdraw("201")

        assert all(consents.since("201", scope) is None for scope in ("900", "901", "dm"))
        assert consents.since("202", "900") == 1_000
        assert consents.groups("201") == ["discord-900"]


def test_who_is_forgotten_leaves_no_byte_in_the_file(path: Path) -> None:
    user, direct = "201201201201201201", "920920920920920920"
    with Consents(path) as consents:
        consents.give(user, "900", 1_000)
        consents.spoke(user, "discord-900", "911")
        consents.spoke(user, f"discord-dm-{direct}", direct)
        consents.spoke("202", "discord-900", "911")
        assert all(found in written(path) for found in (user.encode(), direct.encode()))

        consents.forget(user)

        assert consents.groups(user) == []
        assert consents.channel("discord-900") == "911"
        assert not any(found in written(path) for found in (user.encode(), direct.encode()))


def written(path: Path) -> bytes:
    """Return all that is in the files of a store."""
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_a_new_store_is_readable_by_its_owner_alone(path: Path) -> None:
    Consents(path).close()

    assert path.stat().st_mode & 0o077 == 0

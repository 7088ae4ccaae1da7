"""What the adapter of Discord may take, and whose memory it is."""

import json

import pytest

from asof import settings
from asof.cli.discord.policy import Place, Speaker, group_of, is_open, may_speak
from asof.operations.errors import InvalidInput
from asof.settings import DiscordConfig

IN_THREAD = Place(900, 913, frozenset({911, 910}))
DIRECT = Place(None, 920)


def test_a_channel_has_a_memory_of_its_own_unless_the_guild_shares_one() -> None:
    shared = DiscordConfig(memory="guild")

    assert group_of(Place(900, 911), DiscordConfig()) == "discord-900-911"
    assert group_of(IN_THREAD, DiscordConfig()) == "discord-900-913"
    assert group_of(Place(900, 911), shared) == group_of(IN_THREAD, shared) == "discord-900"


def test_direct_messages_never_share_a_memory_with_a_guild() -> None:
    for memory in ("channel", "guild"):
        assert group_of(DIRECT, DiscordConfig(memory=memory)) == "discord-dm-920"


def test_what_a_user_opts_in_to_is_one_guild_or_direct_messages() -> None:
    assert Place(900, 911).scope == IN_THREAD.scope == "900"
    assert DIRECT.scope == "dm"


@pytest.mark.parametrize("excluded", [913, 911, 910])
def test_a_thread_is_closed_with_itself_its_channel_or_its_category(excluded: int) -> None:
    config = DiscordConfig(excluded_channels=[excluded])

    assert not is_open(IN_THREAD, config)
    assert is_open(Place(900, 914), config)
    assert is_open(DIRECT, config)


def test_a_role_excludes_its_members_and_a_bot_is_always_excluded() -> None:
    config = DiscordConfig(excluded_roles=[950])

    assert may_speak(Speaker(201, {951}), config)
    assert not may_speak(Speaker(201, {950, 951}), config)
    assert not may_speak(Speaker(203, is_bot=True), DiscordConfig())


def test_the_policy_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"memory": "guild", "excluded_channels": ["912345678901234567"], "retention_days": 30}
    monkeypatch.setenv("ASOF_DISCORD", json.dumps(given))

    config = settings.read().discord

    assert (config.memory, config.excluded_channels, config.retention_days) == ("guild", {912345678901234567}, 30)
    assert config.excluded_roles == set()


@pytest.mark.parametrize(
    "given", [{"memory": "user"}, {"retention_days": 0}, {"excluded_channels": ["general"]}, {"exclude_roles": [950]}]
)
def test_a_policy_that_cannot_be_is_refused_without_its_values(given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        settings.read(discord=given)

    assert str(refused.value.field).startswith("discord.")
    assert "general" not in str(refused.value)


def test_the_token_shows_in_no_dump_of_the_settings() -> None:
    token = "MTAx.canary-of-a-token.never-to-be-shown"

    read = settings.read(discord_token=token)

    assert read.discord_token is not None
    assert read.discord_token.get_secret_value() == token
    assert token not in f"{read!r} {read} {read.model_dump()} {read.model_dump_json()}"

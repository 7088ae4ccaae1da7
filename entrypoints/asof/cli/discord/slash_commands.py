"""The slash commands: /remember-me, /forget-me and /what-do-you-know. Only who asks sees the answers."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import discord
from discord import app_commands

from asof.cli.discord import policy, translation
from asof.cli.discord.policy import Place
from asof.operations.errors import AsofError
from asof.service.conversation import Forgotten

if TYPE_CHECKING:
    from asof.cli.discord.client import Bot

_NOT_HERE: Final = "Nothing of this channel, or of members with one of your roles, is remembered."
_WELCOME: Final = (
    "From now on I remember what you say {where}, and answer it. `/what-do-you-know` shows what I believe, "
    "`/forget-me` erases all of it."
)
_AGAIN: Final = "You opted in before. `/forget-me` ends it."
_NOBODY: Final = "I know nothing of you here: you did not opt in. `/remember-me` does that."
_FAILED: Final = "That did not work. Please try again later."
_KEPT_DAYS: Final = " It is erased after {days} days."


def add_commands(bot: "Bot") -> "app_commands.CommandTree[Bot]":
    """Return the tree of commands of a bot, which Discord is told of when it connects."""
    tree = app_commands.CommandTree(bot)
    for name, function, help_text in (
        ("remember-me", _remember, "Let me remember what you say here, and answer it."),
        ("forget-me", _forget, "Erase all that you said to me, everywhere, and remember nothing more."),
        ("what-do-you-know", _known, "See what I believe about you here."),
    ):
        command: app_commands.Command[Any, ..., None] = app_commands.Command(
            name=name,
            description=help_text,
            callback=function,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )
        tree.add_command(command)
    return tree


async def _remember(interaction: "discord.Interaction[Bot]") -> None:
    """Opt in, to the guild with all its channels, or to direct messages."""
    bot = interaction.client
    place = place_of(interaction)
    if place is None or not bot.allows(place, translation.speaker_of(interaction.user)):
        await _answer(interaction, _NOT_HERE)
        return
    is_new = bot.consents.give(str(interaction.user.id), place.scope, time.time_ns() // 1_000)
    welcome = _WELCOME.format(where="here" if place.guild is None else "in the channels that I can read here")
    days = bot.config.retention_days
    kept = "" if days is None else _KEPT_DAYS.format(days=days)
    await _answer(interaction, welcome + kept if is_new else _AGAIN)


async def _forget(interaction: "discord.Interaction[Bot]") -> None:
    """Erase all of who asks, whatever they opted in to now."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    try:
        receipts = await interaction.client.forget(interaction.user.id)
    except AsofError:
        await interaction.edit_original_response(content=_FAILED)
        raise
    await interaction.edit_original_response(content=receipt_of(receipts))


async def _known(interaction: "discord.Interaction[Bot]") -> None:
    """Show what is believed of who asks, where they ask."""
    bot, place = interaction.client, place_of(interaction)
    user = str(interaction.user.id)
    if place is None or bot.consents.since(user, place.scope) is None:
        await _answer(interaction, _NOBODY)
        return
    await interaction.response.defer(ephemeral=True, thinking=True)
    group = policy.group_of(place, bot.config)
    facts = await bot.conversation.known(group)
    if place.guild is not None and bot.config.memory == "guild":  # it may be of channels that who asks cannot see
        name = interaction.user.display_name.casefold()
        facts = tuple(fact for fact in facts if name in map(str.casefold, fact.names))
    await interaction.edit_original_response(content=known_of([fact.sentence for fact in facts]))


def place_of(interaction: "discord.Interaction[Bot]") -> Place | None:
    """Return where a command was given."""
    if interaction.channel is None or interaction.channel_id is None:
        return None
    if interaction.guild_id is None:
        return Place(None, interaction.channel_id)
    return translation.place_of(interaction.client.get_channel(interaction.channel_id))


async def _answer(interaction: "discord.Interaction[Bot]", text: str) -> None:
    await interaction.response.send_message(text, ephemeral=True)


def receipt_of(receipts: Sequence[Forgotten]) -> str:
    """Return the receipt of an erasure in words."""
    if not receipts:
        return "I knew nothing of you, and will remember nothing."
    messages = sum(receipt.messages or 0 for receipt in receipts)
    whole = sum(receipt.messages is None for receipt in receipts)
    what = [f"{messages} messages, yours and mine since then"] if messages or not whole else []
    what += ["our direct messages, all of them"] * bool(whole)
    done = all(receipt.erased for receipt in receipts)
    files = "No file here holds any of it." if done else "Some files still hold it, and will not in a while."
    return f"Erased: {' and '.join(what)}. {files} I will remember nothing more of what you say."


def known_of(facts: Sequence[str]) -> str:
    """Return what is believed in words, as much of it as one message can have."""
    if not facts:
        return "I believe nothing of you here yet."
    shown: list[str] = []
    for fact in facts:
        more = f"… and {len(facts) - len(shown)} more"
        if len("\n".join([*shown, f"- {fact}", more]).encode("utf-16-le")) > 2 * translation.MAX_UNITS:
            return "\n".join([*shown, more])
        shown.append(f"- {fact}")
    return "\n".join(shown)

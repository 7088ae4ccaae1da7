"""Encryption of topics: chosen when they are made, kept in the control topic, and found by whoever opens them."""

import asyncio
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from secrets import token_hex

from asof.kafka.control import Control
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import expect_outside
from asof.settings import Settings
from asof_projections.control import ControlState
from asof_streams.ciphers import cipher
from asof_streams.control import EncryptionChosen
from asof_streams.errors import InvalidInput, KeysUnavailable, TopicUnfit
from asof_streams.events import Event
from asof_streams.files import locked_folder, make_folder
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics, create
from asof_streams.key_store import KeyPlace, key_place, set_key_place
from asof_streams.key_tree import KEY_BYTES


def choose_encryption(connection: Connection, topics: Topics, folder: Path) -> None:
    """Let the content of topics be encrypted from now on, with keys in a store; it may be so already.

    InvalidInput: a message was sent or a worker begun already, or the package that encrypts is missing.
    """
    cipher(bytes(KEY_BYTES))
    asyncio.run(create(connection, topics, [], control=True))
    with closing(Client(connection)) as client:

        def decision(state: ControlState) -> Event | None:
            if state.memory is not None:
                return None
            derived = [topics.episodic, *map(topics.semantic, topics.generations_of(client.topics()))]
            there = [(name, n) for name in (topics.messages, *derived) for n in range(client.partitions(name))]
            if any(client.ends(there).values()):
                raise InvalidInput(
                    f"{topics.prefix}.* are used already, and not encrypted: --prefix gives other topics", "encrypted"
                )
            place = KeyPlace(folder.absolute(), token_hex(16))
            make_folder(place.folder / place.memory)
            return EncryptionChosen(memory=place.memory)

        control = Control(client, topics)
        control.decide(decision)
        _place(topics, control.state, folder)


def find_keys(
    client: Client, topics: Topics, folder: Path | None, *, optional: bool = False, writes: bool = False
) -> KeyPlace | None:
    """Return where the keys of topics are; None: their content is not encrypted.

    folder: of the store of keys, as the settings have it; optional: whether it may be there for nothing; writes: if
    the topics are to be written to. InvalidInput: there is none, and content is encrypted, or the other way round.
    KeysUnavailable: the store has not these keys. TopicUnfit: the topics are being made of others; or they are to be
    written to, and were rewritten to others, which are there.
    """
    state = Control(client, topics).catch_up()
    if writes and state.replaced is not None and client.partitions(Topics(state.replaced).control):
        raise TopicUnfit(
            f"{topics.prefix}.* were rewritten to {state.replaced}.*, where work goes on: set ASOF_KAFKA_PREFIX to"
            f" {state.replaced}. To go back to these, delete the topics {state.replaced}.*"
        )
    if state.begun is not None and state.is_incomplete:
        raise TopicUnfit(
            f"{topics.prefix}.* are being made of {state.begun.prefix}.*, and that is not done. Run: asof topics"
            f" rewrite --prefix {state.begun.prefix} --to {topics.prefix}"
        )
    return None if optional and state.memory is None else _place(topics, state, folder)


def keep_keys(directories: Iterable[DirectoryLayout], place: KeyPlace | None) -> None:
    """Let directories that copy topics know where the keys are, before anything in them is opened.

    TopicUnfit: they are copies of other topics. InvalidInput: the store of keys is inside of one of them.
    """
    for places in directories:
        kept = key_place(places.keys)
        if kept == place:
            continue
        if kept is not None and (place is None or kept.memory != place.memory):
            raise TopicUnfit(
                f"{places.root} is a copy of topics that are encrypted otherwise: restore the control topic, or delete"
                " the directory to begin again with what is there"
            )
        if place is not None:
            expect_outside(place.folder, places)
            if kept is None and places.messages.exists():
                raise TopicUnfit(f"{places.root} was made of other topics, or of none: choose another directory")
            make_folder(places.root)
            with locked_folder(places.root):
                set_key_place(places.keys, place)


def keys_of(settings: Settings) -> Path | None:
    """Return the folder of the store of keys: that of the settings, or the one that the directory was used with."""
    kept = key_place(DirectoryLayout(settings.data).keys) if settings.keys is None else None
    return settings.keys if kept is None else kept.folder


def _place(topics: Topics, state: ControlState, folder: Path | None) -> KeyPlace | None:
    if state.memory is None:
        if folder is not None:
            raise InvalidInput(
                f"the content of {topics.prefix}.* is not encrypted: leave it out, or make other topics with"
                " asof topics create --encrypted --prefix NAME",
                "keys",
            )
        return None
    if folder is None:
        raise InvalidInput(
            f"the content of {topics.prefix}.* is encrypted: say with ASOF_KEYS where its store of keys is", "keys"
        )
    place = KeyPlace(folder.absolute(), state.memory)
    if not place.is_there:
        raise KeysUnavailable(
            f"{folder} has no keys of {topics.prefix}.*, whose content is encrypted: put the store of keys back, or say"
            " with ASOF_KEYS where it is"
        )
    return place

"""A stand-in for Discord: its HTTP API and its gateway on this machine, with payloads as Discord documents them.

It runs in a thread of its own. A test tells it what people do; `sent`, `reactions` and `answers` are what the bot did.
"""

import asyncio
import json
import zlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Thread
from typing import Any, Final

import discord
import pytest
import yarl
from aiohttp import WSMsgType, web

TOKEN: Final = "MTAx.canary-of-a-token.never-to-be-shown"
IDS: Final = 100_000_000_000_000_000  # an id has eighteen digits
BOT, ALICE, BOB, ANOTHER_BOT = IDS + 101, IDS + 201, IDS + 202, IDS + 203
GUILD, CATEGORY, GENERAL, SECRET, THREAD, DIRECT = IDS + 900, IDS + 910, IDS + 911, IDS + 912, IDS + 913, IDS + 920
SHY, EVERYONE = IDS + 950, GUILD  # roles
_NAMES: Final = {ALICE: "Alice", BOB: "Bob", ANOTHER_BOT: "Robo", BOT: "asof"}
_START_MS: Final = 1_736_937_000_000  # 2025-01-15T10:30:00Z
_DISCORD_MS: Final = 1_420_070_400_000  # when the ids of Discord begin


def instant(message: int) -> str:
    """Return the time in an id, as Discord writes it."""
    moment = datetime.fromtimestamp(((message >> 22) + _DISCORD_MS) / 1_000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "000+00:00")


def user(number: int) -> dict[str, Any]:
    name = _NAMES.get(number, f"user{number}")
    return {
        "id": str(number),
        "username": name.lower(),
        "discriminator": "0",
        "global_name": name,
        "avatar": None,
        "bot": number in (BOT, ANOTHER_BOT),
        "public_flags": 0,
    }


def member(*roles: int) -> dict[str, Any]:
    return {
        "roles": [str(role) for role in roles],
        "nick": None,
        "avatar": None,
        "joined_at": "2024-01-01T00:00:00.000000+00:00",
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
    }


def channel(number: int, kind: int, name: str, parent: int | None = None) -> dict[str, Any]:
    return {
        "id": str(number),
        "type": kind,
        "guild_id": str(GUILD),
        "name": name,
        "position": 0,
        "permission_overwrites": [],
        "parent_id": None if parent is None else str(parent),
        "nsfw": False,
        "topic": None,
        "last_message_id": None,
        "rate_limit_per_user": 0,
    }


def role(number: int, name: str) -> dict[str, Any]:
    return {
        "id": str(number),
        "name": name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0,
        "permissions": "0",
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def thread(number: int, parent: int) -> dict[str, Any]:
    return {
        "id": str(number),
        "type": 11,
        "guild_id": str(GUILD),
        "name": "a thread",
        "parent_id": str(parent),
        "owner_id": str(ALICE),
        "last_message_id": None,
        "message_count": 0,
        "member_count": 1,
        "rate_limit_per_user": 0,
        "thread_metadata": {
            "archived": False,
            "auto_archive_duration": 1440,
            "archive_timestamp": "2024-01-01T00:00:00.000000+00:00",
            "locked": False,
        },
    }


def guild() -> dict[str, Any]:
    return {
        "id": str(GUILD),
        "name": "A guild",
        "icon": None,
        "splash": None,
        "owner_id": str(BOB),
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": [role(EVERYONE, "@everyone"), role(SHY, "shy")],
        "emojis": [],
        "stickers": [],
        "features": [],
        "mfa_level": 0,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "premium_tier": 0,
        "preferred_locale": "en-US",
        "nsfw_level": 0,
        "joined_at": "2024-01-01T00:00:00.000000+00:00",
        "large": False,
        "unavailable": False,
        "member_count": 3,
        "voice_states": [],
        "members": [{**member(), "user": user(BOT)}],
        "channels": [
            channel(CATEGORY, 4, "talk"),
            channel(GENERAL, 0, "general", CATEGORY),
            channel(SECRET, 0, "secret"),
        ],
        "threads": [thread(THREAD, GENERAL)],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def answered(body: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return an answer, whose type Discord names without a character set."""
    return web.Response(body=json.dumps(body).encode(), status=status, headers=headers, content_type="application/json")


class FakeDiscord:
    """Discord for one bot in one guild."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []  # the bodies of the messages that the bot posted, with their ids
        self.reactions: list[tuple[str, int, str, str]] = []  # PUT or DELETE, message, emoji, whose
        self.answers: list[dict[str, Any]] = []  # to commands, as who asked sees them
        self.commands: list[str] = []
        self.identified: list[dict[str, Any]] = []
        self.resumed: list[dict[str, Any]] = []
        self.limits = 0  # the number of posts that are refused at first: too many
        self.refuses: dict[str, tuple[int, int]] = {}  # by method, the status and the code with which it is refused
        self.closes: int | None = None  # the code with which a bot that identifies itself is turned away
        self.again = 0  # how many events a resumed session gets once more
        self._messages: dict[int, dict[str, Any]] = {}
        self._nonces: dict[str, dict[str, Any]] = {}
        self._log: list[dict[str, Any]] = []  # what the session was told, each with its number
        self._socket: web.WebSocketResponse | None = None
        self._zlib: Any = None
        self._count = 0
        self.start_ms = _START_MS  # of its clock, which goes on by a second with each id
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="discord")
        self.port = 0

    # What people do

    def say(self, author: int, text: str, at: int = GENERAL, *, roles: tuple[int, ...] = (), **more: Any) -> int:
        """Say something; return the id of the message."""
        return int(self._do(self._say(author, text, at, roles, more)))

    def reply(self, author: int, text: str, to: int, at: int = GENERAL) -> int:
        """Reply to a message; return the id of the reply."""
        reference = {"type": 0, "message_id": str(to), "channel_id": str(at)}
        return self.say(author, text, at, type=19, message_reference=reference, referenced_message=None)

    def edit(self, message: int, text: str) -> None:
        """Change the words of a message."""
        edited = self._messages[message] | {"content": text, "edited_timestamp": instant(self._id())}
        self._messages[message] = edited
        self._do(self._dispatch("MESSAGE_UPDATE", edited))

    def preview(self, message: int) -> None:
        """Add the preview of a link to a message, as Discord itself does."""
        embed = {"type": "link", "url": "https://example.test/", "title": "A page"}
        self._do(self._dispatch("MESSAGE_UPDATE", self._messages[message] | {"embeds": [embed]}))

    def delete(self, *messages: int, at: int = GENERAL) -> None:
        """Delete messages: one alone, or several at once."""
        where = {"channel_id": str(at), **({} if at == DIRECT else {"guild_id": str(GUILD)})}
        if len(messages) == 1:
            self._do(self._dispatch("MESSAGE_DELETE", {"id": str(messages[0]), **where}))
        else:
            self._do(self._dispatch("MESSAGE_DELETE_BULK", {"ids": [str(one) for one in messages], **where}))

    def react(self, who: int, emoji: str, message: int, at: int = GENERAL, *, roles: tuple[int, ...] = ()) -> None:
        """Put a reaction on a message."""
        told = {
            "user_id": str(who),
            "channel_id": str(at),
            "message_id": str(message),
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        }
        if at != DIRECT:
            told |= {"guild_id": str(GUILD), "member": {**member(*roles), "user": user(who)}}
        self._do(self._dispatch("MESSAGE_REACTION_ADD", told))

    def command(self, who: int, name: str, at: int = GENERAL, *, roles: tuple[int, ...] = ()) -> None:
        """Give a slash command."""
        number = self._id()
        told = {
            "id": str(number),
            "application_id": str(BOT),
            "type": 2,
            "token": f"interaction-{number}",
            "version": 1,
            "locale": "en-US",
            "data": {"id": "1", "name": name, "type": 1},
            "channel_id": str(at),
            "app_permissions": "0",
            "entitlements": [],
            "attachment_size_limit": 1_000_000,
        }
        if at == DIRECT:
            told |= {"channel": {"id": str(at), "type": 1}, "user": user(who), "context": 1}
            told["authorizing_integration_owners"] = {"0": "0"}
        else:
            told |= {"channel": channel(at, 0, "general"), "guild_id": str(GUILD), "context": 0}
            told["member"] = {**member(*roles), "user": user(who), "permissions": "0"}
            told["authorizing_integration_owners"] = {"0": str(GUILD)}
        self._do(self._dispatch("INTERACTION_CREATE", told))

    # What happens to the connection

    def drop(self, code: int = 4000) -> None:
        """Close the connection; the bot may resume its session."""
        self._do(self._drop(code))

    def ask_to_reconnect(self) -> None:
        """Ask the bot to connect anew, as before a server of Discord's goes away."""
        self._do(self._tell({"op": 7, "d": None}))

    def invalidate(self) -> None:
        """End the session, so that the bot has to identify itself anew."""
        self._do(self._tell({"op": 9, "d": False}))

    def stop_listening(self) -> None:
        """Take no more connections."""
        self._do(self._runner.cleanup())

    def while_away(self, happens: Callable[[], object]) -> None:
        """Let something happen between a lost connection and the next one."""
        self._do(self._lose())
        happens()
        self.drop()

    # The server

    @property
    def told(self) -> int:
        """How many events this session was told, or will be once it is resumed."""
        return len(self._log)

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v10"

    @property
    def gateway(self) -> str:
        return f"ws://127.0.0.1:{self.port}/gateway"

    def start(self) -> None:
        self._thread.start()
        self._do(self._serve())

    def stop(self) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _serve(self) -> None:
        app = web.Application()
        api = "/api/v10"
        app.router.add_get("/gateway", self._on_gateway)
        app.router.add_get(f"{api}/users/@me", self._on_me)
        app.router.add_get(f"{api}/oauth2/applications/@me", self._on_application)
        app.router.add_put(f"{api}/applications/{{app}}/commands", self._on_commands)
        app.router.add_post(f"{api}/channels/{{channel}}/messages", self._on_message)
        reaction = f"{api}/channels/{{channel}}/messages/{{message}}/reactions/{{emoji}}/{{who}}"
        app.router.add_put(reaction, self._on_reaction)
        app.router.add_delete(reaction, self._on_reaction)
        app.router.add_post(f"{api}/interactions/{{id}}/{{token}}/callback", self._on_callback)
        app.router.add_patch(f"{api}/webhooks/{{app}}/{{token}}/messages/@original", self._on_original)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        [(_, self.port)] = self._runner.addresses

    async def _end(self) -> None:
        await self._drop(1001)
        await self._runner.cleanup()

    def _id(self) -> int:
        self._count += 1
        return (self.start_ms - _DISCORD_MS + 1_000 * self._count) << 22

    # HTTP

    async def _on_me(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bot {TOKEN}":
            return answered({"message": "401: Unauthorized", "code": 0}, status=401)
        return answered({**user(BOT), "verified": True, "mfa_enabled": True, "flags": 0, "email": None})

    async def _on_application(self, _: web.Request) -> web.Response:
        return answered(
            {
                "id": str(BOT),
                "name": "asof",
                "icon": None,
                "description": "",
                "bot_public": False,
                "bot_require_code_grant": False,
                "owner": user(BOB),
                "verify_key": "0",
                "team": None,
                "flags": 1 << 19,
            }
        )

    async def _on_commands(self, request: web.Request) -> web.Response:
        commands = await request.json()
        self.commands = [command["name"] for command in commands]
        made = [{"id": str(self._id()), "application_id": str(BOT), "version": "1", **one} for one in commands]
        return answered(made)

    async def _on_message(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        body, where = await request.json(), int(request.match_info["channel"])
        if body.get("enforce_nonce") and body["nonce"] in self._nonces:
            return answered(self._nonces[body["nonce"]])
        if not 1 <= len(body["content"]) <= 2_000:
            return answered({"message": "Invalid Form Body", "code": 50035}, status=400)
        made = self._message(BOT, body["content"], where, (), {"nonce": body.get("nonce")})
        self._nonces[body.get("nonce", made["id"])] = made
        self.sent.append({**body, "id": int(made["id"]), "channel": where})
        await self._dispatch("MESSAGE_CREATE", made)
        return answered({name: made[name] for name in made if name not in ("guild_id", "member")})

    async def _on_reaction(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        found = request.match_info
        self.reactions.append((request.method, int(found["message"]), found["emoji"], found["who"]))
        return web.Response(status=204)

    async def _on_callback(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["type"] == 4:  # a message at once; otherwise who asked is asked to wait
            self.answers.append(body["data"])
        number = request.match_info["id"]
        return answered({"interaction": {"id": number, "type": 2, "response_message_ephemeral": True}})

    async def _on_original(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.answers.append(body)
        return answered(self._message(BOT, body["content"], GENERAL, (), {"flags": 64}))

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.limits:
            self.limits -= 1
            told = {"message": "You are being rate limited.", "retry_after": 0.01, "global": False}
            headers = {"Retry-After": "1", "Via": "1.1 google", "X-RateLimit-Scope": "user"}
            return answered(told, status=429, headers=headers)
        if request.method in self.refuses:
            status, code = self.refuses[request.method]
            return answered({"message": "Refused", "code": code}, status=status)
        return None

    # The gateway

    async def _on_gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._zlib = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None
        self._socket = socket
        await self._tell({"op": 10, "d": {"heartbeat_interval": 41_250}})
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await self._on_payload(socket, json.loads(message.data))
        return socket

    async def _on_payload(self, socket: web.WebSocketResponse, payload: dict[str, Any]) -> None:
        match payload["op"], payload["d"]:
            case 1, _:
                await self._tell({"op": 11, "d": None})
            case 2, identity:
                if self.closes is not None:
                    await socket.close(code=self.closes)
                    return
                self._log.clear()
                self.identified.append(identity)
                await self._dispatch("READY", self._ready())
                await self._dispatch("GUILD_CREATE", guild())
            case 6, session:
                self.resumed.append(session)
                last = session["seq"] - self.again
                missed, self.again = [told for told in self._log if told["s"] > last], 0
                for told in missed:
                    await self._tell(told)
                await self._dispatch("RESUMED", {"_trace": []})
            case 3, _:
                pass
            case other, _:
                await socket.close(code=4001, message=f"unknown opcode {other}".encode())

    def _ready(self) -> dict[str, Any]:
        return {
            "v": 10,
            "user": user(BOT),
            "guilds": [{"id": str(GUILD), "unavailable": True}],
            "session_id": f"session-{len(self.identified)}",
            "resume_gateway_url": self.gateway,
            "application": {"id": str(BOT), "flags": 1 << 19},
        }

    async def _say(self, author: int, text: str, at: int, roles: tuple[int, ...], more: dict[str, Any]) -> int:
        told = self._message(author, text, at, roles, more)
        await self._dispatch("MESSAGE_CREATE", told)
        return int(told["id"])

    def _message(self, author: int, text: str, at: int, roles: tuple[int, ...], more: dict[str, Any]) -> dict[str, Any]:
        number = self._id()
        told = {
            "id": str(number),
            "channel_id": str(at),
            "author": user(author),
            "content": text,
            "timestamp": instant(number),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [{**user(BOT), "member": member()}] if f"<@{BOT}>" in text else [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
            "components": [],
            **({} if at == DIRECT else {"guild_id": str(GUILD), "member": member(*roles)}),
            **more,
        }
        self._messages[number] = told
        return told

    async def _dispatch(self, name: str, data: dict[str, Any]) -> None:
        self._log.append({"op": 0, "t": name, "s": len(self._log) + 1, "d": data})
        await self._tell(self._log[-1])

    async def _tell(self, payload: dict[str, Any]) -> None:
        if self._socket is None or self._socket.closed or self._lost:
            return
        text = json.dumps(payload)
        if self._zlib is None:
            await self._socket.send_str(text)
        else:
            data = self._zlib.compress(text.encode()) + self._zlib.flush(zlib.Z_SYNC_FLUSH)
            await self._socket.send_bytes(data)

    _lost = False

    async def _lose(self) -> None:
        self._lost = True

    async def _drop(self, code: int) -> None:
        socket, self._socket, self._lost = self._socket, None, False
        if socket is not None:
            await socket.close(code=code)


@contextmanager
def discord_server() -> Iterator[FakeDiscord]:
    """Run a stand-in to which discord.py of this process connects."""
    server = FakeDiscord()
    server.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(discord.http.Route, "BASE", server.http)
            patch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway))
            yield server
    finally:
        server.stop()

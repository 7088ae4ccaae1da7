"""One fixed log, and what a memory makes of it: as a module, and as a child process in another environment.

    python replay.py DIRECTORY [forbid | YEARS]

prints the fingerprint. `forbid`: nothing may look at a clock, nor leave anything to chance. YEARS shifts the clock.
"""

import hashlib
import logging
import random
import sys
import time
import uuid
from datetime import date, datetime
from pathlib import Path
from typing import Any

from asof.runtime.layout import DirectoryLayout
from asof.runtime.writer import Writer, open_writer
from asof.settings import Settings
from asof_streams.ids import episode_id
from asof_streams.instants import DAY
from asof_streams.messages import (
    AnyMessage,
    EntityStatement,
    FactStatement,
    IdentityStatement,
    Message,
    WithdrawalRequest,
)

START = 1_577_836_800_000_000  # 2020-01-01
MINUTE = DAY // 1_440

CHAT = [
    ("Ana", "I moved to Berlin in March. My sister Eva works at SAP."),
    ("Ben", "I live in Lisbon since 2015 and I love chess."),
    ("Ana", "I no longer eat meat. Next month I'll be in Oslo."),
    ("Ben", "Ana and I are colleagues at Acme. She also likes Kafka."),
    ("", "George Orwell, also known as Eric Blair, wrote Animal Farm."),
    ("Ana", "It was Munich, not Berlin. I left Acme last week."),
    ("Ben", "I married Çelik Ünal in Straße last summer 🎉."),
    ("Ana", "We decided to use Postgres on 2021-03-04."),
]
FACTS: list[dict[str, Any]] = [
    {"ref": "a", "relation": "lives_in", "object": "Madrid", "valid_at": 0},
    {"ref": "b", "relation": "lives_in", "object": "Berlin", "valid_at": 400},
    {"relation": "likes", "object": "Tea"},
    {"relation": "lives_in", "object": "Paris", "valid_at": 200, "invalid_at": 300, "said_at": 250},
    {"op": "end", "ref": "b", "invalid_at": 700},
    {"relation": "lives_in", "object": "Madrid", "valid_at": 100},
    {"op": "correct", "ref": "a", "relation": "lives_in", "object": "Munich", "valid_at": 10},
    {"op": "retract", "ref": "nobody"},
    {"relation": "also_known_as", "object": "Annie", "ref": "same"},
    {"op": "end", "relation": "likes", "invalid_at": 500},
    {"relation": "likes", "object": "Coffee", "valid_at": 300},
    {"op": "retract", "ref": "same"},
    {"op": "retract", "ref": "b"},
]


GONE = range(2, 30, 3)  # positions of messages whose episodes are withdrawn
EVA = "Eva Sole lives in Rome."
STATED: list[dict[str, Any]] = [
    {"op": "merge", "entity": "Annie", "into": "Ana"},
    {"op": "merge", "entity": "eva-one", "into": "Ben"},  # in group two it is of another group
    {"op": "alias", "entity": "Ben", "name": "Benny"},
    {"op": "alias", "entity": "Ana", "name": "Evi"},
    {"op": "split", "entity": "Ana", "into": "Annie"},
    {"op": "unalias", "entity": "Ana", "name": "Evi"},
    {"op": "split", "merge_id": "nobody"},
]
READ_OTHERWISE: list[dict[str, Any]] = [
    {"content": "Maria owns the scheduler. The migration is assigned to Tom.", "schema_id": "agent_memory_v1"},
    {"content": "<graphiti_episode kind='task'>The migration is assigned to Eva.</graphiti_episode>"},
    {"content": "I moved to Rome. My brother Tom lives in Oslo.", "excluded_entity_types": ["Location"]},
    {
        "content": "My brother Tom lives in Oslo.",
        "relation_type_map": [{"source": "Person", "target": "Location", "relations": ["lives_in"]}],
    },
    {"content": "She lives in Vienna.", "previous_episode_ids": []},
    {"content": "She lives in Prague.", "previous_episode_ids": ["nobody"]},
    {"content": "I love Kafka.", "schema_id": "unheard"},
    {"content": "I love opera.", "update_communities": True},
]


def messages() -> list[tuple[AnyMessage, int]]:
    """Chat and structured facts of two groups, by turns, each with when it was recorded."""
    said: list[AnyMessage] = []
    for group in ("one", "two"):
        for number in range(len(FACTS)):
            role, content = CHAT[(number * 3) % len(CHAT)]
            at = START + number * 30 * DAY
            fields = {"group_id": group, "role": role, "role_type": "user", "content": content, "timestamp": at}
            said.append(Message(**fields, update_communities=number % 4 > 0))
            stated = FACTS[number % len(FACTS)]
            times = {name: START + stated[name] * DAY for name in stated if name.endswith("_at")}
            said.append(FactStatement(**({"group_id": group, "subject": "Ana"} | stated | times)))
        for number, line in enumerate(READ_OTHERWISE):
            at = START + (500 + number) * DAY
            said.append(Message(group_id=group, role="Ana", role_type="user", timestamp=at, **line))
    told = said[::2] + said[1::2]
    told += [WithdrawalRequest(group_id=told[at].group_id, episode_id=episode_id(told[at].group_id, at)) for at in GONE]
    for group in ("one", "two"):
        told.append(EntityStatement(group_id=group, entity_id=f"eva-{group}", name="Eva Sole", summary="A sister."))
        told += [Message(group_id=group, role="Ana", role_type="user", content=c) for c in ("He likes Tea.", EVA)]
        told += [IdentityStatement(group_id=group, **stated) for stated in STATED]
        told.append(Message(group_id=group, role="Ana", role_type="user", content="Benny and Evi live in Rome."))
    return [(message, START + place * MINUTE) for place, message in enumerate(told)]


def write(data: Path) -> Writer:
    return open_writer(DirectoryLayout(data), Settings(data=data, embedder="none"))


def tell(writer: Writer, told: list[tuple[AnyMessage, int]]) -> None:
    """Put messages on the log, without making anything of them yet."""
    writer.messages.accept([m for m, _ in told], clock=0, recorded=[at for _, at in told])


def fingerprint(writer: Writer, generation: str = "main") -> str:
    """Return a hash over everything that both derived logs and their stores hold, but for the writer's terms."""
    whole = hashlib.sha256()
    for log in (writer.episodic, writer.generations[generation].layer.log):
        for record in log.read():
            whole.update(repr(record._replace(term=0, event=record.event.encode())).encode())
    whole.update(writer.episodes.digest().encode())
    beliefs: Any = writer.generations[generation].store  # its port asks for no digest
    whole.update(beliefs.digest().encode())
    return whole.hexdigest()


def _raise(*_: object, **__: object) -> Any:
    raise AssertionError("a handler looked at a clock, or left something to chance")


class _NoClock(datetime):
    now = utcnow = today = classmethod(_raise)


class _NoDay(date):
    today = classmethod(_raise)


def forbid_clocks() -> None:
    """Let every clock and every die raise, also where one was imported by name. No log is written: it has dates."""
    logging.disable()
    for module, names in ((time, ("time", "time_ns", "localtime", "gmtime")), (uuid, ("uuid1", "uuid4"))):
        for name in names:
            setattr(module, name, _raise)
    for name in ("random", "randint", "choice", "shuffle", "sample", "getrandbits", "uniform"):
        setattr(random, name, _raise)
    for name, module in list(sys.modules.items()):
        if name.startswith("asof"):
            for held, value in list(vars(module).items()):
                if value is datetime or value is date:
                    setattr(module, held, _NoClock if value is datetime else _NoDay)


def main() -> None:
    data, how = Path(sys.argv[1]), sys.argv[2]
    writer = write(data)
    tell(writer, messages())
    if how == "forbid":
        forbid_clocks()
    else:
        real, shift = time.time, int(how) * 31_556_952
        time.time = lambda: real() + shift
        time.time_ns = lambda: int(time.time() * 1e9)
    writer.process(flush=True)
    print(fingerprint(writer))  # noqa: T201
    writer.close()


if __name__ == "__main__":
    main()

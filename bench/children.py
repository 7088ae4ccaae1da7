"""What is measured in a process of its own, so that its memory and its start are its own: says JSON on stdout."""

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import asof
from bench.figures import peak_megabytes
from bench.growth_steps import ask, grow


def import_(directory: str, file: str) -> dict[str, Any]:
    """Import a file of facts; `chunks` are the seconds of every thousand lines, as each was acknowledged.

    `own_cpu_seconds` are those of this process, which records; those of the one that believes are in `cpu_seconds` too.
    """
    began = time.perf_counter()
    moments = [began]
    with asof.open(directory, embedder="none") as memory, Path(file).open("rb") as lines:
        done = memory.import_facts(lines, acknowledged=lambda *_: moments.append(time.perf_counter()))
    return {
        "seconds": time.perf_counter() - began,
        "own_cpu_seconds": time.process_time(),
        "chunks": [after - before for before, after in pairwise(moments)],
        "accepted": done.accepted,
        "refused": len(done.refused),
        "parked": done.parked,
    }


def projection(directory: str) -> dict[str, Any]:
    """Build the graph of the generation that answers anew from its log, at another place."""
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.wiring import existing, open_log
    from asof_projections.projector import rebuild

    places = DirectoryLayout(Path(directory))
    name = existing(places).active
    with open_log(places, "semantic") as log:
        began = time.perf_counter()
        rebuild(log, places.root / f"{name}.rebuilt.db")
        return {"seconds": time.perf_counter() - began, "events": log.end()}


def generation(directory: str) -> dict[str, Any]:
    """Build a new generation from the episodic log, and drop it.

    `own_cpu_seconds` are those of this process, which derives; what others read for it and write is in `cpu_seconds`.
    """
    with asof.open(directory, embedder="none") as memory:
        began = time.perf_counter()
        memory.rebuild("bench")
        seconds = time.perf_counter() - began
        memory.drop("bench")
    return {"seconds": seconds, "own_cpu_seconds": time.process_time()}


def snapshot(directory: str) -> dict[str, Any]:
    """Take a snapshot of each graph."""
    with asof.open(directory, embedder="none") as memory:
        return {"megabytes": sum(graph.size for graph in memory.snapshot()) / 1e6}


def projection_from_snapshot(directory: str) -> dict[str, Any]:
    """Lose the graph of the generation that answers, and make it again from its snapshot."""
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.wiring import existing
    from asof_projections.projector import open_following
    from asof_streams.sqlite_log import SqliteLog

    places = DirectoryLayout(Path(directory))
    name = existing(places).active
    places.graph(name).unlink()
    with SqliteLog(places.semantic(name)) as log:
        began = time.perf_counter()
        open_following(log, places.graph(name)).close()
        return {"seconds": time.perf_counter() - began}


def compress(directory: str) -> dict[str, Any]:
    """Compress the logs."""
    with asof.open(directory, embedder="none") as memory:
        return {"records": sum(log.records for log in memory.compress())}


def answer(directory: str, name: str) -> dict[str, Any]:
    """Open a directory and answer one question."""
    began = time.perf_counter()
    with asof.open(directory, embedder="none") as memory:
        found = memory.facts(about=name, group_id="bench")
        return {"seconds": time.perf_counter() - began, "found": len(found)}


def open_partition(directory: str, bootstrap: str, prefix: str) -> dict[str, Any]:
    """Open the one partition of topics in a directory that may be empty."""
    from asof.kafka.believer import BelieverPartition
    from asof.kafka.recorder import RecorderPartition
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.processes import tune_allocator
    from asof.settings import Settings
    from asof_streams.kafka.connection import Connection
    from asof_streams.kafka.topics import Topics

    tune_allocator()  # as in the worker
    settings = Settings(data=Path(directory), embedder="none")
    began = time.perf_counter()
    at = DirectoryLayout(settings.data), settings, Connection(bootstrap), Topics(prefix), 0
    with closing(RecorderPartition(*at)) as recorder, closing(BelieverPartition(*at)) as believer:
        believer.ingest([])
        seconds = time.perf_counter() - began
        offset = recorder.offset
    return {"seconds": seconds, "offset": offset}


def bare_loop(bootstrap: str, source: str, target: str, count: str) -> dict[str, Any]:
    """Read records with aiokafka and send each on: nothing else."""
    import asyncio

    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

    async def run() -> float:
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
        await consumer.start()
        await producer.start()
        at, taken, last = TopicPartition(source, 0), 0, None
        consumer.assign([at])
        consumer.seek(at, 0)
        began = time.perf_counter()
        while taken < int(count):
            for record in (await consumer.getmany(timeout_ms=1_000)).get(at, ()):
                last = await producer.send(target, record.value, key=record.key)
                taken += 1
        assert last is not None
        await last
        seconds = time.perf_counter() - began
        await consumer.stop()
        await producer.stop()
        return int(count) / seconds

    return {"rate": asyncio.run(run())}


def bare_faust(bootstrap: str, source: str, target: str, count: str, folder: str) -> dict[str, Any]:
    """Read records with a Faust agent, which keeps its files in a folder, and send each on: nothing else."""
    import asyncio

    import faust

    app = faust.App(
        f"bench.{source}", broker=f"kafka://{bootstrap}", store="memory://", datadir=folder, web_enabled=False,
        topic_allow_declare=False, topic_disable_leader=True,
    )  # fmt: skip
    raw: dict[str, Any] = {"key_type": bytes, "value_type": bytes, "key_serializer": "raw", "value_serializer": "raw"}
    sink = app.topic(target, **raw)
    moments: list[float] = []
    worked: list[float] = []
    done = asyncio.Event()

    async def pass_on(stream: Any) -> None:
        async for event in stream.events():
            moments.append(time.perf_counter())
            worked.append(time.process_time())
            await sink.send(key=event.key, value=event.value)
            if len(moments) == int(count):
                done.set()

    async def run() -> None:
        app.agent(app.topic(source, **raw))(pass_on)
        await app.start()
        await done.wait()
        rate = int(count) / (time.perf_counter() - moments[0])
        usage = {"cpu_seconds": time.process_time(), "peak_megabytes": peak_megabytes()}
        print(json.dumps({"rate": rate, "work_seconds": worked[-1] - worked[0]} | usage), flush=True)
        os._exit(0)  # Faust does not end when its loop does

    asyncio.run(run())
    raise AssertionError


def converse(directory: str, url: str, facts: str, count: str, reader: str) -> dict[str, Any]:
    """Talk with a memory on one core, its processes included; reader: who learns from what is said, rules or model.

    Learned from by rules, a message comes once the one before it is; by a model, as soon as that is answered.
    """
    import asyncio

    from asof.service import responder
    from asof.service.conversation import Incoming
    from asof.service.local_conversation import LocalConversation
    from asof.service.service import Service
    from asof.settings import Settings
    from asof_agents.conversation.reply_model import ModelAnswer, ReplyModel
    from bench.figures import slowness
    from bench.talking import Processes, settle, spoken

    slow: list[float] = []  # every few messages, since the speed of a machine changes within minutes

    class TimedModel(ReplyModel):
        """Notes what others do while the model takes its time: nobody waits for that."""

        meanwhile = 0.0

        def ask(self, prompt: str, temperature: float, max_tokens: int) -> ModelAnswer:
            before = processes.worked() - time.process_time()
            answer = super().ask(prompt, temperature, max_tokens)
            TimedModel.meanwhile += processes.worked() - time.process_time() - before
            return answer

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    model: Any = {"model_name": "fake", "model_url": url, "model_key": "none", "extractor": reader}
    settings = Settings(data=Path(directory), embedder="minilm", log_level="error", **model)
    worked: list[float] = []
    seconds: list[float] = []
    waiting = 0
    vars(responder)["ReplyModel"] = TimedModel

    async def run(service: Service, conversation: LocalConversation) -> None:
        nonlocal waiting
        position = -1
        for number, text in enumerate(spoken(int(count) + _WARMING, int(facts))):
            if reader == "rules":
                await service.done(position)
                await asyncio.to_thread(settle, processes)
            at = time.time_ns() // 1_000
            told = Incoming("message", "bench", f"{reader} {number}", "1", "Zoe", text, at)
            began, before = time.perf_counter(), processes.worked() - TimedModel.meanwhile
            [answer] = await conversation.take(told)
            took, work = time.perf_counter() - began, processes.worked() - TimedModel.meanwhile - before
            assert answer.text == "Thank you for telling me.", answer.text
            if number == 0:
                del processes.all  # by now that which searches was started
            if number >= _WARMING:
                if number % _RARELY == 0:
                    slow.append(slowness())
                seconds.append(took)
                worked.append(work)
                waiting += service.worker.next <= position + 1
            await conversation.sent(answer, f"{reader} answer {number}", at)
            position = (await service.take([])).start - 1
        megabytes.update(processes.megabytes())

    megabytes: dict[str, float] = {}
    with (
        Service(settings, lambda: None, lambda _: None, lambda _: None) as service,
        LocalConversation(service, settings) as conversation,
    ):
        processes = Processes(Path(directory))
        asyncio.run(run(service, conversation))
    return {
        "worked": worked,
        "seconds": seconds,
        "slowness": median(slow),
        "messages": len(worked),
        "waiting": waiting,
        "megabytes": megabytes,
    }


_WARMING: int = 5  # messages that are not measured, before those that are
_RARELY: int = 5  # messages between two looks at how slow the machine is

_PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "import": import_,
    "projection": projection,
    "generation": generation,
    "compress": compress,
    "snapshot": snapshot,
    "projection-from-snapshot": projection_from_snapshot,
    "answer": answer,
    "open_partition": open_partition,
    "converse": converse,
    "grow": grow,
    "ask": ask,
    "bare_loop": bare_loop,
    "bare_faust": bare_faust,
}

if __name__ == "__main__":
    said = _PROGRAMS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(said | {"cpu_seconds": sum(os.times()[:4]), "peak_megabytes": peak_megabytes()}))

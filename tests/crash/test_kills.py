"""kill -9 at random moments: nothing acknowledged is lost, nothing is doubled, and the end is that of a clean run."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread, Timer

import pytest

import asof
from asof.runtime import bulk_build_state, child_process, ingestion
from asof.runtime.child_process import ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof_process import program
from child_work import remember
from effort import tries

pytestmark = [pytest.mark.crash, pytest.mark.long, pytest.mark.timeout(1_800)]

INGESTING, REBUILDING, SAVING = tries(12, nightly=120), tries(4, nightly=40), tries(4, nightly=40)  # kills
BUILDING, DECIDING = tries(5, nightly=200), tries(10, nightly=200)  # kills beside a memory that writes
KILLS = tries(8, nightly=20)  # of each other test
READING, MESSAGES = tries(10, nightly=200), tries(40, nightly=1_000)  # kills of readers, and what is written meanwhile
SAID = tries(120, nightly=240)  # messages that are ingested while they are killed

BUILDS = ("rebuild", "fill")  # the jobs of zygote.py that build a generation

SEED = int(os.environ.get("ASOF_CRASH_SEED", "20240101"))
HERE = Path(__file__).parent
PEOPLE = ["Ana", "Ben", "Carla", "Dmitri"]
PLACES = ["Madrid", "Berlin", "Lisbon", "Oslo", "Prague"]
FIRMS = ["Acme", "Beta Corp", "Zeta Labs"]


def conversation(count: int) -> list[bytes]:
    """Chat of our own making: moves, jobs, tastes and endings of four people over some years."""
    said = [
        lambda n: f"I moved to {PLACES[n % 5]} last month.",
        lambda n: f"I work at {FIRMS[n % 3]} now.",
        lambda _: "I love chess and I no longer eat meat.",
        lambda n: f"My sister Eva lives in {PLACES[(n * 3) % 5]}.",
        lambda n: f"I left {FIRMS[(n + 1) % 3]} last week.",
        lambda _: "How was your weekend? The weather here is great.",
    ]
    return [
        json.dumps(
            {
                "group_id": "crash",
                "role": PEOPLE[n % 4],
                "role_type": "user",
                "content": said[(n * 7) % 6](n),
                "timestamp": f"20{15 + n // 60:02d}-{1 + n % 12:02d}-{1 + n % 28:02d}T12:00:00Z",
            }
        ).encode()
        for n in range(count)
    ]


class Zygote:
    """Runs jobs in forked children and kills them."""

    def __init__(self, lines: Path) -> None:
        self.lines = lines
        self.process = subprocess.Popen(
            program((HERE / "zygote.py").read_text("utf-8"), has_children=True),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, job: str, directory: Path, seconds: float = 0.0, *, lines: int | None = None
    ) -> tuple[bool, int, float]:
        """Run a job, killed after some seconds (0: never), or so many after it has acknowledged so many lines.

        Returns (whether it finished, last acknowledged, time).
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        start = time.monotonic()
        self.process.stdin.write(f"{job} {directory} {self.lines} {seconds if lines is None else 0.0}\n")
        self.process.stdin.flush()
        acked, done, pid = 0, False, 0
        while True:
            word, _, rest = self.process.stdout.readline().strip().partition(" ")
            if word == "started":
                pid = int(rest)
            elif word == "acked":
                acked = int(rest)
            elif word == "done":
                done = True
            elif word == "gone":
                return done, acked, time.monotonic() - start
            else:
                raise AssertionError("the zygote died")
            if lines is not None and acked >= lines:
                lines = None
                time.sleep(seconds)
                with suppress(ProcessLookupError):  # it has finished
                    os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\n".join(conversation(SAID)) + b"\n")
    return path


@pytest.fixture
def zygote(lines):
    zygote = Zygote(lines)
    yield zygote
    zygote.close()


def digests(directory: Path, generation: str | None = None) -> tuple[str, int]:
    from asof.api.memory import Memory
    from asof.settings import Settings

    with Memory(Settings(data=directory, embedder="none")) as memory:
        assert memory.verify()
        if generation:
            memory.switch(generation)
        return memory.digest(), memory.stats()["messages"]


def test_08_kills_at_any_moment_lose_nothing_double_nothing_and_end_as_a_clean_run(tmp_path, zygote):
    chance = random.Random(SEED)
    clean = tmp_path / "clean"
    _, acked, ingesting = zygote.run("ingest", clean)
    assert acked == SAID
    expected = digests(clean)

    kills, rounds = 0, 0
    while kills < INGESTING:
        directory = tmp_path / f"ingest-{rounds}"
        known, done = 0, False
        while not done:
            done, acked, _ = zygote.run(
                "ingest", directory, chance.uniform(0.001, ingesting / 3) if kills < INGESTING else 0.0
            )
            kills += not done
            known = max(known, acked)
            assert acked == 0 or acked >= known, "an acknowledged message is gone"
        assert digests(directory) == expected, f"seed {SEED}, round {rounds}"
        shutil.rmtree(directory)
        rounds += 1

    kills = 0
    _, _, rebuilding = zygote.run("rebuild", clean)
    rebuilt = digests(clean, "again")
    _reset(clean)
    kept = DirectoryLayout(clean).semantic("again")
    while kills < REBUILDING or not kept.exists():  # the last one has something that a build goes on with
        done, _, _ = zygote.run(chance.choice(BUILDS), clean, chance.uniform(0.001, rebuilding))
        kills += not done
        if done:
            assert digests(clean, "again") == rebuilt
            _reset(clean)
    zygote.run("rebuild", clean)
    assert digests(clean, "again") == rebuilt

    kills = 0
    _, _, saving = zygote.run("save_index", clean)
    whole = _index(clean).read_bytes()
    while kills < SAVING:
        _index(clean).unlink(missing_ok=True)
        done, _, _ = zygote.run("save_index", clean, chance.uniform(0.001, saving))
        kills += not done
        assert not _index(clean).exists() or _index(clean).read_bytes() == whole
    zygote.run("save_index", clean)
    assert _index(clean).read_bytes() == whole


def test_graphs_are_whole_whenever_a_snapshot_or_a_return_from_one_was_killed(tmp_path, zygote):
    chance = random.Random(SEED)
    directory = tmp_path / "data"
    zygote.run("ingest", directory)
    expected = digests(directory)
    _, _, once = zygote.run("snapshot", directory, 0.0, lines=1)

    for kill in range(KILLS):
        zygote.run("snapshot", directory, chance.uniform(0.0, once), lines=chance.randrange(2))

        assert digests(directory) == expected, f"seed {SEED}, kill {kill}"
    with asof.open(directory, embedder="none") as memory:
        assert all(check.ok for check in memory.verify())


def test_content_that_is_not_to_be_kept_is_gone_at_the_end_whenever_the_process_was_killed(tmp_path, zygote):
    chance = random.Random(SEED)
    quiet = [json.loads(line) | {"suppress_content": True} for line in conversation(20)]
    for line in quiet:
        line["content"] += " It is dark, the canary says."
    zygote.lines = tmp_path / "quiet.jsonl"
    zygote.lines.write_bytes(b"\n".join(json.dumps(line).encode() for line in quiet) + b"\n")
    clean = tmp_path / "clean"
    _, acked, seconds = zygote.run("ingest", clean)
    assert acked == 20
    expected = digests(clean)

    kills, rounds = 0, 0
    while kills < KILLS:
        directory = tmp_path / f"quiet-{rounds}"
        done, before = False, kills
        while not done:
            done, _, took = zygote.run("ingest", directory, chance.uniform(0.001, seconds) if kills < KILLS else 0.0)
            kills += not done
        if kills == before:  # the machine was slower when it was measured: most kills would come after the end
            seconds = min(seconds, took)
        assert digests(directory) == expected, f"seed {SEED}, round {rounds}"
        assert not [p for p in directory.rglob("*") if p.is_file() and b"the canary says" in p.read_bytes()]
        shutil.rmtree(directory)
        rounds += 1


def facts(count: int) -> list[bytes]:
    """Structured facts of our own making, some of which end, correct or take back what was said before."""
    ops = [{"op": "assert"}] * 5 + [{"op": "end"}, {"op": "correct"}, {"op": "retract"}]
    return [
        json.dumps(
            {"group_id": "crash", "subject": PEOPLE[n % 4], "relation": ("lives_in", "likes")[n % 3 == 0]}
            | {"object": PLACES[n * 7 % 5], "ref": f"r{n - n % 8 % 4}"}
            | {"valid_at": f"20{10 + n // 60:02d}-{1 + n % 12:02d}-01T00:00:00Z"}
            | ops[n % 8]
        ).encode()
        for n in range(count)
    ]


def test_a_long_import_killed_at_any_moment_goes_on_and_ends_as_a_clean_one(tmp_path, zygote):
    chance = random.Random(SEED)
    zygote.lines = tmp_path / "facts.jsonl"
    zygote.lines.write_bytes(b"\n".join(facts(600)) + b"\n")
    clean = tmp_path / "clean"
    done, acked, _ = zygote.run("load", clean)
    assert (done, acked) == (True, 600)
    expected = digests(clean)

    kills, rounds = 0, 0
    while kills < KILLS:
        directory = tmp_path / f"load-{rounds}"
        known, done = 0, False
        while not done:
            lines = chance.choice([0, chance.randint(known, 600)]) if kills < KILLS else None
            seconds = chance.uniform(0.0, 0.05) if lines is not None else 0.0
            done, acked, _ = zygote.run("load", directory, seconds, lines=lines)
            kills += not done
            known = max(known, acked)
            assert acked == 0 or acked >= known, "an acknowledged line is gone"
        assert digests(directory) == expected, f"seed {SEED}, round {rounds}"
        assert not list(directory.rglob("*.building*"))
        shutil.rmtree(directory)
        rounds += 1


@pytest.mark.usefixtures("_new_interpreters")
def test_a_second_process_killed_at_any_moment_changes_nothing_of_the_end(tmp_path, monkeypatch):
    chance = random.Random(SEED)
    monkeypatch.setattr(ingestion, "_CHUNK", 10)
    monkeypatch.setattr(bulk_build_state, "_MUCH", 40)
    monkeypatch.setattr(bulk_build_state, "FLUSH_EVERY", 40)
    clean = tmp_path / "clean"
    seconds = _loaded(clean)
    expected = digests(clean)

    def killed_soon(*command, **given):
        process = subprocess.Popen(*command, **given)
        Timer(chance.uniform(0.05, seconds), process.kill).start()
        return process

    monkeypatch.setattr(child_process, "Popen", killed_soon)
    for round_ in range(tries(4, nightly=12)):
        _loaded(tmp_path / f"load-{round_}")
        assert digests(tmp_path / f"load-{round_}") == expected, f"seed {SEED}, round {round_}"


def _loaded(directory: Path) -> float:
    """Import in this process, which a second one helps; return how long it took."""
    from asof.api.memory import Memory
    from asof.settings import Settings

    began = time.monotonic()
    times = iter(range(1_700_000_000_000_000, 2_000_000_000_000_000, 1_000_000))
    with Memory(Settings(data=directory, embedder="none"), now=lambda: next(times)) as memory:
        memory.import_facts(facts(600))
    return time.monotonic() - began


def _reset(directory: Path) -> None:
    from asof.api.memory import Memory
    from asof.settings import Settings

    with Memory(Settings(data=directory, embedder="none")) as memory:
        memory.switch("main")
        memory.drop("again")


def _index(directory: Path) -> Path:
    return directory / "generations" / "again" / "vectors.index"


def test_readers_of_episodes_that_are_killed_hold_up_neither_writes_nor_reads_nor_an_erasure(tmp_path, zygote):
    chance, data = random.Random(SEED), tmp_path / "data"
    with asof.open(data, embedder="none") as memory:
        memory.add("I live in Rome.", role="Ana")
    writer = ChildProcess(remember, data, MESSAGES)

    for _ in range(READING):
        done, reads, _ = zygote.run("read", data, chance.uniform(0, 0.03), lines=1)
        assert (done, reads > 0) == (False, True)
        with asof.open(data, embedder="none") as memory:
            episodes = {episode.role for episode in memory.episodes(limit=None)}
            assert episodes <= {fact.subject for fact in memory.facts(limit=None)}

    writer.receive()
    writer.stop()
    with asof.open(data, embedder="none") as memory:
        assert len(memory.episodes(limit=None)) == len(memory.facts(limit=None)) == MESSAGES + 1
        assert memory.verify()
        memory.erase("default")
        assert memory.stats()["erasing"] == 0


def test_a_build_beside_a_writer_that_is_killed_at_any_moment_comes_out_as_one_that_was_not(tmp_path, zygote):
    chance, said = random.Random(SEED), conversation(400)
    directory = tmp_path / "data"
    with asof.open(directory, embedder="none") as memory:
        memory.produce(said[:40])
        _, _, building = zygote.run("rebuild", directory)
        memory.drop("again")
        at = 40
        for _ in range(BUILDING):
            job, seconds = chance.choice(BUILDS), chance.uniform(0.001, building)
            killed = Thread(target=zygote.run, args=(job, directory, seconds))
            killed.start()
            while killed.is_alive():
                memory.produce(said[at : at + 1])
                at = min(at + 1, len(said) - 2)
            if "again" in {info.name for info in memory.generations()} and chance.random() < 0.5:
                memory.drop("again")
        zygote.run("rebuild", directory)
        memory.produce(said[-2:])
        memory.rebuild("whole", input="episodes")

        assert memory.digest("again") == memory.digest("whole")
        assert [check for check in memory.verify() if not check.ok] == []


def test_kills_amid_decisions_leave_one_state_for_all_and_the_next_decision_goes_on(tmp_path, zygote):
    chance, said = random.Random(SEED), conversation(200)
    directory = tmp_path / "data"
    with asof.open(directory, embedder="none") as memory:
        memory.produce(said[:20])
        before = memory.digest("main")
        for turn in range(DECIDING):
            zygote.run("decide", directory, chance.uniform(0.001, 0.3))
            with asof.open(directory, embedder="none") as other:
                seen = other.active(), [info.name for info in other.generations()]
                assert seen == (memory.active(), [info.name for info in memory.generations()])
                assert seen[0] in seen[1]
                assert "main" in seen[1]
                assert other.digest("main") == before
            if turn % 3 == 0:
                memory.produce(said[20 + turn : 21 + turn])
                before = memory.digest("main")
        memory.switch("main")
        memory.rebuild("whole", input="episodes")
        for info in memory.generations():
            assert info.name == "main" or memory.digest(info.name) == memory.digest("whole")
        assert [check for check in memory.verify() if not check.ok] == []

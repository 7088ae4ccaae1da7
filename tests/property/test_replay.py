"""The same log gives the same events and the same stores, however, wherever and whenever it is read."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import replay
from asof.runtime.wiring import describe
from asof_streams.errors import AsofError
from asof_streams.instants import DAY
from asof_streams.messages import Message

TOLD = replay.messages()
CHILD = Path(replay.__file__)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What comes of the log at once."""
    return in_batches(tmp_path_factory.mktemp("whole"), len(TOLD))


def in_batches(data, size):
    writer = replay.write(data)
    for at in range(0, len(TOLD), size):
        replay.tell(writer, TOLD[at : at + size])
        writer.process(flush=True)
    try:
        return replay.fingerprint(writer)
    finally:
        writer.close()


def elsewhere(data, how="0", **environment):
    """The fingerprint from a process with another environment."""
    run = subprocess.run(
        [sys.executable, str(CHILD), str(data), how],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_log_makes_every_kind_of_event(tmp_path):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD)
    writer.process(flush=True)
    kinds = {r.event.type for log in (writer.episodic, writer.generations["main"].layer.log) for r in log.read()}
    writer.close()

    assert kinds >= set(
        "episode.recorded mention.observed relationship.stated message.parked entity.introduced mention.resolved"
        " entity.merged entity.unmerged fact.asserted fact.reinforced fact.ended fact.retracted fact.invalidated"
        " fact.restored community.formed community.joined"
        " entity.recorded entity.attributed episode.withdrawn identity.recorded entity.undescribed".split()
    )


@pytest.mark.parametrize("size", [1, 7, 100])
def test_in_batches_of_any_size(tmp_path, expected, size):
    assert in_batches(tmp_path, size) == expected


@pytest.mark.parametrize("size", [1, 7])
def test_with_a_flush_after_any_number_of_messages(tmp_path, expected, size):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD)
    for message in writer.messages.read():
        writer.engine.ingest(message)
        if message.position % size == 0:
            writer.engine.flush()
    writer.engine.flush()

    assert replay.fingerprint(writer) == expected
    writer.close()


@pytest.mark.long
def test_with_a_restart_before_and_one_amid_every_message(tmp_path, expected):
    for told in TOLD:
        writer = replay.write(tmp_path)
        replay.tell(writer, [told])
        [message] = writer.messages.read(writer.engine.episodic.checkpoint)
        writer.engine.ingest(message)
        writer.close()  # nothing of it was flushed: opening makes it anew
    writer = replay.write(tmp_path)

    assert replay.fingerprint(writer) == expected
    writer.close()


def test_forgetting_what_was_not_flushed_and_going_on(tmp_path, expected):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD)
    for message in writer.messages.read():
        writer.engine.ingest(message)
        if message.position % 3:
            writer.engine.roll_back()
            writer.process(flush=True)
            break
    for told in writer.messages.read():
        writer.engine.ingest(told)  # all were taken before
    writer.engine.flush()

    assert replay.fingerprint(writer) == expected
    writer.close()


def test_rebuilt_under_another_name(tmp_path, expected):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD)
    writer.process(flush=True)
    active = writer.catalog["main"]
    ontology = writer.ontology("main")
    writer.build(describe("another", ontology, active.policy, "mentions", active.extractor), ontology)

    assert replay.fingerprint(writer, "another") == expected
    writer.close()


def test_stores_made_anew_in_bulk_from_their_logs(tmp_path, expected):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD)
    writer.process(flush=True)
    places = writer.logs.places
    writer.close()
    for store in (places.episodes, places.graph("main")):
        for file in store.parent.glob(store.name + "*"):
            file.unlink()
    writer = replay.write(tmp_path)

    assert replay.fingerprint(writer) == expected
    writer.close()


@pytest.mark.parametrize(
    ("seed", "zone", "language", "years"),
    [
        ("0", "Pacific/Kiritimati", "C", "10"),
        ("1", "America/St_Johns", "tr_TR.UTF-8", "-10"),
        ("2", "UTC", "de_DE.UTF-8", "0"),
        ("3", "Asia/Kathmandu", "C.UTF-8", "0"),
    ],
)
def test_under_another_hash_seed_zone_language_and_year(tmp_path, expected, seed, zone, language, years):
    environment = {"PYTHONHASHSEED": seed, "TZ": zone, "LANG": language, "LC_ALL": language}

    assert elsewhere(tmp_path, years, **environment) == expected


def test_no_handler_and_no_projection_looks_at_a_clock_or_leaves_anything_to_chance(tmp_path, expected):
    assert elsewhere(tmp_path, "forbid") == expected


def test_another_message_gives_another_fingerprint(tmp_path, expected):
    writer = replay.write(tmp_path)
    more = (Message(group_id="one", role_type="user", content="I live in Rome."), TOLD[-1][1] + 1)
    replay.tell(writer, [*TOLD, more])
    writer.process(flush=True)

    assert replay.fingerprint(writer) != expected
    writer.close()


@pytest.mark.parametrize("source", ["mentions", "episodes"])
@pytest.mark.parametrize("late", [5, 10], ids=["earlier", "at the same moment"])
def test_a_rebuild_reads_no_turn_that_came_later(tmp_path, source, late):
    """Who spoke before, and what "he" means, is what was known when the message came."""
    turns = [(20, "Melanie", "I live in Oslo."), (10, "Ben", "Mel lives in Berlin. He works at Acme.")]
    turns += [(late, "Melanie", "Hello."), (late, "Melanie", "George Orwell is a writer.")]
    said = [
        Message(group_id="g", role=role, role_type="user", content=content, timestamp=replay.START + day * DAY)
        for day, role, content in turns
    ]
    writer = replay.write(tmp_path)
    for place, message in enumerate(said):
        replay.tell(writer, [(message, replay.START + place)])
        writer.process(flush=True)
        if place == 0:
            active, ontology = writer.catalog["main"], writer.ontology("main")
            writer.build(describe("live", ontology, active.policy, source, active.extractor), ontology)
    writer.build(describe("anew", ontology, active.policy, source, active.extractor), ontology)

    assert replay.fingerprint(writer, "anew") == replay.fingerprint(writer, "live")
    writer.close()


def test_going_on_after_a_flush_that_only_the_first_log_took(tmp_path, expected):
    writer = replay.write(tmp_path)
    replay.tell(writer, TOLD[:5])
    writer.process(flush=True)
    semantic = writer.generations["main"].layer.log
    replay.tell(writer, TOLD[5:40])
    with full(semantic), pytest.raises(AsofError):
        writer.process(flush=True)
    assert writer.engine.episodic.checkpoint == 40 > semantic.checkpoint()

    replay.tell(writer, TOLD[40:])
    writer.process(flush=True)

    assert replay.fingerprint(writer) == expected
    writer.close()


@contextmanager
def full(log):
    """A log whose disk is full."""
    [(pages,)] = log._db.execute("PRAGMA page_count")
    log._db.execute(f"PRAGMA max_page_count = {pages}")
    yield
    log._db.execute("PRAGMA max_page_count = 1000000")

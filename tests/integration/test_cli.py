"""The command line: what each command prints, as what, and with which exit code it ends."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from asof.api.memory import Memory
from asof.cli import app, calls
from asof.settings import Settings
from asof_streams.distribution import install_command
from commands import ASOF, Asof, fact, said
from patience import wait_until

FACT_KEYS = {
    *("uuid", "group_id", "subject", "relation", "object", "subject_uuid", "object_uuid", "fact", "valid_at"),
    *("invalid_at", "created_at", "expired_at", "confidence", "episodes", "generation", "occurrence", "planned"),
    *("value", "qualifiers"),
}
ENVELOPE_KEYS = {
    *("position", "id", "type", "version", "group_id", "recorded_at", "cause", "index", "count", "term", "data"),
}
NEVER_SAID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(autouse=True)
def quick_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The lexical embedder needs no model, and no asof.toml of the repository is read."""
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def asof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asof:
    return Asof(tmp_path / "data", capsys)


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which Ana moved from Lisbon to Berlin, and Ben lives in Leeds."""
    stated = [
        ("2019-02-01", {"subject": "Ana", "object": "Lisbon", "valid_at": "2019-01-01T00:00:00Z"}),
        ("2020-07-01", {"subject": "Ben", "object": "Leeds", "valid_at": "2020-06-01T08:30:00Z"}),
        ("2023-06-10", {"subject": "Ana", "object": "Berlin", "valid_at": "2023-05-01T00:00:00Z"}),
    ]
    lines = [json.dumps({**fact(**fields), "recorded_at": f"{day}T00:00:00Z"}) for day, fields in stated]
    data = tmp_path_factory.mktemp("told") / "data"
    with Memory(Settings(data=data, embedder="hash")) as memory:
        assert memory.import_facts(lines, recorded=True).accepted == 3
    return data


@pytest.fixture
def told(asof: Asof, told_once: Path) -> Asof:
    shutil.copytree(told_once, asof.data)
    return asof


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write lines to a file: dicts as JSON, text as it is; returns its name."""
    number = iter(range(100))

    def to_file(*lines: dict | str) -> str:
        path = tmp_path / f"lines-{next(number)}.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return str(path)

    return to_file


def program(*arguments: str, **options) -> subprocess.Popen[str]:
    """Start the command as a program of its own."""
    return subprocess.Popen(
        [*ASOF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", **options
    )


# What each command answers.


def test_a_message_that_was_added_can_be_asked_about(asof: Asof) -> None:
    added = asof.json("add", "I live in Oslo.", "--role", "Ana", "--timestamp", "2024-03-05")

    (found,) = asof.json("facts", "--about", "Ana")
    assert (added["position"], added["episode_id"]) == (0, found["episodes"][0])
    assert found.keys() == FACT_KEYS
    assert (found["fact"], found["valid_at"], found["invalid_at"]) == (
        "Ana lives in Oslo",
        "2024-03-05T00:00:00Z",
        None,
    )


def test_messages_are_produced_from_a_file_and_from_standard_input(asof: Asof, write: Callable[..., str]) -> None:
    first = asof.json("produce", write(said(), said("I have a dog.")))
    second = subprocess.run(
        [*ASOF, "produce", "-", "--json", "--data", asof.data],
        input=json.dumps(said("I live in Bonn.")),
        capture_output=True,
        text=True,
        check=True,
    )

    assert first == {"accepted": 2, "refused": [], "first_position": 0, "parked": 0}
    assert json.loads(second.stdout) == {"accepted": 1, "refused": [], "first_position": 2, "parked": 0}


def test_facts_answer_as_of_a_moment_on_either_clock(told: Asof) -> None:
    def where(*arguments: str) -> list[str]:
        return [f["object"] for f in told.json("facts", "--about", "Ana", *arguments)]

    assert where() == ["Berlin"]
    assert where("--valid-at", "2023-05-20") == ["Berlin"]
    assert where("--valid-at", "2023-05-20", "--known-at", "2023-05-20") == ["Lisbon"]
    assert where("--valid-at", "2018") == []
    assert where("--any-time") == ["Lisbon", "Berlin"]
    assert where("--any-time", "--limit", "1") == ["Lisbon"]
    assert where("--any-time", "--object", "Lisbon", "--relation", "lives_in") == ["Lisbon"]
    assert where("--relation", "works_at") == []


def test_a_table_for_people_has_whole_rows_and_whole_days_as_dates(told: Asof) -> None:
    header, _, *rows = told("facts", "--any-time").splitlines()

    assert header.split() == ["fact", "from", "until", "known", "since", "id"]
    assert [row.split("  ")[0] for row in rows] == ["Ana lives in Lisbon", "Ben lives in Leeds", "Ana lives in Berlin"]
    assert rows[0].split()[4:7] == ["2019-01-01", "2023-05-01", "2019-02-01"]
    assert "2020-06-01T08:30:00Z" in rows[1]
    assert not any(row.endswith(" ") for row in rows)


def test_a_batch_of_questions_is_answered_line_by_line(told: Asof, write: Callable[..., str]) -> None:
    about = {"group_id": "default", "subject": "Ana", "relation": "lives_in"}
    questions = write(
        {**about, "valid_at": "2023-05-20T00:00:00Z", "known_at": "2023-05-20T00:00:00Z", "objects": ["passed over"]},
        {**about, "valid_at": "2018-01-01T00:00:00Z"},
        {**about, "any_time": True},
    )

    answers = told.lines("facts", "--batch", questions)

    assert [[f["object"] for f in answer] for answer in answers] == [["Lisbon"], [], ["Lisbon", "Berlin"]]
    assert answers[0][0].keys() == FACT_KEYS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "it must be one JSON object"),
        ('{"subject": 5}', "subject: Input should be a valid string"),
        ('{"subject": "\\ud800"}', "text must be valid Unicode"),
        ('{"valid_at": "soon"}', "not a time"),
        ('{"group_id": ""}', "a group id has"),
        ('{"valid_at": "2024-05-01T09:30:00"}', "needs its offset"),
    ],
)
def test_a_question_that_cannot_be_read_ends_a_batch_with_its_line(
    told: Asof, write: Callable[..., str], line: str, reason: str
) -> None:
    out = told("facts", "--batch", write({"group_id": "default", "subject": "Ben"}, line), code=2)

    assert [[f["object"] for f in json.loads(answer)] for answer in out.splitlines()] == [["Leeds"]]
    assert "asof: line 2: " in told.err
    assert reason in told.err


def test_search_finds_by_words(told: Asof) -> None:
    found = told.json("search", "who is in Leeds?", "--limit", "1")

    assert [f["fact"] for f in found["facts"]] == ["Ben lives in Leeds"]
    assert found["facts"][0].keys() >= FACT_KEYS
    assert "Ben lives in Leeds" in told("search", "Leeds")


def test_search_finds_what_was_said_also_where_it_gave_no_fact(asof: Asof) -> None:
    asof("add", "What a day!", "--role", "Ana", "--timestamp", "2024-01-01T00:00:00Z")
    asof("add", "The parcel with the lamp has come.", "--role", "Ben", "--timestamp", "2024-01-02T00:00:00Z")
    asof("add", "I live in Oslo.", "--role", "Ana", "--timestamp", "2024-01-03T00:00:00Z")

    found = asof.json("search", "where is my lamp?", "--over", "episodes", "--limit", "1")
    both = asof.json("search", "Oslo", "--limit", "1")
    shown = asof("search", "the lamp")

    assert [(e["content"], e["role"]) for e in found["episodes"]] == [("The parcel with the lamp has come.", "Ben")]
    assert found["facts"] == []
    assert [episode["facts"] for episode in both["episodes"]] == [[both["facts"][0]["uuid"]]]
    assert "2024-01-02" in shown
    assert "Ben" in shown
    asof("search", "x", "--over", "all", code=2)
    assert "'--over'" in asof.err


def test_search_finds_what_held_at_any_time_where_it_is_asked_to(asof: Asof) -> None:
    asof("add", "I live in Paris.", "--role", "Ana", "--timestamp", "2024-01-01T00:00:00Z")
    asof("add", "I live in Oslo now.", "--role", "Ana", "--timestamp", "2024-02-01T00:00:00Z")

    now, ever = (asof("search", "Ana", "--over", "facts", *more) for more in ((), ("--any-time",)))

    assert "Paris" not in now
    assert "Paris" in ever


def test_entities_are_listed_and_shown(told: Asof) -> None:
    listed = told.json("entities")
    (ana,) = told.json("entity", "Ana")

    assert [e["name"] for e in listed] == ["Ana", "Lisbon", "Ben", "Leeds", "Berlin"]
    assert ana["uuid"] == listed[0]["uuid"]
    assert [f["object"] for f in ana["facts"]] == ["Berlin"]
    assert told("entities", "--limit", "1").splitlines()[2].startswith("Ana")
    assert "Ana lives in Lisbon" in told("entity", "Ana", "--valid-at", "2020")


def test_the_past_of_a_fact_is_shown(told: Asof) -> None:
    (lisbon,) = told.json("facts", "--object", "Lisbon", "--any-time")

    versions = told.json("history", lisbon["uuid"])
    why = told.json("why", lisbon["uuid"])

    assert [(v["invalid_at"], v["known_to"]) for v in versions] == [
        (None, "2023-06-10T00:00:00Z"),
        ("2023-05-01T00:00:00Z", None),
    ]
    assert why["fact"]["uuid"] == lisbon["uuid"]
    assert [c["kind"] for c in why["consequences"]] == ["superseded"]
    assert "superseded" in told("history", lisbon["uuid"])
    assert "message 2" in told("why", lisbon["uuid"])


def test_a_timeline_goes_period_by_period(told: Asof) -> None:
    periods = told.json("timeline", "Ana")

    assert [(p["object"], p["valid_at"], p["invalid_at"]) for p in periods] == [
        ("Lisbon", "2019-01-01T00:00:00Z", "2023-05-01T00:00:00Z"),
        ("Berlin", "2023-05-01T00:00:00Z", None),
    ]
    _, _, first, second = told("timeline", "Ana", "--relation", "lives_in").splitlines()
    assert first.split() == ["Ana", "lives_in", "Lisbon", "2019-01-01", "2023-05-01"]
    assert second.split() == ["Ana", "lives_in", "Berlin", "2023-05-01"]


def test_a_diff_labels_each_change_between_two_points(told: Asof) -> None:
    def labels(start: str, stop: str) -> list[tuple[str, str]]:
        found = told.json("diff", "--from", start, "--to", stop)
        return sorted((c["change"], (c["after"] or c["before"])["object"]) for c in found)

    assert labels("2022", "2024") == [("began", "Berlin"), ("ended", "Lisbon")]
    assert ("learned", "Berlin") in labels("2023-05-20,2023-05-20", "2023-05-20,2024")
    assert "began" in told("diff", "--from", "2022", "--to", "2024")


def test_changes_are_paged_by_position(told: Asof) -> None:
    page = told.json("changes", "--after", "1")

    assert {c["position"] for c in page["changes"]} == {2}
    assert page["next"] == 2
    assert told.json("changes", "--after", "2")["changes"] == []
    assert "Ana lives in Berlin" in told("changes")


@pytest.mark.parametrize("log", ["messages", "episodic", "semantic"])
def test_a_log_is_replayed_as_json_lines(told: Asof, log: str) -> None:
    every = told.lines("events", "--log", log)
    part = told.lines("events", "--log", log, "--from", "1", "--to", "3")

    assert [e["position"] for e in every] == list(range(len(every)))
    assert part == every[1:3]
    assert every[0].keys() == ENVELOPE_KEYS | ({"generation"} if log == "semantic" else set())
    assert len({e["id"] for e in every}) == len(every)
    assert told.json("events", "--log", log, "--to", "1") == every[0]


def test_a_rebuild_gives_the_same_digest_beside_the_generation_that_answers(told: Asof) -> None:
    built = told.json("rebuild", "--name", "second")

    assert built["same"]
    assert built["digest"] == built["compared_digest"]
    assert (built["generation"]["name"], built["compared_with"], built["switched"]) == ("second", "main", False)
    assert told.json("generations")["active"] == "main"
    assert "The two are the same." in told("rebuild", "--input", "episodes", "--switch")
    listed = told.json("generations", "list")
    assert (listed["active"], [g["name"] for g in listed["generations"]]) == ("build-1", ["main", "second", "build-1"])
    assert told.json("facts", "--about", "Ana")[0]["generation"] == "build-1"


def test_generations_are_switched_and_dropped(told: Asof) -> None:
    told("rebuild", "--name", "second")

    assert told.json("generations", "switch", "second")["active"] == "second"
    assert [g["name"] for g in told.json("generations", "drop", "main")["generations"]] == ["second"]
    told("generations", "drop", "second", code=2)
    assert "second is the active generation" in told.err
    told("generations", "switch", "third", code=1)
    told("generations", "switch", code=2)
    told("rebuild", "--name", "second", code=2)
    assert told.json("facts", "--about", "Ana")[0]["object"] == "Berlin"


def test_verify_finds_all_in_order(told: Asof) -> None:
    told("rebuild", "--name", "second")

    found = told.json("verify")

    assert all(check["ok"] for check in found)
    assert len(found) >= 4
    assert "DAMAGED" not in told("verify")


def test_verify_names_the_position_of_damage(told: Asof) -> None:
    log = told.data / "messages.sqlite"
    content = log.read_bytes()
    assert b"Leeds" in content
    log.write_bytes(content.replace(b"Leeds", b"Lyons"))

    found = told.json("verify", code=1)

    assert [check["ok"] for check in found].count(False) == 1
    assert "position 1" in told("verify", code=1)


def test_an_entity_is_shown_with_its_summary_duplicates_and_community(asof: Asof, write: Callable[..., str]) -> None:
    said = {"role": "Ana", "role_type": "user", "timestamp": "2024-01-01T00:00:00Z", "group_id": "default"}
    asof("produce", write({**said, "content": "My sister Eva works at SAP.", "update_communities": True}))
    asof("import", write(fact(subject="Ana", relation="also_known_as", object="Annie")))

    shown = asof("entity", "Ana")

    assert "summary: " in shown
    assert "Annie is Ana: also known as" in shown
    [community] = asof.json("communities")
    assert f"community: {community['name']}" in shown
    assert {member["name"] for member in community["members"]} >= {"Ana", "Eva"}
    assert community["name"] in asof("communities")
    assert asof.json("communities", "--known-at", "2020") == []
    assert asof.json("stats")["generations"]["main"]["communities"] == 1


def test_entities_are_found_by_names_like_theirs(told: Asof) -> None:
    assert told.json("entities", "--like", "Berlinn", "--limit", "1")[0]["name"] == "Berlin"
    assert len(told.json("entities", "--like", "Berlin", "--known-at", "2020")) == 2


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        (("--relation", "lives"), "there are facts of lives_in"),
        (("--relation", "lives", "--about", "Ben", "--json"), "there are facts of lives_in"),
        (("--relation", "works_at"), None),
        (("--relation", "lives_in", "--object", "Rome"), None),
    ],
)
def test_a_relation_that_no_fact_has_is_answered_with_those_of_its_words(
    told: Asof, asked: tuple[str, ...], hint: str | None
) -> None:
    told("facts", *asked)

    assert [line for line in told.err.splitlines() if line.startswith("there are")] == ([hint] if hint else [])


def test_names_are_not_compared_without_vectors(told: Asof, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")

    told("entities", "--like", "Berlin", code=2)

    assert "the embedder is none" in told.err


def test_stats_count_what_is_there(told: Asof, write: Callable[..., str]) -> None:
    assert told.json("import", write(fact(op="retract", object="Rome")), code=1)["parked"] == 1

    stats = told.json("stats")

    assert stats["parked"] == 1
    assert "messages" in told("stats")
    assert "no entity of this group has that name" in told.out


def test_the_believed_graph_is_exported_as_of_a_moment(told: Asof, tmp_path: Path) -> None:
    now = told.json("export")
    then = told.json("export", "--valid-at", "2020")
    told("export", "--format", "graphml", "--output", str(tmp_path / "graph.xml"))

    assert {edge["object"] for edge in now["edges"]} == {"Leeds", "Berlin"}
    assert {edge["object"] for edge in then["edges"]} == {"Lisbon"}
    edges = ET.parse(tmp_path / "graph.xml").iter("{http://graphml.graphdrawing.org/xmlns}edge")
    assert len(list(edges)) == 2


def test_the_recorded_graph_is_exported_with_nodes_edges_and_episodes(asof: Asof) -> None:
    asof("add", "I live in Oslo.", "--role", "Ana")

    exported = asof.json("export", "--episodic")
    before = asof.json("export", "--episodic", "--known-at", "2020")

    assert exported.keys() == {"nodes", "edges", "episodes"}
    assert len(exported["episodes"]) == 1
    assert {node["mention"] for node in exported["nodes"]} == {"I", "Oslo"}
    assert before == {"nodes": [], "edges": [], "episodes": []}


def test_an_erasure_says_before_and_after_what_each_log_has_of_the_group(told: Asof) -> None:
    before = told.json("erase", "default", "--dry-run")["logs"]
    erased = told.json("erase", "default", "--yes")

    assert [log["log"] for log in before] == ["messages", "episodic", "semantic.main"]
    assert all(log["held"] and not log["erased"] for log in before)
    assert [(log["held"], log["erased"]) for log in erased["logs"]] == [(0, log["held"]) for log in before]
    assert [log["log"] for log in erased["logs"]] == [log["log"] for log in before]
    assert erased["recorded_at"]
    after = [{**log, "head": None} for log in erased["logs"]]
    assert told.json("erase", "default", "--dry-run") == {"messages": None, "logs": after}
    assert told.json("erase", "nobody", "--dry-run")["logs"][0] == {**after[0], "held": 0, "erased": 0}


def test_a_group_is_erased_only_when_told_twice_and_then_for_ever(told: Asof) -> None:
    told("erase", "default", code=2)
    assert "--yes" in told.err
    assert told.json("facts") != []

    erased = told.json("erase", "default", "--yes")

    assert (erased["group_id"], erased["position"], erased["done"], erased["keys_destroyed"]) == (
        "default",
        3,
        True,
        False,
    )
    assert told.json("facts", "--any-time") == []
    assert told.json("entities") == []
    assert all(check["ok"] for check in told.json("verify"))
    assert not any(b"Lisbon" in path.read_bytes() for path in told.data.rglob("*") if path.is_file())


def test_an_erasure_of_a_group_of_which_there_is_nothing_says_so(told: Asof) -> None:
    assert (
        told("erase", "defautl", "--yes") == "the group has no messages; nothing was erased; the request is message 3\n"
    )
    assert told("erase", "default", "--yes") == "erased; the request is message 4\n"
    assert told("erase", "default", "--yes") == "erased; the request is message 5\n"


def test_the_doctor_says_what_is_there_and_who_writes(told: Asof) -> None:
    found = {finding["what"]: finding for finding in told.json("doctor")}

    assert {"python", "sqlite", "extra minilm", "extra torch", "ontology default", "directory"} <= found.keys()
    assert found["sqlite"]["found"].endswith("with FTS5")
    assert found["writer"]["found"] == "nobody is writing"
    assert "main (answers)" in told("doctor")


def test_the_doctor_tells_what_mends_an_extra_that_is_not_there(asof: Asof, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asof.runtime.doctor.find_spec", lambda _: None)

    found = {finding["what"]: finding for finding in asof.json("doctor")}

    assert found["extra torch"]["remedy"] == install_command("torch")
    assert found["directory"]["state"] == "absent"


def test_the_doctor_calls_weights_that_are_not_the_right_ones_broken(
    asof: Asof, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    monkeypatch.setenv("ASOF_MODEL_DIR", str(tmp_path))

    found = {finding["what"]: finding for finding in asof.json("doctor", code=1)}

    assert found["all-MiniLM-L6-v2"]["state"] == "broken"
    assert "sha256" in found["all-MiniLM-L6-v2"]["found"]


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert calls.run(app, ["--version"]) == 0

    assert capsys.readouterr().out == "asof 0.1.0\n"


@pytest.mark.data
def test_every_question_about_a_real_history_is_answered_exactly(asof: Asof, data_dir: Path) -> None:
    log, questions = (data_dir / "temporal-facts" / f"yago-{name}.jsonl" for name in ("log", "questions"))
    asked = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]

    imported = asof.json("import", str(log), "--recorded")
    answers = asof.lines("facts", "--batch", str(questions))

    assert (imported["refused"], imported["parked"]) == ([], 0)
    assert len(asked) == len(answers) == 3_600
    assert [sorted(f["object"] for f in facts) for facts in answers] == [sorted(q["objects"]) for q in asked]
    one = next(q for q in asked if q["objects"])
    options = ("--about", "subject"), ("--relation", "relation"), ("--valid-at", "valid_at"), ("--known-at", "known_at")
    alone = asof.json("facts", "--group", "yago", *(part for name, key in options for part in (name, one[key])))
    assert sorted(f["object"] for f in alone) == sorted(one["objects"])


# Bad input: a clear reason, the good lines kept, nothing half-written.

BAD_MESSAGES = [
    ("{", "not JSON"),
    ('{"content": ' + "1" * 5_000 + "}", "not JSON that can be read: "),
    ("[1]", "a line must be one JSON object"),
    (json.dumps(said(timestamp="2024-05-01T09:30:00")), "timestamp: a time needs its offset"),
    (json.dumps(said(timestamp="soon")), "timestamp: not a time"),
    (json.dumps(said(timestamp=5)), "timestamp: a time is a string"),
    (json.dumps(said(group_id="a\tb")), "group_id: a group id has 1 to 200 characters"),
    (json.dumps(said("x" * 600_000)), "content: it has 600000 bytes, the limit is"),
    (json.dumps(said(role_type="robot")), "role_type: "),
    (json.dumps(said(colour="red")), "colour: no such field"),
    (json.dumps({"group_id": "default", "role_type": "user"}), "content: "),
    ('{"group_id": "default", "role_type": "user", "content": "\\ud800"}', "content: text must be valid Unicode"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_MESSAGES, ids=[reason for _, reason in BAD_MESSAGES])
def test_a_bad_message_is_refused_by_line_field_and_reason_and_the_good_are_kept(
    asof: Asof, write: Callable[..., str], line: str, reason: str
) -> None:
    out = asof("produce", write(said(), "", line, said("I have a cat.")), code=1)

    assert asof.err.startswith(f"line 3: {reason}")
    assert out == "accepted 2, refused 1\n"
    assert len(asof.lines("events", "--log", "messages")) == 2


@pytest.mark.parametrize(("line", "reason"), BAD_MESSAGES, ids=[reason for _, reason in BAD_MESSAGES])
def test_strict_takes_nothing_if_anything_is_refused(
    asof: Asof, write: Callable[..., str], line: str, reason: str
) -> None:
    asof("add", "I live in Oslo.")
    produced = asof.json("produce", write(said(), line), "--strict", code=1)

    assert produced["accepted"] == 0
    assert produced["refused"][0]["line"] == 2
    assert produced["refused"][0]["reason"].startswith(reason)
    named = reason.partition(":")[0]
    assert produced["refused"][0]["field"] == (None if " " in named else named)
    assert len(asof.lines("events", "--log", "messages")) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"valid_at": "2024-01-01T00:00:00Z", "invalid_at": "2024-01-01T00:00:00Z"},
            "valid_at must be before invalid_at",
        ),
        ({"valid_at": "2024-01-01T00:00:00"}, "valid_at: a time needs its offset"),
        ({"op": "deny"}, "op: "),
        ({"object": None}, "assert needs object"),
        ({"subject": " "}, "subject: it must not be empty"),
        ({"confidence": 2}, "confidence: "),
        ({"group_id": ""}, "group_id: "),
        ({"recorded_at": "2024-01-01T00:00:00Z"}, "recorded_at: only --recorded takes it"),
    ],
)
def test_a_bad_fact_is_refused_by_line_field_and_reason(
    asof: Asof, write: Callable[..., str], fields: dict, reason: str
) -> None:
    asof("import", write(fact(), fact(**fields)), code=1)

    assert asof.err.startswith(f"line 2: {reason}")
    assert [f["object"] for f in asof.json("facts")] == ["Oslo"]


def test_a_closed_ontology_refuses_relations_that_it_does_not_have(asof: Asof, write: Callable[..., str]) -> None:
    asof("import", write(fact()), "--ontology", "agent_memory_v1", code=1)

    assert asof.err.startswith("line 1: relation: ontology agent_memory_v1 is closed and does not have it")
    assert asof.json("import", write(fact()))["accepted"] == 1  # none named: any relation will do


def test_only_the_first_refusals_are_shown_and_all_are_in_the_json(asof: Asof, write: Callable[..., str]) -> None:
    lines = write(*["{"] * 25)

    asof("produce", lines, code=1)
    assert [line[:17] for line in asof.err.splitlines()[19:]] == ["line 20: not JSON", "and 5 more"]
    assert len(asof.json("produce", lines, code=1)["refused"]) == 25


def test_no_reason_quotes_what_was_sent(asof: Asof, write: Callable[..., str]) -> None:
    secret = "hunter2"
    lines = [
        said(secret, role_type=secret),
        said(secret, timestamp=secret),
        fact(op=secret, subject=secret),
        '{"content": "' + secret,
    ]

    asof("produce", write(*lines), code=1)

    assert len(asof.err.splitlines()) == 4
    assert secret not in asof.err + asof.out


WRONG_CALLS = [
    (["facts", "--valid-at", "soon"], "--valid-at: not a time"),
    (["facts", "--known-at", "2024-05-01T09:30:00"], "--known-at: a time needs its offset"),
    (["facts", "--valid-at", "2024-02-30"], "--valid-at: no such day"),
    (["facts", "--limit", "0"], "--limit"),
    (["facts", "--group", "a\tb"], "--group: a group id has"),
    (["facts", "--about", "\udcff"], "text must be valid Unicode"),
    (["search", "\udcff"], "text must be valid Unicode"),
    (["facts", "--colour", "red"], "No such option: --colour"),
    (["facts", "--batch", "questions.jsonl", "--about", "Ana"], "--batch"),
    (["facts", "--batch", "not-there.jsonl"], "not-there.jsonl"),
    (["diff", "--from", "2024"], "--to"),
    (["diff", "--from", "2024,", "--to", "2025"], "--from"),
    (["events", "--log", "other"], "Invalid value for '--log': 'other' is not one of"),
    (["events", "--log", "messages", "--generation", "main"], "--generation"),
    (["produce", "not-there.jsonl"], "not-there.jsonl cannot be read"),
    (["produce", "."], "cannot be read"),
    (["import", "-", "--ontology", "other"], "no ontology 'other'"),
    (["rebuild", "--ontology", "other"], "no ontology 'other'"),
    (["rebuild", "--name", "A B"], "a generation's name has"),
    (["add", "Hello", "--group", "a\tb"], "a group id has"),
    (["add", "x" * 600_000], "TEXT: it has 600000 bytes"),
    (["erase", "a\tb", "--yes"], "a group id has"),
    (["remember"], "No such command"),
    (["facts", "Ana"], "unexpected"),
]


@pytest.mark.parametrize(("arguments", "reason"), WRONG_CALLS, ids=[reason for _, reason in WRONG_CALLS])
def test_a_wrong_call_ends_with_2_one_line_and_nothing_written(told: Asof, arguments: list[str], reason: str) -> None:
    before = told.lines("events", "--log", "messages")

    told(*arguments, code=2)

    assert told.out == ""
    assert told.err.startswith("asof: ")
    assert reason in told.err
    assert len(told.err.splitlines()) == 1
    assert told.lines("events", "--log", "messages") == before


@pytest.mark.parametrize(("arguments", "reason"), WRONG_CALLS, ids=[reason for _, reason in WRONG_CALLS])
def test_with_json_an_error_is_json(told: Asof, arguments: list[str], reason: str) -> None:
    told(*arguments, "--json", code=2)

    assert reason in json.loads(told.err)["error"]


@pytest.mark.parametrize("command", ["why", "entity", "history"])
def test_what_is_not_there_ends_with_1(told: Asof, command: str) -> None:
    told(command, NEVER_SAID, code=1)

    assert told.err.startswith("asof: no ")


@pytest.mark.parametrize(
    "arguments",
    [
        *(["facts"], ["search", "x"], ["entities"], ["entity", "x"], ["history", "x"], ["timeline", "x"], ["why", "x"]),
        *(["diff", "--from", "2020", "--to", "2021"], ["changes"], ["events"], ["rebuild"], ["generations"]),
        *(["verify"], ["stats"], ["export"], ["erase", "default", "--yes"]),
    ],
)
def test_a_directory_without_a_memory_is_a_wrong_call_and_stays_as_it_is(asof: Asof, arguments: list[str]) -> None:
    asof(*arguments, code=2)

    assert f"{asof.data} holds no memory" in asof.err
    assert not asof.data.exists()


def test_a_setting_that_cannot_be_is_named(asof: Asof, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASOF_POLICY", "guess")

    asof("facts", code=2)

    assert asof.err.startswith(
        "asof: policy: Input should be 'recency' or 'graded' (given, as ASOF_POLICY, or in a file)"
    )


def test_a_settings_file_that_cannot_be_read_is_named(asof: Asof) -> None:
    wrong = {
        "policy = ": "the file of settings: ",
        'polcy = "graded"': "polcy: no such setting; did you mean policy?",
    }
    for text, reason in wrong.items():
        Path("asof.toml").write_text(text)

        asof("facts", code=2)

        assert asof.err.startswith(f"asof: {reason}")


def test_the_environment_names_the_directory(told: Asof, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("ASOF_DATA", str(told.data))

    assert calls.run(app, ["facts", "--about", "Ben"]) == 0

    assert "Ben lives in Leeds" in capsys.readouterr().out


def test_what_is_stored_cannot_command_the_terminal(asof: Asof, write: Callable[..., str]) -> None:
    asof("import", write(fact(object="\x1b[31mred\x07 [bold]Oslo[/bold] [/]")))

    out = asof("facts")

    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]Oslo[/bold] [/]" in out


@pytest.mark.parametrize("sign", ["\u202e", "\u202d", "\u202b", "\u2066", "\u2067", "\u2068"])
def test_what_is_stored_cannot_turn_the_line_that_it_stands_in(
    asof: Asof, write: Callable[..., str], sign: str
) -> None:
    asof("import", write(fact(object=f"red{sign}olsO")))

    assert sign not in asof("facts")
    assert "red\ufffdolsO" in asof.out


@pytest.mark.parametrize("end", ["\u2028", "\u2029"])
def test_a_row_of_a_table_stays_one_line(asof: Asof, write: Callable[..., str], end: str) -> None:
    asof("import", write(fact(object=f"red{end}Oslo")))

    assert "red Oslo" in asof("facts")


# Processes.


def test_a_second_writer_is_told_who_writes_and_readers_read_on(told: Asof) -> None:
    with program("produce", "-", "--data", str(told.data), stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        wait_until(lambda: f"process {writer.pid} is writing" in told("doctor"))
        told("add", "I live in Oslo.", code=1)

        assert f"process {writer.pid} is writing here" in told.err
        assert [f["object"] for f in told.json("facts", "--about", "Ana")] == ["Berlin"]
        writer.stdin.close()
        writer.wait()
    assert told.json("add", "I live in Oslo.", "--role", "Ana")["position"] == 3


def test_events_are_followed_until_interrupted(told: Asof) -> None:
    with program("events", "--log", "messages", "--follow", "--data", str(told.data)) as follower:
        assert follower.stdout is not None
        seen = [json.loads(follower.stdout.readline())["position"] for _ in range(3)]
        told("add", "I live in Oslo.")
        seen.append(json.loads(follower.stdout.readline())["position"])
        follower.send_signal(signal.SIGINT)
        _, err = follower.communicate()

    assert seen == [0, 1, 2, 3]
    assert (follower.returncode, err) == (130, "")


def test_what_was_acknowledged_stays_when_producing_is_interrupted(asof: Asof) -> None:
    def kept() -> int:
        return len(asof.lines("events", "--log", "messages")) if (asof.data / "episodic.sqlite").exists() else 0

    with program("produce", "-", "--data", str(asof.data), stdin=subprocess.PIPE) as producer:
        assert producer.stdin is not None
        producer.stdin.write((json.dumps(said()) + "\n") * 1_500)
        producer.stdin.flush()
        wait_until(lambda: kept() > 0)
        before = kept()
        producer.send_signal(signal.SIGINT)
        producer.wait()  # while its input is still open
        _, err = producer.communicate()

    assert producer.returncode == 130, err
    assert err.startswith("interrupted: the first ")
    assert len(err.splitlines()) == 1
    assert kept() >= before
    assert all(check["ok"] for check in asof.json("verify"))
    assert asof.json("add", "I live in Oslo.")["position"] == kept() - 1


INTERRUPTED_IN_A_CALLBACK = """
import signal, time, weakref
from asof import cli

class Lock: ...

def run(*_):
    lock = Lock()
    gone = weakref.ref(lock, lambda _: signal.raise_signal(signal.SIGINT))
    del lock
    time.sleep(900)

cli.calls.run = run
cli.main()
"""


def test_an_interruption_within_a_callback_of_python_itself_is_not_lost() -> None:
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED_IN_A_CALLBACK], capture_output=True, text=True, check=False)

    assert ran.returncode == -signal.SIGINT
    assert "ignored" not in ran.stderr


FULL_AT_THE_END = """
import atexit
from asof import cli

atexit.register(print, "what is written last")
cli.script()
"""


def test_an_output_that_is_full_once_the_command_is_done_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", FULL_AT_THE_END, "read", "Hello"]
        environment = {**os.environ, "PYTHONUNBUFFERED": ""}
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)

    assert ran.returncode == 1
    assert ran.stderr.endswith("asof: output: No space left on device\n")


ENDED = """
import atexit
from os import write
from asof import cli

class Part:
    def __del__(self, write=write):
        write(1, b"what was imported is taken apart")

cli.part = Part()
atexit.register(print, "what was to run at the end ran", end="")
cli.script()
"""


def test_a_command_ends_without_taking_apart_what_was_imported() -> None:
    ran = subprocess.run([sys.executable, "-c", ENDED, "--version"], capture_output=True, text=True, check=False)
    wrong = subprocess.run(
        [sys.executable, "-c", ENDED, "no-such-command"], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, wrong.returncode) == (0, 2)
    version, ran_at_end = ran.stdout.splitlines()
    assert version.startswith("asof ")
    assert ran_at_end == wrong.stdout == "what was to run at the end ran"


def test_the_command_line_runs_as_a_module_of_the_interpreter_that_has_it(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "asof", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    version, wrong, told = run("--version"), run("no-such-command"), run("demo", "--data", "told")

    assert (version.returncode, wrong.returncode, told.returncode) == (0, 2, 0)
    assert version.stdout.startswith("asof ")
    assert "no-such-command" in wrong.stderr
    assert f"{sys.executable} -m asof timeline" in told.stdout


def test_an_input_that_is_closed_is_a_wrong_call(told: Asof, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it then

    told("produce", "-", code=2)

    assert told.err == "asof: standard input is closed: give a FILE, or lines on standard input\n"


def test_a_reader_that_stops_early_is_no_error(told: Asof) -> None:
    with program("events", "--log", "semantic", "--data", str(told.data)) as events:
        assert events.stdout is not None
        assert events.stderr is not None
        events.stdout.close()
        assert (events.stderr.read(), events.wait()) == ("", 0)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("asked", ["facts", "--version"])
def test_an_output_that_is_full_is_an_error_without_a_traceback(told: Asof, asked: str, unbuffered: str) -> None:
    command = [*ASOF, asked, *(["--data", told.data] if asked == "facts" else [])]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)

    assert done.returncode == 1
    assert done.stderr == "asof: output: No space left on device\n"


def test_a_disk_that_is_full_is_a_clear_error_and_leaves_nothing_half_written(
    asof: Asof, write: Callable[..., str]
) -> None:
    lines = write(*[said("I live in Oslo. " + "x" * 5_000) for _ in range(3_000)])

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))

    with program("produce", lines, "--data", str(asof.data), preexec_fn=small) as producer:
        _, err = producer.communicate()

    assert producer.returncode == 1
    assert err.startswith("asof: ")
    assert len(err.splitlines()) == 1
    kept = len(asof.lines("events", "--log", "messages"))
    assert kept % 1_000 == 0
    assert all(check["ok"] for check in asof.json("verify"))
    assert asof.json("add", "I live in Oslo.")["position"] == kept

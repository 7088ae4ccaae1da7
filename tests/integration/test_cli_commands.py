"""Every question and every write has its command, and a command is what its operation says."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from pkgutil import iter_modules
from time import process_time
from typing import Any

import pytest
from pydantic import Field
from rich.cells import cell_len
from typer import Typer
from typer.main import get_command

from asof.api.memory import Memory
from asof.cli import app, calls, grid, show
from asof.cli.binding import question
from asof.cli.commands import COMMANDS, EXAMPLES, SECTIONS, CommandGroup
from asof.cli.tables import FACTS
from asof.operations.operation import Operation
from asof.service.session import Session
from asof.settings import Settings
from asof_projections.model.answers import Fact, Page
from asof_projections.model.queries import FactsQuery
from commands import ASOF, Asof, fact

NEVER_SAID = "00000000-0000-0000-0000-000000000000"
TOWN = """\
id: town
version: 1
description: "Where people live."
entity_types: [{name: Person, description: "A human being."}, {name: Place, description: "Somewhere."}]
relation_types:
  - name: lives_in
    sentence: "{subject} lives in {object}"
    means: "Home."
    sources: [Person]
    targets: [Place]
    cues: ["<live> in"]
examples:
  - {text: "I live in Oslo.", facts: [{subject: I, relation: lives_in, object: Oslo}]}
"""
OF_DOORS = {
    "errors",
    "operation",
    "sessions",
    "process",
    "moments",
    "graphiti",
    "served",
    "quotes",
}  # what operations are made of


@pytest.fixture(autouse=True)
def quick_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def asof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asof:
    return Asof(tmp_path / "data", capsys)


@pytest.fixture
def told(asof: Asof) -> Asof:
    """Ana moved from Lisbon to Berlin, Ben lives in Berlin; Kim, of another group, lives in Bonn."""
    stated = [
        fact(object="Lisbon", valid_at="2019-01-01T00:00:00Z"),
        fact(object="Berlin", valid_at="2023-05-01T00:00:00Z"),
        fact(subject="Ben", object="Berlin", valid_at="2020-06-01T00:00:00Z"),
        fact(subject="Kim", object="Bonn", valid_at="2020-01-01T00:00:00Z", group_id="kim"),
    ]
    with Memory(Settings(data=asof.data, embedder="hash")) as memory:
        assert memory.import_facts(map(json.dumps, stated)).accepted == 4
        memory.add("I have a dog.", role="Ana", timestamp="2024-03-01T00:00:00Z")
    return asof


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write lines to a file: dicts as JSON, text as it is; returns its name."""
    number = iter(range(100))

    def to_file(*lines: dict[str, Any] | str) -> str:
        path = tmp_path / f"lines-{next(number)}.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return str(path)

    return to_file


# Questions.


def test_a_search_by_the_pipeline_tells_on_request_how_it_ranked_and_how_long_each_step_took(told: Asof) -> None:
    plain = told.json("search", "Where is Ana?", "--profile", "pipeline")["retrieval"]
    explained = told.json("search", "Where is Ana?", "--profile", "pipeline", "--explain")["retrieval"]
    shown = told("search", "Where is Ana?", "--profile", "pipeline", "--explain", "--mindset", "convergent")

    assert [entity["name"] for entity in plain["entities"]] == ["Ana"]
    assert (plain["ranking"], plain["metrics"]) == ([], None)
    assert plain["context"].startswith("## Relevant Memories\n[1] (score: ")
    assert {node["kind"] for node in explained["ranking"]} == {"fact", "turn", "entity"}
    assert explained["metrics"]["total_us"] >= explained["metrics"]["graph_expansion_us"] > 0
    assert "centrality" in shown
    assert "mindset: convergent\nquery_embedding_us: " in shown
    assert "## Known Entities\n- Ana (type: " in shown
    assert told.json("search", "Where is Ana?")["retrieval"] is None
    told("search", "Ana", "--explain", code=2)
    assert "profile" in told.err


def test_a_fact_is_shown_by_its_id(told: Asof) -> None:
    (lisbon,) = told.json("facts", "--object", "Lisbon", "--any-time")

    assert told.json("fact", lisbon["uuid"]) == lisbon
    assert "Ana lives in Lisbon" in told("fact", lisbon["uuid"])


def test_facts_of_a_period_are_those_that_overlap_it_or_fill_it(told: Asof) -> None:
    period = ("--from", "2023", "--to", "2024", "--about", "Ana", "--relation", "lives_in")

    assert [f["object"] for f in told.json("overlapping", *period)] == ["Lisbon", "Berlin"]
    assert told.json("throughout", *period) == []
    assert [s["object"] for s in told.json("throughout", "--from", "2020", "--to", "2022", "--about", "Ana")] == [
        "Lisbon"
    ]
    assert "Ana lives in Berlin" in told("overlapping", *period)
    told("overlapping", "--from", "2024", "--to", "2023", code=2)
    assert "a period begins before it ends" in told.err


def test_what_lies_around_a_name_comes_step_by_step(told: Asof) -> None:
    hops = told.json("neighbourhood", "Ana")

    assert [(hop["hop"], sorted(f["subject"] for f in hop["facts"])) for hop in hops] == [
        (1, ["Ana", "Ana"]),
        (2, ["Ben"]),
    ]
    assert len(told.json("neighbourhood", "Ana", "--hops", "1")) == 1
    assert "2 steps away" in told("neighbourhood", "Ana")


def test_when_a_fact_was_believed_is_shown(told: Asof) -> None:
    (lisbon,) = told.json("facts", "--object", "Lisbon", "--any-time")

    (period,) = told.json("known-history", lisbon["uuid"], "--valid-at", "2024")
    assert period["fact"] == lisbon["uuid"]
    assert period["known_to"] is not None
    assert told.json("known-history", lisbon["uuid"])[-1]["known_to"] is None
    assert lisbon["uuid"][:8] in told("known-history", lisbon["uuid"])


def test_groups_are_listed_with_how_much_they_hold(told: Asof) -> None:
    assert [(g["group_id"], g["episodes"]) for g in told.json("groups")] == [("default", 4), ("kim", 1)]
    assert [line.split()[:2] for line in told("groups").splitlines()[2:]] == [["default", "4"], ["kim", "1"]]


def test_episodes_are_listed_by_when_they_were_said_and_shown_one_by_one(told: Asof) -> None:
    [dog] = told.json("episodes", "--from", "2024-02", "--to", "2024-04")

    assert dog["content"] == "I have a dog."
    shown = told.json("episode", dog["uuid"])
    assert {name: shown[name] for name in dog} == dog
    assert [fact["fact"] for fact in shown["effect"]["began"]] == ["Ana has a pet, dog"]
    lines = told("episode", dog["uuid"]).splitlines()[1:]
    assert lines[0] == "I have a dog."
    assert lines[1].startswith("began: Ana has a pet, dog, ")
    assert len(told.json("episodes", "--group", "kim")) == 1
    assert "I have a dog." in told("episodes")


def test_what_became_of_a_message_is_shown(told: Asof, write: Callable[..., str]) -> None:
    told("import", write(fact(op="retract", object="Rome")), code=1)

    done, parked = told.json("message", "1"), told.json("message", "5")
    assert (done["state"], {c["fact"]["object"] for c in done["changes"]}) == ("done", {"Lisbon", "Berlin"})
    assert (parked["state"], "no entity" in parked["reason"]) == ("parked", True)
    assert "Ana lives in Berlin" in told("message", "1")
    assert "message 5: parked: " in told("message", "5")
    told("message", "6", code=1)


def test_whoever_adds_a_message_is_told_what_it_did(asof: Asof) -> None:
    asof("add", "I live in Madrid.", "--role", "Ana", "--timestamp", "2020-01-01")
    moved = ("I moved to Berlin in March.", "--role", "Ana", "--timestamp", "2024-04-02")

    assert asof("add", *moved).splitlines()[1:] == [
        "began: Ana lives in Berlin, from 2024-03-01",
        "ended: Ana lives in Madrid, 2020-01-01 to 2024-03-01",
    ]
    assert asof("add", *moved).splitlines()[1:] == ["said again: Ana lives in Berlin"]
    assert asof("add", "Hm.").splitlines()[1:] == ["nothing understood, kept as an episode"]
    assert "nothing understood" in asof("message", "3")
    assert asof("add", "I no longer live in Bonn.", "--role", "Ana").splitlines()[1:] == [
        "began: Ana lives in Bonn, until 2020-01-01"
    ]
    assert asof("add", "I don't work at SAP.", "--role", "Ana").splitlines()[1:] == ["no fact changed"]
    assert asof.json("add", "Hm.")["effect"]["understood"] is False


def test_whoever_states_a_fact_is_told_what_it_did(told: Asof) -> None:
    assert told("end", "Ben", "lives_in", "Berlin", "--invalid-at", "2024-05-01").splitlines()[1:] == [
        "ended: Ben lives in Berlin, 2020-06-01 to 2024-05-01"
    ]
    assert told("retract", "Ana", "lives_in", "Berlin").splitlines()[1:] == [
        "retracted: Ana lives in Berlin, from 2023-05-01",
        "restored: Ana lives in Lisbon, from 2019-01-01",
    ]
    [began] = told.json("assert", "Kim", "likes", "tea", "--valid-at", "2024-01-01")["effect"]["began"]
    assert (began["fact"], began["valid_at"]) == ("Kim likes tea", "2024-01-01T00:00:00Z")
    assert told("alias", "Ana", "Annie").splitlines()[1:] == ["no fact changed"]


def test_a_message_that_was_parked_is_said_to_be_when_it_is_added(asof: Asof) -> None:
    asof("add", "I live in Oslo.", "--uuid", "nobody")

    assert "message 0 was parked: uuid: " in asof.err


def test_a_text_is_read_without_a_memory_and_what_is_missing_is_explained(asof: Asof) -> None:
    text = "I moved to Berlin in March. I might move to Rome."
    said = ("read", text, "--role", "Ana", "--timestamp", "2024-04-02")

    assert "Ana lives in Berlin   holds   2024-03-01           in March" in asof(*said)
    explained = asof(*said, "--explain").splitlines()
    assert "  time: in March is 2024-03-01 to 2024-04-01" in explained
    assert explained[-1] == '  no fact: I might move to Rome.: "might" makes it unsure'
    assert [len(one["statements"]) for one in asof.json(*said)["sentences"]] == [1, 0]
    asof("read", "Hm.")
    assert "nothing understood: --explain says why" in asof.err
    asof("read", "Hm.", "--ontology", "none.yaml", code=2)
    assert not asof.data.exists()


def test_a_file_of_an_ontology_is_checked_and_its_examples_are_run(asof: Asof, tmp_path: Path) -> None:
    file = tmp_path / "town.yaml"
    file.write_text(TOWN)

    assert asof("ontology", "check", str(file)) == "town: 2 entity types, 1 relations, 1 of 1 examples hold\n"
    file.write_text(TOWN.replace("object: Oslo", "object: Rome"))
    assert asof("ontology", "check", str(file), code=1).splitlines() == [
        f"{file}:13: not found: assert I lives_in Rome",
        f"{file}:13: not expected: assert I lives_in Oslo",
        "town: 2 entity types, 1 relations, 0 of 1 examples hold",
    ]
    file.write_text(TOWN.replace("<live> in", "<live in").replace("targets: [Place]", "targets: [Planet]"))
    assert [line.split(": ")[:2] for line in asof("ontology", "check", str(file), code=1).splitlines()] == [
        [f"{file}:10", "relation_types.0.targets.0"],
        [f"{file}:11", "relation_types.0.cues.0"],
    ]
    assert len(asof.json("ontology", "check", str(file), code=1)["problems"]) == 2
    assert asof.json("ontology", "check", "default")["problems"] == []
    asof("ontology", "check", "none.yaml", code=2)
    assert not asof.data.exists()


def test_a_changed_ontology_says_what_it_needs_and_which_episodes_have_its_words(asof: Asof, tmp_path: Path) -> None:
    file, edited = tmp_path / "town.yaml", tmp_path / "edited.yaml"
    file.write_text(TOWN)
    edited.write_text(TOWN.replace('cues: ["<live> in"]', 'cardinality: one\n    cues: ["<live> in", "<dwell> in"]'))

    asof("ontology", "diff", str(edited), code=2)  # there is no memory to compare with
    alone = asof.json("ontology", "diff", str(file), str(edited))
    assert [(one["key"], one["needs"], one["episodes"]) for one in alone["changes"]] == [
        ("cardinality", "mentions", None),
        ("cues", "episodes", None),
    ]
    assert not asof.data.exists()
    settings = tmp_path / "town.toml"
    settings.write_text(f'ontology = "{file}"\n')
    for text in ("I live in Oslo.", "I dwelled in Rome.", "I dwell on it."):
        asof("add", text, "--role", "Ana", "--settings", str(settings))

    found = asof.json("ontology", "diff", str(edited))

    assert (found["needs"], found["episodes"], found["of"]) == ("episodes", 1, 3)
    [_, cue] = found["changes"]
    [_, dwelled, _] = asof.json("episodes")
    assert (cue["name"], cue["after"], cue["first"]) == ("lives_in", "<dwell> in", [dwelled["uuid"]])
    shown = asof("ontology", "diff", str(edited)).splitlines()
    assert shown[-1] == f"needs: asof rebuild --input episodes --ontology {edited} (1 of 3 episodes have words of it)"
    asof("ontology", "diff", str(file))
    assert "no change" in asof.err
    asof("ontology", "check", str(file), str(edited), code=2)


def test_the_digest_of_a_generation_is_that_which_a_rebuild_compares(told: Asof) -> None:
    built = told.json("rebuild", "--name", "second")

    assert told.json("digest") == told.json("digest", "second") == built["digest"]
    assert told("digest") == f"{built['digest']}\n"


# What is asked about.


def test_a_question_is_about_the_default_group_another_one_or_all(told: Asof) -> None:
    def subjects(*arguments: str) -> set[str]:
        return {f["subject"] for f in told.json("facts", "--relation", "lives_in", *arguments)}

    assert subjects() == {"Ana", "Ben"}
    assert subjects("--group", "kim") == {"Kim"}
    assert subjects("--all-groups") == {"Ana", "Ben", "Kim"}
    assert told("facts").splitlines()[0].split()[0] == "fact"
    assert told("facts", "--all-groups").splitlines()[0].split()[0] == "group"
    told("facts", "--all-groups", "--group", "kim", code=2)
    assert "leave group_id out" in told.err


def test_a_batch_asks_about_the_default_group_as_well(told: Asof, write: Callable[..., str]) -> None:
    lives = {"relation": "lives_in"}

    answers = told.lines("facts", "--batch", write(lives, {**lives, "group_id": "kim"}, {**lives, "about": "Ben"}))

    assert [{f["subject"] for f in answer} for answer in answers] == [{"Ana", "Ben"}, {"Kim"}, {"Ben"}]


def test_a_context_is_printed_as_its_text_and_explained_line_by_line(told: Asof) -> None:
    asked = ("context", "where does Ana live", "--valid-at", "2024-05-01", "--timezone", "Europe/Berlin")
    found = told.json(*asked)

    assert told(*asked) == found["text"] + "\n"
    assert "Times are of Europe/Berlin. As of 2024-05-01;" in found["text"]
    explained = told(*asked, "--explain").splitlines()
    assert explained[0].split() == ["kind", "score", "words", "meaning", "tokens", "line"]
    assert [line.split()[0] for line in explained[2:]] == [item["kind"] for item in found["items"]]
    assert told.err == f"{found['tokens']} of 2000 tokens\n"
    told("context", "x", "--timezone", "Berlin", code=2)
    assert told.err.startswith("asof: --timezone: no time zone of this name is known here")


@pytest.mark.parametrize(
    "arguments",
    [
        ("facts", "--any-time"),
        ("entities",),
        ("history", "Ana"),
        ("timeline", "Ana"),
        ("episodes",),
        ("groups",),
        ("overlapping", "--from", "2019", "--to", "2030"),
        ("diff", "--from", "2018", "--to", "2030"),
    ],
)
def test_a_list_that_a_limit_cuts_goes_on_with_the_cursor_that_is_told(told: Asof, arguments: tuple[str, ...]) -> None:
    whole = told.json(*arguments)
    assert told.err == ""

    pages, more = [], []
    while True:
        page = told.json(*arguments, "--limit", "1", *more)
        pages += page
        if not told.err:
            break
        assert told.err.startswith("go on with --cursor ")
        more = told.err.removeprefix("go on with ").split()

    assert len(whole) > 1
    assert pages == whole


def test_a_cursor_that_no_page_gave_is_a_wrong_call(told: Asof) -> None:
    told("facts", "--cursor", "here", code=2)

    assert told.err.startswith("asof: --cursor: it is no cursor of a page")


def test_so_is_the_cursor_of_another_question_or_another_known_moment_beside_it(told: Asof) -> None:
    told("facts", "--limit", "1")
    cursor = told.err.removeprefix("go on with --cursor ").strip()

    told("entities", "--cursor", cursor, code=2)
    assert told.err.startswith("asof: --cursor: it is the cursor of another question")
    told("facts", "--cursor", cursor, "--known-at", "2100", code=2)
    assert told.err.startswith("asof: --known-at: the cursor keeps that of the first page")


@pytest.mark.parametrize("command", ["entity", "timeline", "neighbourhood", "history"])
@pytest.mark.parametrize("moment", [(), ("--known-at", "2001")])
def test_a_name_that_nobody_has_is_answered_alike_by_every_command(
    told: Asof, command: str, moment: tuple[str, ...]
) -> None:
    if command == "history" and moment:
        pytest.skip("it shows all that was ever known")
    name = "Ana" if moment else "Nobody"

    told(command, name, *moment, code=1)

    assert "no entity" in told.err
    assert "this name" in told.err
    assert told.out == ""
    assert "this name" in _error(told, command, name, *moment)


def _error(told: Asof, *arguments: str) -> str:
    told(*arguments, "--json", code=1)
    return str(json.loads(told.err)["error"])


def test_a_name_that_somebody_has_but_of_whom_nothing_fits_is_no_error(told: Asof) -> None:
    assert told.json("timeline", "Ana", "--relation", "works_at") == []
    assert [hop["facts"] for hop in told.json("neighbourhood", "Lisbon", "--valid-at", "2001")] == [[]]


@pytest.mark.parametrize("command", ["fact", "episode", "known-history", "why", "history", "entity"])
def test_an_id_that_nothing_has_ends_with_1(told: Asof, command: str) -> None:
    told(command, NEVER_SAID, code=1)

    assert told.err.startswith("asof: no ")


# Writes.


def test_a_number_and_qualifiers_are_stated_by_options_and_the_number_is_ended_by_its_value(asof: Asof) -> None:
    qualified = ("--qualifier", "by=passport", "--qualifier", "page=2")
    asof.json("assert", "Ana", "height", "1.620", "--number", *qualified, "--valid-at", "2024")

    [fact] = asof.json("facts", "--about", "Ana")
    assert (fact["value"], fact["object"], fact["qualifiers"]) == (1.62, "1.62", {"by": "passport", "page": 2})

    asof.json("end", "Ana", "height", "1.62", "--number", "--invalid-at", "2025")

    assert asof.json("facts", "--about", "Ana") == []


def test_why_says_where_each_statement_comes_from(asof: Asof) -> None:
    asof("assert", "Ana", "height", "1.62", "--source-description", "passport")
    asof("end", "Ana", "height", "1.62", "--source-description", "a doctor")
    [fact] = asof.json("facts", "--about", "Ana", "--any-time")

    asof("why", fact["uuid"])

    said, ended = (line for line in asof.out.splitlines() if ", message " in line)
    assert ", message 0, from passport  " in said
    assert ", message 1, from a doctor  " in ended


def test_facts_are_stated_ended_corrected_and_retracted_by_verbs(asof: Asof) -> None:
    def held(**fields: str) -> list[str]:
        options = [part for name, value in fields.items() for part in (f"--{name.replace('_', '-')}", value)]
        return [f["object"] for f in asof.json("facts", "--about", "Ana", *options)]

    first = asof.json("assert", "Ana", "lives_in", "Rome", "--valid-at", "2020", "--ref", "home")
    assert first["position"] == 0
    assert held() == ["Rome"]
    assert asof("correct", "Ana", "lives_in", "Oslo", "--ref", "home", "--valid-at", "2020-05").startswith(
        "message 1\nbegan: "
    )
    assert (held(), held(valid_at="2020-02")) == (["Oslo"], [])
    asof("end", "Ana", "lives_in", "--invalid-at", "2022-01-01T00:00:00+01:00")
    assert (held(), held(valid_at="2021")) == ([], ["Oslo"])
    asof("retract", "Ana", "lives_in", "Oslo")
    assert held(valid_at="2021") == []


def test_a_dry_run_shows_what_would_be_believed_and_writes_nothing(told: Asof, write: Callable[..., str]) -> None:
    before = told.json("stats")["messages"]
    dry = told.json("assert", "Ana", "lives_in", "Oslo", "--valid-at", "2024", "--dry-run")

    assert [s["object"] for s in dry["before"]] == ["Lisbon", "Berlin"]
    assert [s["object"] for s in dry["after"]] == ["Lisbon", "Berlin", "Oslo"]
    statement = {"subject": "Ana", "relation": "lives_in", "object": "Oslo", "valid_at": "2024-01-01T00:00:00Z"}
    assert told.json("what-if", write(statement)) == dry
    assert told("what-if", write(statement)).split().count("Oslo") == 1
    assert told.json("stats")["messages"] == before
    told("what-if", write(fact(group_id="kim")), code=2)
    told("what-if", write("{"), code=2)
    assert told.err == "asof: line 1: not JSON\n"


def test_a_statement_that_is_parked_ends_with_1_and_says_why(told: Asof) -> None:
    told("retract", "Ana", "lives_in", "Rome", code=1)

    assert told.err.startswith("asof: message 5 was parked: ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["assert", "Ana", "lives_in"], "Missing argument 'OBJECT'"),
        (["end", "Ana"], "end needs relation"),
        (["assert", "Ana", "height", "tall", "--number"], "OBJECT: it must be a number, such as 42 or 1.62"),
        (["assert", "Ana", "height", "1e999", "--number"], "OBJECT: it must be a finite number"),
        (["assert", "Ana", "height", "1", "--qualifier", "by"], "--qualifier: it is given as NAME=VALUE"),
        (["assert", "Ana", "lives_in", " "], "OBJECT: it must not be empty"),
        (
            ["assert", "Ana", "lives_in", "Oslo", "--valid-at", "2024-05-01T09:30:00"],
            "--valid-at: a time needs its offset",
        ),
        (["assert", "Ana", "lives_in", "Oslo", "--confidence", "2"], "--confidence"),
        (["assert", "Ana", "lives_in", "Oslo", "--group", "a\tb"], "--group: a group id has"),
        (["add", "Hello", "--timestamp", "soon"], "--timestamp: not a time"),
        (["message", "last"], "POSITION"),
    ],
)
def test_a_statement_that_cannot_be_is_a_wrong_call(told: Asof, arguments: list[str], reason: str) -> None:
    told(*arguments, code=2)

    assert reason in told.err


def test_an_entity_is_stated_under_an_id_of_ones_own(asof: Asof) -> None:
    assert asof.json("state-entity", "staff-7", "Ana", "--summary", "She cooks.")["position"] == 0

    [ana] = asof.json("entity", "Ana")
    assert "She cooks." in ana["summary"]


def test_entities_are_merged_split_and_named_by_verbs(told: Asof) -> None:
    assert told.json("merge", "Ben", "Ana")["position"] == 5
    assert sorted(told.json("entity", "Ana")[0]["names"]) == ["Ana", "Ben"]
    told("split", "Ben", "Ana")
    assert told.json("entity", "Ana")[0]["names"] == ["Ana"]
    told("alias", "Ana", "Annie")
    assert told.json("entity", "Annie")[0]["name"] == "Ana"
    told("unalias", "Ana", "Annie")
    told("entity", "Annie", code=1)
    told("merge", "Nobody", "Ana", code=1)
    assert "was parked" in told.err


def test_what_waits_for_a_person_is_listed(told: Asof) -> None:
    told("retract", "Ana", "lives_in", "Rome", code=1)

    [parked] = told.json("parked")
    assert parked["position"] == 5
    assert parked["reason"] in told("parked")
    assert told.json("contradictions") == []
    told("settle", "no-such-fact", code=1)


def test_lines_without_a_group_are_of_the_default_group_or_of_the_one_that_is_named(
    asof: Asof, write: Callable[..., str]
) -> None:
    line = {"subject": "Ana", "relation": "lives_in", "object": "Rome"}
    asof("import", write(line))
    asof("import", write(line, {**line, "group_id": "third"}), "--group", "other")
    asof("produce", write({"content": "Hello.", "role_type": "user"}), "--group", "said")
    asof("import", write(line), "--group", "no\tgroup", code=2)

    assert [fact["group_id"] for fact in asof.json("facts", "--all-groups")] == ["default", "other", "third"]
    assert [group["group_id"] for group in asof.json("groups")] == ["default", "other", "said", "third"]


def test_an_episode_is_withdrawn_and_its_past_stays(told: Asof) -> None:
    [dog] = told.json("episodes", "--from", "2024-02", "--to", "2024-04")
    [known] = told.json("facts", "--relation", "has_pet")

    assert told.json("withdraw", dog["uuid"])["position"] == 5

    assert told.json("facts", "--relation", "has_pet") == []
    assert len(told.json("facts", "--relation", "has_pet", "--known-at", known["created_at"])) == 1
    told("episode", dog["uuid"], code=1)
    told("withdraw", NEVER_SAID, code=1)
    assert "was parked" in told.err


def test_a_message_may_say_how_it_is_read(asof: Asof) -> None:
    asof("add", "I live in Oslo.", "--role", "Ana", "--source-description", "chat")
    asof(
        "add", "I live in Rome.", "--role", "Ana", "--excluded-entity-types", "Place", "--excluded-entity-types", "City"
    )

    sent = [e["data"] for e in asof.lines("events", "--log", "messages")]
    assert sent[0].get("source_description") == "chat"
    assert sent[1]["excluded_entity_types"] == ["Place", "City"]


def test_tables_show_short_ids_and_every_command_takes_them(told: Asof) -> None:
    (ben,) = told.json("facts", "--about", "Ben")
    short = ben["uuid"][:8]

    assert told("facts", "--about", "Ben").split()[-1] == short
    assert told.json("fact", short)["uuid"] == told.json("why", short[:8])["fact"]["uuid"] == ben["uuid"]
    assert told.json("history", short) == told.json("history", ben["uuid"]) != []
    assert told.json("facts", "--about", ben["subject_uuid"][:13]) == [ben]
    told("fact", "00000000", code=1)
    told("end", "--ref", short, "--invalid-at", "2021")
    assert told.json("facts", "--about", "Ben") == []
    (said,) = told.json("episodes", "--from", "2024-02", "--to", "2024-04")
    told("withdraw", said["uuid"][:9])
    told("episode", said["uuid"], code=1)


@pytest.mark.parametrize("command", ["end", "retract"])
@pytest.mark.parametrize("letters", [8, 13, 36])
def test_a_fact_is_ended_or_retracted_by_its_id_alone(told: Asof, command: str, letters: int) -> None:
    (ben,) = told.json("facts", "--about", "Ben")
    by_id = ben["uuid"][:letters]

    assert "Ben" in told(command, by_id, "--dry-run")
    assert told.json("facts", "--about", "Ben") == [ben]
    told(command, by_id)

    assert told.json("facts", "--about", "Ben") == []
    written = told.lines("events", "--log", "messages")[-1]["data"]
    assert (written["op"], written["ref"], written.get("subject")) == (command, ben["uuid"], None)


def test_the_ref_that_a_producer_gave_goes_before_an_id_that_begins_so(told: Asof) -> None:
    (ben,) = told.json("facts", "--about", "Ben")
    short = ben["uuid"][:8]
    told("assert", "Kim", "lives_in", "Oslo", "--ref", short)

    told("end", short)

    assert told.json("facts", "--about", "Ben") == [ben]
    assert told.json("facts", "--about", "Kim") == []


def test_no_id_of_another_group_is_taken_for_one_of_this_group(told: Asof) -> None:
    (ben,) = told.json("facts", "--about", "Ben")

    told("end", ben["uuid"][:8], "--group", "other", code=1)

    assert "ref: no fact of this group has it" in told.err
    assert told.lines("events", "--log", "messages")[-1]["data"]["ref"] == ben["uuid"][:8]
    assert told.json("facts", "--about", "Ben") == [ben]


def test_a_table_of_any_width_breaks_no_id_and_folds_what_is_too_long() -> None:
    rows = [
        ["Ana lives in a very long street of the old town", "2023-05-01", "0123abcd"],
        ["\u6771\u4eac" * 9, "", "4567cdef"],
    ]
    for width in (200, 60, 44, 30):
        shown = list(grid.lines(["fact", "from", "id"], rows, width))
        assert all(any(id_ in line for line in shown) for id_ in ("0123abcd", "4567cdef"))
        assert max(map(cell_len, shown)) <= width
        assert "".join("".join(shown).split()).count("\u6771") == 9


def test_a_long_list_is_shown_in_little_time(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[f"Ana knows number {n}", "2024-01-01", "", f"{n:08x}-0000-5000-8000-{n:012x}"] for n in range(20_000)]
    began = process_time()

    show.table(["fact", "from", "until", "id"], rows)

    assert process_time() - began < 3
    assert len(capsys.readouterr().out.splitlines()) == 20_002


def test_no_words_are_no_message(asof: Asof) -> None:
    asof("add", " ", code=2)

    assert "TEXT: there are no words in it" in asof.err


def test_a_difference_tells_the_words_behind_it(told: Asof) -> None:
    shown = told("diff", "--about", "Ana", "--from", "2024-01-01", "--to", "2024-06-01", "--why")

    assert "began:" in shown
    assert '"I have a dog."' in shown
    [change] = told.json("diff", "--about", "Ana", "--from", "2024-01-01", "--to", "2024-06-01", "--why")
    assert change["why"]["fact"]["uuid"] == change["after"]["uuid"]


# Commands and operations.


def _commands() -> dict[str, Any]:
    return {name: _function(name) for name in COMMANDS}


def _function(name: str) -> Any:
    module = import_module(f"asof.cli.{COMMANDS[name][0]}")
    return getattr(module, f"{name.replace('-', '_')}{'_' * iskeyword(name)}")


def _operations() -> Iterator[Any]:
    """Yield what the modules of operations define: operations, and functions whose answer comes in pieces."""
    for found in iter_modules(import_module("asof.operations").__path__):
        if found.name in OF_DOORS:
            continue
        module = import_module(f"asof.operations.{found.name}")
        for name, value in vars(module).items():
            defined = value.run if isinstance(value, Operation) else value if name in ONLY_FUNCTIONS else None
            if getattr(defined, "__module__", None) == module.__name__:
                yield value


ONLY_FUNCTIONS = {  # that no query and answer model describe
    *("produce", "import_facts", "what_if", "replay", "export", "doctor", "pull_model", "read_text"),
    *("check_ontology", "diff_ontologies", "try_ontology"),
    *("create_graphs", "check_graphs", "copy_graphs"),
    *(
        "create_topics",
        "check_topics",
        "lag_of_topics",
        "rewrite_topics",
        "work",
        "project",
        "health",
        "restore",
        "replay_into",
        "import_export",
    ),
}


def test_every_operation_has_a_command_and_every_command_an_operation() -> None:
    bound = {name: command.operations for name, command in _commands().items()}
    operations = set(_operations())

    assert {of.name if isinstance(of, Operation) else of.__name__ for of in operations} >= ONLY_FUNCTIONS
    assert operations - {one for ones in bound.values() for one in ones} == set()
    assert {one for ones in bound.values() for one in ones} - operations == set()
    assert [name for name, ones in bound.items() if not ones] == [
        "chat",
        "serve",
        "mcp",
        "discord",
        "completion",
    ]  # of doors themselves


def test_every_verb_of_a_memory_has_a_command() -> None:
    verbs = {name.replace("_", "-") for name in vars(Memory) if not name.startswith("_")} - {"close"}
    other = {
        "import-facts": "import",
        "import-export": "import",
        "state-fact": "assert",
        "switch": "generations",
        "drop": "generations",
        "active": "generations",
        "generations-diff": "generations",
        "estimate-rebuild": "rebuild",
        "erasure-preview": "erase",
        **dict.fromkeys(("builds", "pause-build", "resume-build", "cancel-build"), "generations"),
        **dict.fromkeys(("register-prompt", "activate-prompt"), "prompts"),
    }

    assert {other.get(verb, verb) for verb in verbs} <= COMMANDS.keys()


def test_the_list_of_commands_has_the_first_sentence_of_their_help() -> None:
    help_of = {name: " ".join(command.__doc__.split("\n\n")[0].split()) for name, command in _commands().items()}

    assert {name: text for name, (_, text) in COMMANDS.items() if not f"{help_of[name]} ".startswith(f"{text} ")} == {}
    assert all(text.endswith(".") for _, text in COMMANDS.values())


NAMING = {"name", "id", "about", "center", "entity", "into", "ref", "episode_id"}
MAKING = {"add", "state-entity", "assert", "correct", "rebuild", "generations"}  # a name may be new, or no entity's
PASSED = {("alias", "name"), ("mcp", "name"), ("search", "center"), ("replay", "name")}  # other names; a centre
OTHERS = {"query": "x", "start": "2020", "stop": "2021", "name": "Annie", "into": "Ben", "entity": "Ana"}


def _naming() -> list[tuple[str, str]]:
    params = {name: command.params for name, command in CommandGroup(name="asof").commands.items()}
    return [
        (name, param.name)
        for name, listed in params.items()
        for param in listed
        if name not in MAKING and param.name in NAMING and (name, param.name) not in PASSED
    ]


@pytest.mark.parametrize(("name", "parameter"), _naming())
def test_a_name_that_nobody_has_ends_every_command_alike(told: Asof, name: str, parameter: str) -> None:
    arguments = []
    for param in CommandGroup(name="asof").commands[name].params:
        value = NEVER_SAID if param.name == parameter else OTHERS.get(param.name) if param.required else None
        if value is not None:
            arguments += [value] if param.param_type_name == "argument" else [param.opts[0], value]

    told(name, *arguments, code=1)

    assert told.out == ""
    assert told.err.count("\n") == 1


def test_the_help_has_every_command_in_a_section(capsys: pytest.CaptureFixture[str]) -> None:
    calls.run(app, ["--help"])
    shown = capsys.readouterr().out

    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert [title for title in SECTIONS if f"\n{title}:\n" not in shown] == []
    assert EXAMPLES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_help_is_a_command_line_that_can_be(name: str) -> None:
    program, called, *arguments = shlex.split(EXAMPLES[name].partition(" >> ")[0])

    assert (program, called) == ("asof", name)
    CommandGroup(name="asof").commands[name].make_context(name, arguments)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete_commands_and_options(asof: Asof, shell: str) -> None:
    assert "_ASOF_COMPLETE" in asof("completion", shell)
    line = "asof search --rel"
    asks = {"_ASOF_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": "2"}
    asks |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}

    done = subprocess.run(ASOF, env={**os.environ, **asks}, capture_output=True, text=True, check=False)

    assert "--relation" in done.stdout
    assert done.stderr == ""


class NarrowQuery(FactsQuery):
    """Ask which facts hold, with one more filter."""

    spoken_by: str | None = Field(None, description="Who said it.", examples=["Ana"])


def test_a_filter_added_to_a_query_is_an_option_of_its_command() -> None:
    def narrow(session: Session, query: NarrowQuery) -> Page[Fact]:
        raise NotImplementedError

    alone = Typer()
    alone.command()(question(Operation(narrow, "facts", lambda _: False), FACTS))

    option: Any = next(one for one in get_command(alone).params if one.name == "spoken_by")
    assert (option.opts, option.help, option.metavar) == (["--spoken-by"], "Who said it. Such as Ana.", "NAME")


NO_OPTION = {  # fields that a command does not take
    "add": {"entity_types", "relation_types", "relation_type_map"},  # objects: a line of `asof produce` has them
    "merge": {"op", "name", "merge_id"},
    "split": {"op", "name", "merge_id"},
    "alias": {"op", "into", "merge_id"},
    "unalias": {"op", "into", "merge_id"},
    "assert": {"op"},
    "correct": {"op"},
    "end": {"op", "valid_at", "grain", "fact", "confidence", "qualifiers"},
    "retract": {"op", "valid_at", "invalid_at", "grain", "fact", "confidence", "qualifiers"},
}


def test_every_field_of_a_query_is_a_parameter_of_its_command() -> None:
    for name, command in _commands().items():
        asked = command.operations[0] if command.operations else None
        if isinstance(asked, Operation) and name not in ("demo", "generations"):
            missing = set(asked.query.model_fields) - command.__annotations__.keys()
            assert missing == NO_OPTION.get(name, set()), name


def test_the_commands_are_found_by_name_and_a_near_name_is_suggested(asof: Asof) -> None:
    asof("fcts", code=2)

    assert "Did you mean" in asof.err
    assert list(CommandGroup(name="asof").commands) == list(COMMANDS)

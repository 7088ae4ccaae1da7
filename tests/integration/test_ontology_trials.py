"""An ontology is tried on the last episodes: which facts it would change, without a change of the memory."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from asof.api.memory import Memory
from asof.operations.ontologies import OntologyTrial, OntologyTrialQuery, try_ontology
from asof.settings import Settings
from asof_ontologies import registry
from commands import Asof

TOWN = """
id: town
version: 1
description: "Who lives where."
entity_types:
  - {name: Person, description: "A human being."}
  - {name: Place, description: "A place.", open: true}
relation_types:
  - name: lives_in
    sentence: "{subject} lives in {object}"
    means: "Where someone lives."
    sources: [Person]
    targets: [Place]
    cardinality: one
    cues: ["<live> in"]
    starts: ["<move> to"]
"""
DWELLS = TOWN.replace('"<live> in"', '"<live> in", "<dwell> in"')
MANY = TOWN.replace("    cardinality: one\n", "")
TOLD = ["I live in Rome.", "I dwell in Oslo.", "Hello.", "I dwell in Paris.", "I moved to Berlin."]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    file = tmp_path / "town.yaml"
    file.write_text(TOWN)
    with Memory(Settings(data=tmp_path / "data", ontology=str(file), embedder="none")) as memory:
        for day, text in enumerate(TOLD, 10):
            memory.add(text, role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
        memory.add("I dwell in Turin.", role="Ben", group_id="b", timestamp="2024-05-20T09:00:00Z")
        yield memory


@pytest.fixture
def dwells(tmp_path: Path) -> str:
    file = tmp_path / "dwells.yaml"
    file.write_text(DWELLS)
    return str(file)


def trial(memory: Memory, file: str, **query: object) -> OntologyTrial:
    return try_ontology(file, memory._session, OntologyTrialQuery.model_validate(query))


def changes(memory: Memory, file: str, **query: object) -> set[tuple[str, str, str]]:
    tried = trial(memory, file, **query)
    sides = [(one.change, one.base or one.other, one.other or one.base) for one in tried.differences]
    return {(change, base.fact.fact, other.fact.group_id) for change, base, other in sides if base and other}


def test_facts_that_a_new_cue_finds_are_gained_and_those_that_they_end_redated(memory: Memory, dwells: str) -> None:
    assert changes(memory, dwells) == {
        ("gained", "Ana lives in Oslo", "default"),
        ("gained", "Ana lives in Paris", "default"),
        ("gained", "Ben lives in Turin", "b"),
        ("redated", "Ana lives in Rome", "default"),
    }


def test_only_the_last_episodes_of_the_group_are_read(memory: Memory, dwells: str) -> None:
    assert changes(memory, dwells, last=1) == {("gained", "Ben lives in Turin", "b")}
    assert changes(memory, dwells, last=2, group_id="default") == {("gained", "Ana lives in Paris", "default")}
    assert changes(memory, dwells, group_id="nobody") == set()
    tried = trial(memory, dwells, group_id="default")
    assert (tried.episodes, tried.needs, tried.base, tried.other) == (5, "episodes", "town", "town")
    assert [(one.relation, one.same, one.gained, one.redated) for one in tried.summary] == [("lives_in", 1, 2, 1)]


def test_the_trial_says_what_a_rebuild_then_brings(memory: Memory, dwells: str) -> None:
    tried = trial(memory, dwells, group_id="default")

    memory.rebuild("better", input="episodes", ontology=dwells)
    built = memory.generations_diff("main", "better", group_id="default")

    assert list(tried.summary) == list(built.summary)
    assert [one.change for one in tried.differences] == [one.change for one in built]


def test_a_change_that_needs_the_mentions_is_tried_too_and_one_that_needs_nothing_changes_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "many.yaml").write_text(MANY)
    (tmp_path / "same.yaml").write_text(TOWN.replace("Who lives where.", "Homes."))

    many = trial(memory, str(tmp_path / "many.yaml"))
    same = trial(memory, str(tmp_path / "same.yaml"))

    assert many.needs == "mentions"
    assert [one.change for one in many.differences] == ["redated"]
    assert (same.needs, same.differences, same.summary[0].same) == ("nothing", (), 2)


def test_a_trial_leaves_every_file_of_the_memory_as_it_is(memory: Memory, dwells: str, tmp_path: Path) -> None:
    def contents() -> dict[str, str]:
        files = (path for path in (tmp_path / "data").rglob("*") if path.is_file())
        kept = (path for path in files if not path.name.endswith(("-shm", "-wal")))
        return {str(path): sha256(path.read_bytes()).hexdigest() for path in kept}

    memory._session.release()
    before = contents()

    assert changes(memory, dwells)
    memory._session.release()

    assert contents() == before


def test_the_command_shows_numbers_differences_and_the_rebuild_that_is_needed(
    memory: Memory, dwells: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.close()
    command = Asof(tmp_path / "data", capsys)

    shown = command("ontology", "try", dwells, "--group", "default").splitlines()
    found = command.json("ontology", "try", dwells, "--limit", "1")

    assert shown[0].split() == ["relation", "same", "gained", "lost", "redated", "merged"]
    assert shown[2].split() == ["lives_in", "1", "2", "0", "1", "0"]
    assert any(line.startswith("gained") and "Ana lives in Oslo" in line for line in shown)
    assert shown[-2:] == ["5 episodes, read by the rules", f"needs: asof rebuild --input episodes --ontology {dwells}"]
    assert (len(found["differences"]), found["more"], found["needs"]) == (1, True, "episodes")
    assert [info["name"] for info in command.json("generations")["generations"]] == ["main"]
    command("ontology", "try", str(tmp_path / "none.yaml"), code=2)
    command("ontology", "diff", dwells, "--last", "5", code=2)
    command("ontology", "try", dwells, dwells, code=2)
    assert registry.load(dwells).id == "town"

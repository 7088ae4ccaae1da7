"""What another memory exported is imported with its times, ids and groups, each item once, bad ones named."""

import json
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.cli import app, calls
from asof_streams.errors import InvalidInput
from world import World

CANARY = "zxqv-canary"
NODES: list[dict[str, Any]] = [
    {"uuid": "n-1", "group_id": "ana", "name": "Ana", "labels": ["Entity", "Person"], "summary": "A cook.",
     "created_at": "2024-01-10T09:00:00Z", "name_embedding": [0.1, 0.2], "attributes": {}},
    {"uuid": "n-2", "group_id": "ana", "name": 'Acme "<&>" \n Co', "labels": ["Entity"], "summary": "",
     "created_at": "2024-01-10T09:00:00Z"},
    {"uuid": "n-3", "group_id": "ana", "name": "Beta", "labels": ["Entity"], "created_at": "2024-05-02T09:00:00Z"},
]  # fmt: skip
EDGES: list[dict[str, Any]] = [
    {"uuid": "e-1", "group_id": "ana", "name": "WORKS_AT", "fact": "Ana works at Acme.", "source_node_uuid": "n-1",
     "target_node_uuid": "n-2", "created_at": "2024-01-10T09:00:00.123456789Z", "valid_at": "2020-01-01T00:00:00",
     "invalid_at": "2024-05-01T00:00:00+00:00", "expired_at": "2024-05-02T09:00:00Z[UTC]", "episodes": ["p-1"]},
    {"uuid": "e-2", "group_id": "ana", "name": "WORKS_AT", "fact": "Ana works at Beta.", "source_node_uuid": "n-1",
     "target_node_uuid": "n-3", "created_at": "2024-05-02T09:00:00Z", "valid_at": "2024-05-01T00:00:00Z",
     "invalid_at": None, "expired_at": None},
]  # fmt: skip
EPISODES = [{"uuid": "p-1", "content": "I work at Acme.", "source": "message", "created_at": "2024-01-10T09:00:00Z"}]
GRAPH = {"nodes": NODES, "edges": EDGES, "episodes": EPISODES}


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.now = 1_800_000_000_000_000
    yield world
    world.memory.close()


@pytest.fixture
def file(tmp_path: Path):
    def write(content: Any) -> Path:
        path = tmp_path / "export.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def lines(*items: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def apoc() -> str:
    """The same graph as Neo4j dumps it."""
    ids = {node["uuid"]: str(number) for number, node in enumerate(NODES)}
    nodes = [
        {"type": "node", "id": ids[n["uuid"]], "labels": n["labels"], "properties": {**n, "labels": None}}
        for n in NODES
    ]
    edges = [
        {
            "type": "relationship",
            "id": edge["uuid"],
            "label": "RELATES_TO",
            "properties": {k: v for k, v in edge.items() if v is not None and not k.endswith("_node_uuid")},
            "start": {"id": ids[edge["source_node_uuid"]], "properties": {"uuid": edge["source_node_uuid"]}},
            "end": {"id": ids[edge["target_node_uuid"]], "properties": {"uuid": edge["target_node_uuid"]}},
        }
        for edge in EDGES
    ]
    others = [
        {"type": "node", "id": "9", "labels": ["Episodic"], "properties": EPISODES[0]},
        {"type": "relationship", "id": "8", "label": "MENTIONS", "properties": {"uuid": "x", "source_uuid": "p-1"}},
    ]
    return lines(*edges, *others, *nodes)


def told(world: World, **asked: Any) -> list[tuple[str, ...]]:
    facts = world.memory.facts(**{"group_id": "ana", "any_time": True, **asked})
    return sorted(
        (f.subject, f.relation, f.object, str(f.valid_at)[:10], str(f.invalid_at)[:10], f.fact) for f in facts
    )


FACTS = [
    ("Ana", "works_at", 'Acme "<&>" \n Co', "2020-01-01", "2024-05-01", "Ana works at Acme."),
    ("Ana", "works_at", "Beta", "2024-05-01", "None", "Ana works at Beta."),
]


@pytest.mark.parametrize(
    "content",
    [
        GRAPH,
        {"entity_nodes": NODES, "entity_edges": EDGES, "episodic_nodes": EPISODES},
        lines(*EDGES, *EPISODES, *NODES),
        lines({"edges": EDGES[:1]}, {"edges": EDGES[1:]}, {"nodes": NODES}, {"episodes": EPISODES}),
        apoc(),
    ],
    ids=["document", "models", "lines", "pages", "neo4j"],
)
def test_a_graph_is_answered_with_its_times_and_its_ids_in_every_form_of_an_export(world, file, content) -> None:
    done = world.memory.import_export("graphiti", file(content))

    assert (done.entities, done.facts, done.accepted, done.refused, done.parked) == (3, 2, 5, (), 0)
    assert done.left_out >= 1
    assert told(world) == FACTS
    [ana] = world.memory.entity("Ana", group_id="ana")
    assert ana.uuid == "n-1"
    assert world.memory.facts(group_id="ana", about="n-1", any_time=True)


def test_an_import_that_is_run_again_adds_nothing_and_a_changed_edge_corrects_its_fact(world, file) -> None:
    world.memory.import_export("graphiti", file(GRAPH))
    end = world.memory.stats()["messages"]
    again = world.memory.import_export("graphiti", file(GRAPH))
    assert (again.known, again.accepted, world.memory.stats()["messages"]) == (5, 0, end)

    changed = {**EDGES[1], "invalid_at": "2024-09-01T00:00:00Z"}
    done = world.memory.import_export("graphiti", file({**GRAPH, "edges": [EDGES[0], changed]}))
    assert (done.known, done.facts, done.accepted, done.parked) == (4, 1, 1, 0)
    assert told(world) == [FACTS[0], (*FACTS[1][:4], "2024-09-01", FACTS[1][5])]
    last = world.memory.import_export("graphiti", file({**GRAPH, "edges": [EDGES[0], changed]}))
    assert last.accepted == 0


def test_with_its_history_each_fact_is_known_since_it_was_known_there(world, file) -> None:
    done = world.memory.import_export("graphiti", file(GRAPH), recorded=True)

    assert (done.facts, done.refused, done.parked) == (3, (), 0)
    assert told(world) == FACTS
    assert told(world, known_at="2024-05-01") == [(*FACTS[0][:4], "None", FACTS[0][5])]
    assert told(world, known_at="2024-01-01") == []
    assert world.memory.import_export("graphiti", file(GRAPH), recorded=True).known == 6


def test_two_groups_may_have_the_same_ids_and_neither_is_told_of_the_other(world, file) -> None:
    ben = {**NODES[0], "group_id": "ben", "name": CANARY, "labels": ["Entity", "Organization"]}
    alone = {**EDGES[1], "uuid": "e-3", "group_id": "ben", "target_node_uuid": "n-2"}
    ours = {**{k: v for k, v in ben.items() if k != "group_id"}, "name": "Eve"}
    done = world.memory.import_export(
        "graphiti", file({"nodes": [*NODES, ben, ours], "edges": [*EDGES, alone, {**EDGES[0], "group_id": None}]})
    )

    assert told(world) == FACTS
    assert CANARY not in world.memory.export(group_id="ana", format="csv")
    assert CANARY in [one.name for one in world.memory.entities(group_id="ben")]
    [ana] = world.memory.entity("Ana", group_id="ana")
    assert ana.uuid == "n-1"
    assert [one.reason for one in done.refused] == [  # neither has a node n-2
        f"edges[{at}]: target_node_uuid: its group has no node with this id in the export" for at in (2, 3)
    ]


def test_the_same_edge_id_in_two_groups_is_a_fact_in_each(world, file) -> None:
    def of_ben(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "group_id": "ben"} for one in items]

    both = {"nodes": NODES + of_ben(NODES), "edges": EDGES + of_ben(EDGES)}
    done = world.memory.import_export("graphiti", file(both))

    assert (done.facts, done.accepted, done.parked) == (4, 10, 0)
    assert told(world) == told(world, group_id="ben") == FACTS
    assert world.memory.import_export("graphiti", file(both)).accepted == 0


def test_a_history_does_not_change_what_its_group_has_recorded_later(world, file) -> None:
    world.memory.import_export("graphiti", file(GRAPH), recorded=True)
    changed = {**EDGES[1], "created_at": "2024-05-01T09:00:00Z", "invalid_at": "2024-09-01T00:00:00Z"}
    ended = {**EDGES[0], "uuid": "e-4", "fact": "Ana worked at Acme.", "expired_at": "2025-01-01T00:00:00Z"}
    other = {**EDGES[0], "uuid": "e-5", "group_id": "ben", "source_node_uuid": "n-9", "target_node_uuid": "n-9"}
    node = {**NODES[0], "uuid": "n-9", "group_id": "ben"}
    later = {"created_at": "2025-06-01T00:00:00Z", "valid_at": "2025-05-01T00:00:00Z"}
    newer = {**EDGES[1], **later, "uuid": "e-6", "fact": "Ana is at Beta again."}
    export = file({"nodes": [*NODES, node], "edges": [EDGES[0], changed, ended, other, newer]})
    end = world.memory.stats()["messages"]

    for dry_run in (True, False):
        done = world.memory.import_export("graphiti", export, recorded=True, dry_run=dry_run)
        assert [(one.line, one.field) for one in done.refused] == [(6, "created_at"), (7, "created_at")]
        assert done.refused[0].reason == (
            "edges[1]: created_at: its group has later records here: "
            "import it without --recorded, to be known from now on"
        )
        assert (done.entities, done.facts, done.known) == (
            1,
            3,
            5,
        )  # the other group's, with its end, and the newer one
    assert (done.accepted, done.parked) == (4, 0)
    assert world.memory.stats()["messages"] == end + 4

    now = world.memory.import_export("graphiti", export)
    assert (now.refused, now.parked) == ((), 0)
    assert (*FACTS[1][:4], "2024-09-01", FACTS[1][5]) in told(world)
    assert FACTS[1] in told(world, known_at="2025-01-01")


def test_equal_times_of_a_history_that_was_interrupted_are_taken(world, file) -> None:
    nodes = [{**NODES[0], "uuid": f"n-{number}", "name": f"Ana {number}"} for number in range(20)]
    world.memory.import_export("graphiti", file({"nodes": nodes[:10], "edges": []}), recorded=True)
    done = world.memory.import_export("graphiti", file({"nodes": nodes, "edges": []}), recorded=True)

    assert (done.known, done.accepted, done.refused) == (10, 10, ())


@pytest.mark.parametrize("source", ["graphiti", "zep", "mem0"])
@pytest.mark.parametrize(
    ("content", "place"),
    [
        (json.dumps({**GRAPH, "x": CANARY})[:-9], "line 1"),
        (json.dumps({**GRAPH, "x": CANARY}, indent=1)[:-9], "line "),
        ("[" * 200_000, "line 1"),
        ('{"' + CANARY + '": ' + "1" * 5_000 + "}", "line 1"),
        (f"{CANARY}\n{CANARY}\n", "line 1"),
    ],
    ids=["truncated", "truncated lines", "nested", "digits", "text"],
)
def test_a_file_that_is_not_json_is_refused_once_with_the_place(
    world, file, capsys: pytest.CaptureFixture[str], source, content, place
) -> None:
    path = file(content)
    done = world.memory.import_export(source, path)

    [refused] = done.refused
    assert refused.reason.startswith(place)
    assert refused.reason.endswith(f"{refused.line}: it is not JSON")
    assert CANARY not in refused.reason
    world.memory.close()
    assert calls.run(app, ["import", str(path), "--product", source, "--data", str(world.path)]) == 1
    assert capsys.readouterr().err.splitlines() == [refused.reason]


def test_a_line_that_is_not_json_is_refused_alone(world, file) -> None:
    broken = json.dumps({"x": CANARY})[:-1] + "\n"
    done = world.memory.import_export("graphiti", file(broken + lines(*NODES) + broken + lines(*EDGES)))

    assert [one.reason for one in done.refused] == ["line 1: it is not JSON", "line 5: it is not JSON"]
    assert done.accepted == 5


def test_bad_items_are_refused_by_number_without_their_content_and_the_others_are_taken(world, file) -> None:
    bad = [
        {**EDGES[0], "uuid": "b-1", "source_node_uuid": CANARY},
        {**EDGES[0], "uuid": "b-2", "valid_at": f"{CANARY} day"},
        {**EDGES[0], "uuid": "b-3", "valid_at": "2025-01-01T00:00:00Z"},
        {**EDGES[0], "uuid": {"a": CANARY}},
        {**EDGES[0], "uuid": "b-5", "group_id": CANARY * 40},
        {**EDGES[0], "uuid": "b-6", "fact": [CANARY]},
        CANARY,
        {"odd": CANARY},
    ]
    nodes = [{"uuid": "b-9", "name": {"x": CANARY}, "labels": []}, {"uuid": "b-10", "name": " " * 3, "labels": "x"}]
    done = world.memory.import_export("graphiti", file({"nodes": NODES + nodes, "edges": [*EDGES, *bad]}))

    assert done.accepted == 5
    refused = {one.reason.split(":")[0]: one for one in done.refused}
    assert refused.keys() == {"nodes[3]", "nodes[4]", *(f"edges[{at}]" for at in range(2, 10))}
    assert [one.line for one in done.refused] == [4, 5, *range(8, 16)]
    assert refused["edges[2]"].field == "source_node_uuid"
    assert refused["edges[3]"].field == "valid_at"
    assert CANARY not in str([(one.reason, one.field) for one in done.refused])
    assert told(world) == FACTS
    strict = world.memory.import_export("graphiti", file({"nodes": nodes, "edges": []}), strict=True)
    assert (strict.accepted, len(strict.refused)) == (0, 2)


def test_what_is_no_export_is_refused_and_nothing_is_written(world, file) -> None:
    for content in ("3", '"text"'):
        with pytest.raises(InvalidInput):
            world.memory.import_export("graphiti", file(content))
    for content in ("", "[]", "{}", "no json\n", "[" * 100_000, "\x00"):
        assert world.memory.import_export("graphiti", file(content)).accepted == 0
    assert not (world.path / "messages.sqlite").exists() or world.memory.stats()["messages"] == 0


def test_zep_names_its_users_and_nodes_otherwise(world, file) -> None:
    edge = {k: v for k, v in EDGES[1].items() if k not in ("group_id", "uuid")}
    edge |= {"uuid_": "e-9", "user_id": "ana", "source_node_name": "Ana", "target_node_name": "Gamma"}
    done = world.memory.import_export("zep", file([{**edge, "target_node_uuid": "n-99"}]))

    assert (done.facts, done.refused) == (1, ())
    assert [fact[:3] for fact in told(world)] == [("Ana", "works_at", "Gamma")]


MEMORIES: list[dict[str, Any]] = [
    {"id": "m-2", "memory": "I moved to Berlin.", "user_id": "ana", "created_at": "2024-04-02T09:00:00-07:00",
     "updated_at": None, "hash": "x", "metadata": {"a": 1}, "score": None},
    {"id": "m-1", "memory": "I live in Madrid.", "user_id": "ana", "created_at": "2024-01-10T09:00:00-07:00"},
]  # fmt: skip
RELATIONS = [{"source": "Ana", "relationship": "HAS_PET", "target": "Biscuit"}]


@pytest.mark.parametrize(
    "content",
    [
        {"results": MEMORIES, "relations": RELATIONS},
        lines({"results": MEMORIES[:1]}, {"results": MEMORIES[1:], "relations": RELATIONS}),
        [
            MEMORIES[0],
            {
                **MEMORIES[1],
                "entities": [{"id": "entity-1", "name": "Ana"}, {"id": "entity-2", "name": "Biscuit"}],
                "relations": [{"source": "entity-1", "relationship": "HAS_PET", "target": "entity-2"}],
            },
        ],
    ],
    ids=["document", "pages", "platform"],
)
def test_memories_of_mem0_are_messages_said_in_their_order_and_relations_are_facts(world, file, content) -> None:
    done = world.memory.import_export("mem0", file(content), group_id="ana")

    assert (done.messages, done.facts, done.refused, done.parked) == (2, 1, (), 0)
    said = [(one.content, str(one.valid_at)[:10], one.role) for one in world.memory.episodes(group_id="ana")]
    assert said[-2:] == [("I live in Madrid.", "2024-01-10", "ana"), ("I moved to Berlin.", "2024-04-02", "ana")]
    assert {fact[:3] for fact in told(world)} >= {("ana", "lives_in", "Madrid"), ("Ana", "has_pet", "Biscuit")}
    assert world.memory.import_export("mem0", file(content), group_id="ana").known == 3


def test_a_dry_run_counts_and_writes_nothing_and_the_command_says_what_was_refused(
    tmp_path: Path, file, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    data = tmp_path / "fresh"
    export = str(file({**GRAPH, "edges": [*EDGES, {**EDGES[0], "source_node_uuid": CANARY}]}))
    line = ["import", export, "--product", "graphiti", "--data", str(data)]

    assert calls.run(app, [*line, "--dry-run"]) == 1
    out, err = capsys.readouterr()
    assert "new here: 3 entities, 2 facts, 0 memories; known 0, left out 1" in out
    assert "edges[2]: source_node_uuid" in err
    assert CANARY not in out + err
    assert not (data / "messages.sqlite").exists()
    assert calls.run(app, line) == 1
    assert "accepted 5, refused 1" in capsys.readouterr().out
    assert calls.run(app, ["import", export, "--dry-run", "--data", str(data)]) == 2
    assert calls.run(app, [*line, "--subject", "name"]) == 2
    assert calls.run(app, [*line[:1], str(tmp_path / "absent"), *line[2:]]) == 2
    assert asof.open(data, embedder="none").facts(group_id="ana", any_time=True)

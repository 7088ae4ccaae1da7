"""Each form of an export says the same, is well-formed to its reader, and holds whatever a name is made of."""

import csv
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import Table
from pyarrow.parquet import ParquetFile, read_table

from asof.cli import app, calls
from asof_projections.model.queries import TextForm
from asof_projections.queries import fact_table, json_ld, mermaid, parquet
from asof_streams.errors import InvalidInput
from world import World

HOSTILE = [
    "=cmd|' /C calc'!A0",
    'a "quoted" name',
    "two\nlines, and a comma",
    "<b>&amp;</b>",
    "]:::x --> y",
    "-- %% end",
]
PROV = "http://www.w3.org/ns/prov#"
XML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.tell("2021-03-01", object="Lisbon", valid_at="2020", qualifiers={"since": "work"})
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    for name in HOSTILE:
        world.tell("2022-04-01", relation="knows", object=name)
    world.tell("2022-05-01", relation="age", object=-41)
    world.tell("2023-03-01", object="Berlin", op="retract")
    yield world
    world.memory.close()


def exported(world: World, form: TextForm, **asked) -> str:
    return "".join(world.memory.export(form, group_id="g", **asked))


def edges(world: World, **asked) -> list[dict]:
    return json.loads(exported(world, "json", **asked))["edges"]


def test_csv_has_the_facts_of_json_and_no_cell_that_a_spreadsheet_would_compute(world: World) -> None:
    rows = list(csv.DictReader(StringIO(exported(world, "csv"), newline="")))

    facts = edges(world)
    assert [row["uuid"] for row in rows] == [fact["uuid"] for fact in facts]
    assert [row["object"].removeprefix("'") for row in rows] == [fact["object"].removeprefix("'") for fact in facts]
    assert [row["valid_at"] for row in rows] == [fact["valid_at"] or "" for fact in facts]
    assert {row["object"]: row["value"] for row in rows if row["relation"] == "age"} == {"-41": "-41"}
    assert json.loads(rows[0]["qualifiers"]) == {"since": "work"}
    cells = [cell for row in rows for cell in row.values()]
    assert "'=cmd|' /C calc'!A0" in cells
    assert not [cell for cell in cells if re.match(r"[=+@\t\r]|-(?!41$)", cell)]


def table(world: World, **asked) -> Table:
    return read_table(BytesIO(b"".join(world.memory.export("parquet", group_id="g", **asked))))


@pytest.mark.parametrize("asked", [{}, {"versions": True}, {"known_at": "2022-03-15", "valid_at": "2020-06"}])
def test_parquet_has_the_rows_of_json_in_types_of_its_own(world: World, asked: dict[str, Any]) -> None:
    rows = table(world, **asked).to_pylist()

    def cells(edge: dict[str, Any]) -> dict[str, Any]:
        times = {name: edge.get(name) and datetime.fromisoformat(edge[name]) for name in fact_table.TIMES}
        qualifiers = json.dumps(edge["qualifiers"]) if edge["qualifiers"] else None
        return {name: edge.get(name) for name in fact_table.COLUMNS} | times | {"qualifiers": qualifiers}

    facts = edges(world, **asked)
    assert facts
    assert rows == [cells(edge) for edge in facts]
    assert any(row["qualifiers"] == '{"since": "work"}' for row in rows)


def test_parquet_says_what_each_column_is(world: World) -> None:
    kinds = {field.name: str(field.type) for field in table(world).schema}

    assert list(kinds) == list(fact_table.COLUMNS)
    assert {kinds[name] for name in fact_table.TIMES} == {"timestamp[us, tz=UTC]"}
    assert {kinds[name] for name in fact_table.FLAGS} == {"bool"}
    assert {kinds[name] for name in fact_table.NUMBERS} == {"double"}
    assert kinds["episodes"].startswith("list<")
    assert "string" in kinds["episodes"]
    rows = {row["object"]: row for row in table(world).to_pylist()}
    assert rows["-41"]["value"] == -41
    assert (rows["Lisbon"]["valid_at"], rows["-41"]["invalid_at"]) == (datetime(2020, 1, 1, tzinfo=UTC), None)


def test_parquet_is_written_in_row_groups_so_that_only_one_is_in_memory(world: World) -> None:
    (edge, *_), asked_for = edges(world), 0

    def many() -> Iterator[dict[str, Any]]:
        nonlocal asked_for
        for number in range(25_000):
            asked_for = number + 1
            yield edge | {"id": str(number)}

    pieces, asked = [], []
    for piece in parquet.write_parquet(many()):
        pieces.append(piece)
        asked.append(asked_for)

    assert asked == [10_000, 20_000, 25_000, 25_000]
    assert all(pieces)
    file = ParquetFile(BytesIO(b"".join(pieces)))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10_000, 10_000, 5_000]
    assert file.read(["id"])["id"].to_pylist() == [str(number) for number in range(25_000)]


def test_parquet_without_its_library_names_the_extra_and_writes_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    with pytest.raises(InvalidInput, match=re.escape('pip install "asof-memory[parquet]"')):
        list(world.memory.export("parquet", group_id="g"))

    file = tmp_path / "facts.parquet"
    line = ["export", "--format", "parquet", "--group", "g", "--output", str(file), "--data", str(world.path)]
    assert calls.run(app, line) == calls.WRONG_CALL
    assert not list(tmp_path.glob("facts*"))


def test_json_ld_gives_each_fact_in_the_terms_of_prov(world: World) -> None:
    document = json.loads(exported(world, "jsonld"))

    context, items = document["@context"], {item["@id"]: item for item in document["@graph"]}
    assert context["prov"] == PROV
    for term in ("generatedAtTime", "invalidatedAtTime", "wasDerivedFrom", "specializationOf"):
        assert context[term]["@id"] == f"prov:{term}"
    assert {item["@type"] for item in items.values()} == {"prov:Entity"}
    assert set().union(*items.values()) <= {*context, "@id", "@type"}
    for fact in edges(world):
        item = items[f"urn:asof:fact:{fact['uuid']}"]
        assert (item["label"], item["generatedAtTime"]) == (fact["fact"], fact["created_at"])
        assert items[item["object"]]["label"] == fact["object"]
        assert item["wasDerivedFrom"] == [f"urn:asof:episode:{episode}" for episode in fact["episodes"]]
        assert not re.search(r"\s", item["object"])


def test_mermaid_has_one_line_for_each_box_and_arrow_and_nothing_of_a_name_is_syntax(world: World) -> None:
    first, *lines = exported(world, "mermaid").splitlines()

    assert first == "flowchart LR"
    entity = r"(?:[\w ,.:!?'()/-]|#\d+;)*"
    box = re.compile(rf'    (n[0-9a-f]{{16}})\["({entity})"\]')
    arrow = re.compile(rf'    (n[0-9a-f]{{16}}) -- "{entity}" --> (n[0-9a-f]{{16}})')
    boxes = [found for line in lines if (found := box.fullmatch(line))]
    arrows = [found for line in lines if (found := arrow.fullmatch(line))]
    assert len(boxes) + len(arrows) == len(lines)
    assert len(arrows) == len(edges(world))
    assert {end for found in arrows for end in found.groups()} <= {found[1] for found in boxes}
    labels = {re.sub(r"#(\d+);", lambda code: chr(int(code[1])), found[2]) for found in boxes}
    assert labels >= {" ".join(name.split()) for name in HOSTILE}


def test_graphml_is_parsed_with_the_names_that_were_told(world: World) -> None:
    root = ET.fromstring(exported(world, "graphml"))

    names = {data.text for data in root.iter(f"{XML}data") if data.get("key") == "node.name"}
    assert names >= set(HOSTILE)


def test_versions_are_all_that_was_ever_believed_each_with_its_known_time_and_an_id_of_its_own(world: World) -> None:
    berlin = [edge for edge in edges(world, versions=True) if edge["object"] == "Berlin"]
    lisbon = [edge for edge in edges(world, versions=True) if edge["object"] == "Lisbon"]

    history = [v for v in world.memory.history("Ana", group_id="g") if v.relation == "lives_in"]
    assert len(berlin) + len(lisbon) == len(history)
    assert [edge["known_to"] for edge in berlin] == ["2023-03-01T00:00:00Z"]
    assert sorted((e["known_from"][:4], e["invalid_at"] and e["invalid_at"][:4]) for e in lisbon) == [
        ("2021", None),
        ("2022", "2021"),
        ("2023", None),
    ]
    for form, ids in {
        "csv": [row["id"] for row in csv.DictReader(StringIO(exported(world, "csv", versions=True), newline=""))],
        "graphml": [e.get("id") for e in ET.fromstring(exported(world, "graphml", versions=True)).iter(f"{XML}edge")],
    }.items():
        assert ids == [edge["id"] for edge in edges(world, versions=True)], form
        assert len(set(ids)) == len(ids)
    nodes = json.loads(exported(world, "json", versions=True))["nodes"]
    assert len({node["id"] for node in nodes}) == len(nodes)
    items = json.loads(exported(world, "jsonld", versions=True))["@graph"]
    assert [item for item in items if item.get("invalidatedAtTime") == "2023-03-01T00:00:00Z"]
    assert all(item["specializationOf"] for item in items if "relation" in item)


def test_versions_as_of_a_known_moment_have_nothing_that_was_recorded_later(world: World) -> None:
    then = edges(world, versions=True, known_at="2022-03-15")
    assert sorted((e["object"], (e["known_to"] or "")[:10]) for e in then) == [
        ("Berlin", ""),
        ("Lisbon", ""),
        ("Lisbon", "2022-03-01"),
    ]
    assert edges(world, versions=True, known_at="2022-03-15", valid_at="2019") == []


def test_what_has_one_version_or_one_moment_is_refused_with_versions(world: World) -> None:
    for asked in ({"episodic": True}, {"details": True}):
        with pytest.raises(InvalidInput):
            exported(world, "json", versions=True, **asked)


def test_an_empty_graph_is_whole_in_every_form() -> None:
    assert list(csv.reader("".join(fact_table.write_csv([])).splitlines())) == [list(fact_table.COLUMNS)]
    assert json.loads("".join(json_ld.write([], [])))["@graph"] == []
    assert "".join(mermaid.write([], [])) == "flowchart LR\n"
    empty = read_table(BytesIO(b"".join(parquet.write_parquet([]))))
    assert (empty.num_rows, empty.column_names) == (0, list(fact_table.COLUMNS))


def test_the_command_writes_the_file_that_a_reader_of_csv_takes(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    file = tmp_path / "facts.csv"
    line = ["export", "--format", "csv", "--versions", "--group", "g", "--output", str(file)]

    assert calls.run(app, [*line, "--data", str(world.path)]) == 0
    assert file.read_bytes().decode() == exported(world, "csv", versions=True)


def test_the_command_writes_parquet_to_a_file_and_not_to_a_terminal(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    file = tmp_path / "facts.parquet"
    line = ["export", "--format", "parquet", "--group", "g", "--data", str(world.path)]

    assert calls.run(app, line) == calls.WRONG_CALL
    out, err = capsys.readouterr()
    assert (out, "--output" in err) == ("", True)
    assert calls.run(app, [*line, "--output", str(file)]) == 0
    assert read_table(file).equals(table(world))

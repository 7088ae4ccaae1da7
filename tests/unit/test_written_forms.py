"""Each form in which facts are written, of one node and one edge that are made by hand."""

import csv
import json
from io import BytesIO, StringIO
from typing import Any, Final
from xml.etree import ElementTree as ET

from pyarrow.parquet import read_table

from asof_projections.queries import fact_table, graphml, json_ld, mermaid, parquet

NODE: Final[dict[str, Any]] = {"id": "a/b", "name": "Zoë", "attributes": {"role": "crème"}, "members": [], "type": None}
EDGE: Final[dict[str, Any]] = {
    "id": "v1", "uuid": "f1", "source": "a/b", "target": "t", "relation": "likes", "fact": "Zoë likes tea",
    "valid_at": "2024-03-01T12:00:00Z", "invalid_at": None, "created_at": "2024-03-02T00:00:00Z",
    "known_from": "2024-03-03T00:00:00Z", "confidence": 0.9, "episodes": [], "occurrence": False, "planned": True,
    "value": None, "qualifiers": {"with": "crème"},
}  # fmt: skip
XML: Final = "{http://graphml.graphdrawing.org/xmlns}"


def test_graphml_has_what_is_said_in_the_characters_in_which_it_was() -> None:
    root = ET.fromstring("".join(graphml.write([NODE], [EDGE])))

    written = {data.get("key"): data.text for data in root.iter(f"{XML}data")}
    assert written["node.attributes"] == '{"role": "crème"}'
    assert written["edge.planned"] == "true"
    assert not {"edge.occurrence", "edge.value", "node.members", "edge.uuid", "edge.known_from"} & {*written}
    kinds = {key.get("id"): key.get("attr.type") for key in root.iter(f"{XML}key")}
    assert [name for name, kind in kinds.items() if kind != "string"] == ["edge.confidence"]
    assert "edge.known_from" not in kinds
    versions = "".join(graphml.write([NODE], [EDGE], versions=True))
    assert '<data key="edge.uuid">f1</data><data key="edge.known_from">2024-03-03T00:00:00Z</data>' in versions


def test_json_ld_leaves_out_what_is_not_said() -> None:
    text = "".join(json_ld.write([NODE], [EDGE]))
    node, edge = json.loads(text)["@graph"]

    assert "Zoë likes tea" in text
    assert node == {"@id": "urn:asof:node:a%2Fb", "@type": "prov:Entity", "label": "Zoë"}
    assert edge == {
        "@id": "urn:asof:fact:v1",
        "@type": "prov:Entity",
        "label": "Zoë likes tea",
        "subject": "urn:asof:node:a%2Fb",
        "relation": "likes",
        "object": "urn:asof:node:t",
        "validFrom": "2024-03-01T12:00:00Z",
        "generatedAtTime": "2024-03-03T00:00:00Z",
        "specializationOf": "urn:asof:fact:f1",
        "confidence": 0.9,
        "planned": True,
    }


def test_a_table_has_flags_as_words_and_qualifiers_in_the_characters_in_which_they_were_said() -> None:
    [row] = csv.DictReader(StringIO("".join(fact_table.write_csv([EDGE])), newline=""))
    assert (row["occurrence"], row["planned"], row["qualifiers"]) == ("false", "true", '{"with": "crème"}')

    [cells] = read_table(BytesIO(b"".join(parquet.write_parquet([EDGE])))).to_pylist()
    assert (cells["occurrence"], cells["planned"], cells["qualifiers"]) == (False, True, '{"with": "crème"}')


def test_an_arrow_has_the_days_between_which_it_holds_and_whether_it_is_planned() -> None:
    held = EDGE | {"planned": False, "invalid_at": "2024-04-05T00:00:00Z"}

    planned, plain = list(mermaid.write([], [EDGE, held]))[1:]
    assert ' -- "likes from 2024-03-01 (planned)" --> ' in planned
    assert ' -- "likes from 2024-03-01 until 2024-04-05" --> ' in plain

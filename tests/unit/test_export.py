"""Both graphs, written out and read back by what others would read them with."""

import json
from xml.etree import ElementTree as ET

import pytest

from asof_projections.model.rows import Moment
from asof_projections.queries import export, graphml
from asof_streams.ids import episode_id
from asof_streams.messages import EntityStatement, accept, in_scope
from histories import History, on
from world import World

NOW = Moment(on("2025"), on("2025"))
ALL = Moment(None, None)
NAMESPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    history.say("2024-01-01", "Ana -knows-> Ben", name="turn 1")
    history.say("2024-01-02", "Ana -knows-> Cem & <Co>")
    history.say("2024-01-03", "Nothing is said here.")
    yield history
    history.close()


def episodic(history, group="g", at=ALL):
    return json.loads("".join(export.episodic(history.episodes, group, at)))


def words(graph):
    return [episode["content"] for episode in graph["episodes"]]


def test_the_episodic_graph_has_the_fields_of_the_specification(history):
    graph = episodic(history)

    assert list(graph) == ["nodes", "edges", "episodes"]
    [edge, _] = graph["edges"]
    names = {node["id"]: node["mention"] for node in graph["nodes"]}
    assert (names[edge["source"]], edge["type"], names[edge["target"]]) == ("Ana", "knows", "Ben")
    assert edge["validAt"] == "2024-01-01T00:00:00Z"
    assert edge.keys() >= {"id", "episode_id", "content", "metadata", "createdAt"}
    assert graph["nodes"][0] == {
        "id": edge["source"],
        "type": "Thing",
        "mention": "Ana",
        "episode_id": edge["episode_id"],
        "content": {"mention": "Ana", "turn": 0},
        "metadata": {"turn": "0", "timestamp": "2024-01-01T00:00:00Z"},
        "validAt": "2024-01-01T00:00:00Z",
        "createdAt": "2024-01-01T00:00:00Z",
    }
    assert graph["episodes"][0] == {
        "id": edge["episode_id"],
        "type": "message",
        "actor": "user",
        "content": "Ana -knows-> Ben",
        "metadata": {"session_id": "g", "turn_id": "turn 1"},
        "validAt": "2024-01-01T00:00:00Z",
        "createdAt": "2024-01-01T00:00:00Z",
    }


def test_turns_are_counted_within_their_group_and_nodes_and_edges_carry_them(history):
    history.say("2024-01-04", "Dan -knows-> Eve", group_id="other")
    history.say("2024-01-05", "Ben -knows-> Fay")

    both = episodic(history, None)

    def turn_ids(group):
        turns = [e["metadata"] for e in both["episodes"]]
        return [turn["turn_id"] for turn in turns if turn["session_id"] == group]

    assert turn_ids("g") == ["turn 1", "turn_1", "turn_2", "turn_3"]
    assert turn_ids("other") == ["turn_0"]
    turns = {node["mention"]: node["content"]["turn"] for node in both["nodes"]}
    assert turns == {"Ana": 0, "Ben": 0, "Cem & <Co>": 1, "Dan": 0, "Eve": 0, "Fay": 3}
    assert [edge["metadata"]["turn"] for edge in both["edges"]] == ["0", "1", "0", "3"]
    assert [edge["content"]["turn"] for edge in both["edges"]] == [0, 1, 0, 3]


def test_a_mention_that_repeats_one_of_the_turns_before_has_no_node_of_its_own(history):
    graph = episodic(history)

    assert sorted(node["mention"] for node in graph["nodes"]) == ["Ana", "Ben", "Cem & <Co>"]
    assert len({edge["source"] for edge in graph["edges"]}) == 1
    assert {end for e in graph["edges"] for end in (e["source"], e["target"])} == {n["id"] for n in graph["nodes"]}


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (Moment(on("2024-01-02"), None), ["Ana -knows-> Ben", "Ana -knows-> Cem & <Co>", "Ana -knows-> Dan"]),
        (Moment(on("2024-01-01"), None), ["Ana -knows-> Ben", "Ana -knows-> Dan"]),
        (Moment(None, on("2024-01-02")), ["Ana -knows-> Ben", "Ana -knows-> Cem & <Co>"]),
        (Moment(on("2024-01-01"), on("2024-01-04")), ["Ana -knows-> Ben"]),
        (Moment(on("2023-12-01"), on("2024-01-04")), []),
        (Moment(on("2023-12-01"), on("2024-01-05")), ["Ana -knows-> Dan"]),
        (Moment(on("2022"), None), []),
    ],
)
def test_the_episodic_graph_as_of_a_moment_is_what_was_said_and_what_was_recorded_by_then(history, at, said):
    history.say("2024-01-05", "Ana -knows-> Dan", said="2023-12-01")

    graph = episodic(history, at=at)

    assert words(graph) == said
    assert len(graph["edges"]) == len(said)
    assert {end for e in graph["edges"] for end in (e["source"], e["target"])} == {n["id"] for n in graph["nodes"]}


def test_what_refers_to_words_that_were_said_later_is_part_of_the_episodic_graph_from_then_on(history):
    """A producer may name a later turn as context of an earlier one, which is then read with its names."""
    history.say("2024-01-05", "Ana -knows-> Eve", said="2023-12-01", previous_episode_ids=[episode_id("g", 0)])

    assert words(episodic(history, at=Moment(on("2023-12-31"), None))) == ["Ana -knows-> Eve"]
    assert episodic(history, at=Moment(on("2023-12-31"), None))["edges"] == []
    assert len(episodic(history, at=Moment(on("2024-01-01"), None))["edges"]) == 2


def test_a_withdrawn_episode_stays_part_of_what_was_recorded(history):
    history.withdraw("2024-01-05", 0)

    assert "Ana -knows-> Ben" in words(episodic(history))


def test_an_empty_graph_is_a_whole_document(history):
    assert episodic(history, "nobody") == {"nodes": [], "edges": [], "episodes": []}


def test_an_export_is_written_while_it_is_read(history):
    pieces = export.episodic(history.episodes, "g", ALL)

    assert json.loads("".join([next(pieces), next(pieces), "]}"]))["nodes"][0]["mention"] == "Ana"


def semantic(history, at):
    return json.loads("".join(export.semantic(history.beliefs, "g", at)))


def test_the_semantic_graph_is_that_of_the_moment(history):
    history.tell("2024-02-01", relation="knows", object="Dora", valid_at="2010", invalid_at="2012")
    early = semantic(history, Moment(on("2024-01-01"), on("2024-01-01")))

    assert [(e["subject"], e["object"]) for e in early["edges"]] == [("Ana", "Ben")]
    assert [n["name"] for n in early["nodes"]] == ["Ana", "Ben"]
    assert [e["object"] for e in semantic(history, Moment(on("2011"), NOW.known))["edges"]] == ["Dora"]
    assert early["edges"][0]["source"] == early["nodes"][0]["id"]


def test_a_merge_is_an_edge_and_facts_keep_their_own_ends(history):
    history.tell("2024-02-01", relation="also_known_as", object="Anna", valid_at="2020")

    graph = semantic(history, NOW)

    [link] = [e for e in graph["edges"] if e["relation"] == "duplicate_of"]
    names = {n["id"]: n["name"] for n in graph["nodes"]}
    assert (names[link["source"]], names[link["target"]]) == ("Anna", "Ana")
    assert link["reason"] == "also known as"


def test_an_entity_has_its_attributes_and_a_community_is_a_node_with_its_members(history):
    history.say("2024-02-01", "Ana: role = cook, 0.9")
    history.say("2024-02-02", "Ana -knows-> Dan", update_communities=True)
    graph = semantic(history, NOW)

    ids = {n["name"]: n["id"] for n in graph["nodes"]}
    nodes = {n["name"]: n for n in graph["nodes"]}
    assert (nodes["Ana"]["attributes"], nodes["Dan"]["attributes"]) == ({"role": "cook"}, {})
    [community] = [n for n in graph["nodes"] if n["type"] == "Community"]
    assert community["members"] == [ids[name] for name in ("Ana", "Ben", "Cem & <Co>", "Dan")]
    root = ET.fromstring("".join(export.semantic(history.beliefs, "g", NOW, "graphml")))
    written = {data.get("key"): data.text for data in root.iter(f"{{{NAMESPACE['g']}}}data")}
    assert json.loads(written["node.attributes"]) == {"role": "cook"}
    assert (written["node.members"] or "").split() == community["members"]


def test_graphml_is_well_formed_and_says_the_same_as_json(history):
    document = "".join(export.semantic(history.beliefs, "g", NOW, "graphml"))

    root = ET.fromstring(document)

    graph = semantic(history, NOW)
    nodes, edges = root.findall("g:graph/g:node", NAMESPACE), root.findall("g:graph/g:edge", NAMESPACE)
    assert [n.get("id") for n in nodes] == [n["id"] for n in graph["nodes"]]
    assert [(e.get("source"), e.get("target")) for e in edges] == [(e["source"], e["target"]) for e in graph["edges"]]
    keys = {key.get("id"): key.get("attr.name") for key in root.findall("g:key", NAMESPACE)}
    told = {keys[data.get("key")]: data.text for data in edges[1].findall("g:data", NAMESPACE)}
    assert (told["fact"], told["relation"], told["confidence"]) == ("Ana knows Cem & <Co>", "knows", "1.0")
    assert "invalid_at" not in told
    [graph] = root.findall("g:graph", NAMESPACE)
    assert graph.get("edgedefault") == "directed"


def test_graphml_declares_every_key_and_replaces_what_xml_cannot_say():
    node = {"id": 'a"<', "name": "bell\x07 & \ud800", "type": None}

    root = ET.fromstring("".join(graphml.write([node], [])))

    declared = {key.get("id") for key in root.findall("g:key", NAMESPACE)}
    used = {data.get("key") for data in root.iter(f"{{{NAMESPACE['g']}}}data")}
    assert used == {"node.name"} <= declared
    [written] = root.findall("g:graph/g:node", NAMESPACE)
    assert (written.get("id"), written[0].text) == ('a"<', "bell\ufffd & \ufffd")


def test_a_literal_is_a_node_of_its_own_for_each_fact(history):
    history.say("2024-02-01", "Ana -has_age-> 41")
    history.say("2024-02-01", "Ben -has_age-> 41")

    graph = semantic(history, NOW)

    aged = [e for e in graph["edges"] if e["relation"] == "has_age"]
    names = {n["id"]: n["name"] for n in graph["nodes"]}
    assert [(e["subject"], e["object_uuid"], names[e["target"]]) for e in aged] == [
        ("Ana", None, "41"),
        ("Ben", None, "41"),
    ]
    assert len({e["target"] for e in aged}) == 2
    assert [f.object for f in history.questions.facts(NOW, "g", object="41")] == ["41", "41"]


def test_a_time_in_words_is_marked_as_interpreted_beside_the_words_and_dates_no_edge(tmp_path):
    world = World(tmp_path / "data")
    world.memory.add("I moved to Berlin in March. I like tea.", role="Ana", group_id="g", timestamp="2024-04-02")
    graph = json.loads("".join(world.memory.export(episodic=True, group_id="g")))
    world.memory.close()

    lives, likes = graph["edges"]
    assert lives["content"]["interpreted"] == {
        "time_words": "in March",
        "valid_from": "2024-03-01T00:00:00Z",
        "valid_to": None,
        "grain": "month",
    }
    assert lives["validAt"] == "2024-04-02T00:00:00Z"
    assert "interpreted" not in likes["content"]


def detailed(history, at=NOW, group="g"):
    return json.loads("".join(export.semantic(history.beliefs, group, at, details=True)))


def test_details_are_the_sentences_of_turns_with_what_each_mentions(tmp_path):
    world = World(tmp_path / "data")
    world.memory.add("I met Ben. Ben lives in Oslo!", role="Ana", group_id="g", timestamp="2024-04-02")
    world.memory.add("Thanks. Ben likes tea. ", role="Cleo", group_id="g", timestamp="2024-04-03")
    graph = json.loads("".join(world.memory.export(episodic=True, details=True, group_id="g")))
    plain = json.loads("".join(world.memory.export(episodic=True, group_id="g")))
    before = json.loads(
        "".join(world.memory.export(episodic=True, details=True, group_id="g", valid_at="2024-04-02T01:00:00Z"))
    )
    world.memory.close()

    said = [episode["id"] for episode in graph["episodes"]]
    assert [(s["episode_id"], s["index"], s["content"]) for s in graph["sentences"]] == [
        (said[0], 0, "I met Ben."),
        (said[0], 1, "Ben lives in Oslo!"),
        (said[1], 0, "Thanks."),
        (said[1], 1, "Ben likes tea."),
    ]
    assert graph["sentences"][1]["id"] == f"{said[0]}:1"
    names = {node["id"]: node["mention"] for node in graph["nodes"]}
    links = [(link["source"], names[link["target"]], link["weight"]) for link in graph["links"]]
    assert (f"{said[0]}:0", "Ben", 0.9) in links
    assert (f"{said[0]}:1", "Oslo", 0.9) in links
    assert (f"{said[0]}:1", "Ben", 0.9) in links
    assert (f"{said[1]}:1", "Ben", 0.9) in links
    assert len(graph["links"]) == len({link["id"] for link in graph["links"]})
    assert {**graph, "sentences": 0, "links": 0} == {**plain, "sentences": 0, "links": 0}
    assert [s["content"] for s in before["sentences"]] == ["I met Ben.", "Ben lives in Oslo!"]


def test_details_of_a_withdrawn_or_an_erased_episode_are_gone_with_it(history):
    assert len(details_of(history)["sentences"]) == 3
    history.forget("2024-02-01")
    assert details_of(history) == {"nodes": [], "edges": [], "episodes": [], "sentences": [], "links": []}


def details_of(history):
    return json.loads("".join(export.episodic(history.episodes, "g", ALL, details=True)))


def test_what_took_the_place_of_a_fact_is_an_edge_between_their_objects(history):
    history.say("2024-02-01", "Ana -lives_in-> Oslo")
    history.say("2024-03-01", "Ana -lives_in-> Rome")
    graph = detailed(history)

    names = {node["id"]: node["name"] for node in graph["nodes"]}
    [edge] = [edge for edge in graph["edges"] if edge["relation"] == "supersedes"]
    assert (names[edge["source"]], names[edge["target"]]) == ("Rome", "Oslo")
    assert edge["created_at"] == "2024-03-01T00:00:00Z"
    assert edge["later"] in {e["id"] for e in graph["edges"] if e["relation"] == "lives_in"}
    assert not [e for e in semantic(history, NOW)["edges"] if e["relation"] == "supersedes"]
    early = detailed(history, Moment(on("2025"), on("2024-02-15")))
    assert not [e for e in early["edges"] if e["relation"] == "supersedes"]
    assert detailed(history, group="other")["edges"] == []


def test_what_gave_way_and_was_restored_is_superseded_no_longer(history):
    history.say("2024-02-01", "Ana -lives_in-> Oslo")
    history.say("2024-03-01", "Ana -lives_in-> Rome")
    history.withdraw("2024-04-01", 4)

    assert not [e for e in detailed(history)["edges"] if e["relation"] == "supersedes"]
    then = detailed(history, Moment(on("2025"), on("2024-03-15")))
    assert len([e for e in then["edges"] if e["relation"] == "supersedes"]) == 1


def test_a_fact_that_gave_way_altogether_is_superseded_from_that_moment_on_and_by_facts_alone(history):
    history.tell("2024-02-01", relation="lives_in", object="Oslo", valid_at="2020-01-01")
    history.tell("2024-03-01", relation="lives_in", object="Rome", valid_at="2020-01-01", ref="r")
    history.tell("2024-04-01", relation="owns", object="Boat")

    def displaced(known=NOW.known):
        graph = detailed(history, Moment(NOW.valid, known))
        names = {node["id"]: node["name"] for node in graph["nodes"]}
        edges = [edge for edge in graph["edges"] if edge["relation"] == "supersedes"]
        return [(names[edge["source"]], names[edge["target"]]) for edge in edges]

    assert displaced() == [("Rome", "Oslo")]
    assert (displaced(on("2024-03-01")), displaced(on("2024-03-01") - 1)) == ([("Rome", "Oslo")], [])

    history.tell("2024-05-01", op="retract", ref="r")
    [mistake] = [r.event.retraction_id for r in history.semantic.read() if r.event.type == "fact.retracted"]
    history.tell("2024-05-02", op="retract", ref=mistake)
    assert [r.event.kind for r in history.semantic.read() if r.event.type == "fact.invalidated"][-1] == "superseded"
    assert displaced() == []  # it gave way to the retraction of a retraction


def test_a_value_that_gave_way_is_a_node_although_it_no_longer_holds(tmp_path):
    world = World(tmp_path / "data", policy="graded")
    for day, value, sure in (("2020-01-01", "41", 0.9), ("2021-06-01", "42", 0.9), ("2021-07-01", "43", 0.9)):
        world.memory.state_fact(
            subject="Ana",
            relation="has_age",
            object=value,
            object_type="Age",
            valid_at=day,
            confidence=sure,
            group_id="g",
        )
    graph = json.loads("".join(world.memory.export(details=True, group_id="g", valid_at="2022")))
    written = ET.fromstring("".join(world.memory.export("graphml", details=True, group_id="g", valid_at="2022")))
    world.memory.close()

    ids = [node["id"] for node in graph["nodes"]]
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    ends = {
        (edge["relation"], names[edge["source"]], names[edge["target"]])
        for edge in graph["edges"]
        if edge["relation"] in ("supersedes", "conflicts_with")
    }
    assert len(ids) == len(set(ids))
    assert ends == {("supersedes", "42", "41"), ("supersedes", "43", "42"), ("conflicts_with", "43", "42")}
    nodes = {node.get("id") for node in written.iter(f"{{{NAMESPACE['g']}}}node")}
    assert {
        edge.get(end) for edge in written.iter(f"{{{NAMESPACE['g']}}}edge") for end in ("source", "target")
    } <= nodes


def test_each_value_that_gave_way_is_one_node_however_many_edges_lead_to_it(history):
    for month, age in ((2, 41), (3, 42), (4, 43)):
        history.tell(f"2024-0{month}-01", relation="lives_in", object=age, valid_at=f"2024-0{month}-01")
    graph = detailed(history)

    displaced = [edge for edge in graph["edges"] if edge["relation"] == "supersedes"]
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    assert [(names[edge["source"]], names[edge["target"]]) for edge in displaced] == [("42", "41"), ("43", "42")]
    assert sorted(node["name"] for node in graph["nodes"] if node["type"] is None) == ["41", "42", "43"]


def test_what_happened_before_the_moment_is_part_of_the_semantic_graph(tmp_path):
    world = World(tmp_path / "data")
    world.memory.add("I visited Rome yesterday.", role="Ana", group_id="g", timestamp="2024-05-02")
    later, before = (
        json.loads("".join(world.memory.export(group_id="g", valid_at=day))) for day in ("2024-06-01", "2024-04-01")
    )
    world.memory.close()

    assert [(edge["relation"], edge["object"]) for edge in later["edges"]] == [("visited", "Rome")]
    assert before["edges"] == []


def test_a_literal_that_is_planned_to_take_the_place_of_another_is_one_node(tmp_path):
    world = World(tmp_path / "data")
    for day, age, year in (("2024-01-01", 41, "2020"), ("2024-01-02", 42, "2030")):
        world.tell(day, relation="born_in", object=age, valid_at=year)
    graph = json.loads("".join(world.memory.export(details=True, group_id="g", valid_at="2025")))
    world.memory.close()

    assert [edge["relation"] for edge in graph["edges"]] == ["born_in", "born_in", "supersedes"]
    assert sorted(node["name"] for node in graph["nodes"]) == ["41", "42", "Ana"]


def test_every_version_is_exported_with_its_period_of_known_time(history):
    history.say("2024-02-01", "Ana -lives_in-> Oslo")
    history.say("2024-03-01", "Ana -lives_in-> Rome")
    ever = semantic(history, Moment(None, NOW.known, ever=True))

    told = [(e["object"], e["known_from"][:10], e["known_to"]) for e in ever["edges"] if e["relation"] == "lives_in"]
    assert told == [
        ("Oslo", "2024-02-01", "2024-03-01T00:00:00Z"),
        ("Oslo", "2024-03-01", None),
        ("Rome", "2024-03-01", None),
    ]
    document = "".join(export.semantic(history.beliefs, "g", Moment(None, NOW.known, ever=True), "graphml"))
    assert document.count('<data key="edge.known_from">') == len(ever["edges"])
    assert "edge.known_from" not in "".join(export.semantic(history.beliefs, "g", NOW, "graphml"))


def test_an_id_of_a_producers_own_has_its_group_before_it_where_all_groups_are_exported(history):
    for group in ("g", "other"):
        stated = {"group_id": group, "entity_id": "e-1", "name": "Zoe"}
        history.send("2024-02-01", in_scope(accept(EntityStatement, stated)))

    def ids(group):
        graph = json.loads("".join(export.semantic(history.beliefs, group, NOW)))
        return [node["id"] for node in graph["nodes"] if node["name"] == "Zoe"]

    assert ids("other") == ["e-1"]
    assert ids(None) == ["g/e-1", "other/e-1"]

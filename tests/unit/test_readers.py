"""How a message is read, as it says itself: its ontology, its types, its context, and content that is not kept."""

import json

import pytest

from asking import records
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Mention, RejectedPart, Relationship, StatedAttribute
from asof_agents.extraction.registry import ExtractorRegistry, Ontologies, SchemaFilter
from asof_ontologies import registry
from asof_ontologies.adaptation import adapt_ontology
from asof_ontologies.model import Ontology
from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import InvalidInput
from asof_streams.instants import DAY
from asof_streams.messages import Message, accept
from world import World, on

AGENT = (
    '<graphiti_episode kind="decision">\nscope: workspace\ncontent:\nThe parser is owned by Ana.\n</graphiti_episode>'
)
CANARY = "canary in the coal mine"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def say(world, content, group="g", **fields):
    """Say one message a day; returns its episode's id."""
    world.now += DAY
    return world.memory.add(content, group_id=group, role="Ben", **fields).episode_id


def episodes(world):
    return [r.event for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]


def facts(world, group="g"):
    return sorted(fact.fact for fact in world.memory.facts(group_id=group))


def parked(world):
    return [p["reason"] for p in world.memory.stats()["parked_messages"]]


def files_with(world, text):
    return [path.name for path in world.path.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


# The ontology.


@pytest.mark.parametrize(
    ("content", "schema_id", "ontology", "fact"),
    [
        ("The parser is owned by Ana.", None, None, []),
        ("The parser is owned by Ana.", "agent_memory_v1", "agent_memory_v1", ["Ana owns parser"]),
        (AGENT, None, "agent_memory_v1", ["Ana owns parser"]),
        (AGENT, "default", "default", []),
        ("I moved to Berlin.", "agent_memory_v1", "agent_memory_v1", []),
        ("I moved to Berlin.", None, None, ["Ben lives in Berlin"]),
    ],
)
def test_a_message_is_read_with_the_ontology_that_it_names_or_that_fits_it(world, content, schema_id, ontology, fact):
    say(world, content, schema_id=schema_id)

    assert [episode.ontology for episode in episodes(world)] == [ontology]
    assert facts(world) == fact


def test_an_unknown_ontology_parks_the_message_with_those_that_there_are(world):
    say(world, "I moved to Berlin.", schema_id="unheard")
    say(world, "I moved to Rome.")

    assert parked(world) == ["schema_id: there is no such ontology; known are agent_memory_v1, default"]
    assert facts(world) == ["Ben lives in Rome"]


def test_the_memorys_own_ontology_can_be_named_and_is_the_one_that_is_kept(tmp_path):
    text = (registry._DATA / "agent_memory_v1.yaml").read_text("utf-8").replace("id: agent_memory_v1", "id: ours")
    file = tmp_path / "ours.yaml"
    file.write_text(text, "utf-8")
    world = World(tmp_path / "data", ontology=str(file))
    say(world, "hello")
    file.unlink()
    say(world, "The parser is owned by Ana.", schema_id="ours")

    assert facts(world) == ["Ana owns parser"]
    assert not (world.path / "ontologies").exists()
    world.memory.close()


def test_an_ontology_of_ones_own_may_limit_a_relation_to_pairs(tmp_path):
    text = (registry._DATA / "agent_memory_v1.yaml").read_text("utf-8")
    owns = "targets: [Component, Project, Repository, Path, Task]\n"
    file = tmp_path / "ours.yaml"
    file.write_text(text.replace(owns, f"{owns}    pairs: [[Team, Component]]\n", 1), "utf-8")
    world = World(tmp_path / "data", ontology=str(file))
    say(world, "The parser is owned by Maria. The payments team owns the scheduler.")

    assert facts(world) == ["payments team owns scheduler"]
    world.memory.close()


def test_a_named_ontology_that_was_used_is_kept_so_that_a_later_file_changes_no_replay(world):
    say(world, AGENT)
    kept = world.path / "ontologies" / "agent_memory_v1.json"
    written = json.loads(kept.read_text("utf-8"))
    assert written["digest"] == registry.load("agent_memory_v1").digest

    other = Ontology.model_validate(registry.load("default").model_dump() | {"id": "agent_memory_v1"})
    kept.write_text(json.dumps({"digest": other.digest, "ontology": other.model_dump(mode="json")}), "utf-8")
    world.restart()
    say(world, "The lexer is owned by Ana.", schema_id="agent_memory_v1")

    assert facts(world) == ["Ana owns parser"]


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_what_a_message_named_wins_over_the_ontology_of_a_generation(world, source):
    say(world, AGENT)
    say(world, "I moved to Berlin.", schema_id="default")
    say(world, "I moved to Rome.", "other", schema_id="default")
    before = facts(world), facts(world, "other")
    world.memory.rebuild("agents", input=source, ontology="agent_memory_v1")
    world.memory.switch("agents")

    assert (facts(world), facts(world, "other")) == before


def test_a_single_valued_relation_that_only_a_named_ontology_knows_is_declared_where_it_is_first_needed(world):
    assigned = "<graphiti_episode>The migration is assigned to {}.</graphiti_episode>"
    for who in ("Ana", "Tom"):
        say(world, assigned.format(who))

    declared = [r for r in records(world.memory, "semantic") if r.event.type == "relation.declared" and r.cause >= 0]
    assert [(r.event.relation, r.event.cardinality, r.place) for r in declared] == [("assigned_to", "one", 0)]
    assert [f.object for f in world.memory.facts(group_id="g", relation="assigned_to")] == ["Tom"]


def test_what_one_group_had_declared_changes_nothing_in_another(world):
    say(world, "<graphiti_episode>The migration is assigned to Ana.</graphiti_episode>", "first")
    world.tell("2024-02-01", subject="Parser", relation="assigned_to", object="Ana")
    world.tell("2024-02-02", subject="Parser", relation="assigned_to", object="Tom")

    assert sorted(f.object for f in world.memory.facts(group_id="g", relation="assigned_to")) == ["Ana", "Tom"]


def test_what_one_group_had_declared_is_declared_again_after_its_erasure_also_in_a_graph_made_anew(world):
    assigned = "<graphiti_episode>The migration is assigned to {}.</graphiti_episode>"
    for group in ("first", "g"):
        say(world, assigned.format("Ana"), group)
    world.memory.erase("first")
    world.memory.close()
    for file in (world.path / "generations" / "main").glob("graph.db*"):
        file.unlink()
    world.memory = world.open()
    say(world, assigned.format("Tom"))

    assert [f.object for f in world.memory.facts(group_id="g", relation="assigned_to")] == ["Tom"]


def test_rules_read_the_words_of_an_agents_episode_and_say_where_they_stand(world):
    say(world, AGENT)

    [mentions] = [[r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]]
    assert {m.text: AGENT[m.start :].startswith(m.text) for m in mentions} == {"parser": True, "Ana": True}
    assert episodes(world)[0].content == AGENT


PROMOTED = """\
<graphiti_episode kind="decision">
source: codex
scope: workspace
timestamp: 2025-01-02T03:04:05.000Z
content:
- We decided to use ruff.
- The scheduler lives in src/jobs/scheduler.py
</graphiti_episode>"""


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (PROMOTED, ["Ben decided on ruff", "scheduler is located in src/jobs/scheduler.py"]),
        (
            '<graphiti_episode kind="memory">terminology (workspace): "tenant" means "one customer"</graphiti_episode>',
            ["tenant means one customer"],
        ),
        (
            "<graphiti_episode>terminology (user): “tenant” means the customer’s account.</graphiti_episode>",
            ["tenant means the customer’s account"],
        ),
        ("<graphiti_episode>preference (user): I prefer small diffs.</graphiti_episode>", ["Ben prefers small diffs"]),
        (
            "<graphiti_episode><owner>Maria</owner><note>The API gateway is written in Rust.</note></graphiti_episode>",
            ["API gateway is written in Rust"],
        ),
        ('<graphiti_episode kind="preference" scope="user"></graphiti_episode>', []),
    ],
)
def test_rules_understand_the_episodes_that_coding_agents_send(world, content, found):
    say(world, content)

    assert facts(world) == found


# Types.

TYPES = {
    "schema_id": "agent_memory_v1",
    "entity_types": {"Vendor": "A company that we buy from."},
    "excluded_entity_types": ["Team"],
    "relation_types": {"supplied_by": "Who delivers the source."},
    "relation_type_map": [{"source": "Component", "target": "Vendor", "relations": ["supplied_by"]}],
}


def test_the_types_of_a_message_are_written_into_its_episode(world):
    say(world, "The parser is owned by Ana.", **TYPES)

    [episode] = episodes(world)
    assert {name: episode.model_dump(mode="json")[name] for name in TYPES if name != "schema_id"} == {
        name: given for name, given in TYPES.items() if name != "schema_id"
    }
    assert facts(world) == ["Ana owns parser"]


def test_types_without_an_ontology_are_for_the_memorys_own_and_stay_so(world):
    say(world, "I moved to Berlin.", excluded_entity_types=["Animal"])
    world.memory.rebuild("agents", ontology="agent_memory_v1", input="episodes")
    world.memory.switch("agents")

    assert [episode.ontology for episode in episodes(world)] == ["default"]
    assert facts(world) == ["Ben lives in Berlin"]


@pytest.mark.parametrize(
    "given",
    [
        {"excluded_entity_types": ["Location"]},
        {"excluded_entity_types": ["Person"]},
        {"relation_type_map": [{"source": "Animal", "target": "Location", "relations": ["lives_in"]}]},
    ],
)
def test_rules_find_nothing_of_an_excluded_type_or_between_others_than_the_pairs_of_the_map(world, given):
    say(world, "I moved to Berlin.", **given)

    excluded = set(given.get("excluded_entity_types", ()))
    types = {r.event.entity_type for r in records(world.memory, "episodic") if r.event.type == "mention.observed"}
    assert facts(world) == []
    assert not types & excluded


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            {"excluded_entity_types": ["Vendor"]},
            "excluded_entity_types: it must name an entity type of the ontology or of entity_types",
        ),
        ({"entity_types": {"Entity": "A thing."}}, "entity_types: Entity stands for any type: give it another name"),
        (
            {"relation_type_map": [{"source": "Person", "target": "Entity", "relations": ["secret_of"]}]},
            "relation_type_map.0.relations: it must name a relation of the ontology or of relation_types",
        ),
    ],
)
def test_types_that_do_not_fit_park_the_message_and_nothing_of_it_is_there(world, given, reason):
    say(world, "I moved to Berlin.", **given)

    assert parked(world) == [reason]
    assert (episodes(world), facts(world)) == ([], [])


# Context.


def spoken_of(world):
    """The facts of the last message."""
    last = max(r.cause for r in records(world.memory, "semantic"))
    return [
        r.event.sentence
        for r in records(world.memory, "semantic")
        if r.cause == last and r.event.type == "fact.asserted"
    ]


def test_the_episodes_that_a_message_names_are_its_context_and_no_others(world):
    maria = say(world, "My friend Maria is a nurse.")
    for _ in range(5):
        say(world, "My friend Tom is a painter.")
    say(world, "She lives in Rome.", previous_episode_ids=[maria])

    assert spoken_of(world) == ["Maria lives in Rome"]


@pytest.mark.parametrize("named", [[], None])
def test_without_context_a_pronoun_means_nobody_and_with_the_last_ones_whom_they_name(world, named):
    say(world, "My friend Maria is a nurse.")
    say(world, "She lives in Rome.", previous_episode_ids=named)

    assert ("Maria lives in Rome" in facts(world)) is (named is None)


def test_a_context_of_another_group_or_of_none_parks_the_message(world):
    elsewhere = say(world, "My friend Maria is a nurse.", "other")
    say(world, "She lives in Rome.", previous_episode_ids=[elsewhere])

    assert parked(world) == [
        "previous_episode_ids.0: no episode of this group has it; leave it out, or all of them",
    ]


# Content that is not kept.


def test_suppressed_content_is_read_and_then_nowhere(world):
    episode = say(world, f"I moved to Berlin, {CANARY}.", suppress_content=True)
    say(world, "I love it there.")
    world.memory.rebuild("again")
    world.memory.rebuild("anew", input="episodes")

    assert next((e.body, e.content, e.suppressed) for e in episodes(world)) == ("Ben(user): ", "", True)
    assert files_with(world, CANARY) == []
    assert [r.position for r in records(world.memory, "messages")] == [1]
    assert "Ben lives in Berlin" in facts(world)
    for name in ("again", "anew"):
        world.memory.switch(name)
        [fact] = world.memory.facts(group_id="g", relation="lives_in")
        assert (fact.fact, list(fact.episodes)) == ("Ben lives in Berlin", [episode])
        assert world.memory.why(fact.uuid)


def test_what_suppressed_content_said_of_things_named_before_stands_where_all_else_is_read_anew(world):
    say(world, "I work at Siemens.")
    say(world, "My sister Ana lives in Berlin.")
    say(world, "Ana works at Siemens.", suppress_content=True)
    before = facts(world)
    world.memory.rebuild("anew", input="episodes")
    world.memory.switch("anew")

    assert "Ana works at Siemens" in before
    assert facts(world) == before


def test_the_content_of_a_message_that_was_parked_is_not_kept_either(world):
    say(world, CANARY, suppress_content=True, schema_id="unheard")

    assert len(parked(world)) == 1
    assert files_with(world, CANARY) == []


def test_what_a_crash_left_of_suppressed_content_is_gone_after_the_next_start(world):
    world.memory.add("hello")
    writer, line = world.memory._session.writer(), f"I moved to Berlin, {CANARY}."
    message = next(writer.messages.read(0)).event.model_copy(update={"content": line, "suppress_content": True})
    [position] = writer.messages.accept([message], clock=on("2024-02-01"))
    writer.engine.ingest(next(writer.messages.read(position)))
    writer.engine.flush()  # as far as a process came that was killed then
    keys = world.path / "messages.keys"
    assert list(keys.iterdir())  # with them, the content could still be read

    world.restart()
    world.memory.add("hello")

    assert list(keys.iterdir()) == []
    assert files_with(world, CANARY) == []
    assert world.memory.stats()["episodes"] == 3


# Communities.


def test_that_communities_are_wanted_is_written_into_the_episode(world):
    say(world, "I moved to Berlin.", update_communities=True)
    say(world, "I moved to Rome.")

    assert [episode.update_communities for episode in episodes(world)] == [True, False]


def test_an_extractor_is_made_when_the_first_episode_is_read_and_once() -> None:
    made: list[str] = []

    def make(ontology: Ontology, known: Ontology | None) -> EnglishExtractor:
        made.append(ontology.id)
        return EnglishExtractor(known or ontology, find_times)

    own = registry.load("default")
    extractors = ExtractorRegistry(own, Ontologies(own), make)
    assert made == []  # facts are stated without one

    episode = EpisodeRecorded.model_construct(ontology=None)
    assert extractors.of(episode) is extractors.of(episode)
    assert made == ["default"]


def test_the_types_of_a_message_have_the_attributes_that_it_gives_them() -> None:
    attributes = [
        {"name": "since", "means": "When it was founded.", "kind": "date"},
        {"name": "tier", "means": "What it sells.", "choices": ["gold", "silver"]},
    ]
    types = {"Vendor": {"description": "Who sells.", "attributes": attributes}}
    said = {"group_id": "g", "role_type": "user", "content": "Hm.", "entity_types": types}
    own = registry.load("default")
    ontologies = Ontologies(own)

    episode = EpisodeRecorded.model_construct(
        **dict.fromkeys(("excluded_entity_types", "relation_types", "relation_type_map"), ())
        | ontologies.choose(accept(Message, said))
    )
    found = ontologies.of(episode, own).entities["Vendor"].attributes
    assert [(each.name, each.means, each.kind, each.choices) for each in found] == [
        ("since", "When it was founded.", "date", ()),
        ("tier", "What it sells.", "text", ("gold", "silver")),
    ]


def test_types_that_do_not_fit_are_refused_as_soon_as_a_message_chooses_them() -> None:
    said = {"group_id": "g", "role_type": "assistant", "content": "Hm.", "excluded_entity_types": ["Vendor"]}

    with pytest.raises(InvalidInput) as refused:
        Ontologies(registry.load("default")).choose(accept(Message, said))
    assert refused.value.field == "excluded_entity_types"


def test_what_is_of_a_type_that_an_ontology_does_not_know_is_left_out_and_what_it_relates_is_counted() -> None:
    own = registry.load("default")
    ana, ben, ghost = (Mention("e", kind, kind, at) for at, kind in enumerate(("Person", "Location", "Ghost")))
    known, unknown = Relationship(ana, "lives_in", ben), Relationship(ana, "lives_in", ghost)
    sure, unsure = (StatedAttribute(whom, "age", "42") for whom in (ana, ghost))
    before = RejectedPart("attribute", "value")
    found = Extraction((ana, ben, ghost), (known, unknown), attributes=(sure, unsure), refused=(before,))

    restricted = SchemaFilter(EnglishExtractor(own, find_times), own).restrict(found)

    assert restricted == Extraction(
        (ana, ben), (known,), attributes=(sure,), refused=(before, RejectedPart("fact", "type"))
    )


def test_an_ontology_of_two_types_relates_these_two() -> None:
    own = registry.load("default")
    others = tuple(own.entities.keys() - {"Person", "Location"})
    two = adapt_ontology(own, {}, others, {}, [], {})
    ana, berlin = Mention("e", "Person", "Ana", 0), Mention("e", "Location", "Berlin", 13)
    found = Extraction((ana, berlin), (Relationship(ana, "lives_in", berlin),))

    assert SchemaFilter(EnglishExtractor(two, find_times), two).restrict(found) == found

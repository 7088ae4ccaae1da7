"""Entity resolution: for each reason, the words that give it, and those that do not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asking import records
from asof_agents.extraction.ports import Extraction
from asof_streams.instants import DAY
from asof_streams.semantic import EntityDescribed, EntityIntroduced, MentionResolved
from histories import History, Triples
from world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def say(world, *turns):
    lines = [{"group_id": "g", "role": role, "role_type": "user", "content": content} for role, content in turns]
    assert world.memory.produce([json.dumps(line) for line in lines]).refused == ()


def resolved(world):
    """What each mention was taken to mean, in order: its words, the entity's name, the reason."""
    words = {
        r.event.mention_id: r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"
    }
    names, found = {}, []
    for record in records(world.memory):
        event = record.event
        if event.type == "entity.introduced":
            names[event.entity_id] = event.name
        if event.type == "mention.resolved":
            mention = words[event.mention_id]
            found.append(("(speaker)" if mention.speaker else mention.text, names[event.entity_id], event.reason))
    return found


def test_the_speaker_is_who_says_i(world):
    say(world, ("Ana", "I live in Berlin."))

    assert ("(speaker)", "Ana", "speaker") in resolved(world)


def test_how_sure_it_is_whom_a_name_means_stands_beside_the_reason(world):
    hm = [("Ana", "Hm.")] * 4
    say(world, ("Ana", "I live in Berlin."), ("Ana", "George Orwell lives in London."))
    say(world, ("Ana", "George Orwell likes chess."), *hm)
    say(world, ("Ana", "George works at Acme."), *hm, ("Ana", "George Orwell works at ACME."))

    say(world, ("Ana", "Mary Shelley likes tea. Mary likes chess. I own a guitar and I own two guitars."))

    sure = {(r.event.reason, r.event.score) for r in records(world.memory) if r.event.type == "mention.resolved"}
    assert sure == {("speaker", 1.0), ("new", 1.0), ("repeated", 1.0), ("first name", 0.9), ("name", 1.0)}


def test_a_name_not_heard_before_is_new_and_then_known(world):
    say(world, ("Ana", "Ben lives in Oslo."), *[("Ana", "Hm.")] * 4, ("Ana", "Ben works at Acme."))

    assert [row for row in resolved(world) if row[0] == "Ben"] == [("Ben", "Ben", "new"), ("Ben", "Ben", "name")]


def test_a_mention_within_the_last_turns_is_repeated(world):
    say(world, ("Ana", "Ben lives in Oslo."), ("Ana", "Ben works at Acme."))

    assert [row for row in resolved(world) if row[0] == "Ben"] == [("Ben", "Ben", "new"), ("Ben", "Ben", "repeated")]


def test_a_first_name_means_the_one_person_who_has_it(world):
    say(world, ("Ana", "George Orwell lives in London."), *[("Ana", "Hm.")] * 4, ("Ana", "George works at Acme."))

    assert ("George", "George Orwell", "first name") in resolved(world)


def test_a_first_name_that_two_people_have_is_someone_new(world):
    say(
        world,
        ("Ana", "George Orwell lives in London."),
        ("Ana", "George Eliot lives in Coventry."),
        *[("Ana", "Hm.")] * 4,
        ("Ana", "George works at Acme."),
    )

    assert ("George", "George", "new") in resolved(world)


def test_a_longer_name_is_known_by_its_alias_from_then_on(world):
    say(
        world,
        ("Ana", "George lives in London."),
        *[("Ana", "Hm.")] * 4,
        ("Ana", "George Orwell works at Acme."),
        *[("Ana", "Hm.")] * 4,
        ("Ana", "George Orwell likes tea."),
    )

    rows = [row for row in resolved(world) if row[0].startswith("George")]
    assert rows[:2] == [("George", "George", "new"), ("George Orwell", "George", "first name")]
    assert rows[2][1] == "George"


def test_a_long_name_with_a_slip_of_the_pen_is_the_similar_one(world):
    say(
        world,
        ("Ana", "Natalia Konstantinopolsky lives in London."),
        *[("Ana", "Hm.")] * 4,
        ("Ana", "Natalia Konstantinopolski lives in Leeds."),
    )

    assert ("Natalia Konstantinopolski", "Natalia Konstantinopolsky", "similar name") in resolved(world)


def test_values_that_are_nearly_equal_are_two(world):
    say(world, ("Ben", "My birthday is on 12 November 1990."), ("Eva", "My birthday is on 13 November 1990."))
    world.now += DAY

    days = {fact.subject: fact.object for fact in world.memory.facts(group_id="g", relation="has_birthday")}
    assert days == {"Ben": "12 November 1990", "Eva": "13 November 1990"}


def test_short_names_that_differ_in_a_letter_are_two(world):
    say(world, ("Ana", "Maria lives in London."), *[("Ana", "Hm.")] * 4, ("Ana", "Marie lives in Leeds."))

    assert ("Marie", "Marie", "new") in resolved(world)


@pytest.mark.parametrize(
    ("known", "said", "meant"),
    [
        ("Acme Lts", "Acme Ltsa", "Acme Lts"),
        ("Acme Ltsa", "Acme Lts", "Acme Ltsa"),
        ("Acme Lt", "Acme Lta", "Acme Lta"),
        ("Acme Lta", "Acme Lt", "Acme Lt"),
    ],
)
def test_names_of_eight_characters_are_long_enough_for_a_slip_of_the_pen(world, known, said, meant):
    say(world, ("Ana", f"I work at {known}."), *[("Ana", "Hm.")] * 4, ("Eva", f"I work at {said}."))

    assert [name for words, name, _ in resolved(world) if words == said] == [meant]


def test_a_short_name_means_the_one_speaker_whose_name_begins_with_it(world):
    say(world, ("Melanie", "I live in Oslo."), ("Ana", "Mel works at Acme."), *[("Ana", "Hm.")] * 6)
    say(world, ("Ana", "Mel likes tea."))

    assert [row for row in resolved(world) if row[0] == "Mel"] == [
        ("Mel", "Melanie", "first name"),
        ("Mel", "Melanie", "name"),
    ]


@pytest.mark.parametrize(
    ("speakers", "short"), [(["Joanna"], "Jo"), (["Melanie", "Melissa"], "Mel"), (["Melanie"], "Mel Brown")]
)
def test_too_short_a_name_or_one_of_two_speakers_or_a_full_name_is_someone_new(world, speakers, short):
    say(world, *[(name, "I live in Oslo.") for name in speakers], ("Ana", f"My friend {short} works at Acme."))

    assert (short, short, "new") in resolved(world)


def test_a_first_name_that_two_people_have_is_that_of_no_speaker_whose_name_begins_with_it(world):
    say(
        world,
        ("Ana", "Rose Tyler lives in London."),
        ("Ana", "Rose Nylund lives in Miami."),
        *[("Rosemary", "I live in Oslo.")] * 4,
        ("Ana", "Rose works at Acme."),
    )

    assert ("Rose", "Rose", "new") in resolved(world)


def test_names_mean_nobody_of_another_group(world):
    say(world, ("Ana", "Ben lives in Oslo."))
    line = {"group_id": "h", "role": "Ana", "role_type": "user", "content": "Ben lives in Rome."}
    world.memory.produce([json.dumps(line)])

    assert [row for row in resolved(world) if row[0] == "Ben"] == [("Ben", "Ben", "new")] * 2
    assert len({e.uuid for e in world.memory.entities(all_groups=True) if e.name == "Ben"}) == 2


def test_structured_names_are_exact(world):
    world.tell("2024-01-01", subject="George Orwell", object="London")
    world.tell("2024-01-02", subject="George", object="Leeds")
    world.tell("2024-01-03", subject="george orwell", object="Rome")

    assert [e.name for e in world.memory.entities(all_groups=True) if "eorge" in e.name.casefold()] == [
        "George Orwell",
        "George",
        "george orwell",
    ]


@pytest.mark.parametrize(
    ("types", "entities"),
    [(("Person", "Location"), 2), (("Person", "Person"), 1), ((None, None), 1), (("Person", None), 1)],
)
def test_one_name_twice_in_a_structured_fact_is_one_entity_unless_the_types_differ(world, types, entities):
    subject, object_ = types
    world.tell("2024-01-01", subject="Jordan", subject_type=subject, object="Jordan", object_type=object_)

    assert [entity.name for entity in world.memory.entities(all_groups=True)] == ["Jordan"] * entities
    [fact] = world.memory.facts(about="Jordan", group_id="g")
    assert (fact.subject_uuid == fact.object_uuid) == (entities == 1)


def test_a_message_maps_every_mention_to_one_entity_and_what_is_the_same_to_the_same(world):
    say(world, ("Ana", "Ben lives in Oslo."), *[("Ana", "Hm.")] * 4, ("Eva", "My colleague Ben works at ACME."))
    say(world, *[("Ana", "Hm.")] * 4, ("Ben", "I work at Acme."))

    events = [record.event for record in records(world.memory)]
    meant = {e.mention_id: e.entity_id for e in events if e.type == "mention.resolved"}
    observed = {r.event.mention_id for r in records(world.memory, "episodic") if r.event.type == "mention.observed"}
    introduced = [e.entity_id for e in events if e.type == "entity.introduced"]
    assert meant.keys() == observed
    assert set(meant.values()) == set(introduced)
    assert sorted(entity.name for entity in world.memory.entities(all_groups=True)) == ["ACME", "Ben", "Eva", "Oslo"]


def test_relations_name_the_entities_that_their_mentions_were_taken_to_mean(world):
    say(world, ("Ana", "Ben lives in Oslo."), *[("Ana", "Hm.")] * 4, ("Eva", "My colleague Ben works at Acme."))

    events = [record.event for record in records(world.memory)]
    meant = {e.mention_id: e.entity_id for e in events if e.type == "mention.resolved"}
    stated = {r.event.relationship_id: r.event for r in records(world.memory, "episodic") if r.event.type[:4] == "rela"}
    facts = [e for e in events if e.type == "fact.asserted"]
    assert {e.relation for e in facts} == {"lives_in", "colleague_of", "works_at"}
    for fact in facts:
        of = stated[fact.relationship_id]
        assert {fact.subject, fact.object} == {meant[of.source], meant[of.target]}
    lives, works = (next(e for e in facts if e.relation == relation) for relation in ("lives_in", "works_at"))
    assert lives.subject == works.subject


@pytest.mark.parametrize("spelled", ["Acme", "AcMe"])
def test_things_of_one_type_that_are_only_spelled_apart_get_a_duplicate_link(world, spelled):
    world.tell("2024-01-01", subject="Acme", subject_type="Organization", relation="located_in", object="Oslo")
    world.tell("2024-01-02", subject="ACME", subject_type="Organization", relation="located_in", object="Rome")
    world.tell("2024-01-03", subject="acme", subject_type="Person", relation="lives_in", object="Bonn")
    assert merges(world) == []
    say(world, ("Eva", f"I work at {spelled}."))

    [(duplicate, into, reason)] = merges(world)
    assert (duplicate, into, reason) == ("ACME", "Acme", "same name")
    portraits = world.memory.entity("Acme", group_id="g")
    assert {fact.object for portrait in portraits for fact in portrait.facts} >= {"Oslo", "Rome"}


def test_two_spellings_of_things_that_are_one_in_a_message_join_them_once(world):
    world.tell("2024-01-01", subject="Acme Corp", subject_type="Organization", relation="located_in", object="Oslo")
    world.tell("2024-01-02", subject="ACME CORP", subject_type="Organization", relation="located_in", object="Rome")
    say(world, ("Eva", "I work at Acme Corp. My sister Mia works at acme corp. My friend Tom works at Acme corp."))

    assert len(merges(world)) == 1


def test_a_thing_whose_alias_is_the_name_of_another_is_not_joined_with_it(world):
    world.tell("2024-01-01", subject="Blue Door", subject_type="Organization", relation="located_in", object="Rome")
    world.tell("2024-01-02", subject="Acme", subject_type="Organization", relation="located_in", object="Oslo")
    world.memory.alias("Acme", "BLUE DOOR", group_id="g")
    say(world, ("Ana", "I work at Blue door."))

    assert merges(world) == []


def test_a_thing_is_called_by_its_alias_as_by_its_name(world):
    world.tell("2024-01-01", subject="Acme", subject_type="Organization", relation="located_in", object="Oslo")
    world.memory.alias("Acme", "Blue Door", group_id="g")
    say(world, ("Ana", "I work at BLUE DOOR."))

    assert ("BLUE DOOR", "Acme", "alias") in resolved(world)


def merges(world):
    names = {entity.uuid: entity.name for entity in world.memory.entities(all_groups=True)}
    merged = [record.event for record in records(world.memory) if record.event.type == "entity.merged"]
    return [(names[e.duplicate], names[e.into], e.reason) for e in merged]


@pytest.mark.parametrize(
    "words", ["Ana Silva moved to Berlin. Ana likes it.", "Ana likes tea. Ana Silva moved to Berlin."]
)
def test_a_full_name_and_its_part_within_one_message_are_one_person(world, words):
    say(world, ("Ben", words))

    assert people(world) == ["Ana Silva"]


def test_a_last_name_alone_means_the_one_of_the_message_who_has_it(world):
    say(world, ("Ben", "George Orwell lives in London. Orwell likes tea."), *[("Ben", "Hm.")] * 4)
    say(world, ("Ben", "Orwell works at Acme."))

    assert people(world) == ["George Orwell"]


def test_a_part_means_the_full_name_of_its_message_before_that_of_another(world):
    say(world, ("Ben", "Ana Costa lives in Rome."), *[("Ben", "Hm.")] * 4)
    say(world, ("Ben", "Ana Silva lives in Berlin. Ana likes tea."))
    world.now += DAY

    assert [fact.fact for fact in world.memory.facts(group_id="g", relation="likes")] == ["Ana Silva likes tea"]


def test_two_full_names_with_one_first_name_leave_it_in_doubt_within_a_message(world):
    say(world, ("Ben", "Ana Silva lives in Berlin. Ana Costa lives in Rome. Ana likes tea."))

    assert people(world) == ["Ana", "Ana Costa", "Ana Silva"]


def test_someone_known_by_a_full_name_has_no_other(world):
    say(world, *[("Ben", f"{name} lives in Rome.") for name in ("Ana", "Ana Silva", "Ana Costa")])

    assert people(world) == ["Ana", "Ana Costa"]


def test_two_full_names_in_one_message_are_not_both_the_one_with_the_first_name(world):
    say(world, ("Ben", "Ana lives in Rome."), ("Ben", "Ana Silva and Ana Costa moved to Berlin."))

    assert people(world) == ["Ana", "Ana Costa", "Ana Silva"]


def test_a_noun_in_both_numbers_within_one_message_is_one_entity(world):
    say(world, ("Ben", "I own a guitar and I own two guitars."))

    assert [entity.name for entity in world.memory.entities(all_groups=True)] == ["Ben", "guitar"]


def test_a_noun_is_known_in_the_other_number_from_then_on(world):
    say(world, ("Ben", "I own a guitar and I own two guitars."), *[("Ben", "Hm.")] * 4)
    say(world, ("Ben", "I own guitars."))

    assert [entity.name for entity in world.memory.entities(all_groups=True)] == ["Ben", "guitar"]


def test_names_in_two_numbers_within_one_message_are_two(world):
    say(world, ("Ben", "I work at Target. My sister Eva works at Targets."))

    companies = [entity.name for entity in world.memory.entities(all_groups=True) if entity.type == "Organization"]
    assert companies == ["Target", "Targets"]


def test_a_kind_that_is_liked_is_no_thing_of_that_kind_which_somebody_has(world):
    say(world, ("Ben", "I have a dog and I love dogs."), *[("Ben", "Hm.")] * 4)
    world.now += DAY
    assert {fact.fact for fact in world.memory.facts(group_id="g")} == {"Ben has a pet, dog", "Ben likes dogs"}
    say(world, ("Ben", "I no longer like dogs."))
    world.now += DAY

    assert {fact.fact for fact in world.memory.facts(group_id="g")} == {"Ben has a pet, dog"}


def test_a_kind_in_both_numbers_within_one_message_is_one_entity(world):
    say(world, ("Ben", "I love big dogs and I love a big dog."))

    assert [entity.name for entity in world.memory.entities(all_groups=True)] == ["Ben", "big dogs"]


def test_a_noun_of_another_type_stays_another_entity_so_that_what_is_said_of_it_can_end(world):
    say(world, ("Ben", "I bought an apple and I love apples."))
    world.now += DAY
    assert [fact.fact for fact in world.memory.facts(group_id="g", relation="likes")] == ["Ben likes apples"]
    say(world, ("Ben", "I no longer like apples."))
    world.now += DAY

    assert list(world.memory.facts(group_id="g", relation="likes")) == []


def test_a_name_that_was_shouted_is_not_kept_in_capitals(world):
    say(world, ("Ben", "ANA likes tea."), ("Ben", "JOHN SMITH lives in Rome."))

    assert people(world) == ["Ana", "John Smith"]


def test_a_place_is_no_other_one_whose_name_ends_otherwise(world):
    say(world, ("Ben", "I live in St. John's."), ("Ben", "I visited St. John."))

    places = [entity.name for entity in world.memory.entities(all_groups=True) if entity.type == "Location"]
    assert places == ["St. John's", "St. John"]


def people(world):
    return sorted(e.name for e in world.memory.entities(all_groups=True) if e.type == "Person" and e.name != "Ben")


def test_a_name_that_one_message_spells_in_two_ways_is_of_one_entity(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.say("2024-01-01", "Acme -knows-> acme")
    introduced = [r.event.name for r in history.semantic.read() if isinstance(r.event, EntityIntroduced)]
    history.close()

    assert introduced == ["Acme"]


class Typed(Triples):
    """An extractor for tests that takes what is behind the arrow for something of a type."""

    def __init__(self, type_: str) -> None:
        self._type = type_

    def extract(self, *given: Any) -> Extraction:
        found = super().extract(*given)
        if not found.mentions:
            return found
        subject, other = found.mentions
        typed = replace(other, type=self._type)
        return Extraction((subject, typed), (replace(found.relationships[0], target=typed),))


@pytest.mark.parametrize(
    ("type_", "chat", "first", "second", "entities"),
    [
        pytest.param("Deed", True, "running the mile", "running mile", 1, id="a value in words"),
        pytest.param("Deed", True, "learning piano", "to learn the piano", 1, id="a deed with and without to"),
        pytest.param("Deed", True, "to learn the piano", "learning piano", 1, id="a deed without to and with it"),
        pytest.param("Deed", True, "running the 5 km", "running 5 km", 2, id="a value with a number"),
        pytest.param("Thing", True, "running the 5 km", "running 5 km", 1, id="a thing with a number"),
        pytest.param("Thing", False, "running the mile", "running mile", 2, id="outside of a chat"),
        pytest.param("Person", True, "head of the house", "head of house", 2, id="a person"),
    ],
)
def test_what_a_chat_says_again_in_the_same_words_is_one_thing_unless_it_is_a_number_or_a_person(
    tmp_path: Path, type_: str, chat: bool, first: str, second: str, entities: int
) -> None:
    history = History(tmp_path)
    history.extractor = Typed(type_)
    for number, said in enumerate((f"ana -knows-> {first}", *["Hm."] * 4, f"ana -knows-> {second}")):
        history.say("2024-01-01", said, **({"external_id": str(number)} if chat else {}))
    events = [record.event for record in history.semantic.read()]
    history.close()

    assert [e.name for e in events if isinstance(e, EntityIntroduced)] == ["ana", first, second][: 1 + entities]
    same = [e.score for e in events if isinstance(e, MentionResolved) and e.reason == "same words"]
    assert same == [1.0] * (2 - entities)
    assert [e.alias for e in events if isinstance(e, EntityDescribed)] == [second] * (2 - entities)

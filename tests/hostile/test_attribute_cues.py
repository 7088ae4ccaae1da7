"""Ontologies with hostile attribute cues: refused with the place of the fault, or every text is read without harm."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Turn
from asof_ontologies.errors import OntologyError
from asof_ontologies.registry import load
from asof_ontologies.yaml_text import read_yaml
from asof_streams.instants import parse
from kitchen import kitchen_file
from world import World

Attributes = list[dict[str, Any]]


def attribute(*cues: Any, name: str = "weight", **more: Any) -> dict[str, Any]:
    return {"name": name, "means": "What it is like.", "cues": [*cues], **more}


REFUSED: dict[str, Attributes] = {
    "an empty cue": [attribute("")],
    "a blank cue": [attribute(" ")],
    "a pattern": [attribute("(.*)+$")],
    "a class of characters": [attribute("<be> [a-z]+")],
    "alternatives of nothing": [attribute("<be> ||")],
    "a verb of other letters": [attribute("<wägen>")],
    "a sign": [attribute("<be> 😀")],
    "a turned line": [attribute("<be> \u202eabc")],
    "a quote": [attribute('<be> "of"')],
    "a surrogate": [attribute("<be> \ud800")],
    "an object": [attribute("{object} <be> of")],
    "any object": [attribute("<be> {any}")],
    "nothing": [attribute(None)],
    "the name of a summary": [attribute("<be> of", name="summary")],
    "a name that is none": [attribute("<be> of", name="a; drop")],
    "one name twice": [attribute("<be> of"), attribute("<be> made of")],
    "a kind that is none": [attribute("<be> of", kind="regex")],
    "a choice in capitals": [attribute("<be> of", choices=["Iron"])],
}
HARMLESS: dict[str, Attributes] = {
    "no cues": [attribute()],
    "a dot": [attribute("<be> a.b")],
    "a word of other letters": [attribute("<be> größer")],
    "every word": [attribute("<be>")],
    "only words that may be left out": [attribute("<be> (a) (b) (c)")],
    "gap behind gap": [attribute("<be> * * * * * of")],
    "cues that overlap": [attribute("<be> (made) of", name="a"), attribute("<be> made (of)", name="b")],
    "one cue for two kinds": [attribute("<weigh>", name="a", kind="number"), attribute("<weigh>", name="b")],
    "a long cue": [attribute("<be> " + "word " * 2_000 + "of")],
    "many alternatives": [attribute("<be> " + "|".join(f"w{n}" for n in range(5_000)))],
    "many cues": [attribute(*(f"<be> w{n}" for n in range(1_000)))],
    "many attributes": [attribute("<be> made of", name=f"a{n}") for n in range(200)],
    "many choices": [attribute("<be> of", choices=[f"choice {n}" for n in range(5_000)])],
    "choices that look like patterns": [attribute("<be> of", choices=[".*", "(a", "a|b"])],
}
TEXTS = [
    "The pot weighs 3 kg. The pot weighs ٣ kg. The pot weighs NaN. The pot weighs 1,2,3 kg.",
    "The pot is größer than the pan. The pot is 😀 big. The pot is a.b good. The pot is of .* and (a.",
    "\u202eThe pot is of iron.",
    "The pot is " + "made " * 4_000 + "of iron.",
    "The pot is of " + "iron and of " * 2_000 + "steel.",
    "The pot and the pan weigh 3 kg " * 1_000,
    "The pot weighs 3 " + "k" * 5_000 + ".",
]


def ontology(folder: Path, attributes: Attributes) -> str:
    return str(kitchen_file(folder, *attributes))


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_attribute_can_have_is_refused_with_its_place(tmp_path: Path, what: str) -> None:
    with pytest.raises(OntologyError, match=r"entity_types\.1\.attributes\.\d"):
        load(ontology(tmp_path, REFUSED[what]))


READ: dict[str, dict[int, list[tuple[str, str]]]] = {  # of the texts, by their number; all else has no value
    "every word": {1: [("weight", "a.b good")], 3: [("weight", "made")]},
    "only words that may be left out": {1: [("weight", "a.b good")], 3: [("weight", "made")]},
    "gap behind gap": {4: [("weight", "iron")]},
    "cues that overlap": {3: [("b", "made")], 4: [("a", "iron")]},
    "one cue for two kinds": {0: [("a", "٣ kg"), ("b", "NaN")], 6: [("b", "3 " + "k" * 5_000)]},
}


@pytest.mark.parametrize("what", HARMLESS)
def test_every_text_is_read_and_a_value_is_what_stands_in_it(tmp_path: Path, what: str) -> None:
    extractor = EnglishExtractor(load(ontology(tmp_path, HARMLESS[what])), find_times)
    values: dict[int, list[tuple[str, str]]] = {}

    for number, text in enumerate(TEXTS):
        turn = Turn("episode", "Ana", "user", text, parse("2024-05-15T10:00:00Z"))
        for each in extractor.extract(turn, [], lambda _: {}).attributes:
            values.setdefault(number, []).append((each.name, each.value))
            assert each.value == text[slice(*each.span)]

    assert values == READ.get(what, {})


class Looks(list[Any]):
    """The members of a mapping, and how often somebody looked through them."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return super().__iter__()


def test_the_lines_of_a_file_in_which_everything_is_wrong_are_told_by_one_look_at_it() -> None:
    document = read_yaml("\n".join(f"wrong{number}: 1" for number in range(500)), own=False)
    assert document.node is not None
    document.node.value = looks = Looks(document.node.value)

    assert [document.line([f"wrong{number}"]) for number in range(500)] == [*range(1, 501)]
    assert looks.times == 1


SAID = [
    "The pot weighs 3 kg.",
    "The pot weighs 4 kg.",
    "The pan weighs 1,200 g and is on the shelf.",
    "The pot is made of iron.",
    "The pot weighs 4 kg.",
]
OTHERS: dict[str, Attributes] = {
    "no attributes": [],
    "another name": [attribute("<weigh>", name="mass", kind="number")],
    "another kind": [attribute("<weigh>", kind="date")],
    "another cue": [attribute("<be> made of", name="weight")],
}


def attributes_in(world: World) -> dict[str, list[tuple[str, str]]]:
    found = [entity for name in ("pot", "pan") for entity in world.memory.entity(name, group_id="g")]
    return {entity.name: sorted((each.name, each.value) for each in entity.attributes) for entity in found}


def told(path: Path, ontology: str, *texts: str) -> World:
    world = World(path, ontology=ontology)
    for text in texts:
        world.memory.add(text, group_id="g", role="Ana", timestamp="2024-05-15T10:00:00Z")
    return world


def test_values_follow_corrections_and_withdrawals_as_if_what_is_withdrawn_had_never_been_said(tmp_path: Path) -> None:
    of_weights = ontology(tmp_path, [attribute("<weigh>", kind="number")])
    world = told(tmp_path / "data", of_weights, *SAID)
    assert attributes_in(world) == {"pot": [("weight", "4 kg")], "pan": [("weight", "1200 g")]}

    for episode in world.memory.episodes(group_id="g"):
        if episode.content in (SAID[1], SAID[2]):
            world.memory.withdraw(episode.uuid, group_id="g")
    world.memory.add("The pan is on the shelf.", group_id="g", role="Ana")

    assert attributes_in(world) == {"pot": [("weight", "3 kg")], "pan": []}
    world.memory.close()


@pytest.mark.parametrize("what", OTHERS)
def test_a_rebuild_under_another_ontology_has_the_values_of_a_memory_that_always_had_it(
    tmp_path: Path, what: str
) -> None:
    world = told(tmp_path / "data", ontology(tmp_path, [attribute("<weigh>", kind="number")]), *SAID)
    other = ontology(tmp_path, OTHERS[what])

    world.memory.rebuild("other", input="episodes", ontology=other)
    world.memory.switch("other")
    anew = told(tmp_path / "anew", other, *SAID)

    assert attributes_in(world) == attributes_in(anew)
    assert [check for check in world.memory.verify() if not check.ok] == []
    world.memory.close()
    anew.memory.close()

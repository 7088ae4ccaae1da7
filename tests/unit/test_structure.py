"""Structural similarity: which entity a name means by what a message relates it to."""

from collections.abc import Collection

import pytest

from asof_agents.resolution.structure import StructuralMatcher, name_cosines, related_mentions, structural_similarity
from asof_projections.model.rows import EntityRow
from asof_streams.episodic import MentionObserved, RelationshipStated

ACME, LABS, LTD, PERSON = (
    EntityRow("labs1", "g", "Acme Labs", "Organization", 1),
    EntityRow("labs2", "g", "acme labs", "Organization", 2),
    EntityRow("ltd", "g", "Acme Ltd", "Organization", 3),
    EntityRow("person", "g", "Acme Labs", "Person", 0),
)


class Known:
    """Entities by the words of their names, each with its neighbours."""

    def __init__(self, neighbours: dict[EntityRow, Collection[str]]) -> None:
        self._neighbours = {entity.uuid: others for entity, others in neighbours.items()}
        self._entities = list(neighbours)
        self.asked: list[tuple[int, int]] = []

    def entities_with_word(self, group: str, word: str) -> list[EntityRow]:
        return [each for each in self._entities if each.group_id == group and word in each.name.lower().split()]

    def neighbours(self, entity: str, valid: int, limit: int) -> list[tuple[str, str]]:
        self.asked.append((valid, limit))
        return [(f"fact of {other}", other) for other in self._neighbours[entity]]


def mention(number: int, text: str = "Acme Labs") -> MentionObserved:
    return MentionObserved(mention_id=f"m{number}", episode_id="e", entity_type="Organization", text=text, start=0)


def matched(
    neighbours: dict[EntityRow, Collection[str]], threshold: float = 0.5, text: str = "Acme Labs"
) -> tuple[EntityRow, float] | None:
    """Return what a name means that a message relates to Ana, to Ben, and to somebody who is not resolved."""
    known = Known(neighbours)
    matcher = StructuralMatcher(known, "g", 7, threshold, {"m0": ["m1", "m2", "m3"]})
    found = matcher.match(mention(0, text), {"m1": "ana", "m2": "ben"}.get)
    assert set(known.asked) <= {(7, 50)}
    return found


def test_of_entities_of_one_name_and_type_the_one_with_the_most_common_neighbours_is_meant() -> None:
    assert matched({ACME: ["ana", "cleo"], LABS: ["ana", "ben"], PERSON: ["ana", "ben"]}) == (LABS, 1.0)
    assert matched({ACME: ["ana"], LABS: []}) == (ACME, 0.7)


def test_none_of_two_that_are_as_similar_is_meant_and_none_that_is_not_similar_enough() -> None:
    assert matched({ACME: ["ana"], LABS: ["ben"]}) is None
    assert matched({ACME: ["ana"]}, threshold=0.7) == (ACME, 0.7)
    assert matched({ACME: ["ana"]}, threshold=0.71) is None
    assert matched({}) is None


def test_a_name_that_is_not_similar_enough_is_not_compared() -> None:
    [cosine] = name_cosines("Acme Labs", ["Acme Ltd"])

    assert 0.1 < cosine < 0.9
    assert matched({LTD: ["ana", "ben"]}, threshold=cosine) == (LTD, round(0.6 + 0.4 * cosine, 6))
    assert matched({LTD: ["ana", "ben"]}, threshold=cosine + 0.01) is None


def test_the_five_nearest_are_compared_of_equally_near_ones_the_oldest() -> None:
    namesakes = [EntityRow(f"u{n % 3}{n}", "g", "Acme Labs", "Organization", n // 2) for n in range(9)]

    for number, entity in enumerate(sorted(namesakes, key=lambda each: (each.known_from, each.uuid))):
        others = dict.fromkeys(namesakes, ()) | {entity: ("ana", "ben")}
        assert matched(others) == ((entity, 1.0) if number < 5 else None)
    nearest: dict[EntityRow, Collection[str]] = dict.fromkeys([LTD._replace(known_from=-1), *namesakes[:4]], ())
    assert matched({**nearest, ACME._replace(known_from=9): ("ana", "ben")}, threshold=0.1) is not None


@pytest.mark.parametrize(("source", "target"), [("m0", "m1"), ("m1", "m0")])
def test_a_relationship_joins_its_two_ends(source: str, target: str) -> None:
    stated = RelationshipStated(
        relationship_id="r",
        episode_id="e",
        relation="knows",
        source=source,
        target=target,
        stance="holds",
        confidence=1.0,
        start=0,
        end=1,
    )

    assert related_mentions([stated, stated.model_copy(update={"target": "m2", "source": "m0"})]) == {
        "m0": ["m1", "m2"],
        "m1": ["m0"],
        "m2": ["m0"],
    }


def test_no_name_has_no_cosine() -> None:
    assert name_cosines("Acme", []) == []


def test_structural_similarity_is_six_tenths_jaccard_and_four_tenths_cosine() -> None:
    assert structural_similarity({"a", "b"}, {"b", "c"}, 0.5) == pytest.approx(0.6 / 3 + 0.4 * 0.5)
    assert structural_similarity((), (), 1.0) == 0.4

"""The links of sentences to what they name, of rows that are made by hand."""

from typing import Any, Final

from asof_projections.model.rows import EpisodeRow, MentionRow, Moment, RelationshipRow
from asof_projections.queries.export_turns import links_of

TEXT: Final = "Ana met Ben. He likes tea."
MENTION: Final = MentionRow("", "e", "Person", "Ana", 0, speaker=False, repeats=None, valid_at=1, created_at=1)


class Turns:
    """An episodic graph of turns that all say the same, which counts how often one is read."""

    def __init__(self, *rows: MentionRow | RelationshipRow) -> None:
        self._rows, self.read = rows, 0

    def mentions(self, _group: str) -> list[MentionRow]:
        return [row for row in self._rows if isinstance(row, MentionRow) and row.uuid != "unlisted"]

    def relationships(self, _group: str) -> list[RelationshipRow]:
        return [row for row in self._rows if isinstance(row, RelationshipRow)]

    def mention(self, uuid: str) -> MentionRow | None:
        return next((row for row in self._rows if isinstance(row, MentionRow) and row.uuid == uuid), None)

    def episode(self, uuid: str) -> EpisodeRow:
        self.read += 1
        return EpisodeRow(uuid, "g", 0, "", "message", "", "Ana", "user", TEXT, len(TEXT), 1, 1)


def mention(uuid: str, start: int = 0, **fields: Any) -> MentionRow:
    return MENTION._replace(uuid=uuid, start=start, **fields)


def stated(uuid: str, source: str, target: str, start: int = 13, **fields: Any) -> RelationshipRow:
    told: dict[str, Any] = dict.fromkeys(RelationshipRow._fields)
    told |= {"uuid": uuid, "episode_id": "e", "source": source, "target": target, "start": start, "valid_at": 1}
    return RelationshipRow(**{**told, "created_at": 1, **fields})


def links(turns: Any) -> list[tuple[str, str, float]]:
    return [(link["source"], link["target"], link["weight"]) for link in links_of(turns, "g", Moment(5, 5))]


def test_a_sentence_is_linked_to_each_node_that_it_names() -> None:
    turns = Turns(
        mention("a", speaker=True), mention("b", 8, text="ben"), mention("c", 13, repeats="b"), mention("d", 22)
    )

    assert links(turns) == [("e:0", "a", 1.0), ("e:0", "b", 0.5), ("e:1", "b", 0.9), ("e:1", "d", 0.9)]
    assert turns.read == 1


def test_what_is_in_no_sentence_or_unknown_or_later_is_linked_to_nothing() -> None:
    for nothing in (
        mention("a", len(TEXT) + 1),
        mention("a", repeats="nobody"),
        mention("a", valid_at=6),
        mention("a", created_at=6),
        mention("a", repeats="unlisted"),
    ):
        assert links(Turns(nothing, mention("unlisted", valid_at=6))) == []


def test_a_sentence_is_linked_once_to_each_node_of_which_it_states_something_and_that_it_does_not_name() -> None:
    ben, tea = mention("b", 8), mention("t", 22)
    told = [stated("1", "b", "t"), stated("2", "b", "nobody"), stated("3", "t", "b"), stated("4", "t", "b", start=0)]

    linked = links(Turns(ben, tea, *told))
    assert linked == [("e:0", "b", 0.9), ("e:1", "t", 0.9), ("e:1", "b", 0.9), ("e:0", "t", 0.9)]


def test_what_is_stated_in_no_sentence_or_later_or_of_a_node_that_came_later_is_linked_to_nothing() -> None:
    before = [("e:0", "b", 0.9)]
    for nothing in (
        stated("1", "b", "b", start=len(TEXT) + 1),
        stated("1", "b", "b", valid_at=6),
        stated("1", "unlisted", "unlisted"),
    ):
        assert links(Turns(mention("b", 8), nothing, mention("unlisted", valid_at=6))) == before

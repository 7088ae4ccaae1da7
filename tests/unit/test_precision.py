"""A search leaves out what probably does not answer, be it all, and of one slot all but two claims."""

import numpy as np
import pytest
from bench import beliefs

import asof
from asking import search_of
from asof_projections.model.queries import HEAD
from asof_projections.model.rows import FactRow, Moment
from asof_projections.retrieval import fact_signals
from asof_projections.retrieval.calibration import Calibration, episode_columns
from asof_projections.retrieval.precision import probable_places
from asof_projections.retrieval.search import Search
from asof_projections.retrieval.turns import EpisodeSearch
from asof_streams.errors import InvalidInput
from asof_streams.instants import INF, NEG
from histories import History, on

NOW = Moment(on("2025"), HEAD)
EVER = Moment(None, HEAD)


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    yield history
    history.close()


def row(subject: str, relation: str, object_: str, sentence: str) -> FactRow:
    ends = (f"id-{subject}", f"id-{object_}")
    times = (NEG, INF, 0, INF)
    return FactRow("f", "g", subject, relation, object_, *ends, sentence, *times, 1.0, (), "main", 0, INF, 0)


def signals(text: str, *facts: FactRow, meant=lambda _: ()) -> list[dict[str, float]]:
    none = np.zeros(len(facts))
    columns = fact_signals.columns(text, facts, none, none, meant)
    return [dict(zip(fact_signals.SIGNALS, each, strict=True)) for each in columns.tolist()]


BERLIN = row("Ana", "lives_in", "Berlin", "Ana lives in Berlin")
OSLO = row("Anna", "lives_in", "Oslo", "Anna lives in Oslo")
WORK = row("Ana", "works_at", "Bosch", "Ana works at Bosch")


def test_a_name_that_is_like_another_is_another() -> None:
    ana, anna, _ = signals("Where does Anna live?", BERLIN, OSLO, WORK)

    assert (ana["names"], anna["names"]) == (0, 1)
    assert anna["subject"] == 1
    assert signals("where does anna live", BERLIN, OSLO)[0]["names"] == 0


@pytest.mark.parametrize("asked", ["Gabriela", "Gabreilla", "Gabriellla"])
def test_a_long_name_with_one_letter_wrong_is_meant(asked: str) -> None:
    gabriella = row("Gabriella", "lives_in", "Berlin", "Gabriella lives in Berlin")

    assert [each["names"] for each in signals(f"Where does {asked} live?", gabriella, BERLIN)] == [1, 0]


@pytest.mark.parametrize("asked", ["Josefine", "Josephine"])
def test_a_name_may_be_written_with_f_or_ph(asked: str) -> None:
    josephine = row("Josephine", "lives_in", "Berlin", "Josephine lives in Berlin")

    assert [each["names"] for each in signals(f"Where does {asked} live?", josephine, BERLIN)] == [1, 0]


def test_what_someone_collects_is_found_whole_unless_one_of_the_things_is_named() -> None:
    clubs = [row("Ana", "member_of", club, f"Ana is a member of the {club}") for club in ("rowing club", "choir")]
    clubs = [club._replace(uuid=club.object) for club in clubs]

    for asked in ("Which club is Ana a member of?", "What does Ana belong to?"):
        rowing, choir = signals(asked, *clubs)
        assert rowing == choir
    rowing, choir = signals("Is Ana a member of the choir?", *clubs)
    assert choir["coverage"] > rowing["coverage"]


def test_a_short_name_with_one_letter_wrong_is_nobodys() -> None:
    assert signals("Where does Ina live?", BERLIN)[0]["names"] == 0


def test_another_name_of_an_entity_is_its_name() -> None:
    names = {"annie lee": ["id-Ana"]}
    [of_annie] = signals("Where does Annie Lee live?", BERLIN, meant=lambda name: names[name])

    assert (of_annie["names"], of_annie["subject"]) == (1, 1)


def test_what_is_asked_is_covered_by_the_words_of_the_sentence_and_of_the_relation() -> None:
    home, work = signals("Where does Ana live?", BERLIN, WORK)
    [named] = signals("Ana", BERLIN)

    assert (home["coverage"], work["coverage"], work["gap_in_coverage"]) == (1, 0, 1)
    assert named["coverage"] == 1
    assert signals("Who lives here?", BERLIN)[0]["nobody_named"] == 1


def test_a_probability_grows_with_the_share_and_the_score_of_an_episode() -> None:
    calibration = Calibration(bias=-3, weights={"share": 0.8, "score": 0.3}, least=0.1)
    chances = calibration.probabilities(episode_columns(np.array([9.0, 5.0, 1.0])), ("share", "score"))

    assert chances[0] > chances[1] > chances[2] > 0
    assert calibration.probabilities(episode_columns(np.zeros(0)), ("share", "score")).tolist() == []


def test_no_episode_is_probable_where_the_best_is_not_unless_a_probability_was_asked_for() -> None:
    places, chances = np.array([2, 0, 1]), np.array([0.2, 0.01, 0.3])

    assert probable_places(places, chances, None, 0.25).tolist() == [2, 0, 1]
    assert probable_places(places, chances, None, 0.35).tolist() == []
    assert probable_places(places, chances, 0.1, 0.35).tolist() == [2, 0]
    assert probable_places(places[:0], chances, None, 0.5).tolist() == []
    assert probable_places(places, np.full(3, np.nan), 0.1, 0.35).tolist() == [2, 0, 1]


def test_of_a_single_valued_slot_the_two_claims_that_last_are_left(history) -> None:
    for number, city in enumerate(["Rome", "Oslo", "Bonn", "Lima"]):
        history.tell(f"2024-01-0{number + 1}", relation="lives_in", object=city, valid_at=f"201{number}")
        history.tell(f"2024-01-0{number + 1}", relation="likes", object=city, valid_at=f"201{number}")
    search = Search(history.beliefs).search

    found = search(search_of("where did Ana live", "g"), EVER)
    every = search(search_of("where did Ana live", "g", min_probability=0), EVER)

    assert {hit.object for hit in found if hit.relation == "lives_in"} == {"Bonn", "Lima"}
    assert {hit.object for hit in every if hit.relation == "lives_in"} == {"Rome", "Oslo", "Bonn", "Lima"}
    liked = search(search_of("Ana likes", "g"), EVER)
    assert {hit.object for hit in liked if hit.relation == "likes"} == {"Rome", "Oslo", "Bonn", "Lima"}


def test_one_search_tells_what_is_found_and_what_is_found_by_default(history) -> None:
    for number, city in enumerate(["Rome", "Oslo", "Bonn", "Lima"]):
        history.tell(f"2024-01-0{number + 1}", relation="lives_in", object=city, valid_at=f"201{number}")
    history.tell("2024-01-05", relation="brother", object="Ben", fact="Ben is Ana's brother", valid_at="2010")
    history.tell("2024-01-06", subject="Ben", relation="works_at", object="Acme", valid_at="2010")
    search = Search(history.beliefs)

    for text in ("where did Ana live", "Where does Ana's brother work?", "Who sails?"):
        for at in (NOW, EVER):
            every = search_of(text, "g", min_probability=0)
            found, probable = search.search_and_tell(every, at)
            by_default, same = search.search_and_tell(search_of(text, "g"), at)

            assert found == search.search(every, at)
            assert by_default == search.search(search_of(text, "g"), at)
            assert {hit.uuid for hit in by_default} == probable == same
            assert text == "Who sails?" or probable


def test_of_equal_scores_what_holds_comes_first_then_what_ended_last(history) -> None:
    for object_, until in (("a", "2020"), ("b", "2022"), ("c", ""), ("d", "2021")):
        period = {"valid_at": "2010", **({"invalid_at": until} if until else {})}
        history.tell("2024-01-01", relation="likes", object=object_, fact="Ana sails", **period)

    hits = Search(history.beliefs).search(search_of("sails", "g"), EVER)

    assert [hit.object for hit in hits] == ["c", "b", "d", "a"]
    assert len({hit.score for hit in hits}) == 1


def test_a_least_probability_leaves_out_what_is_below_it(history) -> None:
    history.tell("2024-01-01", relation="lives_in", object="Rome", valid_at="2010")
    history.say("2024-01-02", "I live in Rome", role="Ana")
    facts, turns = Search(history.beliefs).search, EpisodeSearch(history.episodes).search

    [hit] = facts(search_of("Where does Ana live?", "g", min_probability=0), NOW)
    [turn] = turns(search_of("Where does Ana live?", "g", min_probability=0))

    assert 0 < (hit.probability or 0) < 1
    assert turn.probability is not None
    for least, left in ((0.0001, 1), (1, 0)):
        query = search_of("Where does Ana live?", "g", min_probability=least)
        assert (len(facts(query, NOW)), len(turns(query))) == (left, left)
    for wrong in ({"min_probability": 1.5}, {"min_probability": 0.5, "profile": "pipeline"}):
        with pytest.raises(InvalidInput, match="min_probability"):
            search_of("Ana", "g", **wrong)


def test_a_question_that_names_nobody_is_left_its_facts_and_one_that_names_another_person_is_not(history) -> None:
    history.tell("2024-01-01", relation="lives_in", object="Rome", valid_at="2010")
    search = Search(history.beliefs).search

    assert [hit.object for hit in search(search_of("Where do I reside in Rome?", "g"), NOW)] == ["Rome"]
    assert [hit.object for hit in search(search_of("where do people usually lives", "g"), NOW)] == ["Rome"]
    assert search(search_of("Where does Zoltan spend his lives?", "g"), NOW) == []


def test_a_question_that_is_like_nothing_known_finds_nothing_and_one_in_other_words_does(tmp_path) -> None:
    with asof.open(tmp_path / "memory", embedder="minilm") as memory:
        memory.add("I live in Berlin.", role="Ana")
        memory.add("I work at Bosch.", role="Ana")
        found = memory.search("zebra quantum flux?")

        assert (found, found.episodes) == ([], [])
        assert [hit.object for hit in memory.search("employment")] == ["Bosch"]
        assert [hit.content for hit in memory.search("Where do I live?").episodes][:1] == ["I live in Berlin."]


def test_the_right_belief_is_found_alone_and_nothing_where_nothing_is_right(tmp_path) -> None:
    worlds = [*beliefs.worlds()]
    with asof.open(tmp_path / "memory") as memory:
        beliefs.tell(memory, worlds)
        memory.embed()  # or a busy machine would answer some by words alone
        found = [(case, beliefs.is_right(memory, case)) for world in worlds for case in world.cases]

    for half in beliefs.VOCABULARIES:
        of_half = [(bool(case.expected), is_right) for case, is_right in found if case.half == half]
        right, empty = ([is_right for told, is_right in of_half if told == wanted] for wanted in (True, False))
        assert (len(right), len(empty)) == (65, 35)
        assert sum(right) >= 0.85 * len(right)
        assert sum(empty) >= 0.90 * len(empty)


def test_belief_cases_of_the_two_halves_share_no_relation_and_are_the_same_each_time() -> None:
    relations = [{r.name for r in (*v.of_people, *v.of_things)} for v in beliefs.VOCABULARIES.values()]

    assert relations[0].isdisjoint(relations[1])
    assert [*beliefs.worlds()] == [*beliefs.worlds()]

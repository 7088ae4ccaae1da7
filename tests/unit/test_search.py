"""Search finds what holds at the moment, by words and by meaning; vectors follow the graph."""

from dataclasses import replace
from typing import Any

import pytest

from asking import search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.model.rows import Moment
from asof_projections.retrieval.question import content_words
from asof_projections.retrieval.search import NameSearch, Search
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import VectorProjection, facts_of, names_of
from asof_streams.messages import IdentityStatement
from histories import History, on

NOW = Moment(on("2025"), on("2025"))


def following(texts, cached, path) -> VectorProjection:
    return VectorProjection(texts, cached, FaissVectorIndex.open(path, cached.model_id, cached.dimensions))


class Synonyms(HashingEmbedder):
    """Knows that a kitten is a cat; counts what it was asked to embed."""

    model_id = "synonyms-1"  # type: ignore[misc]

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return super().embed([text.replace("kitten", "cat") for text in texts])


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    history.tell("2024-01-01", relation="has", object="cat", fact="Ana has a cat", valid_at="2015", ref="cat")
    history.tell("2024-01-02", relation="has", object="car", fact="Ana has a red car", valid_at="2020")
    history.tell("2024-01-03", subject="Ben", relation="has", object="boat", fact="Ben sails a boat", valid_at="2020")
    history.tell("2024-01-04", group_id="other", relation="has", object="cat", fact="Ana has a cat", valid_at="2015")
    yield history
    history.close()


@pytest.fixture
def embedder():
    return Synonyms()


@pytest.fixture
def cached(tmp_path, embedder):
    cached = CachedEmbedder(embedder, tmp_path / "vectors.db")
    yield cached
    cached.close()


@pytest.fixture
def vectors(history, cached, tmp_path):
    vectors = following(facts_of(history.beliefs), cached, tmp_path / "vectors.index")
    vectors.catch_up()
    return vectors


def objects(hits):
    return [hit.object for hit in hits]


def test_words_alone_find_facts_where_there_is_no_embedder(history):
    [hit] = Search(history.beliefs).search(search_of("Who has a boat?", "g"), NOW)

    assert (hit.object, hit.score, hit.scores.words, hit.scores.meaning) == ("boat", 1.0, 1.0, None)
    assert hit.to_json()["scores"] == {"words": 1.0, "meaning": None}
    assert Search(history.beliefs).search(search_of("kitten", "g"), NOW) == []
    assert Search(history.beliefs).search(search_of("?!", "g"), NOW) == []


def test_meaning_finds_what_no_word_does_and_each_hit_tells_its_parts(history, embedder, vectors):
    hits = Search(history.beliefs, embedder, vectors.index).search(search_of("kitten", "g"), NOW)

    assert objects(hits)[0] == "cat"
    assert [hit.scores.words for hit in hits] == [None] * 3
    assert all(hit.score == pytest.approx(0.4 * (hit.scores.meaning or 0), abs=1e-6) for hit in hits)


def test_both_parts_count(history, embedder, vectors):
    hits = Search(history.beliefs, embedder, vectors.index).search(search_of("red kitten", "g"), NOW)

    assert objects(hits) == ["car", "cat", "boat"]
    assert [hit.scores.words for hit in hits] == [1.0, None, None]
    assert all(
        hit.score == pytest.approx(0.6 * (hit.scores.words or 0) + 0.4 * (hit.scores.meaning or 0), abs=1e-6)
        for hit in hits
    )


def test_only_what_holds_and_is_known_at_the_moment_is_found(history, embedder, vectors):
    history.tell("2024-02-01", op="retract", ref="cat", subject=None)
    search = Search(history.beliefs, embedder, vectors.index).search

    assert objects(search(search_of("cat", "g"), Moment(on("2016"), on("2024-01-15")))) == ["cat"]
    assert objects(search(search_of("cat", "g"), Moment(on("2010"), on("2024-01-15")))) == []
    assert "cat" not in objects(search(search_of("cat", "g"), NOW))
    assert "cat" in objects(search(search_of("cat", "g"), Moment(on("2016"), None)))


def test_a_good_hit_is_not_lost_behind_many_better_ones_that_do_not_count(history, embedder, vectors):
    for number in range(300):
        object_ = f"boat number {number}"
        history.tell("2024-03-01", relation="sold", object=object_, fact="boat", valid_at="2010", invalid_at="2011")
    vectors.catch_up()

    assert objects(Search(history.beliefs, embedder, vectors.index).search(search_of("boat", "g", limit=1), NOW)) == [
        "boat"
    ]
    assert objects(Search(history.beliefs).search(search_of("boat", "g", limit=1), NOW)) == ["boat"]


def test_a_search_sees_its_own_group_and_takes_no_more_than_its_limit(history, embedder, vectors):
    search = Search(history.beliefs, embedder, vectors.index).search

    assert {hit.group_id for hit in search(search_of("cat", "other"), NOW)} == {"other"}
    assert {hit.group_id for hit in search(search_of("cat"), NOW)} == {"g", "other"}
    assert len(search(search_of("cat", limit=2), NOW)) == 2
    assert search(search_of("cat", "nowhere"), NOW) == []


def test_the_facts_of_a_group_are_searched_as_if_there_were_no_other(history, embedder, vectors):
    def found():
        searches = Search(history.beliefs), Search(history.beliefs, embedder, vectors.index)
        return [search.search(search_of("a red cat or boat", "g", min_probability=0), NOW) for search in searches]

    history.tell("2024-02-01", subject="Di", object="kite", relation="has", fact="Di has a red kite")
    vectors.catch_up()
    alone = found()
    for number in range(40):
        fact = f"Cy has cat {number}"
        history.tell("2024-02-01", group_id="other", subject="Cy", object=str(number), relation="has", fact=fact)
    vectors.catch_up()
    assert found() == alone  # few of all facts are of the group: it alone is read

    for number in range(80):
        fact = f"Di has dog {number}"
        history.tell("2024-02-01", subject="Di", object=str(number), relation="has", fact=fact)
    vectors.catch_up()
    alone = found()
    for number in range(20):
        fact = f"Cy has boat {number}"
        history.tell("2024-02-01", group_id="other", subject="Cy", object=str(number), relation="has", fact=fact)
    vectors.catch_up()
    assert found() == alone  # most are: all are read


def test_filters_leave_room_for_as_many_hits_as_are_asked_for(history, embedder, vectors):
    for number in range(100):
        history.tell("2024-03-01", relation="sold", object=f"cat {number}", fact="cat cat cat", valid_at="2020")
    vectors.catch_up()

    for search in (Search(history.beliefs), Search(history.beliefs, embedder, vectors.index)):
        assert objects(search.search(search_of("cat", "g", limit=1, relations=["has"]), NOW)) == ["cat"]
        assert search.search(search_of("cat", "g", relations=["wants"]), NOW) == []


def test_types_of_either_end_and_several_groups_are_asked_for(history, embedder, vectors):
    told = {"subject_type": "Person", "relation": "owns", "object": "shop", "fact": "Cy owns a cat shop"}
    history.tell("2024-03-01", group_id="third", subject="Cy", valid_at="2020", **told)
    vectors.catch_up()

    for search in (Search(history.beliefs), Search(history.beliefs, embedder, vectors.index)):
        several = search.search(search_of("cat", group_ids=["other", "third"]), NOW)
        assert {hit.group_id for hit in several} == {"other", "third"}
        assert objects(search.search(search_of("cat", entity_types=["Person"]), NOW)) == ["shop"]
        assert search.search(search_of("cat", "g", entity_types=["Person"]), NOW) == []


def test_facts_near_the_centre_come_first_and_hops_leave_no_others(history, embedder, vectors):
    history.tell("2024-03-01", subject="Ben", relation="knows", object="Ida", fact="Ben knows Ida", valid_at="2020")
    history.tell(
        "2024-03-02", subject="Ida", relation="has", object="cat", fact="Ida has a cat, a cat", valid_at="2020"
    )
    history.tell("2024-03-02", subject="Ida", relation="knows", object="Ben", fact="Ida knows Ben", valid_at="2020")
    vectors.catch_up()

    for search in (Search(history.beliefs), Search(history.beliefs, embedder, vectors.index)):
        hits = search.search(search_of("cat", "g", center="Ida"), NOW)
        assert (hits[0].subject, hits[0].relation) == ("Ida", "has")
        assert ("Ana", 2) in {(hit.subject, hit.hop) for hit in hits}
        hops = [hit.hop or 9 for hit in hits]  # 9: further away
        assert hops == sorted(hops)
        near = search.search(search_of("cat boat Ben", "g", center="Ida", hops=1, min_probability=0), NOW)
        assert {(hit.subject, hit.relation) for hit in near} >= {("Ida", "has")}
        assert {hit.hop for hit in near} == {1}
        assert {hit.hop for hit in search.search(search_of("cat boat", "g", center="Ida", hops=2), NOW)} == {1, 2}
        assert search.search(search_of("cat", "g", center="nobody", hops=2), NOW) == []
        plain = search.search(search_of("cat", "g"), NOW)
        assert search.search(search_of("cat", "g", center="nobody"), NOW) == plain
        assert search.search(search_of("cat", "g", center=hits[0].subject_uuid), NOW) == hits
        assert {hit.hop for hit in plain} == {None}


def test_a_ranking_is_a_search_for_improbable_facts_too_without_probabilities(history, embedder, vectors):
    for number in range(80):  # some equal in score, and one in three over by now
        until = {"invalid_at": f"{2021 + number % 3}"} if number % 3 == 0 else {}
        said = f"Ana has {'a red' if number % 2 else 'a'} car of the kind {number // 4}"
        history.tell("2024-02-01", relation="has", object=f"car {number}", fact=said, valid_at="2020", **until)
    history.tell("2024-02-02", subject="Ana", relation="brother", object="Ben", fact="Ben is Ana's brother")
    search = Search(history.beliefs, embedder, vectors.index)
    vectors.catch_up()
    questions = ("Who has a red car?", "What does Ana have?", "a kitten", "What does Ana's brother have?", "nonsense")
    every: list[dict[str, Any]]
    every = [{}, {"center": "Ana"}, {"limit": 3}, {"limit": 16}, {"relations": ["has"], "limit": 7}]
    for asked in every:
        for question in questions:
            for at in (NOW, Moment(None, on("2025"), ever=True)):
                query = search_of(question, min_probability=0, **asked)
                hits = search.search(query, at)
                assert search.rank(query, at) == [replace(hit, probability=None) for hit in hits]
                more = search_of(question, min_probability=0, **asked | {"limit": 16})  # of no more candidates
                assert hits[:16] == search.search(more, at)[: query.limit]


def test_two_steps_from_a_centre_are_near_where_no_number_of_steps_is_said(history):
    for subject, knows in [("Cy", "Ida"), ("Di", "Cy"), ("Di", "Ed")]:
        history.tell("2024-03-01", subject=subject, relation="knows", object=knows, fact=f"{subject} knows {knows}")

    hits = Search(history.beliefs).search(search_of("knows", "g", center="Ida", min_probability=0), NOW)

    found = [(hit.subject, hit.object, hit.hop) for hit in hits]
    assert found == [("Cy", "Ida", 1), ("Di", "Cy", 2), ("Di", "Ed", None)]


def test_a_step_leads_on_from_whoever_is_the_same(history):
    history.tell("2024-03-01", subject="Ida", relation="knows", object="Robert", fact="Ida knows Robert")
    history.tell("2024-03-01", subject="Bob", relation="has", object="piano", fact="Bob has a piano")
    history.send("2024-03-05", IdentityStatement(group_id="g", op="merge", entity="Bob", into="Robert"))
    before = Moment(NOW.valid, on("2024-03-03"))

    def hops(center, moment):
        query = search_of("piano Ida", "g", center=center, min_probability=0)
        return {hit.object: hit.hop for hit in Search(history.beliefs).search(query, moment)}

    assert hops("Ida", before) == {"Robert": 1, "piano": None}
    assert hops("Ida", NOW) == {"Robert": 1, "piano": 2}
    assert hops("Bob", before) == {"Robert": None, "piano": 1}
    assert hops("Bob", NOW) == {"Robert": 1, "piano": 1}


def test_what_has_no_vector_yet_is_found_by_its_words(history, embedder, vectors):
    history.tell("2024-03-01", relation="has", object="ladder", fact="Ana has a ladder", valid_at="2020")

    [first, *_] = Search(history.beliefs, embedder, vectors.index).search(search_of("ladder", "g"), NOW)

    assert (first.object, first.scores.meaning, first.score) == ("ladder", None, 0.6)


def test_a_query_loses_the_words_that_say_little_unless_it_has_no_others():
    assert content_words("Where does Ana live now?") == "Ana live now"
    assert content_words("who is it?") == "who is it"


# Vectors follow the graph.


def test_an_index_goes_on_where_it_was_saved_and_tells_how_far_it_is(history, cached, embedder, vectors, tmp_path):
    vectors.save()
    history.tell("2024-03-01", relation="has", object="ladder", fact="Ana has a ladder", valid_at="2020")
    embedder.asked.clear()
    steps = []

    again = following(facts_of(history.beliefs), cached, tmp_path / "vectors.index")
    again.catch_up(lambda done, total: steps.append((done, total)))

    assert embedder.asked == ["Ana has a ladder"]
    assert steps == [(1, 1)]
    assert len(again.index) == 5


def test_a_damaged_index_and_one_of_another_model_are_made_again_from_kept_vectors(
    history, cached, embedder, vectors, tmp_path
):
    vectors.save()
    digest, path = vectors.index.digest(), tmp_path / "vectors.index"
    embedder.asked.clear()
    for damage in (lambda whole: whole[:-1], lambda _: b"something else"):
        path.write_bytes(damage(path.read_bytes()))

        again = following(facts_of(history.beliefs), cached, path)
        again.catch_up()
        again.save()

        assert again.index.digest() == digest
    assert embedder.asked == []


def test_a_fresh_build_has_the_digest_of_one_that_followed_step_by_step(history, cached, vectors, tmp_path):
    for number in range(3):
        history.tell("2024-03-01", relation="has", object=f"thing {number}", valid_at="2020")
        vectors.catch_up()

    fresh = following(facts_of(history.beliefs), cached, tmp_path / "fresh.index")
    fresh.catch_up()

    assert fresh.index.digest() == vectors.index.digest()


def test_an_erased_group_leaves_no_vector(history, embedder, vectors, tmp_path):
    history.forget("2024-06-01", "g")
    vectors.catch_up()

    assert len(vectors.index) == 1
    [query] = embedder.embed(["boat"])
    [(number, _)] = vectors.index.search(query, 9)
    assert [f.group_id for f in history.beliefs.facts_numbered([number], NOW)[number]] == ["other"]
    assert len(following(facts_of(history.beliefs), vectors._embedder, tmp_path / "vectors.index").index) == 1


@pytest.mark.usefixtures("vectors")
def test_erasing_a_group_forgets_the_vectors_that_its_sentences_were_kept_by(cached, embedder):
    cached.forget("g")
    embedder.asked.clear()

    cached.embed(["Ben sails a boat"])

    assert embedder.asked == ["Ben sails a boat"]


def test_some_at_a_time_it_comes_to_the_same_and_lets_go_of_what_is_erased(history, cached, vectors, tmp_path):
    steps = following(facts_of(history.beliefs), cached, tmp_path / "steps.index")

    assert [steps.catch_up_some(3), len(steps.index)] == [True, 3]
    assert [steps.catch_up_some(3), len(steps.index)] == [True, 4]
    assert not steps.catch_up_some(3)
    assert steps.index.digest() == vectors.index.digest()

    assert steps.unsaved == 4
    steps.save()
    assert steps.unsaved == 0
    history.forget("2024-06-01", "g")
    assert steps.unsaved == -1
    while steps.catch_up_some(3):
        pass
    assert [len(steps.index), steps.unsaved] == [1, 1]
    assert not (tmp_path / "steps.index").exists()


# Entities by name.


@pytest.fixture
def names(history, cached, tmp_path):
    names = following(names_of(history.beliefs), cached, tmp_path / "names.index")
    names.catch_up()
    return names


def called(history, embedder, names, query, known=None, group="g", limit=10):
    found = NameSearch(history.beliefs, embedder, names.index).like(query, known, group, limit=limit)
    return [entity.name for entity in found]


def test_an_entity_is_found_by_what_its_name_means_nearest_first(history, embedder, names):
    assert called(history, embedder, names, "kitten")[0] == "cat"
    assert len(called(history, embedder, names, "kitten", limit=2)) == 2


def test_only_what_was_known_at_the_moment_and_is_of_the_group_is_found(history, embedder, names):
    history.tell("2024-03-01", relation="has", object="pussycat", fact="Ana has a pussycat", valid_at="2020")
    names.catch_up()

    assert "pussycat" in called(history, embedder, names, "kitten")
    assert "pussycat" not in called(history, embedder, names, "kitten", known=on("2024-02-01"))
    assert called(history, embedder, names, "kitten", group="nobody") == []


def test_an_entity_with_several_names_is_found_once_and_communities_are_not_taken_for_entities(
    history, embedder, cached, tmp_path
):
    history.say("2024-03-01", "cat -likes-> kitty", update_communities=True)
    names = following(names_of(history.beliefs), cached, tmp_path / "more.index")
    names.catch_up()

    assert len(names.index) == history.beliefs.name_count()
    found = called(history, embedder, names, "kitten", limit=99)
    assert len(found) == len(set(found)) == len(history.beliefs.names_known("g", None))

"""Turns are found by words and by meaning, as of known time, each group by itself."""

from functools import partial

import pytest

from asking import search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.graph.ports import SESSION_GAP
from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import HEAD
from asof_projections.model.rows import Moment
from asof_projections.retrieval.profile import profile
from asof_projections.retrieval.question import Question
from asof_projections.retrieval.search import Search
from asof_projections.retrieval.signals import SIGNALS
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.speakers import name_words
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import VectorProjection, turns_of
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Record
from asof_streams.ids import episode_id
from asof_streams.sqlite_log import SqliteLog
from histories import History, on

ANA_AND_BEN = {"Ana": frozenset({"ana"}), "Ben": frozenset({"ben"})}


class Synonyms(HashingEmbedder):
    """Knows that a kitten is a cat."""

    model_id = "synonyms-1"  # type: ignore[misc]

    def embed(self, texts):
        return super().embed([text.replace("kitten", "cat") for text in texts])


def episode(uuid, content):
    told = {"source": "message", "source_description": "", "name": "", "role": "Ana", "role_type": "user"}
    body = f"Ana(user): {content}"
    return EpisodeRecorded(episode_id=uuid, body=body, content_length=len(content), valid_at=0, **told)


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    history.say("2024-01-01", "Ben, we have a cat at home", role="Ana")
    history.say("2024-01-02", "A red car for me", role="Ben")
    history.say("2024-01-03", "Let us sail on Sunday", role="Ana")
    yield history
    history.close()


@pytest.fixture
def following(history, tmp_path):
    cached = CachedEmbedder(Synonyms(), tmp_path / "vectors.db")
    index = FaissVectorIndex.open(tmp_path / "turns.index", cached.model_id, cached.dimensions)
    vectors = VectorProjection(turns_of(history.episodes), cached, index)
    vectors.catch_up()
    yield vectors
    cached.close()


@pytest.fixture
def by_words(history):
    return EpisodeSearch(history.episodes)


def contents(hits):
    return [hit.content for hit in hits]


def test_words_alone_find_turns_that_gave_no_fact(by_words):
    [hit] = by_words.search(search_of("Who drives a car?", "g"))

    assert (hit.content, hit.role, hit.scores.words, hit.scores.meaning) == ("A red car for me", "Ben", 1.0, None)
    assert hit.uuid == episode_id("g", 1)
    assert hit.valid_at == hit.created_at
    assert by_words.search(search_of("?!", "g")) == []
    assert by_words.search(search_of("kitten", "g")) == []


def test_meaning_finds_what_no_word_does(history, following):
    hits = EpisodeSearch(history.episodes, Synonyms(), following.index).search(search_of("kitten", "g"))

    assert contents(hits)[0] == "Ben, we have a cat at home"
    assert hits[0].scores.meaning is not None


def test_turns_are_embedded_without_the_names_of_those_who_had_spoken(history):
    history.say("2024-01-04", "Ana's cat likes Ben", role="Ben")

    texts = [text for _, _, text in history.episodes.turn_texts()]

    assert texts[0] == "Ben, we have a cat at home"  # nobody knew yet that Ben speaks
    assert texts[3] == "cat likes "


def test_the_name_of_who_speaks_for_the_first_time_is_left_out_and_no_name_of_another_group(history):
    history.say("2024-01-04", "My boat", role="Zoe", group_id="other")
    assert history.episodes.turn_count() == 4  # they are read before the next
    history.say("2024-01-05", "Cleo's boat is not Zoe's", role="Cleo")

    assert [text for _, _, text in history.episodes.turn_texts()][4] == "boat is not Zoe's"


def test_the_name_of_a_speaker_is_read_once_however_many_turns_follow(tmp_path):
    history = History(tmp_path)
    for number in range(60):
        history.say("2024-01-01", "Speaker1 says hello to Speaker59", role=f"Speaker{number}")
    name_words.cache_clear()

    texts = [text for _, _, text in history.episodes.turn_texts()]
    history.close()

    assert (texts[0], texts[58], texts[59]) == (
        "Speaker1 says hello to Speaker59",
        "says hello to Speaker59",
        "says hello to ",
    )
    assert sum(name_words.cache_info()[:2]) == 60


def test_a_turn_is_found_as_of_a_known_moment(history, by_words):
    assert by_words.search(search_of("car", "g", known_at="2024-01-01T12:00:00Z")) == []
    history.withdraw("2024-02-01", 1)

    assert by_words.search(search_of("car", "g")) == []
    assert contents(by_words.search(search_of("car", "g", known_at="2024-01-15"))) == ["A red car for me"]


def test_names_of_who_spoke_in_the_group_that_came_next_stay(tmp_path):
    (tmp_path / "two").mkdir()
    history = History(tmp_path / "two")
    history.say("2024-01-01", "Hello", role="Ana")
    history.say("2024-01-01", "Hello", role="Zoe", group_id="other")
    history.say("2024-01-02", "Zoe's boat", role="Ana")

    texts = [text for _, _, text in history.episodes.turn_texts()]
    history.close()

    assert texts == ["Hello", "Hello", "Zoe's boat"]


def test_a_turn_is_found_from_the_moment_on_at_which_it_was_known_until_it_is_withdrawn(history, by_words):
    history.withdraw("2024-02-01", 1)

    def found(moment):
        return contents(by_words.search(search_of("car", "g", known_at=moment)))

    last = "2024-01-31T23:59:59.999999Z"
    assert [found(moment) for moment in ("2024-01-02", last, "2024-02-01")] == [*[["A red car for me"]] * 2, []]


def test_turns_are_found_up_to_the_message_of_which_the_beliefs_are_there(history, tmp_path):
    every = history.episodes.turns(["g"], HEAD).n.tolist()
    for count, number in enumerate(every):
        with EpisodeReader(tmp_path / "episodes.db", partial(int, number)) as reader:
            assert reader.turns(["g"], HEAD).n.tolist() == every[:count]


def test_the_turns_of_several_groups_stand_group_by_group_in_the_order_of_the_log(history):
    for number in range(60):
        history.say("2024-02-01", "A car", group_id=f"group {number % 3}")

    turns = history.episodes.turns(None, HEAD)

    placed = list(zip(turns.grp.tolist(), turns.n.tolist(), strict=True))
    assert (len(placed), placed) == (63, sorted(placed))


def test_a_writer_finds_turns_that_it_has_not_committed(tmp_path):
    with SqliteGraph(tmp_path / "written.db", "episodic", writable=True) as writer:
        for number in range(3):
            writer.apply([Record(number, "ana", 1_000, number, 0, 1, 0, episode(f"e{number}", "a red car"))])
            assert len(writer.turns(["ana"], HEAD).n) == number + 1


def test_structured_facts_and_suppressed_content_are_no_turns(history, by_words):
    history.tell("2024-01-04", relation="has", object="yacht", fact="Ana has a yacht", valid_at="2020")
    history.say("2024-01-05", "a yacht of mine", suppress_content=True)

    assert by_words.search(search_of("yacht", "g")) == []
    assert history.episodes.turn_count() == len(list(history.episodes.turn_texts())) == 3


def test_a_group_is_searched_as_if_there_were_no_other(history, by_words):
    alone = [hit.to_json() for hit in by_words.search(search_of("the cat and the red car", "g"))]

    for number in range(40):
        history.say("2024-02-01", f"cat number {number} is red", role="Ana", group_id="other")

    assert [hit.to_json() for hit in by_words.search(search_of("the cat and the red car", "g"))] == alone
    assert {hit.group_id for hit in by_words.search(search_of("cat", "other"))} == {"other"}
    assert {hit.group_id for hit in by_words.search(search_of("cat", limit=100))} == {"g", "other"}


def test_a_group_that_has_most_turns_is_searched_as_if_there_were_no_other(history, by_words):
    history.say("2024-01-04", "Red is my colour", role="Ben")
    alone = [hit.to_json() for hit in by_words.search(search_of("the cat and the red car", "g"))]

    for content in ("a cat", "another cat is red"):
        history.say("2024-02-01", content, role="Ana", group_id="other")

    assert [hit.to_json() for hit in by_words.search(search_of("the cat and the red car", "g"))] == alone


def test_words_are_found_in_each_of_several_groups_however_few_of_all_turns_are_theirs(history):
    for number in range(9):
        history.say("2024-02-01", "A car and a cat", group_id=f"group {number}")

    turns = history.episodes.turns(["group 3", "group 7"], HEAD)

    found = history.episodes.having(["cat", "yacht"], turns)
    assert [sorted({*numbers.tolist()} & {*turns.n.tolist()}) for numbers in found] == [sorted(turns.n.tolist()), []]
    nobody = history.episodes.turns(["nobody"], HEAD)
    assert len(nobody.n) == 0
    assert len(history.episodes.having(["cat"], nobody)) == 1


def test_erasing_a_group_takes_the_words_and_vectors_of_its_turns(history, by_words, following):
    history.say("2024-01-05", "A boat", group_id="other")
    following.catch_up()
    assert len(following.index) == 4

    history.forget("2024-02-01")
    following.catch_up()

    assert len(following.index) == 1
    assert by_words.search(search_of("cat", "g")) == []
    assert contents(by_words.search(search_of("boat"))) == ["A boat"]
    [words] = history.episodes._db.execute("SELECT count(*) FROM turn_words WHERE turn_words MATCH 'cat'").fetchone()
    assert words == 0


def test_facts_lead_to_the_turns_that_say_them(history, by_words):
    history.say("2024-01-06", "Ana -lives_in-> Oslo", role="Ben")
    facts = Search(history.beliefs).search(search_of("Oslo", "g"), Moment(on("2025"), HEAD))

    hits = by_words.search(search_of("A red car", "g", limit=1), facts)

    assert contents(hits) == ["A red car for me", "Ana -lives_in-> Oslo"]
    assert (hits[1].score, hits[1].facts) == (None, (facts[0].uuid,))


def test_with_filters_of_facts_only_the_turns_that_say_them_are_found(history, by_words):
    history.say("2024-01-06", "Ana -lives_in-> Oslo", role="Ben")
    query = search_of("Oslo car", "g", relations=["lives_in"])
    facts = Search(history.beliefs).search(query, Moment(on("2025"), HEAD))

    assert contents(by_words.search(query, facts)) == ["Ana -lives_in-> Oslo"]


def test_a_reader_finds_what_a_writer_committed(history, tmp_path):
    with SqliteGraph(tmp_path / "episodes.db", "episodic") as reader:
        search = EpisodeSearch(reader)
        assert search.search(search_of("yacht", "g")) == []
        history.say("2024-01-06", "My yacht")
        assert contents(search.search(search_of("yacht", "g"))) == ["My yacht"]


def test_a_reader_that_keeps_its_last_answer_gives_no_group_the_turns_of_another(history, tmp_path):
    history.say("2024-01-04", "a cat of theirs", role="Ana", group_id="other")
    with SqliteGraph(tmp_path / "episodes.db", "episodic") as reader:
        search = EpisodeSearch(reader)
        for _ in range(2):
            assert {hit.group_id for hit in search.search(search_of("cat", "g"))} == {"g"}
            assert {hit.group_id for hit in search.search(search_of("cat", "other"))} == {"other"}
            assert search.search(search_of("cat", "other", known_at="2024-01-02")) == []
            assert {hit.group_id for hit in search.search(search_of("cat"))} == {"g", "other"}


def test_a_withdrawn_fact_that_was_stated_last_was_no_turn(history, by_words):
    history.tell("2024-01-04", relation="has", object="yacht", fact="Ana has a yacht", valid_at="2020")
    history.withdraw("2024-01-05", 3)

    assert contents(by_words.search(search_of("cat", "g"))) == ["Ben, we have a cat at home"]


def test_a_loaded_store_has_the_words_of_a_grown_one(history, tmp_path, by_words):
    history.say("2024-01-04", "cats and dogs")
    with SqliteGraph(tmp_path / "loaded.db", "episodic", writable=True) as loaded:
        with SqliteLog(tmp_path / "episodic.sqlite") as log, loaded.bulk():
            loaded.apply(list(log.read()))
            loaded.commit(log.end(), log.head(log.end()))
        query = search_of("cat", "g")
        assert EpisodeSearch(loaded).search(query) == by_words.search(query) != []


def test_a_question_about_a_speaker_is_asked_in_the_first_person():
    about = Question.of("When did Ana's sister move, and does Ana like Oslo in May 2023?", ANA_AND_BEN)

    assert about.text == "When did my sister move, and do I like Oslo in May 2023?"
    assert about.named == {"Ana"}
    assert about.words == ("sister", "move", "like", "oslo", "may", "2023")
    assert (about.months, about.years, about.asks_when) == ({5}, {2023}, True)


def test_a_question_in_small_letters_names_speakers_too_but_not_by_common_words():
    assert Question.of("what does ana like", ANA_AND_BEN).named == {"Ana"}
    assert Question.of("what will she do in may", {name: name_words(name) for name in ("Will", "May")}).named == set()
    assert Question.of("What did the assistant say?", {"assistant": name_words("assistant")}).named == set()


@pytest.mark.parametrize("name", ["learned", "fixed"])
def test_a_profile_comes_with_asof_and_says_how_it_was_made(name):
    assert profile(name).name == name
    assert profile(name).made_by
    assert (profile(name).learned_on is None) == (name == "fixed")


def test_what_stands_beside_a_turn_counts_within_its_session_alone(by_words):
    found = by_words.candidates("the cat and the red car", ["g"], HEAD, pool=10)
    signals = dict(zip(SIGNALS, found.signals.T.tolist(), strict=True))

    assert signals["words_after"] == signals["words_before"] == [0, 0]
    assert signals["coverage_near"] == signals["coverage_around"] == signals["coverage"]


def test_a_session_ends_with_a_silence():
    assert SESSION_GAP == 30 * 60 * 1_000_000

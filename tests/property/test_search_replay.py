"""A search as of an earlier known moment gives what it gave then, whatever was said since, and in whatever group."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from asking import search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.model.rows import Moment
from asof_projections.retrieval.pipeline.search import PipelineSearch
from asof_projections.retrieval.pipeline.seeds import SearchVectors
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import VectorProjection, facts_of, names_of, turns_of
from asof_streams.instants import parse_moment
from effort import tries
from histories import History

WORDS = st.sampled_from("cat dog boat car Oslo Ana Ben red when yesterday sail?".split())
TURNS = st.tuples(
    st.sampled_from(["g", "other"]), st.sampled_from(["Ana", "Ben"]), st.lists(WORDS, min_size=1, max_size=6)
)
EVENTS = st.lists(st.one_of(TURNS, st.integers(0, 11)), min_size=1, max_size=12)
QUESTIONS = ("When did Ana sail?", "red cat", "Ben's boat in January")


TRIPLES = st.tuples(st.sampled_from(["g", "other"]), *[st.sampled_from(["Ana", "Ben", "Oslo", "cat", "Bob"])] * 2)


@settings(max_examples=tries(10, nightly=500), deadline=None)
@given(st.lists(st.one_of(TRIPLES, st.integers(0, 11)), min_size=1, max_size=6))
def test_the_pipeline_as_of_an_earlier_moment_gives_what_it_gave_then_context_and_all(events) -> None:
    with TemporaryDirectory() as folder:
        history = History(Path(folder))
        cached = CachedEmbedder(HashingEmbedder(), Path(folder) / "vectors.db")
        texts = facts_of(history.beliefs), names_of(history.beliefs), turns_of(history.episodes)
        following = [
            VectorProjection(
                each, cached, FaissVectorIndex.open(Path(folder) / f"{n}.index", cached.model_id, cached.dimensions)
            )
            for n, each in enumerate(texts)
        ]
        meaning = SearchVectors(cached, *(each.index for each in following))
        given_then = {}
        for number, event in enumerate(events):
            day = f"2024-01-{number + 1:02}"
            match event:
                case int():
                    if event < number and isinstance(events[event], tuple) and events[event][0] == "g":
                        history.withdraw(day, event)
                    else:
                        history.say(day, "nothing", group_id="other")
                case group, subject, object_:
                    content = f"{subject} -likes-> {object_}"
                    history.say(day, content, role=subject, group_id=group, update_communities=number % 3 == 0)
            for each in following:
                each.catch_up()
            for text in ("Who likes the cat?", "Bib", "Oslo, step by step"):
                for vectors in (meaning, None):
                    given_then[day, text, vectors is None] = walked(history, vectors, text, day)

        for (day, text, by_words), answer in given_then.items():
            assert walked(history, None if by_words else meaning, text, day) == answer
        history.close()
        cached.close()


def walked(history, meaning, text, day):
    """Return all that the pipeline answers at noon of a day, as known then."""
    noon = parse_moment(f"{day}T12:00:00Z")
    query = search_of(text, "g", profile="pipeline", known_at=noon, valid_at=noon)
    hits = PipelineSearch(history.beliefs, history.episodes, meaning).search(query, Moment(noon, noon))
    return [*hits], hits.episodes, hits.retrieval


@settings(max_examples=tries(20, nightly=500), deadline=None)
@given(EVENTS)
def test_a_search_as_of_an_earlier_known_moment_gives_what_it_gave_then(events) -> None:
    with TemporaryDirectory() as folder:
        history = History(Path(folder))
        cached = CachedEmbedder(HashingEmbedder(), Path(folder) / "vectors.db")
        index = FaissVectorIndex.open(Path(folder) / "turns.index", cached.model_id, cached.dimensions)
        vectors = VectorProjection(turns_of(history.episodes), cached, index)
        search = EpisodeSearch(history.episodes, cached, index)
        given_then = {}
        for number, event in enumerate(events):
            day = f"2024-01-{number + 1:02}"
            match event:
                case int():
                    if event < number and isinstance(events[event], tuple) and events[event][0] == "g":
                        history.withdraw(day, event)
                    else:
                        history.say(day, "nothing", group_id="other")
                case group, role, words:
                    history.say(day, " ".join(words), role=role, group_id=group)
            vectors.catch_up()
            for text in QUESTIONS:
                given_then[day, text] = search.search(search_of(text, "g"))

        for (day, text), hits in given_then.items():
            assert search.search(search_of(text, "g", known_at=f"{day}T12:00:00Z")) == hits
        history.close()
        cached.close()

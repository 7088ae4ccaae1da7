"""A search as of an earlier known moment gives what it gave then, whatever was said since, and in whatever group."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from asking import search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import VectorProjection, turns_of
from effort import tries
from histories import History

WORDS = st.sampled_from("cat dog boat car Oslo Ana Ben red when yesterday sail?".split())
TURNS = st.tuples(
    st.sampled_from(["g", "other"]), st.sampled_from(["Ana", "Ben"]), st.lists(WORDS, min_size=1, max_size=6)
)
EVENTS = st.lists(st.one_of(TURNS, st.integers(0, 11)), min_size=1, max_size=12)
QUESTIONS = ("When did Ana sail?", "red cat", "Ben's boat in January")


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

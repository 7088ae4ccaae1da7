"""Every vector index answers exactly as a plain search over all pairs does, whatever was done to it before."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from arango_twins import cosine_similarity
from asof_projections.embedding.ports import Vectors
from asof_projections.graph.arango.store import ArangoGraph
from asof_projections.model.rows import Moment
from asof_projections.vectors import faiss_index
from asof_projections.vectors.coarse import CoarseCodes, Estimates
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.ports import LiveFacts, VectorIndex
from graph_stores import ArangoStores
from process_memory import printed_by

DIMENSIONS = 8
MODEL = "a-model@0123"


def unit(rows: object) -> Vectors:
    matrix = np.asarray(rows, np.float32)
    return matrix / np.sqrt(np.square(matrix).sum(axis=-1, keepdims=True))


def random_units(count: int, dimensions: int, seed: int = 0) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((count, dimensions)))


# few directions, close together: equal vectors and near ties are common
few_directions = st.integers(0, 11).map(lambda n: unit([1, n % 4, n // 4, 0.001 * n, 0, 0, 0, 1]))
ids = st.integers(0, 30) | st.integers(-(2**62), 2**62)


class FaissIndexes:
    """Each name is a file."""

    lasting = False  # what is not saved is lost

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, name: str, model: str = MODEL) -> VectorIndex:
        return FaissVectorIndex.open(self.folder / f"{name}.index", model, DIMENSIONS)

    def close(self) -> None:
        pass

    @staticmethod
    def cosine(code: np.ndarray, query: Vectors) -> float:
        return float((code.astype(float) * query.astype(float)).sum())


class ArangoIndexes:
    """Each name is a database of one server. That divides by the lengths, which 16 bits put a little off 1."""

    lasting = True  # what is done is there at once

    def __init__(self) -> None:
        self.stores = ArangoStores()
        self.opened = ExitStack()
        self.graphs: dict[str, ArangoGraph] = {}

    def open(self, name: str, model: str = MODEL) -> VectorIndex:
        if name not in self.graphs:
            self.graphs[name] = self.opened.enter_context(self.stores.writing(name))
        return self.graphs[name].vectors("fact", model, DIMENSIONS)

    def close(self) -> None:
        self.opened.close()

    @staticmethod
    def cosine(code: np.ndarray, query: Vectors) -> float:
        return cosine_similarity(code.tolist(), query.tolist())


Indexes = FaissIndexes | ArangoIndexes


@pytest.fixture(params=["faiss", "arango"], scope="module")
def indexes(request, tmp_path_factory):
    made = FaissIndexes(tmp_path_factory.mktemp("indexes")) if request.param == "faiss" else ArangoIndexes()
    yield made
    made.close()


NAMES = (f"index{n}" for n in count())  # of those that nobody had yet


class Naive:
    """The oracle: a dictionary, and every product in 64 bits."""

    def __init__(self, cosine: Callable[[np.ndarray, Vectors], float]) -> None:
        self.codes: dict[int, np.ndarray] = {}
        self.cosine = cosine

    def search(self, query: Vectors, k: int, among: list[int] | None) -> list[tuple[int, float]]:
        allowed = self.codes.keys() if among is None else self.codes.keys() & set(among)
        scored = [(id_, self.cosine(self.codes[id_], query)) for id_ in allowed]
        return sorted(scored, key=lambda found: (-found[1], found[0]))[:k]


@pytest.fixture
def index(indexes: Indexes) -> VectorIndex:
    return indexes.open(next(NAMES))


def filled(path: Path, count: int, dimensions: int = DIMENSIONS, seed: int = 0) -> FaissVectorIndex:
    index = FaissVectorIndex.open(path, MODEL, dimensions)
    index.add(np.arange(count), random_units(count, dimensions, seed))
    return index


def test_an_index_that_was_never_saved_is_empty_at_position_0(index: VectorIndex) -> None:
    assert (len(index), index.position) == (0, 0)
    assert index.search(random_units(1, DIMENSIONS)[0], 5) == []
    assert index.search(random_units(1, DIMENSIONS)[0], 5, np.array([1, 2])) == []
    index.remove([1])
    index.add([], np.empty((0, DIMENSIONS), np.float32))
    assert len(index) == 0


def test_the_nearest_come_first_and_equals_by_their_ids(index: VectorIndex) -> None:
    north, east, between = unit([1, 0] + [0] * 6), unit([0, 1] + [0] * 6), unit([1, 1] + [0] * 6)
    index.add([9, 4, 7, 2], np.stack([north, east, between, north]))

    assert [found for found, _ in index.search(north, 10)] == [2, 9, 7, 4]
    assert [score for _, score in index.search(north, 10)] == pytest.approx([1, 1, 0.5**0.5, 0], abs=1e-3)
    assert [found for found, _ in index.search(north, 1)] == [2]
    assert index.search(north, 0) == []


def test_only_what_is_allowed_is_found_however_near_the_rest_is(index: VectorIndex) -> None:
    north, east = unit([1, 0] + [0] * 6), unit([0, 1] + [0] * 6)
    index.add([1, 2, 3], np.stack([north, east, east]))

    assert [found for found, _ in index.search(north, 2, np.array([3, 2, 99, 3]))] == [2, 3]
    assert index.search(north, 2, np.array([], np.int64)) == []


def test_adding_again_changes_nothing_and_a_new_vector_replaces_the_old(index: VectorIndex) -> None:
    first, second = random_units(2, DIMENSIONS)
    index.add([1, 2], np.stack([first, first]))
    before = index.digest()

    index.add([2, 1], np.stack([first, first]))
    assert (len(index), index.digest()) == (2, before)

    index.add([1, 1], np.stack([first, second]))
    assert index.search(second, 1) == [(1, pytest.approx(1, abs=1e-3))]
    assert len(index) == 2


def test_what_is_removed_or_cleared_is_found_no_more(index: VectorIndex) -> None:
    rows = random_units(100, DIMENSIONS)
    index.add(np.arange(100), rows)
    index.remove([50, 1000])

    assert len(index) == 99
    assert 50 not in [found for found, _ in index.search(rows[50], 99)]
    index.save(7)
    index.clear()
    assert (len(index), index.position, index.search(rows[0], 9)) == (0, 0, [])
    index.add([1], rows[:1])
    assert [found for found, _ in index.search(rows[1], 9)] == [1]


def test_what_is_saved_is_opened_with_its_position_and_by_another_model_not_at_all(indexes: Indexes) -> None:
    name, rows = next(NAMES), random_units(20, DIMENSIONS)
    index = indexes.open(name)
    index.add(np.arange(20), rows)
    index.save(42)

    opened = indexes.open(name)
    assert (opened.position, len(opened), opened.digest()) == (42, 20, index.digest())
    assert opened.search(rows[3], 5) == index.search(rows[3], 5)
    other = indexes.open(name, "another-model@1")
    assert (other.position, len(other), other.search(rows[3], 5)) == (0, 0, [])


def test_a_digest_is_of_the_content_alone_whatever_keeps_it(indexes: Indexes, tmp_path: Path) -> None:
    index, rows = indexes.open(next(NAMES)), random_units(20, DIMENSIONS)
    for n in np.random.default_rng(2).permutation(20):
        index.add([n], rows[n : n + 1])

    assert index.digest() == filled(tmp_path / "vectors.index", 20).digest()


def test_what_is_removed_is_not_in_the_file(tmp_path: Path) -> None:
    index = filled(tmp_path / "vectors.index", 100)
    gone = random_units(100, DIMENSIONS)[50].astype(np.float16).tobytes()
    index.save(1)
    assert gone in (tmp_path / "vectors.index").read_bytes()

    index.remove([50, 1000])
    index.save(2)

    assert len(index) == 99
    assert 50 not in [found for found, _ in index.search(random_units(100, DIMENSIONS)[50], 99)]
    assert gone not in (tmp_path / "vectors.index").read_bytes()


def test_a_saved_index_is_opened_as_it_was_with_its_position(tmp_path: Path) -> None:
    index = filled(tmp_path / "vectors.index", 500)
    index.save(42)

    opened = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, DIMENSIONS)

    assert (opened.position, len(opened), opened.digest()) == (42, 500, index.digest())
    query = random_units(1, DIMENSIONS, seed=9)[0]
    assert opened.search(query, 20) == index.search(query, 20)
    opened.add([500], random_units(1, DIMENSIONS))
    assert len(opened) == 501


def test_equal_content_gives_equal_files_however_it_came(tmp_path: Path) -> None:
    rows = random_units(300, DIMENSIONS)
    files = set()
    for number, size in enumerate((1, 7, 300)):
        index = FaissVectorIndex.open(tmp_path / f"{number}.index", MODEL, DIMENSIONS)
        order = np.random.default_rng(number).permutation(300) if number else np.arange(300)
        for start in range(0, 300, size):
            index.add(order[start : start + size], rows[order[start : start + size]])
        index.save(7)
        files.add((tmp_path / f"{number}.index").read_bytes())

    assert len(files) == 1


def test_ten_thousand_equal_vectors_are_answered_in_order_of_id(tmp_path: Path) -> None:
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    one, other = random_units(2, 384)
    index.add(np.arange(10_000), np.repeat(one[None], 10_000, axis=0))
    index.add([20_000], unit(one + 1e-3 * other)[None])

    assert [found for found, _ in index.search(one, 12)] == list(range(12))
    assert [found for found, _ in index.search(one, 3, np.arange(5_000, 20_001))] == [5_000, 5_001, 5_002]


def test_vectors_that_32_bits_cannot_tell_apart_are_still_told_apart(tmp_path: Path) -> None:
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    vectors = np.repeat(random_units(1, 384), 2_000, axis=0)
    query = vectors[0].copy()
    vectors[:, 0] = np.arange(2_000) / 2**17  # whole numbers of steps of a float16, so kept as they are
    query[0] = 1e-7
    index.add(np.arange(2_000), vectors)

    assert [found for found, _ in index.search(query, 5)] == [1999, 1998, 1997, 1996, 1995]


@pytest.mark.parametrize("share", [None, 0.001, 0.05, 0.5, 1.0])
def test_recall_is_complete_beside_numpy_at_the_real_width(tmp_path: Path, share: float | None) -> None:
    count, k = 5_000, 10
    chance = np.random.default_rng(3)
    index = filled(tmp_path / "vectors.index", count, 384)
    codes = random_units(count, 384).astype(np.float16).astype(float)
    for query in unit(codes[:20] + 0.05 * chance.standard_normal((20, 384))):
        allowed = np.arange(count) if share is None else chance.choice(count, int(count * share), replace=False)
        scores = codes[allowed] @ query.astype(float)
        expected = allowed[np.lexsort((allowed, -scores))][:k]

        found = index.search(query, k, None if share is None else allowed)

        assert [id_ for id_, _ in found] == expected.tolist()
        assert all(first >= second for (_, first), (_, second) in pairwise(found))


def of_counted_words(count: int) -> Vectors:
    """Return vectors as an embedder makes them that counts words: few values, and most of them 0."""
    return unit(np.random.default_rng(4).integers(-2, 3, (count, 384)) * (random_units(count, 384) > 0.03))


MANY_ROWS = {
    "random": lambda: random_units(4_000, 384),
    "of counted words": lambda: of_counted_words(4_000),
    "repeated": lambda: random_units(8, 384).repeat(500, axis=0),
    "nearly the same": lambda: unit(random_units(1, 384) + 0.01 * random_units(4_000, 384, seed=5)),
    "of one word each": lambda: np.eye(384).repeat(9, axis=0),
}


@pytest.mark.parametrize("rows", [made() for made in MANY_ROWS.values()], ids=MANY_ROWS)
def test_a_search_among_many_vectors_finds_the_nearest_whatever_was_done_before(
    rows: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_index, "MANY", 1_000)
    monkeypatch.setattr(faiss_index, "ESTIMATED", 64)
    index, naive = FaissVectorIndex(tmp_path / "vectors.index", MODEL, 384), Naive(FaissIndexes.cosine)
    queries = unit(rows[::900] + 0.3 * random_units(len(rows), 384, seed=6)[::900])

    def compare(among: np.ndarray | None) -> None:
        for query in queries:
            found, expected = index.search(query, 40, among), naive.search(query, 40, among)
            assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]

    def add(ids: np.ndarray, vectors: Vectors) -> None:
        index.add(ids, vectors.astype(np.float32))
        naive.codes.update(zip(ids.tolist(), vectors.astype(np.float16), strict=True))

    half = np.arange(0, len(rows), 2)
    half.setflags(write=False)  # so its rows are kept from search to search
    add(half, rows[half])
    compare(None)
    compare(half)
    add(half + 1, rows[half + 1])  # between the others
    compare(half)
    add(half[:50], queries[:1].repeat(50, axis=0))
    compare(None)
    compare(half)
    index.remove(half[:30])
    for id_ in half[:30].tolist():
        del naive.codes[id_]
    compare(None)
    compare(half)


def encode(index: FaissVectorIndex) -> None:
    while index.encode_some():
        pass


def test_many_rows_are_encoded_in_steps_or_once_that_is_worth_it_and_searches_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_index, "MANY", 1_000)
    monkeypatch.setattr(faiss_index, "ENCODED", 500)
    monkeypatch.setattr(faiss_index, "WORTH", 3)
    rows = random_units(2_000, 384)
    searched, encoded = (FaissVectorIndex(tmp_path / name, MODEL, 384) for name in ("searched", "encoded"))
    for index in (searched, encoded):
        index.add(np.arange(len(rows)), rows)

    assert [encoded.encode_some() for _ in range(4)] == [True, True, True, False]
    coded = []
    for query in random_units(5, 384, seed=7):
        assert searched.search(query, 40) == encoded.search(query, 40)
        coded.append(len(searched._coarse))
    assert coded == [0, 0, 0, 2_000, 2_000]
    searched.add([7], rows[8:9])  # its code is another, and so all are made again
    assert searched.search(rows[8], 2) == [(7, pytest.approx(1.0, abs=1e-3)), (8, pytest.approx(1.0, abs=1e-3))]
    assert len(searched._coarse) == 0


def test_among_a_text_that_is_repeated_often_no_search_reads_all_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = random_units(20_000, 384)
    rows[5_000:8_000] = rows[0]  # more than the candidates that are looked at first
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    index.add(np.arange(len(rows)), rows)
    encode(index)

    def read_all(*_: object, **__: object) -> None:
        raise AssertionError("all vectors were read")

    monkeypatch.setattr(index._index, "search", read_all)

    found = [id_ for id_, _ in index.search(rows[0], 40)]

    assert found == [0, *range(5_000, 5_039)]


def test_where_codes_leave_a_doubt_which_facts_are_nearest_each_scan_of_them_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = random_units(20_000, 384)
    rows[:6_000] = rows[0]  # more than the candidates that are looked at
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    index.add(np.arange(len(rows)), rows)
    encode(index)
    scan, scanned = index._coarse.search, list[int]()

    def counted(query: Vectors, most: int, parameters: object) -> Estimates:
        scanned.append(most)
        return scan(query, most, parameters)

    monkeypatch.setattr(index._coarse, "search", counted)
    live = LiveFacts(None, Moment(None, None), lambda: np.arange(10, len(rows)))

    assert [id_ for id_, _ in index.search(rows[0], 40, live)] == [*range(10, 50)]
    assert len(scanned) == len({*scanned}) == 2


def test_one_question_is_asked_about_all_ids_most_and_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_index, "MANY", 100)
    rows = random_units(3_000, 384)
    codes = rows.astype(np.float16).astype(float)
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    index.add(np.arange(len(rows)), rows)

    def compare(query: Vectors, among: np.ndarray, k: int) -> None:
        scores = codes[among] @ query.astype(float)
        expected = among[np.lexsort((among, -scores))[:k]]
        for asked in (LiveFacts(None, Moment(None, None), lambda: among), among):
            assert [id_ for id_, _ in index.search(query, k, asked)] == expected.tolist()

    every = np.arange(len(rows))
    for query in random_units(10, 384, seed=3):
        ranked = every[np.argsort(-(codes @ query))]
        far, further = np.sort(ranked[500:]), np.sort(ranked[1_000:])  # what is nearest is not among them
        for k in (10, 300):
            for among in (every, every[every % 5 > 0], far, further, every[:1_600], every[:1_400], every[:150], every):
                compare(query, among, k)
    index.add([5], -rows[5:6])
    codes[5] *= -1
    compare(rows[5], every, 10)
    index.add([len(rows)], rows[7:8])
    assert {id_ for id_, _ in index.search(rows[7], 2)} == {7, len(rows)}


def test_the_same_ids_are_searched_again_after_others_came_or_went(tmp_path: Path) -> None:
    index, query = filled(tmp_path / "vectors.index", 100, 384), random_units(100, 384)[70]
    every, some = np.arange(100), np.arange(60, 100)
    for ids in (every, some):
        ids.setflags(write=False)

    def found(among: np.ndarray) -> set[int]:
        return {id_ for id_, _ in index.search(query, 100, among)}

    assert found(every) == set(range(100))
    index.add([200], query[None])
    assert found(every) == set(range(100))
    assert found(some) == set(range(60, 100))
    index.remove(np.arange(50))
    assert found(some) == set(range(60, 100))


def test_ids_that_change_between_two_searches_are_searched_as_they_are(tmp_path: Path) -> None:
    index, among = filled(tmp_path / "vectors.index", 100, 384), np.arange(10)
    query = random_units(100, 384)[50]
    index.search(query, 5, among)
    among += 45

    assert index.search(query, 1, among)[0][0] == 50


def test_cosines_are_those_of_the_16_bit_numbers_exactly_the_smallest_ones_too(tmp_path: Path) -> None:
    numbers = np.arange(0x3C00, dtype=np.uint16).view(np.float16)  # all from 0 to below 1
    rows = np.concatenate([numbers, -numbers]).reshape(-1, 384)
    index = FaissVectorIndex.open(tmp_path / "vectors.index", MODEL, 384)
    index.add(np.arange(len(rows)), rows.astype(np.float32))
    [query] = random_units(1, 384)

    assert (
        index.cosines(query, np.arange(len(rows))).tolist()
        == np.vecdot(rows.astype(float), query.astype(float)).tolist()
    )


def test_coarse_products_are_within_their_error_where_vectors_have_a_pattern() -> None:
    import faiss

    row = np.zeros(384, np.float32)
    row[:300] = 300**-0.5  # each component is rounded the same way
    coarse = CoarseCodes(faiss, 384)
    coarse.extend(np.stack([row, -row, np.eye(384)[7]]).astype(np.float16))
    for query in (row, unit(row + 0.1 * np.eye(384)[3])):
        scores, rows, error = coarse.search(query, 3, None)

        exact = (np.stack([row, -row, np.eye(384)[7]]).astype(np.float16).astype(float) @ query)[rows]
        assert (np.abs(scores - exact) < error).all()
        assert abs(scores[0] - exact[0]) < 0.008


def test_answers_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    import faiss

    index = filled(tmp_path / "vectors.index", 3_000, 384)
    queries = random_units(10, 384, seed=5)
    answers = []
    for number in (4, 2, 1):
        faiss.omp_set_num_threads(number)
        answers.append([index.search(query, 10) for query in queries])

    assert answers[0] == answers[1] == answers[2]


@given(
    st.lists(st.tuples(ids, few_directions), max_size=60),
    few_directions,
    st.integers(1, 12),
    st.none() | st.lists(ids, max_size=20),
)
def test_search_equals_the_oracle_on_ties_and_near_ties(
    indexes: Indexes,
    held: list[tuple[int, Vectors]],
    query: Vectors,
    k: int,
    among: list[int] | None,
) -> None:
    index, naive = indexes.open("never-saved"), Naive(indexes.cosine)
    index.clear()
    for id_, vector in held:
        index.add([id_], vector[None])
        naive.codes[id_] = vector.astype(np.float16)

    found = index.search(query, k, None if among is None else np.array(among, np.int64))

    assert found == [(id_, pytest.approx(score, abs=1e-12)) for id_, score in naive.search(query, k, among)]


class Lifetime(RuleBasedStateMachine):
    """Add, replace, remove, save and open again in any order; the index and the oracle hold the same."""

    indexes: Indexes

    @initialize()
    def start(self) -> None:
        self.indexes.open("life").clear()
        self.naive = Naive(self.indexes.cosine)
        self.saved: tuple[int, dict[int, np.ndarray]] = (0, {})
        self.reopen()

    @rule(rows=st.lists(st.tuples(ids, few_directions), min_size=1, max_size=12))
    def add(self, rows: list[tuple[int, Vectors]]) -> None:
        self.index.add([id_ for id_, _ in rows], np.stack([vector for _, vector in rows]))
        self.naive.codes.update((id_, vector.astype(np.float16)) for id_, vector in rows)

    @rule(gone=st.lists(ids, max_size=6))
    def remove(self, gone: list[int]) -> None:
        self.index.remove(gone)
        for id_ in gone:
            self.naive.codes.pop(id_, None)

    @rule(position=st.integers(0, 2**50))
    def save(self, position: int) -> None:
        self.index.save(position)
        self.saved = (position, dict(self.naive.codes))

    @rule()
    def reopen(self) -> None:
        self.index = self.indexes.open("life")
        position, codes = self.saved
        if not self.indexes.lasting:
            self.naive.codes = dict(codes)
        assert self.index.position == position

    @rule(query=few_directions, k=st.integers(1, 40), among=st.none() | st.lists(ids, max_size=20))
    def search(self, query: Vectors, k: int, among: list[int] | None) -> None:
        found = self.index.search(query, k, None if among is None else np.array(among, np.int64))
        assert found == [(id_, pytest.approx(score, abs=1e-12)) for id_, score in self.naive.search(query, k, among)]

    @invariant()
    def the_digest_is_that_of_the_content_alone(self) -> None:
        fresh = FaissVectorIndex(Path("never-saved"), MODEL, DIMENSIONS)
        if codes := self.naive.codes:
            fresh.add([*codes], np.stack([*codes.values()]).astype(np.float32))
        assert (len(self.index), self.index.digest()) == (len(fresh), fresh.digest())


def test_whatever_is_done_to_an_index_it_holds_what_the_oracle_does(indexes: Indexes) -> None:
    run_state_machine_as_test(type("Tried", (Lifetime,), {"indexes": indexes}))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_coarse_codes_of_rows_that_come_at_once_take_the_memory_of_those_alone() -> None:
    codes, [grown] = 60_000 * 384 / 1e6, printed_by(ENCODES)  # megabytes
    assert codes - 1 < grown < 1.25 * codes


ENCODES = """
import faiss
import numpy as np
from asof.runtime.processes import tune_allocator
from asof_projections.vectors.coarse import CoarseCodes
from process_memory import private_megabytes
tune_allocator()
rows = np.zeros((60_000, 384), np.float16)
rows[:] = 0.05
before = private_megabytes()
codes = CoarseCodes(faiss, 384)
codes.extend(rows)
print(private_megabytes() - before)
"""

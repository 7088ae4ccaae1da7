"""The cache of a writer: bounded, and never less than what was asked for lately."""

from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache


def test_what_was_asked_for_lately_stays_and_the_rest_goes():
    answers: GenerationalCache[int] = GenerationalCache(capacity=100)
    for n in range(1_000):
        answers[n] = n
        assert answers[0] == 0  # asked for all the time
        assert answers[max(n - 9, 0)] == max(n - 9, 0)
        assert len(answers) <= 100

    assert answers[500] is None


def test_what_is_dropped_or_cleared_is_gone_also_from_what_is_stale():
    answers: GenerationalCache[str] = GenerationalCache(capacity=2)
    for name in "abc":
        answers[name] = name
    answers.drop("a")
    answers.drop("c")
    assert [answers[name] for name in "abc"] == [None, "b", None]

    answers.clear()
    assert answers["b"] is None

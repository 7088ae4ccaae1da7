"""What the texts of the queries may not contain, and that their twins and binds are those that are used."""

import re
from pathlib import Path

import pytest

import arango_twins
from asof_projections.graph.arango import aql
from asof_projections.graph.arango.schema import COLLECTIONS

QUERIES = {name: text for name, text in vars(aql).items() if name.isupper() and isinstance(text, str)}
FUNCTIONS = {
    "APPEND",
    "APPROX_NEAR_COSINE",
    "COSINE_SIMILARITY",
    "FIRST",
    "FLATTEN",
    "LENGTH",
    "LOG",
    "MAX",
    "NTH",
    "ROUND",
    "SORTED",
    "STARTS_WITH",
    "SUM",
    "UNIQUE",
}
WORDS = """AGGREGATE ALL AND ANY ASC COLLECT COUNT CURRENT DESC DISTINCT FILTER FOR IN INTO INBOUND LET LIMIT NONE NOT
    OPTIONS OR OUTBOUND REMOVE RETURN SORT WITH""".split()
RESERVED_IN_4 = {"MATCH", "SCAN", "FOLD", "WHILE", "UNTIL", "INNER_JOIN", "LEFT_JOIN", "RIGHT_JOIN", "OUTER_JOIN"}
TIMES_AS_TEXT = ("valid_at", "invalid_at", "expired_at", "known_from", "known_to")


def code(query: str) -> str:
    """The query without what stands in quotes."""
    return re.sub(r'"[^"]*"', '""', query)


def test_there_are_a_dozen_queries_at_most_each_with_a_comment_on_what_it_reads_by() -> None:
    assert 0 < len(QUERIES) <= 12
    source = Path(aql.__file__).read_text("utf-8")
    for name in QUERIES:
        comment = re.search(rf"((?:^#[^\n]*\n)+){name}: Final", source, re.MULTILINE)
        assert comment, name
        assert re.search(r"\b(read|reads|counted)\b", comment[1], re.IGNORECASE), name


def test_each_query_has_one_twin() -> None:
    assert arango_twins.TWINS.keys() == set(QUERIES.values())


@pytest.mark.parametrize("name", QUERIES)
def test_collections_are_bound_and_known(name) -> None:
    bound = {bind[1:] for bind in aql.binds(QUERIES[name]) if bind.startswith("@")}

    assert bound
    assert bound <= {*COLLECTIONS.values(), "rows"}
    made = set(re.findall(r"LET (\w+) =", QUERIES[name]))
    walked = set(re.findall(r"FOR \w+ IN (@{0,2}\w+)", QUERIES[name]))
    assert {source for source in walked if not source.startswith("@")} <= made


@pytest.mark.parametrize("name", QUERIES)
def test_brackets_are_balanced_and_only_known_words_and_functions_are_used(name) -> None:
    text = code(QUERIES[name])

    for opening, closing in ("()", "[]", "{}"):
        assert text.count(opening) == text.count(closing)
    assert set(re.findall(r"\b([A-Z][A-Z0-9_]+)\(", text)) <= FUNCTIONS | {"IN", "AND", "OR", "NOT", "RETURN"}
    assert set(re.findall(r"\b[A-Z][A-Z_0-9]+\b", text)) <= FUNCTIONS | {*WORDS}
    assert not RESERVED_IN_4 & set(re.findall(r"\b[A-Za-z_]+\b", text.upper()))


@pytest.mark.parametrize("name", QUERIES)
def test_what_would_be_wrong_or_slow_or_unsafe_is_not_written(name) -> None:
    text = code(QUERIES[name])

    assert "UPSERT" not in text
    assert "PRUNE" not in text
    assert not re.search(r"\b(ANY|OUTBOUND|INBOUND)\b", text)  # a walk takes every way round a circle
    assert not re.search(r"\bSEARCH\b|waitForSync", QUERIES[name])  # a view follows later, outside of transactions
    assert 'uniqueVertices: "global"' not in QUERIES[name]
    assert "+" not in text
    assert not re.search(r"'|`|\$\{|%s", text)
    assert not [t for t in TIMES_AS_TEXT if re.search(rf"\.{t}\s*([<>]=?|==)", text)]
    assert not re.search(r"SORT [^\n]*\.(name|uuid|key|sentence|grp|relation|_key|_id)\b", text)
    assert not re.search(r"\b(import_bulk|execute_transaction)\b", text)


@pytest.mark.parametrize("name", QUERIES)
def test_an_interval_is_met_whole_or_not_at_all(name) -> None:
    """A question that forgot one of four ends would show what was not believed, or did not hold."""
    text = code(QUERIES[name])

    ends = [len(re.findall(rf"f\.{end} [<>]=? @", text)) for end in ("vf", "vt", "kf", "kt")]
    assert len(set(ends)) == 1 or name == "SLOT"

"""The catalogue of generations: replaced in one step, and never believed where it is not what was written."""

import json
from contextlib import suppress

import pytest

from asof_projections.generations import FILE, Catalog, GenerationInfo, load, save
from asof_streams.errors import ContractError, InvalidInput, NotFound

MAIN = GenerationInfo("main", "default", "d0", "rules-1", "recency", "mentions", "b0")
OTHER = GenerationInfo("other", "default", "d0", "rules-1", "graded", "episodes", "b1")
BOTH = Catalog("main", (MAIN, OTHER))


def test_what_was_saved_is_loaded(tmp_path):
    assert load(tmp_path) is None

    save(tmp_path, BOTH)

    assert load(tmp_path) == BOTH
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_the_input_of_a_generation_is_stored_as_its_source_as_earlier_versions_have_it(tmp_path):
    save(tmp_path, BOTH)

    stored = json.loads((tmp_path / FILE).read_bytes())["generations"]
    assert [list(info) for info in stored] == [
        ["name", "ontology", "ontology_digest", "extractor", "policy", "source", "build"]
    ] * 2
    assert [info["source"] for info in stored] == ["mentions", "episodes"]
    with pytest.raises(TypeError, match="input"):
        GenerationInfo.of(stored[0] | {"input": "episodes"})


def test_every_changed_byte_of_it_is_harmless_or_found(tmp_path):
    save(tmp_path, BOTH)
    whole = (tmp_path / FILE).read_bytes()

    for at in range(len(whole)):
        for bit in (1, 32, 128):
            (tmp_path / FILE).write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with suppress(ContractError):
                assert load(tmp_path) == BOTH, (at, bit)


def test_the_generation_that_answers_is_switched_and_cannot_be_dropped():
    assert BOTH.switched("other") == Catalog("other", (MAIN, OTHER))
    assert BOTH.without("other") == Catalog("main", (MAIN,))
    with pytest.raises(InvalidInput, match="switch to another one first"):
        BOTH.without("main")
    for call in (BOTH.switched, BOTH.without, BOTH.__getitem__):
        with pytest.raises(NotFound, match="there are main, other"):
            call("none")

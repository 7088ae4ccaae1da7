"""Ids made from their cause."""

import subprocess
import sys
import uuid

from hypothesis import given
from hypothesis import strategies as st

from asof_streams.ids import derive, is_scoped, own_id, possible_ids, qualified_id, scoped_id, shown_id

GOLDEN = "495db2e6-7b49-5fa9-a1b3-34322ae1d87c"
part = st.one_of(st.text(), st.integers())


@given(st.lists(st.one_of(st.text(st.characters(exclude_characters="\x1f", codec="utf-8")), st.integers()), min_size=1))
def test_an_id_is_the_version_5_uuid_of_its_parts(parts: list[str | int]) -> None:
    namespace = uuid.uuid5(uuid.UUID(int=0), "asof")

    assert derive(*parts) == str(uuid.uuid5(namespace, "\x1f".join(map(str, parts))))


def test_an_id_is_the_same_for_ever() -> None:
    assert derive("event", "messages", 7, 0, "fact.asserted") == GOLDEN


def test_an_id_is_the_same_in_another_process_whatever_its_hash_seed() -> None:
    code = "from asof_streams.ids import derive; print(derive('event', 'messages', 7, 0, 'fact.asserted'))"
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == GOLDEN


@given(st.lists(st.text("a\x1f:0", max_size=4), min_size=1, max_size=3), st.data())
def test_no_text_within_a_part_can_be_taken_for_the_end_of_it(parts: list[str], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.text("a\x1f:0", max_size=4), min_size=1, max_size=3).filter(lambda o: o != parts))

    assert derive("entity", *parts) != derive("entity", *others)
    assert derive("entity", "a", "b\x1fc") != derive("entity", "a\x1fb", "c") != derive("entity", "a", "b", "c")


@given(st.lists(part, min_size=2, max_size=4))
def test_other_parts_or_another_order_give_another_id(parts: list[str | int]) -> None:
    assert derive(*parts) != derive(*parts, "")
    if list(map(str, parts)) != list(map(str, reversed(parts))):
        assert derive(*parts) != derive(*reversed(parts))


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1), st.text(min_size=1))
def test_a_producers_own_id_is_stored_with_its_group_and_shown_as_it_was_given(group: str, given_id: str) -> None:
    stored = scoped_id(group, given_id)

    assert shown_id(stored) == given_id
    assert stored in possible_ids(group, given_id)
    assert own_id(group, stored) == stored


def test_an_id_in_the_scope_of_another_group_is_put_into_the_own_one() -> None:
    assert own_id("eve", scoped_id("ana", "1")) == scoped_id("eve", scoped_id("ana", "1"))
    assert own_id("eve", GOLDEN) == GOLDEN
    assert possible_ids(None, "1") == ("1",)
    assert qualified_id(scoped_id("ana", "1")) == "ana/1"


def test_an_id_is_a_producers_own_where_it_was_put_into_a_scope_and_its_group_alone_ends_at_the_slash() -> None:
    assert is_scoped(scoped_id("ana", "1"))
    assert not is_scoped(GOLDEN)
    assert qualified_id(scoped_id("ana", "1\x1f2")) == "ana/1\x1f2"

"""The Python API: Memory and its asynchronous twin say what the models of the operations say."""

import ast
import asyncio
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest
from pydantic_core import PydanticUndefined

import asof
from asof.api import async_memory, exports, memory
from asof.http.schemas import v1
from asof.http.schemas.body import Body
from asof.operations import answers, curation, entities, facts, generations, history, logs
from asof.operations.operation import Operation
from asof_projections.model.queries import DEFAULT_GROUP, FactFilters, FactsFilter

ROOT = Path(__file__).resolve().parents[2]
ASKED = {
    operation.name: operation
    for module in (curation, entities, facts, generations, history, logs)
    for operation in vars(module).values()
    if isinstance(operation, Operation) and operation.name not in ("events", "state_identity")
}
FILTERS = get_type_hints(FactFilters)


def verbs(cls: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for name, member in vars(cls).items()
        if callable(member) and not name.startswith("_") and name != "close"
    }


@pytest.mark.parametrize("name", sorted(ASKED.keys() & verbs(memory.Memory).keys() - {"digest", "generations"}))
def test_a_verb_takes_what_its_query_model_takes_with_the_same_defaults(name):
    fields = ASKED[name].query.model_fields
    parameters = {
        p.name: p for p in verbs(memory.Memory)[name].parameters.values() if p.name not in ("self", "progress")
    }
    if parameters.pop("filters", None):
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters |= {filter_: inspect.Parameter(filter_, keyword, default=None) for filter_ in FILTERS}

    assert parameters.keys() == fields.keys()
    for field, info in fields.items():
        default = inspect.Parameter.empty if info.default is PydanticUndefined else info.default
        assert parameters[field].default == default, field


def test_every_question_that_is_an_operation_is_a_verb():
    assert ASKED.keys() - verbs(memory.Memory).keys() == set()


def test_the_twin_has_the_same_verbs_with_the_same_parameters():
    ours, twins = verbs(memory.Memory), verbs(async_memory.AsyncMemory)

    assert ours.keys() == twins.keys()
    for name, signature in ours.items():
        assert twins[name].parameters == signature.parameters, name


def test_the_twin_is_what_its_script_makes_of_memory():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        source = import_module("making.async_memory").source()
    finally:
        sys.path.pop(0)
        for name in [name for name in sys.modules if name.partition(".")[0] == "making"]:
            del sys.modules[name]

    written = (ROOT / "entrypoints" / "asof" / "api" / "async_memory.py").read_text("utf-8")
    assert ast.unparse(ast.parse(source)) == ast.unparse(ast.parse(written)), "run docs/generate.py"


def test_the_twin_answers_as_memory_does_and_yields_events_one_by_one(tmp_path):
    async def told():
        async with asof.open_async(tmp_path, embedder="none") as twin:
            await twin.add("I live in Rome.", role="Ana", timestamp="2024-01-10T09:00:00Z")
            rome = await twin.facts(about="Ana")
            types = [event.type async for event in twin.events("messages")]
            return rome, types

    rome, types = asyncio.run(told())

    with asof.open(tmp_path, embedder="none") as opened:
        assert rome == opened.facts(about="Ana")
    assert types == ["message.sent"]


def test_the_twin_raises_what_memory_raises(tmp_path):
    async def asked():
        async with asof.open_async(tmp_path, embedder="none") as twin:
            await twin.facts(valid_at="soon")

    with pytest.raises(asof.InvalidInput, match="valid_at"):
        asyncio.run(asked())


def test_answers_carry_aware_datetimes_and_none_for_an_open_end(tmp_path):
    with asof.open(tmp_path, embedder="none") as opened:
        opened.add("I live in Rome.", role="Ana", timestamp="2024-01-10T09:00:00Z")
        [fact] = opened.facts(about="Ana")

    assert fact.valid_at == datetime(2024, 1, 10, 9, tzinfo=UTC)
    assert fact.invalid_at is None
    assert str(fact) == "Ana lives_in Rome from 2024-01-10T09:00:00Z"
    assert "Rome" not in repr(fact)
    assert "Ana" not in repr(fact)


def test_every_time_of_an_answer_is_a_datetime():
    times = {
        (name, field.name): get_type_hints(answer)[field.name]
        for name in answers.__all__
        if is_dataclass(answer := getattr(answers, name))
        for field in fields(answer)
        if field.name.endswith("_at") or field.name in ("known_from", "known_to")
    }

    assert len(times) > 25
    assert {each for each, kind in times.items() if kind not in (datetime, datetime | None)} == set()


def test_there_is_one_default_group():
    defaults = {
        name: signature.parameters["group_id"].default
        for name, signature in verbs(memory.Memory).items()
        if "group_id" in signature.parameters
    }
    bodies = {
        name: body.model_fields["group_id"].default
        for name, body in vars(v1).items()
        if isinstance(body, type) and issubclass(body, Body) and "group_id" in body.model_fields
    }
    needed = {"erase": inspect.Parameter.empty, "erasure_preview": inspect.Parameter.empty}

    assert len(defaults) > 25
    assert {name: each for name, each in defaults.items() if each != DEFAULT_GROUP} == needed
    assert {name: each for name, each in bodies.items() if each != DEFAULT_GROUP} == {"Erase": PydanticUndefined}


def test_completion_offers_what_is_exported_and_nothing_else():
    assert dir(asof) == sorted(exports.NAMES)


@pytest.mark.parametrize("name", verbs(memory.Memory))
def test_an_example_is_indented_so_that_pages_show_it_as_code(name):
    assert not re.search(r"^(memory\.|\[|print\()", inspect.getdoc(getattr(memory.Memory, name)), re.MULTILINE)


@pytest.mark.parametrize("name", verbs(memory.Memory))
def test_a_verb_has_an_example_that_calls_it_as_it_can_be_called(name):
    indented = re.findall(r"(?<=\n\n)(?: {4}.*\n?)+", inspect.getdoc(getattr(memory.Memory, name)))
    calls = [
        node
        for example in indented
        for node in ast.walk(ast.parse(inspect.cleandoc(f"\n{example}")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"memory.{name}"
    ]

    assert calls
    for call in calls:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        verbs(memory.Memory)[name].bind("memory", *call.args, **keywords)


def test_no_example_of_a_write_is_refused_or_parked(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="none") as opened:
        opened.add("Annie likes jazz.", role="Ana")
        written = {
            name: eval(
                re.findall(r"^ {4}(memory\..*)$", inspect.getdoc(verb) or "", re.MULTILINE)[0], {"memory": opened}
            )
            for name, verb in vars(memory.Memory).items()
            if name
            in ("add", "produce", "import_facts", "state_entity", "state_timezone", "state_fact", "merge", "alias")
        }

        assert (written["produce"], written["import_facts"].refused) == ((), ())
        assert opened.parked(all_groups=True) == []


def test_everything_that_is_exported_is_there_and_the_version_is_the_distributions():
    assert {name for name in vars(asof)["__all__"] if not hasattr(asof, name)} == set()
    assert asof.__version__
    assert not hasattr(asof, "no_such_name")


def test_the_types_of_what_is_exported_are_declared():
    stub = (ROOT / "entrypoints" / "asof" / "__init__.pyi").read_text("utf-8")

    assert set(re.findall(r" as (\w+)", stub)) | {"__version__"} == set(vars(asof)["__all__"])


def named_in(annotation) -> Iterator[type]:
    """Yield the classes of ours that an annotation names."""
    named = get_origin(annotation) or annotation
    if isinstance(named, type) and named.__module__.startswith("asof"):
        yield named
    for part in get_args(annotation):
        yield from named_in(part)


def parts_of(answer: type) -> Iterator[type]:
    """Yield the classes of ours that the fields and properties of an answer hold."""
    properties = [value.fget for value in vars(answer).values() if isinstance(value, property)]
    for annotation in get_type_hints(answer).values():
        yield from named_in(annotation)
    for read in properties:
        yield from named_in(get_type_hints(read).get("return"))


def test_every_type_that_a_verb_answers_with_is_exported():
    reached: set[type] = set()
    answered = [
        each
        for name in verbs(memory.Memory)
        for each in named_in(get_type_hints(getattr(memory.Memory, name))["return"])
    ]
    while answered:
        if (answer := answered.pop()) not in reached:
            reached.add(answer)
            answered += parts_of(answer)

    assert len(reached) > 60
    assert {answer.__name__ for answer in reached} - set(vars(asof)["__all__"]) == set()
    assert {answer.__name__ for answer in reached if getattr(asof, answer.__name__) is not answer} == set()


def test_the_filters_of_facts_are_the_fields_of_their_model():
    assert FILTERS.keys() == FactsFilter.__annotations__.keys()


def test_the_cursor_of_another_question_is_refused_by_name(tmp_path):
    with asof.open(tmp_path, embedder="none") as opened:
        opened.add("I live in Rome. I work at Acme.", role="Ana")
        other = opened.entities(limit=1).next
        assert other is not None
        for ask in (opened.facts, opened.communities):
            with pytest.raises(asof.InvalidInput) as caught:
                ask(cursor=other)
            assert caught.value.field == "cursor"
        with pytest.raises(asof.InvalidInput):
            opened.entities(cursor="Cg")  # of no key


def test_the_outcome_of_an_import_shows_in_python_how_much_was_refused_and_why(tmp_path: Path) -> None:
    fact = {"subject": "Ana", "relation": "lives_in", "object": "Rome"}
    with asof.open(tmp_path, embedder="none") as memory:
        imported = memory.import_facts([fact, {**fact, "valid_at": "some day in Rome"}])

    assert repr(imported) == "Produced(accepted=1, refused=1, parked=0)"
    assert repr(imported.refused).startswith("(Refused(line=2, reason='valid_at: not a time")
    assert "Rome" not in repr(imported.refused)

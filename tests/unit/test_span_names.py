"""The page about traces has every span and every attribute that there is."""

from pathlib import Path

import pytest

from asof.operations import consolidation, context, curation, entities, erasures, facts, history, logs, posts, writes
from asof.operations.operation import Operation
from asof.runtime import span_names

PAGE = (Path(__file__).parents[2] / "docs/how-to/trace.md").read_text("utf-8")
NAMES = {name: value for name, value in vars(span_names).items() if name.isupper() and isinstance(value, str)}
STEPS = [*span_names.INGESTION_STEPS.values(), *span_names.RETRIEVAL_STEPS.values()]
MODULES = (consolidation, context, curation, entities, erasures, facts, history, logs, posts, writes)


@pytest.mark.parametrize("name", [*NAMES.values(), *STEPS])
def test_every_span_and_attribute_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_only_operations_that_there_are_have_a_name_of_the_conventions() -> None:
    operations = {name for module in MODULES for name, each in vars(module).items() if isinstance(each, Operation)}

    assert len(operations) > 20
    assert span_names.MEMORY_OPERATIONS.keys() <= operations

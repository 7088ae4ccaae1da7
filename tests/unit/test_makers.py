"""What derived a generation is read from the name of its extractor, whichever settings it was begun with."""

import pytest

from asof_ontologies import registry
from asof_projections.generations import build_digest
from asof_projections.makers import makers_of

RULES = "rules-2/default@0123456789ab"
MODEL = "model-1/default@0123456789ab/extract-2@111111111111/gpt+4@host:80/v1"
RESOLVE, END = "resolve-2@222222222222", "end-1@333333333333"


@pytest.mark.parametrize(
    ("extractor", "expected"),
    [
        (RULES, (("rules-2",), None, (), None)),
        (f"{MODEL}+{RESOLVE}", (("model-1",), "gpt+4@host:80/v1", ("extract-2@111111111111", RESOLVE, "end"), None)),
        (
            f"{RULES}+{MODEL}+{RESOLVE}+{END}+MiniLM@0123",
            (("rules-2", "model-1"), "gpt+4@host:80/v1", ("extract-2@111111111111", RESOLVE, END), "MiniLM@0123"),
        ),
        (f"{RULES}+reader-1@444444444444", (("rules-2", "reader-1@444444444444"), None, (), None)),
        ("something else", (("something else",), None, (), None)),
    ],
)
def test_an_extractor_names_what_reads_asks_and_compares(extractor: str, expected: object) -> None:
    made = makers_of(extractor, "norm_v1", 2, endings=True)

    assert (made.extractors, made.model, made.prompts, made.embedder) == expected


def test_the_prompt_about_endings_and_later_rules_keep_the_ids_of_a_generation_and_another_prompt_does_not() -> None:
    digest = registry.load("default").digest

    def build(extractor: str) -> str:
        return build_digest(digest, extractor, "recency", [])

    whole = f"{RULES}+{MODEL}+{RESOLVE}"
    assert build(f"{whole}+{END}") == build(whole) == build(whole.replace("rules-2", "rules-3"))
    assert (
        len({build(whole), build(whole.replace("resolve-2", "resolve-3")), build(f"{whole}+end-2@333333333333")}) == 3
    )

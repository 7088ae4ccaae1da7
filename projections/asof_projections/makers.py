"""What derives a generation, each by its version, as the name of its extractor says."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

_PROMPT: Final = r"{}-\d+@[0-9a-f]{{12}}"
_MADE: Final = re.compile(
    r"(?:(?P<rules>rules-\d+)/[^+]*(?:\+|\Z))?(?:(?P<clauses>reader-\d+@[0-9a-f]{12})\Z)?"
    rf"(?:(?P<reader>model-\d+)/[^/]*/(?P<extract>{_PROMPT.format('extract')})/(?P<model>.*)"
    rf"\+(?P<resolve>{_PROMPT.format('resolve')})(?:\+(?P<end>{_PROMPT.format('end')}))?(?:\+(?P<embedder>.*))?)?"
)


@dataclass(frozen=True, slots=True)
class Makers:
    """What derives a generation from its ontology, under its policy."""

    extractors: Annotated[tuple[str, ...], Field(examples=[["rules-3"]], description="That find relationships.")]
    model: Annotated[str | None, Field(examples=["gpt-4o-mini@api.openai.com/v1"], description="Null: none is asked.")]
    prompts: Annotated[
        tuple[str, ...],
        Field(
            examples=[["extract-2@0123456789ab"]],
            description="That the model is asked by; of one without a version, an earlier asof did not note it.",
        ),
    ]
    embedder: Annotated[str | None, Field(description="That tells the model which names are near; null: none does.")]
    names: Annotated[str | None, Field(examples=["norm_v1"], description="How names are compared; null: not known.")]
    belief: Annotated[int, Field(examples=[2], description="The rule of belief.")]

    def __str__(self) -> str:
        prompts = (prompt.partition("@")[0] for prompt in self.prompts)
        parts = (*self.extractors, self.model, *prompts, self.embedder, self.names, f"belief-{self.belief}")
        return ", ".join(part for part in parts if part is not None)


def makers_of(extractor: str, names: str | None, belief: int, *, endings: bool) -> Makers:
    """Return what an extractor's name says, and what else derives; `endings`: whether a model is asked about them."""
    made = _MADE.fullmatch(extractor)
    rules, clauses, reader, extract, model, resolve, end, embedder = made.groups() if made else (extractor, *[None] * 7)
    asked = end or ("end" if endings and model else None)
    prompts = tuple(prompt for prompt in (extract, resolve, asked) if prompt is not None)
    return Makers(tuple(one for one in (rules, clauses, reader) if one), model, prompts, embedder, names, belief)

"""What language models cost, as an operator sets it."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

_TOKENS: Final = 1_000_000
_DIGITS: Final = 6  # of money


class ModelPrice(BaseModel):
    """The price of a model, in whatever currency: per million tokens that it reads, and that it writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0.0, allow_inf_nan=False)
    output: float = Field(ge=0.0, allow_inf_nan=False)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the cost of some tokens."""
        return round((prompt_tokens * self.input + completion_tokens * self.output) / _TOKENS, _DIGITS)


def price_of(prices: Mapping[str, ModelPrice], model: str) -> ModelPrice | None:
    """Return the price of a model by its id, `name@server`, or else by its name alone; None: none is set."""
    return prices.get(model) or prices.get(model.partition("@")[0])


class ModelBudget(BaseModel):
    """What may be spent on language models: tokens, read and written, and money; left out, any amount."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0.0, allow_inf_nan=False)

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self.tokens is not None or self.cost is not None

    def has(self, prompt_tokens: int, completion_tokens: int, price: ModelPrice | None) -> bool:
        """Whether so much is within the budget; without a price nothing costs money."""
        if self.tokens is not None and prompt_tokens + completion_tokens > self.tokens:
            return False
        return self.cost is None or price is None or price.of(prompt_tokens, completion_tokens) <= self.cost

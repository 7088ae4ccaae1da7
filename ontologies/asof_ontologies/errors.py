"""The one error of this package. The package imports nothing else of asof, so a caller turns it into InvalidInput."""

from typing import Final


class OntologyError(ValueError):
    """An ontology cannot be used.

    field: the dotted path of what is wrong in what a message says of its types; None for a file of one's own.
    reason: what is wrong and what to write instead; of a file with its name, the line and the key.
    """

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason, field)
        self.reason: Final = reason
        self.field: Final = field

    def __str__(self) -> str:
        return self.reason if self.field is None else f"{self.field}: {self.reason}"

"""The parameter by which a request waits for the outcomes of its messages."""

from typing import Annotated

from fastapi import Query

Wait = Annotated[
    bool,
    Query(description="Answer when the messages are processed, or after 30 seconds, with what each did in `outcomes`."),
]

"""Bodies of many statements: while one is read, the service answers everybody else."""

import asyncio
from typing import Any

import pytest

from asof.http.routes.v1 import state_facts, what_if
from asof.http.schemas.v1 import Statements
from asof.service.api_keys import EVERYBODY
from asof_streams.errors import InvalidInput

WORDS = {"subject": "Ana", "relation": "likes", "object": "Tea", "valid_at": "two weeks ago"}


class Served:
    """A service on a loop with other work to do. It keeps what it is asked, and whether the loop went on before."""

    def __init__(self) -> None:
        self.turns = 0
        self.before: int | None = None
        self.question: Any = None

    async def tick(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)

    async def take(self, messages: Any, request: Any) -> range:
        assert request is None
        self.before = self.turns
        return range(len(messages))

    async def earlier_positions(self, request: Any) -> None:
        assert request is None

    async def ask(self, question: Any) -> Any:
        self.question = question
        raise NotImplementedError


def test_times_in_words_are_read_while_the_loop_goes_on() -> None:
    given = Statements.model_validate({"group_id": "g", "statements": [WORDS] * 40})
    served: Any = Served()

    async def post() -> None:
        ticking = asyncio.create_task(served.tick())
        await asyncio.sleep(0)
        await state_facts(given, served, EVERYBODY, None)
        ticking.cancel()

    asyncio.run(post())

    assert served.before > 1


def test_a_dry_run_reads_its_statements_where_it_is_worked_out() -> None:
    given = Statements.model_validate({"group_id": "g", "statements": [{"valid_at": "no statement"}]})
    served: Any = Served()

    with pytest.raises(NotImplementedError):
        asyncio.run(what_if(given, served, EVERYBODY))

    with pytest.raises(InvalidInput, match=r"statements\.0"):
        served.question(None)

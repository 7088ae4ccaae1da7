"""The tool that corrects a fact: correct_fact."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.explanations import explanation_of
from asof.mcp.outcomes import outcome_of
from asof.mcp.text import when
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.writes import LONGEST_WAIT
from asof.mcp.written_answers import Learned
from asof.operations import facts
from asof.operations.answers import Explanation, Fact
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.messages import AnyMessage, FactStatement, validate
from asof.operations.queries import FactQuery, WhyQuery, ask
from asof.operations.times import from_datetime, system
from asof.service.api_keys import Permission

_REASON_CHARACTERS: Final = 1_000
_MOST_WORDS_OF_A_NAME: Final = 12
_FULL_STOP: Final = re.compile(r"(\S+\s+){3,}(?!(inc|ltd|co|corp|bros|jr|sr)\.)\S+[.!?]+", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"(I|You|He|She|It|We|They)\s+[a-z]\S*\s+\S.*", re.DOTALL)


class CorrectFactArguments(Arguments):
    """The arguments of correct_fact."""

    fact_id: str = like(WhyQuery, "id", ..., "Its id, or the first 8 letters.")
    how: Literal["ended", "wrong", "replace"] = Field(
        description="ended: it held, and no longer does. wrong: it never held. replace: new_value holds instead."
    )
    new_value: str | None = Field(None, description="With wrong: what was so; with replace: what is so.")
    valid_from: MaybeTime = Field(None, description="From when on it is so; now, if left out.")
    reason: str = Field(min_length=1, max_length=_REASON_CHARACTERS)
    group_id: str | None = None


@tool(CorrectFactArguments, Learned, needs=Permission.WRITE, destructive=True)
async def correct_fact(access: Access, asked: CorrectFactArguments) -> Reply:
    """Correct a fact. The past stays: what was believed before can still be asked about."""
    group = access.scope.one(asked.group_id)
    if asked.how != "wrong" and asked.time("valid_from") is None:
        asked.use_times({"valid_from": system()})  # one moment for the ending and what holds instead
    statements: list[AnyMessage] = [
        validate(FactStatement, {"group_id": group, **fields})
        for fields in await access.served.ask(partial(_corrections, asked=asked, group=group))
    ]
    positions = await access.served.take(statements)
    return await outcome_of(access, group, positions, LONGEST_WAIT)


def _corrections(session: Any, asked: CorrectFactArguments, group: str) -> list[dict[str, Any]]:
    """Return the statements that correct a fact; each has the reason in its words. InvalidInput, NotFound."""
    _check(asked)
    explained = explanation_of(session, group, asked.fact_id, None)
    try:
        fact = facts.fact(session, ask(FactQuery, {"id": explained.fact.uuid}))
    except NotFound:
        raise InvalidInput("it is no longer believed: add_memory says what is so instead", field="fact_id") from None
    if asked.new_value is not None:
        _expect_value(session, fact, asked.new_value)
    at = asked.time("valid_from")
    told: dict[str, Any] = {"ref": fact.uuid, "fact": asked.reason}
    if asked.how != "wrong":
        assert at is not None
        _expect_within(fact, at)
        ended = {"op": "end", **told, "invalid_at": at}
        return [ended] if asked.how == "ended" else [ended, _claim(asked, explained, fact, at)]
    if asked.new_value is None:
        return [{"op": "retract", **told}]
    since = _instant(fact.valid_at) if at is None else at
    return [{**_claim(asked, explained, fact, since), "op": "correct", "ref": fact.uuid}]


def _check(asked: CorrectFactArguments) -> None:
    """Refuse an argument that would have no effect, or one that is missing. InvalidInput."""
    if asked.how == "ended" and asked.new_value is not None:
        raise InvalidInput("an ending has none: leave it out, or say replace", field="new_value")
    if asked.how == "replace" and asked.new_value is None:
        raise InvalidInput("say what holds instead, or say ended", field="new_value")
    if asked.how == "wrong" and asked.new_value is None and asked.time("valid_from") is not None:
        raise InvalidInput("what never held has none: leave it out, or say in new_value what was so", "valid_from")


def _expect_within(fact: Fact, at: int) -> None:
    """Refuse a moment at which a fact does not hold: nothing of it ends then. InvalidInput."""
    start, end = _instant(fact.valid_at), _instant(fact.invalid_at)
    if start is not None and at <= start:
        since = _shown(fact.valid_at)
        raise InvalidInput(f"the fact holds from {since}: name a later moment, or say wrong", field="valid_from")
    if end is not None and at >= end:
        until = _shown(fact.invalid_at)
        reason = f"the fact ended as of {until}: name an earlier moment, or say wrong to correct all of its period"
        raise InvalidInput(f"{reason}; what holds now is another fact, with an id of its own", field="valid_from")


def _claim(asked: CorrectFactArguments, explained: Explanation, fact: Fact, since: int | None) -> dict[str, Any]:
    """Return the statement of the new value. It ends when the fact did, unless another value only took its place."""
    end = _instant(fact.invalid_at)
    if since is not None and end is not None and since >= end:
        reason = f"the fact ended as of {_shown(fact.invalid_at)}: name an earlier moment"
        raise InvalidInput(reason, field="valid_from")
    return {
        "op": "assert",
        "subject": fact.subject,
        "relation": fact.relation,
        "object": asked.new_value,
        "valid_at": since,
        "invalid_at": None if _is_superseded(explained.consequences) else end,
        "qualifiers": {"reason": asked.reason},
    }


def _is_superseded(consequences: Iterable[Any]) -> bool:
    return any(one.kind == "superseded" for one in consequences)


def _expect_value(session: Any, fact: Fact, value: str) -> None:
    """Refuse a whole sentence as the object of a relation whose objects are names. InvalidInput."""
    ontology = session.sources.of(fact.group_id).ontology()
    kinds = {kind.name: kind for kind in ontology.entity_types}
    targets = next((one.targets for one in ontology.relation_types if one.name == fact.relation), ())
    if any(kinds[name].literal for name in targets if name in kinds) or _is_sentence(fact, fact.object):
        return
    if _is_sentence(fact, value):
        raise InvalidInput("it is a whole sentence: give only what stands in place of the object", field="new_value")


def _is_sentence(fact: Fact, text: str) -> bool:
    subject, words = fact.subject.split(), text.split()
    rest = words[len(subject) :]
    is_about_it = words[: len(subject)] == subject and len(rest) > 1 and rest[0].islower()
    forms = (_FULL_STOP, _PRONOUN)
    return len(words) > _MOST_WORDS_OF_A_NAME or is_about_it or any(form.fullmatch(text.strip()) for form in forms)


def _instant(moment: datetime | None) -> int | None:
    return None if moment is None else from_datetime(moment)


def _shown(moment: datetime | None) -> str:
    return "" if moment is None else when(moment)

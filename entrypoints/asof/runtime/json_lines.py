"""JSON lines at the door: each becomes a message, or a reason why not, with its number."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from asof.runtime.inbound_message import InboundMessage, check_size
from asof_ontologies.model import Ontology
from asof_projections.model.write_answers import Refused
from asof_streams.errors import InvalidInput
from asof_streams.instants import INF, parse_moment
from asof_streams.messages import AnyMessage, FactStatement, Message, accept

MAX_LINE_BYTES = 4 * 1024 * 1024  # content is limited to less; this bounds what is read before anything is known

Read = Callable[[dict[str, Any]], tuple[AnyMessage, int | None]]
Times = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Returns fields with instants in place of times in words."""


def as_message(fields: dict[str, Any]) -> tuple[AnyMessage, int | None]:
    """Read a line of `asof produce`."""
    return accept(Message, fields), None


def as_fact(*, recorded: bool, ontology: Ontology | None, now: int = INF) -> Read:
    """Return the parser of a line of `asof import`; it checks relations against `ontology`, if there is one.

    now: in microseconds. Nothing can have been recorded later.
    """
    last: dict[str, int] = {}  # the recorded time of the line before, by group

    def read(fields: dict[str, Any]) -> tuple[AnyMessage, int | None]:
        fields = dict(fields)
        given = fields.pop("recorded_at", None)
        if given is None and recorded:
            raise InvalidInput("--recorded needs it on every line", field="recorded_at")
        if given is not None and not recorded:
            raise InvalidInput("only --recorded takes it, for moving a history in", field="recorded_at")
        if given is not None and not isinstance(given, str):
            raise InvalidInput("a time is a string such as 2024-05-01T09:30:00Z", field="recorded_at")
        stated = accept(FactStatement, fields)
        if ontology is not None:
            _check_relation(stated, ontology)
        if given is None:
            return stated, None
        at = _recorded(given)
        if at > now:
            raise InvalidInput("it lies in the future, when nothing can have been recorded", field="recorded_at")
        if at < last.get(stated.group_id, at):
            raise InvalidInput("it is before that of an earlier line of the same group", field="recorded_at")
        last[stated.group_id] = at
        return stated, at

    return read


def _recorded(given: str) -> int:
    try:
        return parse_moment(given)
    except InvalidInput as error:
        raise error.within("recorded_at") from None


def _check_relation(stated: FactStatement, ontology: Ontology) -> None:
    if ontology.closed and stated.relation is not None and stated.relation not in ontology.relations:
        known = ", ".join(ontology.relations)
        raise InvalidInput(f"ontology {ontology.id} is closed and does not have it; it has {known}", field="relation")


def read_lines(
    lines: Iterable[bytes | str | Mapping[str, Any]],
    read: Read,
    limit: int = MAX_LINE_BYTES,
    *,
    times: Times = dict,
) -> Iterator[InboundMessage | Refused | None]:
    """Yield each line as a message or as refused; empty lines are passed over. `limit`: bytes of a line.

    times: reads those in words; left out, they are refused.

    A mapping is a line that was parsed; its times may be datetimes. An item without any byte is no line: it says that
    no more is there to read just now, and is yielded as None.
    """
    number = 0
    for line in lines:
        if not line:
            yield None
            continue
        number += 1
        if isinstance(line, bytes | str) and not line.strip():
            continue
        try:
            yield _message(line, read, limit, times)
        except InvalidInput as error:
            yield Refused(number, str(error), error.field)


def _message(line: bytes | str | Mapping[str, Any], read: Read, limit: int, times: Times) -> InboundMessage:
    if isinstance(line, bytes | str):
        text = _text(line)
        check_size(text, limit)
        given = _json(line)
        if (fields := times(given)) == given:
            return InboundMessage(*read(fields), text)
    else:
        fields = times({name: value.isoformat() if isinstance(value, date) else value for name, value in line.items()})
    message = InboundMessage(*read(fields))
    if limit < MAX_LINE_BYTES:  # on a topic; without one the fields' own limits are enough
        check_size(message.line, limit)
    return message


def chunks(found: Iterable[InboundMessage | Refused | None], size: int) -> Iterator[list[InboundMessage | Refused]]:
    """Group lines: `size` at once, or fewer where no more are there just now, so that nobody waits."""
    chunk: list[InboundMessage | Refused] = []
    for item in found:
        if item is not None:
            chunk.append(item)
        if chunk and (item is None or len(chunk) == size):
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _text(line: bytes | str) -> bytes:
    text = line.encode(errors="surrogatepass") if isinstance(line, str) else line  # as json.loads takes bytes
    return text.rstrip(b"\r\n")


def _json(line: bytes | str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except UnicodeDecodeError:
        raise InvalidInput("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} at column {error.colno}") from None
    except ValueError:
        raise InvalidInput("not JSON that can be read: a number has too many digits") from None
    except RecursionError:
        raise InvalidInput("not JSON that can be read: nested too deep") from None
    if not isinstance(fields, dict):
        raise InvalidInput("a line must be one JSON object")
    return fields

"""Exports of other memories, read as the messages that state the same here: Graphiti, Zep and mem0.

An export is read whole, since an edge names nodes that may come later. Nothing of an item is in the reason why it was
refused.
"""

from typing import Literal, NamedTuple

from asof.runtime import foreign_graphs, foreign_memories
from asof.runtime.foreign_graphs import ForeignGraph
from asof.runtime.foreign_items import ForeignItem, items_of
from asof.runtime.foreign_memories import ForeignMemories
from asof.runtime.inbound_message import InboundMessage
from asof_projections.model.write_answers import Refused
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage, EntityStatement, FactStatement, check_group

Product = Literal["graphiti", "mem0", "zep"]


class ForeignMessage(NamedTuple):
    """A message, with the item that states it."""

    item: ForeignItem
    message: InboundMessage


class ForeignExport(NamedTuple):
    """An export as messages in the order in which they are to be told, with what is left out of it and why."""

    messages: tuple[ForeignMessage, ...]
    refused: tuple[Refused, ...]
    left_out: int  # items of which nothing is stated here, such as communities


def read_export(product: Product, data: bytes, group: str, *, recorded: bool) -> ForeignExport:
    """Read an export. `group` is that of items that name none; `recorded`: each message with the time it was known.

    InvalidInput: it is no export of the product.
    """
    try:
        check_group(group)
    except InvalidInput as error:
        raise error.within("group_id") from None
    items = list(items_of(data, foreign_memories.LISTS if product == "mem0" else foreign_graphs.LISTS))
    told = ForeignMemories(group) if product == "mem0" else ForeignGraph(group, items, recorded=recorded)
    messages: list[ForeignMessage] = []
    refused: list[Refused] = []
    left_out = 0
    for item in items:
        if item.fault:
            refused.append(Refused(item.number, f"{item.where}: {item.fault}", None))
            continue
        try:
            stated = [
                ForeignMessage(item, InboundMessage(message, _known_at(at) if recorded else None))
                for message, at in told.messages(item)
            ]
        except InvalidInput as error:
            refused.append(refusal(item, error))
            continue
        messages += stated
        left_out += not stated
    messages.sort(key=lambda one: (one.message.recorded_at or 0, _order(one.message.event)))
    return ForeignExport(tuple(messages), tuple(refused), left_out)


def refusal(item: ForeignItem, error: InvalidInput) -> Refused:
    """Return an item as refused for an error, by its number and place."""
    return Refused(item.number, f"{item.where}: {error}", error.field)


def _known_at(time: int | None) -> int:
    if time is None:
        raise InvalidInput("--recorded needs it on every item", field="created_at")
    return time


def _order(message: AnyMessage) -> tuple[int, int]:
    """Entities first, so that facts are of them; then what was said first."""
    if isinstance(message, EntityStatement):
        return 0, 0
    said = message.said_at if isinstance(message, FactStatement) else getattr(message, "timestamp", None)
    return 1, said or 0

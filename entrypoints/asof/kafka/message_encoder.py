"""Messages as records of the messages topic: encrypted before they leave, where the content of the topics is."""

from functools import partial
from typing import Final

from asof.runtime.inbound_message import InboundMessage
from asof_streams.kafka.envelope import Outgoing, message, seal
from asof_streams.key_store import KeyPlace
from asof_streams.record_sealer import RecordSealer, new_numbers
from asof_streams.sealer import NOT_SEALED


class MessageEncoder:
    """Makes records of messages; `place`: where the keys are, None where content is in the clear."""

    def __init__(self, place: KeyPlace | None) -> None:
        self._sealer: Final = None if place is None else RecordSealer(place.open())
        self._numbers: Final = new_numbers()

    def encode(self, inbound: InboundMessage, id_: str) -> Outgoing:
        """Return the record of a message, under the id by which it is known again. KeysUnavailable."""
        sent = inbound.event
        record = message(sent, inbound.line, id_)
        if self._sealer is None or sent.type in NOT_SEALED:
            return record
        return seal(record, partial(self._sealer.seal, sent.group_id, next(self._numbers)))

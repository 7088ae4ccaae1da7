"""The headers of records on Kafka, with what they mean: for the page of topics and for the AsyncAPI document."""

from typing import NamedTuple

from asof_streams import episodic
from asof_streams.events import Draft
from asof_streams.kafka import envelope


class Header(NamedTuple):
    """What a header holds: text in UTF-8."""

    pattern: str
    meaning: str


EVENT = {  # headers of the events of derived topics
    "content-type": Header(
        r"^application/(json|vnd\.asof\.sealed)$",
        "of the value; the second where it is encrypted",
    ),
    "ce_specversion": Header(r"^1\.0$", "of CloudEvents"),
    "ce_source": Header(
        r"^/asof/(episodic|conversation|semantic\.[a-z0-9][a-z0-9_-]{0,62})$", "`/asof/` and the name of the log"
    ),
    "ce_type": Header(r"^[a-z_]+\.[a-z_]+$", "the type of the event, or `writer.claimed` or `checkpoint.reached`"),
    "ce_eventversion": Header("^[1-9][0-9]*$", "of the type"),
    "ce_id": Header("^.+$", "the event's id, the same at every replay; of a control record, what tells it from others"),
    "ce_time": Header(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z$",
        "when the message that caused it was put on the messages topic, RFC 3339 in UTC; rises strictly within a group",
    ),
    "ce_cause": Header("^(-1|[0-9]+)$", "the position of that message among the messages; -1 where there is none"),
    "ce_size": Header("^[1-9][0-9]*$", "how many events the batch has"),
    "ce_term": Header("^[1-9][0-9]*$", "of the writer: the next number with each claim"),
    "ce_writer": Header("^.+$", "the name of the writer, as its claim has it in `ce_id`; earlier versions sent none"),
    "ce_offset": Header(
        "^[0-9]+$",
        "of the episodic log and of replies, the offset of the message that caused it: where the message at `ce_cause`"
        " has another, the messages topic has lost records; earlier versions sent none",
    ),
    "ce_partitions": Header(
        "^[0-9]+$",
        "how many the messages topic has: with another number groups would live elsewhere than their history",
    ),
    "ce_place": Header("^[0-9]+$", "its place within its batch, from 0"),
    "ce_sequence": Header(
        "^[0-9]{20}$", "its position in the log, 20 digits; of a checkpoint, the position of the next event"
    ),
    "ce_checkpoint": Header(
        "^[0-9]+$",
        "the position of the input log to go on from: all that follows from what is before it stands; of events, on the"
        " last record of each append alone",
    ),
    "ce_checkpointoffset": Header(
        "^[0-9]+$",
        "with `ce_checkpoint`, the offset of the input topic to go on from: where another record stands before it, that"
        " topic has lost records; earlier versions sent none",
    ),
}

SENT = {  # headers of the messages topic, each of which may be left out
    "ce_type": Header("", "which of these it is; left out, `content` makes a value a message, and other fields a fact"),
    "ce_eventversion": Header("^[0-9]+$", "of the type; the worker stops at one that is newer than it knows"),
    "ce_source": Header("", "who sends; with `ce_id`, what makes a record known again"),
    "ce_id": Header(
        "^.+$", "the producer's own id of the record: a second one with the same source and id adds nothing"
    ),
}

DEAD = {  # headers that a dead letter has beside its own
    "dlq_original_topic": Header("^.+$", "the topic that it was taken from"),
    "dlq_original_partition": Header("^[0-9]+$", "its partition there"),
    "dlq_original_offset": Header("^[0-9]+$", "its offset there"),
    "dlq_original_timestamp": Header("^[0-9]+$", "when it was put there, in milliseconds since 1970"),
    "dlq_reason": Header("^.+$", "why it was not taken; names fields, never content"),
}


def of_event() -> list[str]:
    """Return the headers that an event is sent with; the checkpoint, which not all have, is among them."""
    sent = envelope.event("episodic", 0, Draft("default", 0, 0, 0, 1, episodic.GroupErased()), 1, 0, "w", 0, 0)
    return [name for name, _ in sent.headers]


def of_claim() -> list[str]:
    """Return the headers that a claim is sent with."""
    return [name for name, _ in envelope.claim("episodic", 1, "w", 1).headers]


def of_checkpoint() -> list[str]:
    """Return the headers that a checkpoint is sent with."""
    return [name for name, _ in envelope.checkpoint_reached("episodic", 0, 1, 1, "w", 1).headers]


def of_dead_letter() -> list[str]:
    """Return the headers that a dead letter gets beside its own."""
    sent = envelope.dead_letter(envelope.Raw(0, 0, None, None, []), "asof.messages", 0, "why")
    return [name for name, _ in sent.headers]

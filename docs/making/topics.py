"""The page of topics: what other clients send to Kafka and read there."""

from collections.abc import Iterable

from asof_streams.events import Draft
from asof_streams.kafka import envelope
from asof_streams.kafka.fence import LEAP
from asof_streams.kafka.topic_rules import RULES
from making import events, headers

PAGE = """\
# Topics

<!-- Made by docs/generate.py: change docs/making/topics.py and docs/making/headers.py instead. -->

On Kafka the logs are topics. This page is for those who send or read with a client of their own;
[asyncapi.yaml](../asyncapi.yaml) says the same to programs, [schemas](../schemas) has a JSON Schema for each value, and
[events](events.md) says what they mean.

| topic | holds | written by |
|---|---|---|
| `asof.messages` | what producers send | anybody |
| `asof.episodic` | what was recorded of each message, as worded | one asof at a time |
| `asof.semantic.<generation>` | what one generation believes, and why | one asof at a time |
| `asof.replies` | what a bot answered, and its check-ins, if one is to answer | one asof at a time |
| `asof.control` | which generations are complete, answer, were dropped; encryption; prompts | one asof at a time |
| `asof.dead-letters` | what `asof.messages` had and asof could not take | asof |

`asof` in front is the setting `kafka_prefix`. All topics have one partition, or the same number; a group then lives in
the partition that Kafka's own partitioner (murmur2) gives its key. asof asks of their settings:

| setting | messages | episodic, semantic, replies | dead letters |
|---|---|---|---|
{settings}

The sizes are the least that will do. `asof topics create` makes the topics so, `asof topics check` looks at them.
`asof.control` is set as the semantic ones are: the first `asof rebuild`, `asof generations switch` or `asof prompts
register` makes it, or `asof topics create --encrypted`, and its first partition alone is used. `asof topics create
--replies` makes `asof.replies`.

## Sending messages

The key is the group, in UTF-8; it is needed where there is more than one partition. The value is one JSON object in
UTF-8, as a line of `asof produce` or `asof import` has it: [message](../schemas/door/message.json),
[fact](../schemas/door/fact.json); or, with the header `ce_type`, [entity](../schemas/door/entity.json),
[withdrawal](../schemas/door/withdrawal.json), [erasure](../schemas/door/erasure.json) or, of some messages of a group,
[redaction](../schemas/door/redaction.json), which names them as `ce_cause` of their events does. Times are dates, or
RFC 3339 with an offset. `group_id` may stand in the value, in the key, or in both, where they must be equal. No other
header is needed:

| header | meaning |
|---|---|
{sent}

What cannot be taken keeps its place in the log, is parked with the reason, and is copied to the dead letters.

## Reading events

The key is the group; it is empty for what concerns a generation as a whole. The value is what the event's own schema
describes: times in it are UTC microseconds. All else is in the headers, CloudEvents 1.0 in binary mode, as text:

| header | of an event | of a claim | of a checkpoint | meaning |
|---|---|---|---|---|
{event}

A record of `asof.semantic.main`:

    {record}

### Which records stand

A topic cannot refuse a writer that was replaced and does not know it yet, nor half a batch of one that died. So not
every record is part of the log. A reader goes through a partition in the order of offsets and remembers a term, which
is 0 at first, and a batch, which is empty:

1. `writer.claimed` with a `ce_term` above the term: that is the term from now on, and the batch is emptied. A claim
   that is not above it means nothing, and so does one that is more than {leap} above it, or, while no claim of version
   {named} holds, above 2^62: a worker claims the next term. From version {named} of the claim on, its `ce_id` is the
   `ce_writer` of all that its writer sends: what bears another one, or none, is passed over.
2. An event whose `ce_term` is the term joins the batch. When the batch has `ce_size` events, they stand, together, and
   the batch is empty again.
3. `checkpoint.reached` whose `ce_term` is the term: the writer has read its input up to `ce_checkpoint`, and what it
   read last led to no event. It is no event itself, and comes between batches; its `ce_sequence` is how many events
   stand. Who does not need to know how far the log is derived can pass it over.
4. Everything else is passed over: control records of types that are not known, and an event or checkpoint whose
   `ce_sequence` is lower than the next, or that is not the next of its batch. No worker sends those.

The events that stand have the positions 0, 1, 2 and so on in `ce_sequence`, without a gap, and within a batch the same
`ce_cause` and the places 0, 1, 2 and so on. A position that is too high means that records of the topic are lost: stop.
An offset is no position: control records, and what is passed over, have offsets too.

The input of `asof.episodic` and `asof.replies` is the messages, that of a semantic topic the episodic log. So a
message is answered once the checkpoint of the episodic topic is behind it, and that of the semantic topic behind all
its episodic events. A topic that an older version wrote has no `checkpoint.reached` until a newer worker has taken it
over.

Where `group.erased` stands, forget all of that group that stands before it. If a part of the group was erased, what is
left of it follows once more: the same events with their ids, causes and times, so that `ce_cause` goes back. A second
`group.erased` of the same cause says that a worker began that anew: forget the first of it as well. On
`asof.replies` nothing follows once more: where a part of the group was erased, `reply.erased` has the positions of
the events to forget.

## Replies

A bot's platform may be any program that sends to `asof.messages` and reads `asof.replies`:

1. What a user says is a message with the `kind` `message`, the platform's own `external_id`, and an `author_id`. A
   reaction, an edit and a deletion have a `kind` of their own. Only such messages of users (`role_type` `user`) are
   answered, if they were said no more than a quarter of an hour before the responder comes to them.
2. Each answer is an event `reply.given` that stands. Its `ce_offset` is the offset of the message that it answers, and
   `to` that message's `external_id`, in the group of the key. `action` says what to do: `reply` with the `content`,
   `react` by putting the emoji in `content` on the message `to`, `unreact` by taking it off. `checkin.sent` is said
   without having been asked.
3. Where `ce_checkpointoffset` of an event or a checkpoint that stands is greater than the offset of a message, all
   answers to that message stand up to there: where there is none, none comes.
4. What was sent to the user goes to `asof.messages` as a turn of the bot: `role_type` `assistant`, the `kind`
   `message`, its own `external_id` and, of a reply, the `reply_to` of the message that it answers; of a check-in,
   `is_proactive`. So it is known in the next reply, and a user's reply to it is feedback. An answer without an
   `archetype` is an acknowledgement, as of a goal, and no turn. `reply.sent` says that the turn was seen.

Commit the offset in `asof.replies` before you send what stands there: then a crash may lose an answer, and never gives
one twice. A replay or another responder gives none again: the events and their `reply_id` are those that stand.

## Encrypted values

Where the control log has `encryption.chosen`, events of a group and the messages that asof sends have encrypted values,
with the content type `application/vnd.asof.sealed`. Others may send messages in the clear. Requests to erase and
`group.erased` are never encrypted, nor are events without a key. A JSON object begins with a brace, and an encrypted
value with the byte 2:

| bytes | |
|---|---|
| 1 | `02` |
| 4 | the number of a tree of keys, big-endian |
| 8 | the number of a key in it, big-endian |
| 12 | the nonce |
| rest | the value, encrypted by AES-256-GCM; the last 16 bytes are the tag |

A value of 256 bytes or more is compressed by zlib before, and then does not begin with a brace.

The associated data are the headers `ce_source`, `ce_type`, `ce_eventversion` and `ce_id`, in this order, joined by zero
bytes. They go with the record wherever it is copied; its topic, partition and offset are not bound, since whoever sends
it does not know the last and a copy has others.

The trees of a group are in a file of the store of keys: in the folder that `encryption.chosen` names, under the first
32 digits of the SHA-256 of the group, in hexadecimal, and `.json`. [Encrypt](../how-to/encrypt.md#the-form-of-a-record)
says how the key of a number is worked out, and [ReadTopic.java](../../examples/ReadTopic.java) does all of it. Where
there is no key any more, the record was erased: pass it over.

To send encrypted messages, begin with a random number from 2^62 up to 2^63, of which the last 24 bits are 0, and count
on with each message; take the last tree. `ce_source`, `ce_type`, `ce_eventversion` and `ce_id` are needed then, and the
key. What an event is encrypted with has the number `ce_cause`.

## Rewritten topics

`asof topics rewrite` copies the topics of one prefix to those of another. A record keeps its offset. The value of a
record that was erased is empty: of a message the headers `ce_source`, `ce_id`, `ce_type` and `ce_eventversion` are
left, of an event all headers. Where there was no record, as at the mark of a transaction, the copy has one without a
key. Messages and such records have these headers:

| header | meaning |
|---|---|
| `rewrite_offset` | the offset that it had, which is the one that it has |
| `rewrite_timestamp` | of a message, when it was put on the first topic, in milliseconds since 1970 |
| `rewrite_filler` | no record was there: it is no message, and has no position |

They are believed below the offsets of `rewrite.finished` in the control log, one for each partition of the messages
topic. Until that stands, and `rewrite.begun` does, the topics are not whole: begin nothing with them.

## Dead letters

Key, value and headers are those of the record that was not taken; these are added:

| header | meaning |
|---|---|
{dead}

To send one again, mend the value and send it to `asof.messages` under a new `ce_id`.
"""


def page() -> str:
    """Return the page."""
    kept = events.sample()
    shown = envelope.event(
        "semantic.main", kept.position, Draft(*kept[1:6], kept.event), kept.term, None, "3f1c9a0e7d52b846"
    )
    record = [("key", shown.key or b""), *shown.headers, ("value", shown.value or b"")]
    return PAGE.format(
        settings=_settings(),
        leap=f"{LEAP:,}",
        named=envelope.NAMED,
        sent=_rows(headers.SENT.items()),
        event=_events(),
        dead=_rows(headers.DEAD.items()),
        record="\n    ".join(f"{name:<16} {value.decode()}" for name, value in record),
    )


def _rows(known: Iterable[tuple[str, headers.Header]]) -> str:
    return "\n".join(f"| `{name}` | {header.meaning} |" for name, header in known)


def _settings() -> str:
    asked = [{rule.setting: rule.wanted for rule in rules} for rules in RULES.values()]
    names = dict.fromkeys(name for wanted in asked for name in wanted)
    return "\n".join(f"| `{name}` | {' | '.join(wanted.get(name, '') for wanted in asked)} |" for name in names)


def _events() -> str:
    of_event = (
        dict.fromkeys(headers.EVENT, "")
        | dict.fromkeys(headers.of_event(), "yes")
        | {"ce_checkpoint": "some", "ce_offset": "some", "ce_checkpointoffset": "some"}
    )
    of_claim, of_checkpoint = (dict.fromkeys(of, "yes") for of in (headers.of_claim(), headers.of_checkpoint()))
    of_checkpoint["ce_checkpointoffset"] = "some"
    return "\n".join(
        f"| `{n}` | {yes} | {of_claim.get(n, '')} | {of_checkpoint.get(n, '')} | {headers.EVENT[n].meaning} |"
        for n, yes in of_event.items()
    )

"""The page of events: the envelope, then each event class with its fields."""

import json
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from asof_projections.model.answers import LogEvent
from asof_streams import control, conversation, episodic, messages, semantic
from asof_streams.events import Event, Record, types
from asof_streams.instants import parse
from making.source import annotated, described

PAGE = """\
# Events

<!-- Made by docs/generate.py: change the event classes in streams/asof_streams instead. -->

All that asof knows stands in logs, as events that are written once and never changed. Everything else (the graphs, the
vectors) is made from them, and can be made again.

| log | holds | made from |
|---|---|---|
| `messages` | what was said to us | what producers send |
| `episodic` | what was recorded of each message, as worded | `messages` |
| `semantic.<generation>` | what one generation believes, and why | `episodic` |
| `control` | on Kafka: which generations are complete, answer, were dropped; encryption | what people decide |
| `conversation` | what a bot answered and why, its check-ins, and its prompts | `messages`, and what people decide |

**Positions.** Each record of a log has a position: 0, 1, 2 and so on, without gaps. It is the only checkpoint there is:
what `asof events --from` starts at, and what every store goes on from. Erasing a group destroys the payloads of its
events; their positions stay taken, and a replay passes over them.

**Batches.** What one message gives at one layer is one batch. It becomes visible whole or not at all.

**Times.** Within `data` an instant is an integer, UTC microseconds since 1970. A field that is absent is an open end,
or something that was not said. Periods are half-open: `[from, to)`. `recorded_at` in the envelope is the moment at
which the message was put on the log, also for all that was later made of it; it rises strictly within a group.

**Versions.** A type name and version mean the same for ever. asof reads every version that a release has written; of
one that is newer than itself it says so, and stops.

**For programs.** [schemas](../schemas) has a JSON Schema for each type and version, and under
[door](../schemas/door) for what producers send. Events on Kafka: [topics](topics.md).

## The envelope

`asof events` prints one event a line, `memory.events()` gives the same as `Record`s. One of them, with line breaks:

```json
{sample}
```

| in the envelope | meaning |
|---|---|
{envelope}
"""

ENVELOPE = {
    "position": "where it stands in its log",
    "id": "derived from the log's name, `cause`, `index` and `type`: the same at every replay",
    "type": "one of the types below",
    "version": "of the type",
    "group_id": "whose memory it belongs to; empty for what concerns a generation as a whole",
    "generation": "of the semantic log alone",
    "recorded_at": "when the message that caused it was put on the log, RFC 3339",
    "cause": "the position of that message in the messages log; -1 for the first events of a generation",
    "index": "its place within its batch, from 0",
    "count": "how many events the batch has",
    "term": "of the writer: rises each time a process takes the directory over",
    "data": "the event's own fields",
}

LAYERS: dict[ModuleType, str] = {
    messages: """\
The lines of `asof produce` and `asof import` become these; in a line, times are RFC 3339 with an offset, or dates.""",
    episodic: """\
`group.erased` and `episode.withdrawn` stand in semantic logs as well, and so do `message.parked`, where a generation
could not take a statement, and `message.retried`, where it was parked or failed there. A generation that extracts anew
(`asof rebuild --input episodes`) also has mentions, relationships, attributes and answers of its own.""",
    semantic: """\
In a batch, entities come first, then what was said, then what follows from it (`fact.invalidated`, `fact.restored`),
then attributes, then communities, where they were asked for. The results of a pass of consolidation stand
behind `memory.consolidated`, which sums them up, and what takes them back behind `memory.unconsolidated`. A reader
needs no rules: it opens and closes the periods that `holds` gives, and takes an attribute where it `holds`.""",
    control: """\
On Kafka these stand in the topic `asof.control`, and every directory's list of generations follows from them. Whoever
opens the topics finds there whether content is encrypted. Their cause is their own position, their group is empty, and
`recorded_at` is when it was decided.""",
    conversation: """\
They stand in a log of their own, `conversation.sqlite`, which only a memory with a bot has. Nothing is made of them but
what the bot needs to know: messages are learned from by way of the messages log. A reply is an event before anybody
sees it, and a replay gives none. The cause of a reply is the message that it answers, and `recorded_at` is when it was
given. Events of prompts concern no group. On Kafka they are in the topic `asof.replies`, but for those of prompts.""",
}

FIELDS = {  # what a name means, wherever it stands or in one type; what a class says of its own field goes first
    "alias": "the other name",
    "answer": "what the model answered",
    "answers": "the position of the message that it answers",
    "at": "from when on it no longer holds",
    "author_id": "the platform's own id of who said it",
    "attribute_id": "the attribute, as stated in that episode",
    "begin": "the moment from which on it was looked at what was recorded",
    "body": "what was recorded, whole",
    "build": "the digest",
    "calls": "how many calls it took",
    "cardinality": "`one`: a new value ends the old",
    "cause": "the id of the assertion, ending or retraction from which this follows",
    "communities_changed_nodes": "how many entities are of another community since",
    "communities_detected": "how many communities the entities are of that were looked at",
    "community_id": "the community",
    "complete": "whether it came to the end of what there was to look at",
    "completion_tokens": "how many tokens the model wrote, by its own count; 0 where it does not say",
    "confidence": "how sure it is, 0 to 1",
    "config": "its parameters",
    "content": "the words themselves",
    "consolidation_id": "the id of the pass",
    "contradiction_id": "the id of the contradiction",
    "count": "how many of them",
    "dead": "statements that no longer count",
    "description": "the goal, in the words that declare it",
    "dropped": "the fact that was retracted",
    "duplicate": "the entity that is another",
    "earlier": "the fact asserted first",
    "end": "behind its last character",
    "ending_id": "the id of this ending",
    "entity_duplicates_found": "how many pairs of entities have one name",
    "entity_id": "the entity",
    "entity_merges_performed": "how many of them are linked by it",
    "entity_types": "kinds of things to look for besides those of the ontology: by name, what each is",
    "episode_id": "the episode that says so",
    "excluded_entity_types": "kinds of things not to look for",
    "external_id": "the platform's own id of the message",
    "extractor": "name and version of what reads the text",
    "fact": "a sentence that says it; else one is made of subject, relation and object",
    "fact_id": "the fact",
    "feedback_id": "the feedback",
    "failed": "the phases that failed",
    "generation": "the generation, by its name",
    "goal_id": "the declaration of the goal",
    "grain": "how exact the time is: `year`, `month`, `day` and so on; `unknown`: before `valid_to`",
    "granule": "the period within which it happened, or is to happen",
    "group_id": "whose memory it belongs to: 1 to 200 characters, none of them a control character",
    "half_life_secs": "the age at which an entity has faded by half, in seconds",
    "holds": "the periods over which it is believed",
    "into": "the entity that it is",
    "invalid_at": "from when on it no longer holds in the world",
    "is_proactive": "whether the bot said it by itself, not as an answer",
    "kept": "the fact that stands",
    "kind": "what ended it",
    "later": "the fact asserted second",
    "live": "statements that count again",
    "members": "the entities of it",
    "memory": "the name of the memory in the store of keys",
    "mention_id": "the mention",
    "merge_id": "the id of the merge",
    "model": "the model, and who serves it",
    "nodes": "how many entities have faded",
    "nodes_decayed": "how many entities have faded",
    "number": "whether the literal was given as a number",
    "object": "the other end, where it is an entity",
    "object_type": "the type of the object, where it matters",
    "objective_id": "the objective",
    "occurrence": "whether it happened within that time; otherwise it holds over it",
    "ontology": "the id of the ontology",
    "ontology_digest": "the SHA-256 of its content",
    "op": "what is done with the fact",
    "planned": "whether it was still ahead when it was said",
    "former": "whether the words say of what ended that it held before",
    "policy": "how contradictions are decided",
    "previous_episode_ids": "the episodes to read it with as context, in place of the last ones before it",
    "prompt": "the key of the prompt",
    "prompt_tokens": "how many tokens the model read, by its own count; 0 where it does not say",
    "prompt_version": "the version of the prompt",
    "qualifiers": "what this statement says beside its claim: texts and numbers by name, 32 at most",
    "reason": "why",
    "ref": "the producer's own id of the fact",
    "relation": "the relation",
    "relation_type_map": "which `relations` may lead from a `source` type to a `target` type; `Entity` is any type",
    "relation_types": "relations to look for besides those of the ontology: by name, what each means",
    "relationship_id": "the relationship, as stated in that episode",
    "repeats": "an earlier mention of the same type and text",
    "reply_to": "the external id of the message that it answers",
    "request": "the SHA-256 of all that was asked: model, prompt, temperature, text and the schema of the answer",
    "retraction_id": "the id of this retraction",
    "role": "who said it, by name",
    "role_type": "what spoke",
    "rule": "the version of the rule of belief",
    "said_at": "when it was said",
    "saliency": "how much it counts, 0 to 1",
    "schema_id": "the id of the ontology to read it with; else what fits it",
    "score": "how sure the resolution is, 0 to 1",
    "sentence": "the fact in words",
    "source_description": "where it comes from, in the producer's words",
    "speaker": "whether the words mean whoever speaks",
    "stated": "how much that goal counts, 0 to 1",
    "status": "how far it is",
    "stance": "that it holds, that it is over, or that it never was so",
    "subject": "the entity that the fact is about",
    "subject_type": "the type of the subject, where it matters",
    "suppress_content": "whether its content is taken out of the logs once it was read",
    "text": "the words that name it",
    "time_words": "the words that give the time",
    "undo": "whether the last pass is to be undone that still stands",
    "until": "the moment before which all was looked at",
    "update_communities": "whether the communities of what it mentions are brought up to date",
    "uuid": "the id of an episode that is there already",
    "valid_at": "from when on it holds in the world",
    "valid_from": "from when on it holds in the world",
    "valid_to": "until when it holds, where an end is stated",
    "value": "the other end, where it is a literal",
    "relationship.stated.grain": "interpreted: how exact the time is, as in `year`, `month` or `day`",
    "relationship.stated.time_words": "the raw words that the interpreted times are taken from",
    "relationship.stated.valid_from": "interpreted: from when on it holds in the world, as the words say",
    "relationship.stated.valid_to": "interpreted: until when it holds, as the words say",
    "attribute.stated.attribute_id": "the attribute",
    "attribute.stated.name": "what of it is described",
    "attribute.stated.value": "how it is described, as worded",
    "community.formed.name": "what it is called",
    "community.formed.episode_id": "the episode that asked for it, or the pass of consolidation",
    "community.joined.entity_id": "the entity that joins",
    "community.joined.episode_id": "the episode that asked for it, the pass of consolidation, or what undoes one",
    "community.left.entity_id": "the entity that leaves",
    "community.left.episode_id": "the pass of consolidation, what undoes one, or what withdraws an episode",
    "entity.attributed.holds": "whether it is believed from here on",
    "entity.attributed.name": "what of it is described",
    "entity.attributed.value": "how it is described",
    "entity.introduced.entity_type": "its type, where one is known",
    "entity.introduced.name": "what it is called, as first worded",
    "entity.recorded.name": "what it is called",
    "entity.recorded.summary": "what it is, in a few words",
    "entity.stated.entity_id": "the producer's own id of it; HTTP and Python write its group and U+001F in front",
    "entity.stated.name": "what it is called",
    "entity.stated.summary": "what it is, in a few words",
    "episode.recorded.episode_id": "the episode",
    "episode.withdrawn.episode_id": "the episode",
    "withdrawal.requested.episode_id": "the episode",
    "episode.recorded.name": "the producer's own name for it; of a fact, its `ref`",
    "episode.recorded.source": "what the message was",
    "feedback.received.valid_at": "when it was said",
    "goal.declared.valid_at": "when it was said",
    "goal.implied.description": "the goal, in the words of the model",
    "goal.implied.saliency": "how explicit and important it is, 0 to 1",
    "fact.ended.fact_id": "the one assertion that it concerns",
    "fact.reinforced.fact_id": "the fact that was said again",
    "fact.retracted.target": "the statement that is taken back",
    "entity.described.episode_id": "the episode that says so; `alias:` and an id, where it was stated",
    "entity.undescribed.alias": "the name",
    "entity.undescribed.episode_id": "as in the `entity.described` that is taken back",
    "episode.recorded.timezone": "the zone by whose days its times are read, and what happened is dated; null: UTC",
    "timezone.recorded.timezone": "the IANA name of the zone",
    "timezone.stated.timezone": "the IANA name of the zone",
    "fact.stated.object": "the other end: an entity by its exact name, or a number",
    "fact.stated.relation": "the relation: any name, unless a closed ontology is named",
    "fact.stated.said_at": "when its source said so; else when it is recorded",
    "fact.stated.subject": "whom or what it is about, by the exact name",
    "generation.built.build": "the digest of what made it, as in `generation.started`",
    "generation.started.source": "`episodes`: the text was read anew; `mentions`: what the episodic log has was taken",
    "mention.observed.entity_type": "its type in the ontology",
    "identity.recorded.entity": "the entity, by name or id",
    "identity.recorded.into": "the entity that it is, or is not, by name or id",
    "identity.recorded.merge_id": "the merge that is taken back",
    "identity.recorded.name": "its other name",
    "identity.recorded.op": "what is stated",
    "identity.stated.entity": "the entity, by its exact name or its id",
    "identity.stated.into": "the entity that it is, or is not, by its exact name or its id",
    "identity.stated.merge_id": "the merge that is taken back",
    "identity.stated.name": "its other name",
    "identity.stated.op": "what is stated",
    "memory.unconsolidated.until": "the moment from which on the next pass looks; left out: from the beginning",
    "message.sent.content": "the words themselves; of a reaction the emoji",
    "message.sent.external_id": "the platform's own id of the message, or of that which is edited or deleted",
    "message.sent.kind": "what it is on its platform; left out: a turn",
    "message.sent.reply_to": "the external id of the message that it answers, or that a reaction is put on",
    "message.sent.name": "the producer's own name for it",
    "message.sent.source": "what the content is",
    "message.sent.timestamp": "when it was said, or when the edit was made",
    "redaction.requested.positions": "the positions of the messages that are erased",
    "rewrite.begun.prefix": "the prefix of the topics that these are made of",
    "rewrite.begun.ends": "where each partition of those topics ends, by the topic's name",
    "rewrite.announced.prefix": "the prefix of the topics that these were rewritten to",
    "rewrite.finished.marks": "of each partition of the messages topic, the offset below which records were rewritten",
    "retry.requested.position": "the position of the message; on Kafka its offset",
    "relationship.stated.relationship_id": "the relationship",
    "relationship.stated.source": "the mention that it starts from",
    "relationship.stated.target": "the mention that it leads to",
}


def page() -> str:
    """Return the page."""
    printed = LogEvent.of(sample(), "semantic", "main").to_json()
    rows = "\n".join(f"| `{key}` | {ENVELOPE[key]} |" for key in printed)
    top = PAGE.format(sample=json.dumps(printed, indent=2), envelope=rows)
    return "\n".join([top, *(section for layer, about in LAYERS.items() for section in _layer(layer, about))])


def of(layer: ModuleType) -> list[type[Event]]:
    """Return the event classes of a module."""
    return [cls for cls in types().values() if cls.__module__ == layer.__name__]


def meanings(cls: type[Event]) -> dict[str, str]:
    """Return what each field of an event means: what its own line says, else what its name means."""
    own = {name: comment for name, _, comment in annotated(cls)}
    return {name: own[name] or FIELDS.get(f"{cls.type}.{name}") or FIELDS[name] for name in cls.model_fields}


def _layer(layer: ModuleType, about: str) -> Iterator[str]:
    title = described(layer).partition("\n")[0].rstrip(".")
    yield f"## {title}\n\n{about}\n"
    for cls in of(layer):
        yield f"### `{cls.type}`\n\nVersion {cls.version}. {described(cls)}\n"
        yield from _fields(cls)


def _fields(cls: type[Event]) -> Iterator[str]:
    if not cls.model_fields:
        yield "It has no fields of its own.\n"
        return
    known, schemas = meanings(cls), cls.model_json_schema()["properties"]
    yield "| field | type | if not given | meaning |\n|---|---|---|---|"
    for name, field in cls.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        given = "" if field.is_required() else "absent" if default is None else f"`{json.dumps(default)}`"
        cells = (f"`{name}`", _type(schemas[name]), given, known[name])
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": [one, {"type": "null"}]}:
            return _type(one)
        case {"anyOf": [*several, {"type": "null"}] | [*several]}:
            return " or ".join(dict.fromkeys(_type(one) for one in several))
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": {"prefixItems": Sequence()}}:
            return "list of `[from, to]`, `null` for an open end"
        case {"$ref": _}:
            return "objects"
        case {"type": "object", "patternProperties": _, "maxProperties": _}:
            return "texts and numbers by name"
        case {"type": "object", "patternProperties": _}:
            return "texts by name"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "boolean"}:
            return "`true`, `false`"
        case {"type": type_}:
            return "text" if type_ == "string" else str(type_)
    raise AssertionError(f"no words for a field of type {schema}")


def sample() -> Record:
    """Return a record to show."""
    ended = semantic.FactEnded(
        ending_id="a6c6d885-61bd-5b78-94d3-c60b67a7bd5a",
        subject="01b6736d-2f74-57cc-b847-f752c56580f4",
        relation="lives_in",
        object="03e63aec-6beb-5160-8e39-1c6e2ddb7946",
        at=parse("2024-03-01T00:00:00Z"),
        said_at=parse("2024-04-02T09:00:00Z"),
        episode_id="b782e12a-d481-5ed9-aba3-b73fc13f8952",
    )
    return Record(41, "default", parse("2024-04-02T09:00:01.250000Z"), 17, 0, 2, 3, ended)

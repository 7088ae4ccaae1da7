"""The commands that write one message: add, facts and entities that are stated, a time zone, withdraw."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.effects import show_effect
from asof.cli.facts import show_what_if
from asof.cli.parameters import Parameters, number_of
from asof.operations import facts, logs, writes
from asof.operations.errors import ContractError, InvalidInput
from asof.operations.ids import is_id, with_whole_ids, with_whole_ref
from asof.operations.messages import validate
from asof.operations.operation import DEFAULT_GROUP, Operation

if TYPE_CHECKING:
    from asof.operations.sessions import Session

_GROUP: Final = {"group_id": DEFAULT_GROUP}
_HELPS: Final = {
    "group_id": "The group that it belongs to.",
    "content": "The words.",
    "role": "The speaker's name.",
    "role_type": "The kind of speaker.",
    "timestamp": "When it was said; now, if left out.",
    "source": "The kind of the content.",
    "source_description": "Where it comes from.",
    "name": "The producer's own name for the message.",
    "uuid": "An episode that exists already: then nothing is added.",
    "schema_id": "The ontology to read it with; one that fits, if left out.",
    "excluded_entity_types": "A kind of entity not to look for; once for each.",
    "previous_episode_ids": "An episode to read it with as context, in place of the last ones; once for each.",
    "suppress_content": "Forget the content once it was read.",
    "update_communities": "Form communities of the entities that it names.",
    "external_id": "The chat platform's own id of it, or of the message that an edit or a deletion is of.",
    "reply_to": "The external id of the message that it answers, or that a reaction is put on.",
    "kind": "What it is in its chat; a turn, if left out.",
    "is_proactive": "The bot says it by itself, not as an answer.",
    "author_id": "The chat platform's own id of who sent it.",
    "subject": "The subject's exact name or id.",
    "subject_type": "The subject's type, where its name alone does not tell.",
    "relation": "The relation. Such as lives_in.",
    "object": "The other end: an exact name, an id or a literal.",
    "object_type": "The object's type, where its name alone does not tell.",
    "ref": "Your own id of the fact, or its id here: then that fact alone is concerned.",
    "fact": "A sentence that says it; made of the three, if left out.",
    "valid_at": "From when on it holds; from when it was said, if left out.",
    "invalid_at": "From when on it no longer holds.",
    "grain": "How exact valid_at is: what happened is dated by that day, month or year.",
    "confidence": "How sure it is.",
    "said_at": "When it was said; now, if left out.",
    "qualifiers": "More about what is asserted: a text, or a number where it reads as one. Again, several.",
}


@command(
    writes.add,
    parameters=Parameters(
        writes.add.query,
        arguments=("content",),
        names={"content": "TEXT"},
        left_out=("entity_types", "relation_types", "relation_type_map"),  # objects: `asof produce` has them
        times=("timestamp",),
        defaults={**_GROUP, "role_type": "user"},
        helps=_HELPS,
    ),
)
def add(call: Call, query: Any) -> None:
    """Add one message. It is on disk, or with Kafka on the topic, when the command returns."""
    if not query.content.strip() and query.kind not in ("edit", "deletion"):
        raise InvalidInput("there are no words in it", field="content")
    with call.session() as session:
        added = writes.add(session, query)
        if call.as_json:
            show.data(writes.add.to_json(added))
            return
        show.line(_position_text(added, session) + (f", episode {added.episode_id}" if added.episode_id else ""))
        if reason := _parked_because(session, added):
            show.talk(f"message {added.position} was parked: {reason}")
        elif query.uuid is None:
            show_effect(session, added.effect)


_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be believed, and write nothing.")]
_Number = Annotated[bool, typer.Option("--number", help="The object is a number, and no name.")]
_NAMES: Final = ("subject", "relation", "object")


class _Statement(Parameters):
    """The parameters of a statement. An id alone names a fact: it is its ref, as no name of a subject would suffice."""

    def read(self, given: Mapping[str, Any]) -> Any:
        subject = given["subject"]
        others = (given[name] for name in ("relation", "object", "ref"))
        if subject is not None and is_id(subject) and all(other is None for other in others):
            given = {**given, "subject": None, "ref": subject}
        return super().read(given)


def _statement(
    op: str, help_: str, *, left_out: Collection[str] = (), required: Collection[str] = ()
) -> Callable[..., int | None]:
    """Return the command that states a fact with an op."""
    parameters = _Statement(
        writes.state_fact.query,
        arguments=_NAMES,
        required=required,
        left_out=("op", *left_out),
        times=("valid_at", "invalid_at", "said_at"),
        defaults=_GROUP,
        helps=_HELPS if required else _HELPS | {"subject": "The subject's exact name or id; or, alone, a fact's id."},
        fixed={"op": op},
    )

    def state(call: Call, query: Any, *, number: _Number = False, dry_run: _DryRun = False) -> None:
        if number:
            query = _with_number(query)
        if dry_run:
            with call.existing() as session:
                stated = with_whole_ref(session, query)
                show_what_if(call, facts.what_if(session, [stated], query.group_id))
            return
        write_request(call, writes.state_fact, query)

    state.__name__, state.__doc__ = op, help_
    return command(writes.state_fact, facts.what_if, parameters=parameters)(state)


def _with_number(query: Any) -> Any:
    """Return a statement whose object is the number that its words are."""
    try:
        return validate(type(query), {**query.model_dump(), "object": number_of(query.object or "")})
    except InvalidInput as error:
        raise InvalidInput(error.reason, error.field or "object") from None


_ASSERTED: Final = ("valid_at", "invalid_at", "grain", "fact", "confidence", "qualifiers")
assert_ = _statement("assert", "State that a fact holds. Names are exact; nothing is extracted.", required=_NAMES)
end = _statement(
    "end",
    "State that a fact ended, or without an object whatever holds there.",
    left_out=[name for name in _ASSERTED if name != "invalid_at"],
)
retract = _statement("retract", "State that a fact was never so.", left_out=_ASSERTED)
correct = _statement("correct", "Retract a fact, and state another one in its place.", required=_NAMES)


@command(
    writes.state_entity,
    parameters=Parameters(
        writes.state_entity.query,
        arguments=("entity_id", "name"),
        names={"entity_id": "ID"},
        defaults=_GROUP,
        helps=_HELPS | {"entity_id": "Your own id of it.", "name": "Its name.", "summary": "A text that describes it."},
    ),
)
def state_entity(call: Call, query: Any) -> None:
    """State an entity under an id of your own. Stated again it is the same one, also called by the new name."""
    write_request(call, writes.state_entity, query)


@command(
    writes.state_timezone,
    parameters=Parameters(
        writes.state_timezone.query,
        arguments=("timezone",),
        names={"timezone": "ZONE"},
        defaults=_GROUP,
        helps=_HELPS | {"timezone": "The IANA name of the zone, as Europe/Berlin."},
    ),
)
def state_timezone(call: Call, query: Any) -> None:
    """State the time zone that times in a group's messages are read by.

    From here on "yesterday" is a day there; without a statement, one of UTC.
    """
    write_request(call, writes.state_timezone, query)


@command(
    writes.withdraw,
    parameters=Parameters(
        writes.withdraw.query,
        arguments=("episode_id",),
        names={"episode_id": "EPISODE"},
        defaults=_GROUP,
        helps=_HELPS | {"episode_id": "The episode's id."},
    ),
)
def withdraw(call: Call, query: Any) -> None:
    """Withdraw an episode. What rests on it alone is retracted; its past can still be asked about."""
    write_request(call, writes.withdraw, query)


def write_request(call: Call, operation: Operation[Any, Any], query: Any) -> None:
    """Put a message on the log of a memory, making it where there is none; ContractError says why it was parked."""
    with call.session() as session:
        requested = operation(session, with_whole_ids(session, query))
        if reason := _parked_because(session, requested):
            raise ContractError(f"message {requested.position} was parked: {reason}")
        if call.as_json:
            show.data(operation.to_json(requested))
            return
        show.line(_position_text(requested, session))
        show_effect(session, getattr(requested, "effect", None))  # settling has none of its own


def _position_text(written: Any, session: "Session") -> str:
    return f"message {'at offset ' if session.on_kafka else ''}{written.position}"


def _parked_because(session: "Session", written: Any) -> str | None:
    """Return why a message was parked, if it was."""
    if session.on_kafka or getattr(written, "effect", None) is not None:
        return None
    outcome = logs.message.ask(session, position=written.position)
    return outcome.reason if outcome.state == "parked" else None

"""The commands that ask about facts: facts, fact, search, overlapping, throughout, why, what-if."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from asof.cli import show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.json_lines import counted, lines_of, objects_of
from asof.cli.options import File
from asof.cli.parameters import Parameters
from asof.cli.tables import EPISODES, FACTS, RANKING, SEGMENTS, sentence
from asof.operations import facts as operations
from asof.operations.entities import expect_names
from asof.operations.errors import InvalidInput
from asof.operations.ids import with_whole_ids
from asof.operations.operation import GroupQuery, read_query
from asof.operations.times import in_instants, system

if TYPE_CHECKING:
    from asof.operations.sessions import Session

_QUERY = operations.facts.query
_LOOKED_AT: Final = 1_000  # facts among which relations of another name are looked for


@command(operations.facts, parameters=Parameters(_QUERY))
def facts(
    call: Call,
    query: Any,
    *,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Answer many questions: JSON lines with group_id, about (or subject), relation, object, valid_at, "
            "known_at and so on. Prints a JSON array of facts for each, in order. Other fields are ignored.",
        ),
    ] = None,
) -> None:
    """Ask which facts hold."""
    if batch is not None and query != read_query(_QUERY, {}):
        raise InvalidInput("--batch takes its questions from the file: leave the other options out")
    with call.existing() as session:
        if batch is not None:
            _answer_batch(session, batch)
            return
        query = with_whole_ids(session, query)
        found = operations.facts(session, query)
        if not found:
            expect_names(session, query)
            _name_relations(session, query)
    call.answer(operations.facts, found, FACTS)


def _name_relations(session: "Session", query: Any) -> None:
    """Say which relations of facts that hold have a word of a relation that none of them has."""
    if query.relation is None:
        return
    others = operations.facts(session, query.model_copy(update={"relation": None, "limit": _LOOKED_AT}))
    wanted = set(query.relation.casefold().split("_"))
    alike = sorted({fact.relation for fact in others if not wanted.isdisjoint(fact.relation.split("_"))})
    if alike and query.relation not in alike:
        show.talk(f"there are facts of {', '.join(alike)}")


def _answer_batch(session: "Session", file: str) -> None:
    with lines_of(file) as lines, counted("answered", file) as done:
        for answered, (number, fields) in enumerate(objects_of(lines), 1):
            try:
                answer = operations.facts(session, _question(fields))
            except InvalidInput as error:
                raise InvalidInput(str(error), f"line {number}") from None
            show.data(operations.facts.to_json(answer))
            done(answered)


def _question(fields: dict[str, Any]) -> Any:
    """Return the question of a line, which may as well be a fact, or a question of another system with its answer."""
    fields = {"about": fields.get("subject"), **fields}
    known = {name: fields[name] for name in _QUERY.model_fields if fields.get(name) is not None}
    try:
        return read_query(_QUERY, in_instants(known, system))
    except InvalidInput as error:
        raise InvalidInput(error.reason, "subject" if error.field == "about" else error.field) from None


def _show_hits(found: Any) -> None:
    """Print the facts and the episodes that fit a question."""
    if found or not found.episodes:
        FACTS(found)
    if found.episodes:
        show.line()
        EPISODES(found.episodes)
    if found.retrieval is not None and found.retrieval.metrics is not None:
        _show_retrieval(found.retrieval)


def _show_retrieval(retrieval: Any) -> None:
    """Print how the retrieval pipeline ranked, and what each step took."""
    show.line()
    RANKING(retrieval.ranking)
    show.line(f"\nmindset: {retrieval.mindset or 'none'}")
    for step, microseconds in retrieval.metrics.to_json().items():
        show.line(f"{step}: {microseconds}")
    show.line(f"\n{retrieval.context}")


fact = question(operations.fact, lambda fact: FACTS([fact]), arguments=("id",))
search = question(operations.search, _show_hits, arguments=("query",))
overlapping = question(operations.overlapping, FACTS)
throughout = question(operations.throughout, SEGMENTS)


def explain(found: Any) -> None:
    """Print why a fact is held, for people."""
    fact = found.fact
    show.line(f"{sentence(fact)}  [{show.period(fact.valid_at, fact.invalid_at)}]")
    for number, evidence in enumerate(found.evidence):
        show.line(f"  {'said again' if number else 'said'} {_words(evidence)}")
    for consequence in found.consequences:
        ends = f" from {show.when(consequence.ends_at)}" if consequence.ends_at else ""
        show.line(f"  {consequence.kind}{ends} {_words(consequence.evidence)}")


def _words(evidence: Any) -> str:
    if evidence is None:
        return "by words that are gone"
    speaker = f"{evidence.role}: " if evidence.role else ""
    origin = f", from {evidence.source_description}" if evidence.source_description else ""
    return f'{evidence.said_at.date()}, message {evidence.position}{origin}  {speaker}"{evidence.quote}"'


why = question(operations.why, explain, arguments=("id",))


@command(operations.what_if, parameters=Parameters(GroupQuery, left_out=("all_groups",)))
def what_if(call: Call, query: Any, file: File) -> None:
    """Ask what would be believed if structured facts were imported now. Nothing is written."""
    with call.existing() as session, lines_of(file) as lines:
        statements = [fields for _, fields in objects_of(lines)]
        show_what_if(call, operations.what_if(session, statements, query.group_id))


def show_what_if(call: Call, answer: Any) -> None:
    """Print the slots that statements would touch, before and after."""
    if call.as_json:
        show.data(answer.to_json())
        return
    show.line("before")
    SEGMENTS(answer.before)
    show.line("\nafter")
    SEGMENTS(answer.after)

"""Records: the objects of a JSON document that name a thing, and what their keys state of it.

`{"name": "Ana", "employer": "Acme"}` says that Ana works at Acme. What a record states is not read as prose, too.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from asof_agents.extraction.attribute_values import typed_value
from asof_agents.extraction.documents import JsonNode, nodes
from asof_agents.extraction.english.context import TurnContext
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.english.record_keys import RANKS, KeyUse, record_keys, words_of
from asof_agents.extraction.english.record_values import date_of, fit, is_value
from asof_agents.extraction.english.work import CLAUSE, SENTENCE, WORD
from asof_agents.extraction.ports import Mention, Relationship, StatedAttribute, TimeHint

_DEPTH_MAX: Final = 16  # of objects and lists; what is deeper is read by its words alone
_NAMES: Final = ("name", "full name", "display name", "title")
_TYPES: Final = ("type", "kind", "entity type")
_BEGINS: Final = frozenset({"since", "start", "start date", "from", "valid from"})
_ENDS: Final = frozenset({"until", "end", "end date", "to", "valid until", "valid to"})
_PLACES: Final = frozenset({"end", "to"})
_CURRENT: Final = frozenset({"", "current", "now", "ongoing", "present", "today"})
_AGE_MAX: Final = 120
_CONFIDENCE: Final = 0.9
_Period = tuple[int | None, int | None, TimeHint | None]  # from, until, and the words that say it
_Fields = dict[str, JsonNode]  # values by the words of their keys
_NEVER: Final[_Period] = (None, None, None)


class _Link(NamedTuple):
    """A relationship that a field states."""

    use: KeyUse
    source: Mention
    target: Mention
    place: tuple[int, int]  # of the field
    rank: int
    period: _Period


def extract_records(context: TurnContext) -> None:
    """Add what the records of a JSON document state, and leave their words out of the sentences that are read."""
    reader = _Reader(context)
    for node in nodes(context.document):
        reader.read(node, None, 0)
    context.note_fields(sorted(reader.fields), sorted(reader.read_spans))


class _Reader:
    def __init__(self, context: TurnContext) -> None:
        self._context = context
        self._text = context.document  # a value with escapes is not as it is worded, and so is none
        self._patterns = context.patterns
        self._keys = record_keys(context.patterns)
        self._uses: dict[str, Sequence[KeyUse]] = {}  # by the words of a key of this document
        self._periods: dict[int, tuple[_Period, bool]] = {}  # of records that others link to, by their place
        self.read_spans: list[tuple[int, int]] = []
        self.fields: set[tuple[int, int]] = set()

    def read(
        self, node: JsonNode, under: JsonNode | None, depth: int, wanted: Sequence[str] = (), *, listed: bool = False
    ) -> Mention | None:
        """Read the records in a value that stands under a key; return the one that it is, if possible as a type."""
        if depth > _DEPTH_MAX or node.kind not in {"object", "list"}:
            return None
        if node.kind == "list":
            for item in node.items:
                self.read(item, under, depth + 1, wanted, listed=True)
            return None
        members = [(words_of(self._of(key)), key, value) for key, value in _pairs(node)]
        self._context.work.spend(WORD * (1 + len(members)))
        fields = {words: value for words, _, value in members if words}
        source = self._entity(fields, under, wanted, listed=listed)
        links: list[_Link] = []
        for words, key, value in members:
            if source and self._of(value) == source.text:
                continue  # its name
            uses = [use for use in self._uses_of(words) if source.type in _sources(use)] if source else []
            if source is None or not uses:
                self.read(value, key, depth + 1)
            if source is not None:
                found = list(self._links(source, uses, key, value, depth))
                links += found
                if found or self._attribute(source, words, key, value):
                    self.fields.add(_place(key, value))
        if source is not None:
            self._state(node, links, fields, linked=bool(wanted))
        return source

    def _of(self, node: JsonNode) -> str:
        return self._text[node.start : node.end]

    # the thing that a record is about

    def _entity(
        self, fields: _Fields, under: JsonNode | None, wanted: Sequence[str], *, listed: bool
    ) -> Mention | None:
        named = next((fields[words] for words in _NAMES if words in fields), None)
        if named is None and under is not None and not listed and any(map(self._uses_of, fields)):
            named = under if self._context.types.of(self._of(under)) else None  # {"Ana": {"employer": "Acme"}}
        if named is None or named.kind != "string" or not is_value(self._of(named)):
            return None
        kind = self._kind(fields, named, under, wanted)
        if kind is None or kind in self._patterns.literal:
            return None
        self._context.work.spend(CLAUSE)
        self.read_spans.append((named.start, named.end))
        self.fields.add(_place(named, named))
        mention = self._context.findings.mention(kind, named.start, named.end)
        self._context.types.learn(mention.text, kind)
        if kind == "Person":
            self._context.people.add(mention)
        return mention

    def _kind(self, fields: _Fields, named: JsonNode, under: JsonNode | None, wanted: Sequence[str]) -> str | None:
        """Return the type that a record says, or the key over it; else that of its name, or of all of its keys."""
        for value in (fields[words] for words in _TYPES if words in fields):
            if value.kind == "string" and (kinds := self._keys.kinds(self._of(value))):
                self.read_spans.append((value.start, value.end))
                return next((kind for kind in kinds if kind in wanted), kinds[0])
        text = self._of(named)
        if wanted and (kind := fit(self._context, text, wanted)):
            return kind
        over = self._keys.kinds(words_of(self._of(under))) if under is not None and under != named else ()
        kind = self._context.types.certain(text) or next(iter(over), None) or self._context.types.of(text)
        return kind or self._of_keys(fields, text)

    def _of_keys(self, fields: _Fields, text: str) -> str | None:
        """Return the only type that can have what all the keys state."""
        sources = [
            {kind for use in uses for kind in _sources(use)}
            for words in fields
            if words not in _NAMES and (uses := self._uses_of(words))
        ]
        kinds = set.intersection(*sources) if sources else set()
        kind = kinds.pop() if len(kinds) == 1 else None
        return kind if kind and text[0].isupper() and (kind != "Person" or may_be_person(text)) else None

    # what its keys state of it

    def _uses_of(self, words: str) -> Sequence[KeyUse]:
        if words not in self._uses:
            self._context.work.spend(SENTENCE)
            self._uses[words] = self._keys.uses(words)
        return self._uses[words]

    def _links(
        self, source: Mention, uses: Sequence[KeyUse], key: JsonNode, value: JsonNode, depth: int
    ) -> Iterator[_Link]:
        if not uses:
            return
        kinds = [kind for use in uses if use.role in {"target", "person"} for kind in _wanted(use)]
        for item in value.items if value.kind == "list" else (value,):
            period, is_past = _NEVER, False
            if item.kind in {"object", "list"}:
                other = self.read(item, key, depth + 1, kinds)
                found = next(((use, other) for use in uses if other and other.type in _wanted(use)), None)
                period, is_past = self._periods.pop(item.start, (_NEVER, False))
            else:
                values = ((use, self._value(use, item)) for use in uses)
                found = next(((use, other) for use, other in values if other), None)
            if found is None or (is_past and period[1] is None):
                continue
            use, other = found
            if other is not None and other.text.casefold() != source.text.casefold():
                ends = (other, source) if use.reversed else (source, other)
                yield _Link(use, *ends, _place(key, value), RANKS.get(words_of(self._of(key)), -1), period)

    def _value(self, use: KeyUse, node: JsonNode) -> Mention | None:
        relation, wanted = use.relation, _wanted(use)
        if node.kind not in {"string", "number"}:
            return None
        text, kind = self._of(node), None
        if use.role == "number" or "Age" in wanted:
            is_age = text.isdecimal() and 0 < int(text[:4]) < _AGE_MAX
            fits = text.isdecimal() if use.role == "number" else is_age
            kind = next((kind for kind in wanted if kind in {"Age", "Value"}), None) if fits else None
        elif use.role == "person":
            kind = fit(self._context, text, ("Person",)) if node.kind == "string" else None
        elif "Date" in wanted and relation.value in {None, "time"}:
            kind = "Date" if self._date(node) else None
        elif use.role == "state" or relation.value == "version":
            kind = "Value" if is_value(text, code=True) else None
        elif node.kind == "string" and is_value(text):
            kind = fit(self._context, text, wanted, typed=use.typed)
        if kind is None or kind not in wanted:
            return None
        self.read_spans.append((node.start, node.end))
        return self._context.findings.mention(kind, node.start, node.end)

    def _attribute(self, source: Mention, words: str, key: JsonNode, value: JsonNode) -> bool:
        kind, turn = self._patterns.ontology.entities.get(source.type), self._context.turn
        attribute = kind.attribute(words.replace(" ", "_")) if kind else None
        if attribute is None or value.kind not in {"string", "number"} or not is_value(self._of(value), code=True):
            return False
        typed = typed_value(attribute, self._of(value), turn.said_at, turn.timezone)
        if typed is not None:
            self.read_spans.append((value.start, value.end))
            stated = StatedAttribute(source, attribute.name, typed, _CONFIDENCE, _place(key, value))
            self._context.findings.describe(stated)
        return typed is not None

    # when it holds

    def _state(self, node: JsonNode, links: list[_Link], fields: _Fields, *, linked: bool) -> None:
        """Add the relationships of a record; of several that give one value, the first.

        A period beside them is that of the only one, or of the relationship by which the record is linked to another.
        """
        links = list(_without_rivals(links))
        period, is_past = self._period(fields)
        if linked:
            self._periods[node.start] = (_NEVER if links else period), is_past
        alone = len(links) == 1 and links[0].use.relation.lasting is True and not linked
        if is_past and links and not (alone and period[1] is not None):
            return  # something has ended; it is not clear what, or when
        for link in links:
            begins, until, hint = period if alone and link.period == _NEVER else link.period
            found = Relationship(
                link.source,
                link.use.name,
                link.target,
                valid_from=begins,
                valid_to=until,
                grain=hint.grain if hint else None,
                time_words=hint.words if hint else None,
                confidence=_CONFIDENCE,
                span=link.place,
                cue=link.use.cue,
            )
            self._context.findings.add(found)

    def _period(self, fields: _Fields) -> tuple[_Period, bool]:
        """Return the period that a record has, and whether it has an end."""
        begin = next((fields[words] for words in fields if words in _BEGINS), None)
        end = next((fields[words] for words in fields if words in _ENDS), None)
        first = self._date(begin) if begin else None
        last = self._date(end) if end else None
        told = end is not None and end.kind in {"string", "number"} and self._of(end).casefold() not in _CURRENT
        ended = told and (last is not None or fields.keys().isdisjoint(_PLACES))  # "to": "Oslo" is no end
        if first and last and first.start >= last.end:
            return _NEVER, ended
        for node, hint in ((begin, first), (end, last)):
            if node and hint:
                self.read_spans.append((node.start, node.end))
        return (first.start if first else None, last.end if last else None, first or last), ended

    def _date(self, node: JsonNode) -> TimeHint | None:
        return date_of(self._context, self._of(node)) if node.kind in {"string", "number"} else None


def _pairs(node: JsonNode) -> Iterator[tuple[JsonNode, JsonNode]]:
    return zip(node.items[::2], node.items[1::2], strict=True)


def _place(key: JsonNode, value: JsonNode) -> tuple[int, int]:
    """Return the place of a field, with quotes."""
    return key.start - 1, value.end + (value.kind == "string")


def _sources(use: KeyUse) -> Sequence[str]:
    return use.relation.targets if use.reversed else use.relation.sources


def _wanted(use: KeyUse) -> Sequence[str]:
    return use.relation.sources if use.reversed else use.relation.targets


def _without_rivals(links: Sequence[_Link]) -> Iterator[_Link]:
    """Yield the links; where several give one value, the first alone: of a city and its country, the city."""
    firsts: dict[tuple[str, str], int] = {}
    values: defaultdict[tuple[str, str, int], set[str]] = defaultdict(set)
    for link in links:
        slot = link.source.text, link.use.name
        firsts[slot] = min(link.rank, firsts.get(slot, link.rank))
        values[*slot, link.rank].add(link.target.text)
    for link in links:
        slot = link.source.text, link.use.name
        several = link.use.relation.cardinality == "many"
        if several or (link.rank == firsts[slot] and len(values[*slot, link.rank]) == 1):
            yield link

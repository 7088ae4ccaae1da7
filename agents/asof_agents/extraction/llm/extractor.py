"""The extractor that uses a language model: it makes the request about a turn, and parses the answer. Pure.

The request needs the texts of the turn and of the turns before, never their extractions, so it can be sent ahead.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from asof_agents.extraction.llm import answers
from asof_agents.extraction.llm.prompts import fill
from asof_agents.extraction.llm.schemas import schema_of
from asof_agents.extraction.ports import Extraction, KnownNames, ModelRequest, RejectedPart, Turn
from asof_ontologies.model import AttributeType, Ontology
from asof_ontologies.prompts import Prompt
from asof_streams.instants import render, to_datetime
from asof_streams.timezones import zone_of

LONGEST: Final = 30_000  # characters of a turn in the prompt
_CONTEXT: Final = 160  # characters of an earlier turn in the prompt: enough to tell who "she" is
_VERSION: Final = "model-1"


class LLMExtractor:
    """Implements ports.Extractor. `model`: the model's name and its server, as in ChatModel.model_id.

    chat: the prompt of a person's turns of a chat; None: they are read as any other.
    """

    def __init__(self, ontology: Ontology, prompt: Prompt, model: str, chat: Prompt | None = None) -> None:
        self._ontology = ontology
        self._prompt = prompt
        self._model = model
        self._question = _question(prompt, ontology, answers.ExtractionAnswer, answers.OpenExtractionAnswer)
        of_chat = None if chat is None else _question(chat, ontology, answers.ChatAnswer, answers.OpenChatAnswer)
        self._chat_question = of_chat or self._question

    @property
    def version(self) -> str:
        ontology = self._ontology
        return f"{_VERSION}/{ontology.id}@{ontology.digest[:12]}/{self._prompt.version_id}/{self._model}"

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest:
        """Return the request about a turn, with its first 30 000 characters."""
        prompt, system, schema = self._chat_question if turn.chat else self._question
        user = fill(
            prompt.user,
            earlier="\n".join(f"{_speaker(t)}: {t.text[-_CONTEXT:]}" for t in before) or "-",
            speaker=_speaker(turn),
            time=_time_of(turn),
            text=turn.text[:LONGEST],
        )
        return ModelRequest(prompt.key, prompt.version, self._model, prompt.temperature, system, user, schema)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the valid parts of an answer; an empty extraction, if there is none."""
        del known
        if answer is None:
            return Extraction()
        extraction = answers.parse_answer(answer, turn, before, self._ontology)
        if len(turn.text) <= LONGEST:
            return extraction
        return replace(extraction, refused=(*extraction.refused, RejectedPart("text", "length")))


class _Question(NamedTuple):
    """What a model is asked of every turn: the prompt, its words for the system role, and the schema of an answer."""

    prompt: Prompt
    system: str
    schema: str


def _question(
    prompt: Prompt,
    ontology: Ontology,
    shape: type[answers.ExtractionAnswer],
    with_attributes: type[answers.ExtractionAnswer],
) -> _Question:
    asked = {n for n in prompt.open if not ontology.closed or (n == "attributes" and ontology.has_attributes)}
    system = fill(
        prompt.system,
        **{name: text if name in asked else "" for name, text in prompt.open.items()},
        types=_types(ontology),
        relations=_relations(ontology),
    )
    return _Question(prompt, system, schema_of(with_attributes if "attributes" in asked else shape))


def _types(ontology: Ontology) -> str:
    """Return the types that no relation names; the model sees the others in the relations, without more tokens."""
    named = {type_ for relation in ontology.relation_types for type_ in (*relation.sources, *relation.targets)}
    return ", ".join(["those named below", *(name for name in ontology.entities if name not in named)])


def _relations(ontology: Ontology) -> str:
    """Return a line for each pair of source and target types: half the tokens of a line for each relation."""
    lines: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for relation in ontology.relation_types:
        if relation.value:  # found by the form of its value
            continue
        lines.setdefault((relation.sources, relation.targets), []).append(relation.name)
    usual = max(lines, key=lambda ends: len(lines[ends]))[0]
    text = [f"Relations: type of object. Subjects are {'|'.join(usual)} unless given before >"]
    for (sources, targets), names in lines.items():
        before = "" if sources == usual else f"{'|'.join(sources)} > "
        text.append(f"{', '.join(names)}: {before}{'the same' if targets == sources != usual else '|'.join(targets)}")
    return "\n".join([*text, *_meanings(ontology), *_attributes(ontology)])


def _attributes(ontology: Ontology) -> list[str]:
    """Return a line for each type with attributes: their names, their values and what they mean."""
    lines = [
        f"{kind.name}: " + "; ".join(f"{a.name} ({_values(a)}): {' '.join(a.means.split())}" for a in kind.attributes)
        for kind in ontology.entity_types
        if kind.attributes
    ]
    return [f"Attributes by type{', and no others' if ontology.closed else ''}:", *lines] if lines else []


def _values(attribute: AttributeType) -> str:
    return "|".join(attribute.choices) or attribute.kind


def _meanings(ontology: Ontology) -> list[str]:
    """Return the descriptions of types and relations whose names are not enough."""
    types = [(kind.name, kind.description) for kind in ontology.entity_types if kind.told]
    relations = [(relation.name, relation.means) for relation in ontology.relation_types if relation.told]
    meanings = [f"{name}: {' '.join(means.split())}" for name, means in (*types, *relations)]
    return ["Meanings:", *meanings] if meanings else []


def _time_of(turn: Turn) -> str:
    """Return when a turn was said, on the speaker's wall clock with its offset."""
    if turn.timezone == "UTC":
        return render(turn.said_at) or "-"
    return to_datetime(turn.said_at).astimezone(zone_of(turn.timezone)).isoformat()


def _speaker(turn: Turn) -> str:
    return turn.role or turn.role_type or "somebody"

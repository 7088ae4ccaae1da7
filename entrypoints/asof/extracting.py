"""How messages are read: by rules, by a language model, or by both, as it is set."""

from typing import TYPE_CHECKING, Final, Literal

from asof.settings import Settings
from asof_agents.extraction.dates import find_times
from asof_agents.extraction.journal import Journal, Recorded
from asof_agents.extraction.ports import Extractor
from asof_agents.extraction.rules import RuleExtractor
from asof_agents.extraction.usage import Usage
from asof_agents.readers import Bounded, Ontologies, Readers
from asof_agents.resolution.judge import Judge
from asof_ontologies.model import Ontology
from asof_ontologies.prompts import prompt
from asof_projections.generations import GenerationInfo
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from asof_agents.extraction.chat_model import ChatModel

_MODEL: Final = "model-"  # in the version of what asks one


class Reading:
    """What is set of reading: `kind`, and the model that it needs."""

    def __init__(
        self, kind: Literal["rules", "model", "both"] = "rules", model: "ChatModel | None" = None, at_once: int = 1
    ) -> None:
        self._kind = kind
        self._model = model
        self._at_once = at_once

    def extractor(self, ontology: Ontology, known: Ontology | None = None) -> Extractor:
        """Return what reads messages with an ontology; of a message's own, rules know things by the one it is made of.

        So they know what they are not to find.
        """
        rules: Extractor = RuleExtractor(known or ontology, find_times)
        if known is not None:
            rules = Bounded(rules, ontology)
        if self._model is None:
            return rules
        from asof_agents.extraction.model import ModelExtractor
        from asof_agents.extraction.together import Together

        model = ModelExtractor(ontology, prompt("extract"), self._model.model_id)
        return model if self._kind == "model" else Together(rules, model)

    def version(self, ontology: Ontology) -> str:
        """Return what reads messages and decides whom they mean, as it decides what a generation holds."""
        read = self.extractor(ontology).version
        return read if self._model is None else f"{read}+{prompt('resolve').version_id}"

    def judge(self, info: GenerationInfo, journal: Journal | None) -> Judge | None:
        """Return who decides for a generation whom a name means where rules do not; None: it was begun without."""
        if self._model is None or journal is None or _MODEL not in info.extractor:
            return None
        return Judge(prompt("resolve"), self._model.model_id, journal)

    def readers(self, ontology: Ontology, ontologies: Ontologies) -> Readers:
        """Return what reads messages: with an ontology, or with another that they name."""
        return Readers(ontology, ontologies, self.extractor)

    def readers_of(self, info: GenerationInfo, ontology: Ontology, ontologies: Ontologies) -> Readers | None:
        """Return what reads messages for a generation that reads them anew, as when it was built; else None.

        InvalidInput: it was built with a model, and what is set now is another or none.
        """
        if info.source != "episodes":
            return None
        if _MODEL not in info.extractor:
            return Reading().readers(ontology, ontologies)
        found = self.version(ontology)
        if found != info.extractor:
            raise InvalidInput(
                f"generation {info.name} reads messages with {info.extractor}, what is set would be {found}: "
                "set ASOF_EXTRACTOR, ASOF_MODEL_URL and ASOF_MODEL_NAME as they were when it was built"
            )
        return self.readers(ontology, ontologies)

    def usage(self) -> Usage:
        """Return what asking the model has cost so far; nothing where none is asked."""
        return {} if self._model is None else self._model.usage.snapshot()

    def journal(self, recorded: Recorded) -> Journal | None:
        """Return where answers come from; None where no model is asked."""
        return None if self._model is None else Journal(self._model, recorded, self._at_once)


def reading_of(settings: Settings) -> Reading:
    """Return how messages are read. InvalidInput: a model has no name. ModelUnavailable: its package is missing."""
    if settings.extractor == "rules":
        return Reading()
    if settings.model_name is None:
        raise InvalidInput(f"ASOF_EXTRACTOR={settings.extractor} needs a language model: name it in ASOF_MODEL_NAME")
    from asof_agents.extraction.chat_model import ChatModel

    key = settings.model_key
    model = ChatModel(
        base_url=settings.model_url,
        model=settings.model_name,
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=settings.model_timeout,
    )
    return Reading(settings.extractor, model, settings.model_calls)

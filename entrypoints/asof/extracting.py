"""How messages are read: by rules, by a language model, or by both, as it is set."""

from typing import Final, Literal

from asof.settings import Settings
from asof_agents.extraction.chat_model import ChatModel
from asof_agents.extraction.dates import find_times
from asof_agents.extraction.journal import Journal, Recorded
from asof_agents.extraction.model import ModelExtractor
from asof_agents.extraction.ports import Extractor
from asof_agents.extraction.rules import RuleExtractor
from asof_agents.extraction.together import Together
from asof_ontologies.model import Ontology
from asof_ontologies.prompts import prompt
from asof_projections.generations import GenerationInfo
from asof_streams.errors import InvalidInput

_PROMPT: Final = "extract"


class Reading:
    """What is set of reading: `kind`, and the model that it needs."""

    def __init__(
        self, kind: Literal["rules", "model", "both"] = "rules", model: ChatModel | None = None, at_once: int = 1
    ) -> None:
        self._kind = kind
        self._model = model
        self._at_once = at_once

    def extractor(self, ontology: Ontology) -> Extractor:
        """Return what reads messages with an ontology."""
        rules = RuleExtractor(ontology, find_times)
        if self._model is None:
            return rules
        model = ModelExtractor(ontology, prompt(_PROMPT), self._model.model_id)
        return model if self._kind == "model" else Together(rules, model)

    def extractor_of(self, info: GenerationInfo, ontology: Ontology) -> Extractor | None:
        """Return what reads messages for a generation that reads them anew, as when it was built; else None.

        InvalidInput: it was built with a model, and what is set now is another or none.
        """
        if info.source != "episodes":
            return None
        rules = RuleExtractor(ontology, find_times)
        if "model-" not in info.extractor:
            return rules
        found = self.extractor(ontology)
        if found.version != info.extractor:
            raise InvalidInput(
                f"generation {info.name} reads messages with {info.extractor}, what is set would be {found.version}: "
                "set ASOF_EXTRACTOR, ASOF_MODEL_URL and ASOF_MODEL_NAME as they were when it was built"
            )
        return found

    def journal(self, recorded: Recorded) -> Journal | None:
        """Return where answers come from; None where no model is asked."""
        return None if self._model is None else Journal(self._model, recorded, self._at_once)


def reading_of(settings: Settings) -> Reading:
    """Return how messages are read. InvalidInput: a model has no name. ModelUnavailable: its package is missing."""
    if settings.extractor == "rules":
        return Reading()
    if settings.model_name is None:
        raise InvalidInput(f"ASOF_EXTRACTOR={settings.extractor} needs a language model: name it in ASOF_MODEL_NAME")
    key = settings.model_key
    model = ChatModel(
        base_url=settings.model_url,
        model=settings.model_name,
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=settings.model_timeout,
    )
    return Reading(settings.extractor, model, settings.model_calls)

"""Makes the extractors of the settings: rules, a language model, both, or rules and the reader."""

import logging
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_agents.extraction.english.version import version_of
from asof_agents.extraction.llm.budget import Budget, Replies
from asof_agents.extraction.llm.journal import Failed, Journal, Recorded
from asof_agents.extraction.llm.usage import Usage
from asof_agents.extraction.ports import Answers, Extractor
from asof_agents.extraction.registry import ExtractorRegistry, Ontologies, SchemaFilter
from asof_agents.resolution.judge import Judge
from asof_ontologies.model import Ontology
from asof_ontologies.prompts import prompt
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.makers import Makers
from asof_projections.model.prices import ModelBudget, ModelPrice, price_of
from asof_streams.errors import InvalidInput, ModelUnavailable
from asof_streams.ingestion_config import IngestionConfig

if TYPE_CHECKING:
    from asof.runtime.name_vectors import NameVectorIndex
    from asof_agents.extraction.llm.chat_model import ChatModel
    from asof_agents.extraction.reader.reader import TrainedReader
    from asof_projections.embedding.cache import CachedEmbedder
    from asof_projections.embedding.ports import Embedder

_log = logging.getLogger(__name__)
_MODEL: Final = "model-"  # in the version of what asks one
_READER: Final = "+reader-"  # in the version of what asks the reader


class ExtractorFactory:
    """Makes extractors as the settings say: their `kind`, and the models that they need.

    embedder: says which names are near, where a language model decides whom they mean; None where nothing says so.
    budget: of each group, for calls to the model at its price; None: no limit. reader: asked beside the rules, where no
    language model is.
    """

    def __init__(
        self,
        kind: Literal["rules", "model", "both"] = "rules",
        model: "ChatModel | None" = None,
        at_once: int = 1,
        embedder: "Embedder | None" = None,
        budget: ModelBudget | None = None,
        price: ModelPrice | None = None,
        reader: "TrainedReader | None" = None,
    ) -> None:
        self._kind = kind
        self._model = model
        self._at_once = at_once
        self._embedder = embedder
        self._budget = budget
        self._price = price
        self._reader = reader
        self._vectors: CachedEmbedder | None = None  # until a name is in doubt

    @property
    def asks(self) -> bool:
        """Whether a language model is set."""
        return self._model is not None

    def extractor(self, ontology: Ontology, known: Ontology | None = None) -> Extractor:
        """Return the extractor of an ontology; for one that was adapted to a message, the rules know `known`, its base.

        So they know what they are not to find.
        """
        from asof_agents.extraction.english.dates import find_times  # their tables take memory: facts need none
        from asof_agents.extraction.english.extractor import EnglishExtractor

        rules: Extractor = EnglishExtractor(known or ontology, find_times)
        if known is not None:
            rules = SchemaFilter(rules, ontology)
        if self._reader is not None:
            from asof_agents.extraction.reader.extractor import RulesAndReader

            return RulesAndReader(rules, ontology, find_times)
        if self._model is None:
            return rules
        from asof_agents.extraction.hybrid import FallbackExtractor, HybridExtractor
        from asof_agents.extraction.llm.extractor import LLMExtractor

        model = LLMExtractor(ontology, prompt("extract"), self._model.model_id, prompt("extract_chat"))
        return (FallbackExtractor if self._kind == "model" else HybridExtractor)(rules, model)

    def version(self, ontology: Ontology, ingestion: IngestionConfig | None) -> str:
        """Return the version of extraction and resolution, which decides a generation's content.

        The prompt of a chat's turns is not in it while it is of version 1, so that digests are as before there was one.
        """
        if self._model is None:  # an import of facts needs no tables of the rules
            return version_of(ontology) if self._reader is None else f"{version_of(ontology)}+{self._reader.version}"
        read = self.extractor(ontology).version
        asked = ["resolve", "end"] if ingestion is not None and ingestion.enable_ending_questions else ["resolve"]
        parts = [read, *(prompt(key).version_id for key in asked)]
        return "+".join(parts if self._embedder is None else [*parts, self._embedder.model_id])

    def judge(
        self, info: GenerationInfo, answers: Answers | None, places: DirectoryLayout, known: SqliteGraph
    ) -> Judge | None:
        """Return the judge of names in doubt for a generation; None: it was begun without."""
        if self._model is None or answers is None or _MODEL not in info.extractor:
            return None
        near = self._near(info, places, known)
        return Judge(
            prompt("resolve"), self._model.model_id, answers, near, prompt("end") if info.asks_of_endings else None
        )

    def _near(self, info: GenerationInfo, places: DirectoryLayout, known: SqliteGraph) -> "NameVectorIndex | None":
        """Return the index of similar names of a generation; None: it was begun without these vectors."""
        if self._embedder is None or not info.extractor.endswith(f"+{self._embedder.model_id}"):
            return None
        from asof.runtime.name_vectors import NameVectorIndex

        return NameVectorIndex(
            known, self._embedder.model_id, partial(self._open_vectors, self._embedder, places.vectors)
        )

    def _open_vectors(self, embedder: "Embedder", path: Path) -> "CachedEmbedder":
        from asof_projections.embedding.cache import CachedEmbedder

        if self._vectors is None:
            self._vectors = CachedEmbedder(embedder, path)
        return self._vectors

    def close(self) -> None:
        """Let go of the file of vectors, if it was opened."""
        if self._vectors is not None:
            self._vectors.close()

    def registry(self, ontology: Ontology, ontologies: Ontologies) -> ExtractorRegistry:
        """Return the extractors of a layer: of its ontology, and of others that messages name."""
        return ExtractorRegistry(ontology, ontologies, self.extractor)

    def registry_of(self, info: GenerationInfo, ontology: Ontology, ontologies: Ontologies) -> ExtractorRegistry | None:
        """Return the extractors of a generation that extracts anew, as when it was built; else None.

        InvalidInput: it was built with a model, and what is set now is another or none.
        """
        if info.input != "episodes":
            return None
        if not _asks(info):
            return ExtractorFactory().registry(ontology, ontologies)
        if not self._derives(info, ontology, building=False):
            found = self.version(ontology, info.ingestion)
            raise InvalidInput(
                f"generation {info.name} reads messages with {info.extractor}, what is set would be {found}: set "
                "ASOF_EMBEDDER, ASOF_EXTRACTOR, ASOF_MODEL_URL and ASOF_MODEL_NAME as they were when it was built"
            )
        return self.registry(ontology, ontologies)

    def expect(self, info: GenerationInfo, ontology: Ontology) -> None:
        """Refuse to go on with a build that was begun with what derives otherwise. InvalidInput says with what."""
        if info.build != info.digest() or not self._derives(info, ontology, building=True):
            found = self.version(ontology, info.ingestion)
            raise InvalidInput(
                f"the build of generation {info.name} was begun with {info.made_by}, what is set would be {found}: "
                "set what was set then, or cancel it and rebuild"
            )

    def _derives(self, info: GenerationInfo, ontology: Ontology, *, building: bool) -> bool:
        """Whether what is set derives as a generation was begun. One that is built already may follow by later rules.

        Vectors that it was begun without are not used, and from mentions what extracts takes no part.
        """
        was, by = info.made_by, self if _asks(info) else ExtractorFactory()
        now = replace(info, extractor=by.version(ontology, info.ingestion)).made_by
        ignored = {"end"}  # an earlier asof did not note its version
        if info.input == "mentions":
            ignored |= set(was.prompts[:1])
        elif _read_by(was, versioned=building) != _read_by(now, versioned=building):
            return False
        if not building:
            ignored |= set(was.prompts[2:])
        return {was.model, was.embedder, *was.prompts} - ignored <= {now.model, now.embedder, *now.prompts, None}

    def usage(self) -> Usage:
        """Return the cost of calls to the model so far; nothing where none is asked."""
        return {} if self._model is None else self._model.usage.snapshot()

    def journal(self, recorded: Recorded, failed: Failed, replies: Replies) -> Journal | None:
        """Return where answers come from; None where no model is asked. replies: all that are recorded of a group."""
        if self._reader is not None:
            return Journal(self._reader, recorded, failed, 1)
        if self._model is None:
            return None
        budget = Budget(self._budget, self._price, replies, self._model.usage.refuse)
        return Journal(self._model, recorded, failed, self._at_once, budget)

    def check_budget(self, budget: ModelBudget) -> None:
        """Refuse a limit of money where nothing costs any. InvalidInput: ASOF_MODEL_PRICES lacks the model."""
        if budget.cost is not None and self._model is not None and self._price is None:
            raise InvalidInput(
                f"a limit of money needs a price: set ASOF_MODEL_PRICES for {self._model.model_id}", "max_cost"
            )


def _asks(info: GenerationInfo) -> bool:
    """Whether a generation was begun with a language model or the reader."""
    return _MODEL in info.extractor or _READER in info.extractor


def _read_by(makers: Makers, *, versioned: bool) -> list[str]:
    return [extractor if versioned else extractor.partition("-")[0] for extractor in makers.extractors]


def _reader(settings: Settings) -> "TrainedReader | None":
    """Return the reader; None, and a warning, where the weights of its vectors are not installed."""
    from asof_projections.embedding.minilm import MiniLMEmbedder

    try:
        embedder = MiniLMEmbedder(settings.model_dir)
    except ModelUnavailable as error:
        _warn(f"rules read alone, without the reader: {error}")
        return None
    from asof_agents.extraction.english.dates import find_times
    from asof_agents.extraction.reader.reader import TrainedReader

    return TrainedReader(embedder, find_times)


@cache
def _warn(reason: str) -> None:
    """Log a warning, once in a process."""
    _log.warning(reason)


def extractor_factory(settings: Settings) -> ExtractorFactory:
    """Return how messages are read. InvalidInput: a model has no name. ModelUnavailable: a package is missing.

    Of the lexical hash no vectors are asked which names are near: they say what the letters say.
    """
    if settings.extractor == "rules":
        return ExtractorFactory()
    if settings.extractor == "rules+reader":
        return ExtractorFactory(reader=_reader(settings))
    if settings.model_name is None:
        raise InvalidInput(
            f"ASOF_EXTRACTOR={settings.extractor} needs a language model: name it in ASOF_MODEL_NAME", "model_name"
        )
    from asof.runtime.embedders import choose_embedder
    from asof_agents.extraction.llm.chat_model import ChatModel
    from asof_projections.embedding.hashing import HashingEmbedder

    key = settings.model_key
    model = ChatModel(
        base_url=settings.model_url,
        model=settings.model_name,
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=settings.model_timeout,
    )
    embedder = choose_embedder(settings)
    lexical = isinstance(embedder, HashingEmbedder)
    near, price = None if lexical else embedder, price_of(settings.model_prices, model.model_id)
    factory = ExtractorFactory(settings.extractor, model, settings.model_calls, near, settings.group_budget, price)
    factory.check_budget(settings.group_budget)
    return factory

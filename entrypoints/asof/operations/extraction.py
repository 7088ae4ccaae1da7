"""The extraction from one text by the rules, without a memory: what would be found in it, and what nearly was."""

from asof.operations.times import system
from asof.runtime.wiring import load_ontology
from asof.settings import Settings
from asof_agents.extraction.english.explanation import ExtractionReport, explain
from asof_projections.model.queries import ReadQuery


def read_text(settings: Settings, query: ReadQuery) -> ExtractionReport:
    """Return what the rules find in a text, sentence by sentence, and what they nearly find. No model is asked.

    InvalidInput: there is no such ontology, or its file is wrong; or the text is too much for one message.
    """
    ontology = load_ontology(query.ontology or settings.ontology)
    said_at = system() if query.timestamp is None else query.timestamp
    return explain(query.content, ontology, said_at, query.role, is_json=query.source == "json")

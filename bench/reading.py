"""Print what is read out of a conversation, turn by turn: python -m bench.reading FILE [--reader] [--least 0.3]

FILE: messages as JSON lines, as `asof import` takes them. With --reader the clauses that the reader keeps stand beside
the rules' findings, each with its probability.
"""

import argparse
from pathlib import Path
from typing import Final

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, KnownNames, Relationship, Turn
from asof_agents.extraction.reader.extractor import RulesAndReader
from asof_agents.extraction.reader.reader import TrainedReader
from asof_ontologies.model import Ontology
from asof_ontologies.registry import load
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_streams.instants import render
from bench.extraction_sample import conversation

BY_READER: Final = "reader"


class Both:
    """The rules and the reader, which is asked at once."""

    def __init__(self, ontology: Ontology, least: float | None) -> None:
        self._both = RulesAndReader(EnglishExtractor(ontology, find_times), ontology, find_times, least)
        self._reader = TrainedReader(MiniLMEmbedder(), find_times)

    def extract(self, turn: Turn, before: list[Turn], known: KnownNames) -> Extraction:
        """Return what both find in a turn."""
        request = self._both.request(turn, before)
        return self._both.extract(turn, before, known, self._reader.ask(request).answer if request else None)


def described(turn: Turn, found: Relationship, ontology: Ontology) -> str:
    """Return a relationship as a sentence, with its time and who found it."""
    source, target = (turn.role if m.speaker else m.text for m in (found.source, found.target))
    relation = ontology.relations.get(found.relation)
    sentence = relation.sentence.format(subject=source, object=target) if relation else found.relation
    since = f" [from {(render(found.valid_from) or '')[:10]}: {found.time_words}]" if found.valid_from else ""
    until = f" [until {(render(found.valid_to) or '')[:10]}]" if found.valid_to else ""
    stance = "" if found.stance == "holds" else f" ({found.stance})"
    by = f"reader {found.confidence}" if found.cue == BY_READER else "rules"
    return f"{sentence}{stance}{since}{until}  <{found.relation}, {by}>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--reader", action="store_true", help="the reader as well")
    parser.add_argument("--least", type=float, help="the probability from which on a clause is kept")
    chosen = parser.parse_args()
    ontology = load("default")
    extractor = Both(ontology, chosen.least) if chosen.reader else EnglishExtractor(ontology, find_times)
    for turn, found in conversation(chosen.file, extractor):
        print(f"{turn.episode_id} {(render(turn.said_at) or '')[:10]} {turn.role}: {turn.text}")
        for one in found.relationships:
            print(f"    {described(turn, one, ontology)}")


if __name__ == "__main__":
    main()

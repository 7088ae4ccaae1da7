"""A model for all peers, run as a program: each is answered in its own form with what the rules of asof read.

It says its address on stdout, and for each line on stdin how many calls there were since the last.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from asof_agents.extraction.ports import Turn
from model_server import ModelServer
from openai_server import started

_AT: Final = 1_577_836_800_000_000  # 2020: when messages are said, as far as what is read depends on it
_SPOKEN: Final = re.compile(r"\s*(?P<who>[^:\n]+): (?P<text>.*?)\s*", re.DOTALL)
_ENTITIES: Final = re.compile(r"<ENTITIES>\s*(.*?)\s*</ENTITIES>", re.DOTALL)


class PeersModel(ModelServer):
    """Answers asof as the model of the tests does, mem0, Graphiti and cognee by what is in their prompts."""

    def _content(self, shown: str) -> str:
        forms: dict[str, Callable[[str, str], Any]] = {  # the first that fits; what is in the group is a message
            r"## New Messages\n(.*?)\n\n## Observation Date": self._memories,
            r"<ENTITY TYPES>.*<CURRENT MESSAGE>(.*?)</CURRENT MESSAGE>": self._entities,
            r"<CURRENT_MESSAGE>(.*?)</CURRENT_MESSAGE>.*<REFERENCE_TIME>": self._edges,
            r"<CURRENT MESSAGE>(.*?)</CURRENT MESSAGE>.*<EXISTING ENTITIES>": self._resolutions,
            r"(<NEW FACT>)": lambda *_: {"duplicate_facts": [], "contradicted_facts": []},
            r"(<FACT>)": lambda *_: {"valid_at": None, "invalid_at": None},
            r"(<MESSAGES>)": lambda *_: {"summaries": []},
            r"\A([^:\n]+: [^\n]+)\Z": self._graph,
        }
        for form, answer in forms.items():
            if found := re.search(form, shown, re.DOTALL):
                return json.dumps(answer(found[1], shown))
        return super()._content(shown)

    def _memories(self, message: str, _: str) -> dict[str, Any]:
        facts = enumerate(self._facts(message))
        return {"memory": [{"id": str(number), "text": " ".join(fact)} for number, fact in facts]}

    def _entities(self, message: str, _: str) -> dict[str, Any]:
        names = dict.fromkeys(name for who, _, what in self._facts(message) for name in (who, what))
        return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}

    def _edges(self, message: str, _: str) -> dict[str, Any]:
        keys = "source_entity_name", "relation_type", "target_entity_name"
        facts = self._facts(message)
        return {"edges": [dict(zip(keys, fact, strict=True)) | {"fact": " ".join(fact)} for fact in facts]}

    def _resolutions(self, _: str, shown: str) -> dict[str, Any]:
        """Nobody is somebody who is known already, but for those whose names are the same."""
        found = _ENTITIES.search(shown)
        entities = json.loads(found[1]) if found else []
        new = [{"id": one["id"], "name": one["name"], "duplicate_candidate_id": -1} for one in entities]
        return {"entity_resolutions": new}

    def _graph(self, message: str, _: str) -> dict[str, Any]:
        """Return a graph and a summary: of a message alone, nothing says which of them is asked for."""
        facts = self._facts(message)
        names = dict.fromkeys(name for who, _, what in facts for name in (who, what))
        nodes = [{"id": name, "name": name, "type": "Thing", "description": name} for name in names]
        keys = "source_node_id", "relationship_name", "target_node_id"
        edges = [dict(zip(keys, fact, strict=True)) for fact in facts]
        return {"nodes": nodes, "edges": edges, "summary": message, "description": message}

    def _facts(self, message: str) -> list[tuple[str, str, str]]:
        spoken = _SPOKEN.fullmatch(message)
        assert spoken, "somebody was to say something"
        who = spoken["who"]
        with self._lock:
            read = self._read(Turn("", who, "user", spoken["text"], _AT))
        names = {0: who} | {entity["id"]: entity["text"] for entity in read["entities"]}
        return [(names[fact["subject"]], fact["relation"], names[fact["object"]]) for fact in read["facts"]]


def main() -> None:
    with started(PeersModel()) as server:
        server.latency = float(sys.argv[1])
        print(server.url, flush=True)
        before = 0
        for _ in sys.stdin:
            before, since = server.calls, server.calls - before
            print(since, flush=True)


if __name__ == "__main__":
    main()

"""A message leaves nothing in memory that only the garbage collector frees: our processes run it seldom."""

import gc
import json
from pathlib import Path

import pytest

import asof

FACTS = [
    json.dumps({"group_id": "g", "subject": f"P{n % 40}", "relation": "lives_in", "object": f"Town {n}"}).encode()
    for n in range(400)
]
SAID = [f"I moved to Town{chr(97 + n % 26)} in March. My sister Eva works at SAP." for n in range(100)]


@pytest.mark.parametrize("kind", ["facts", "chat"])
def test_taking_messages_leaves_no_cycles(tmp_path: Path, kind: str) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.import_facts(FACTS[:5])
        memory.add(SAID[0], group_id="g", role="Ana")
        gc.collect()
        gc.disable()
        try:
            if kind == "facts":
                memory.import_facts(FACTS)
            else:
                for said in SAID:
                    memory.add(said, group_id="g", role="Ana")
            left = gc.collect()
        finally:
            gc.enable()

    assert left < 100, f"{left} objects were left for the collector: something refers to itself"

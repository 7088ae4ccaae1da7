"""The main job, on real conversations and real facts (data/README of the test data says where they come from)."""

import json

import pytest

from asof.api.memory import Memory
from asof.settings import Settings

pytestmark = pytest.mark.data


@pytest.fixture
def memory(tmp_path):
    with Memory(Settings(data=tmp_path / "data", embedder="none")) as memory:
        yield memory


def test_every_conversation_goes_in_without_a_parked_message_and_every_fact_leads_to_its_words(memory, data_dir):
    contents = {}
    for conversation in sorted((data_dir / "locomo-dev").glob("locomo-conv-*.jsonl")):
        lines = conversation.read_bytes().splitlines()
        contents |= {(m["group_id"], m["name"]): m["content"] for m in map(json.loads, lines)}

        produced = memory.produce(lines)

        assert (produced.accepted, produced.refused, produced.parked) == (len(lines), (), 0)
    facts = memory.facts(any_time=True, all_groups=True)
    assert len(facts) > 250
    for fact in facts:
        why = memory.why(fact.uuid)
        assert why.evidence
        for source in why.evidence:
            assert source.quote
            assert source.quote in contents[fact.group_id, source.name]


def test_a_history_of_facts_moved_in_answers_every_question_with_exactly_the_gold_objects(memory, data_dir):
    with (data_dir / "temporal-facts" / "yago-log.jsonl").open("rb") as lines:
        imported = memory.import_facts(lines, recorded=True)
    assert (imported.accepted, imported.refused, imported.parked) == (5162, (), 0)
    questions = (data_dir / "temporal-facts" / "yago-questions.jsonl").read_text(encoding="utf-8").splitlines()

    wrong = []
    for question in map(json.loads, questions):
        facts = memory.facts(
            group_id=question["group_id"],
            about=question["subject"],
            relation=question["relation"],
            valid_at=question["valid_at"],
            known_at=question["known_at"],
        )
        if sorted({f.object for f in facts}) != sorted(question["objects"]):
            wrong.append(question)

    assert len(questions) == 3600
    assert wrong == []

"""A rule that is not called for a sentence, since that has none of its words, would have found nothing in it."""

import json
from collections.abc import Iterable

import pytest
from bench import synthetic
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.patterns import patterns
from asof_agents.extraction.english.sentence_rules import SentenceRules, sentence_rules
from asof_agents.extraction.ports import Turn
from asof_ontologies.model import Ontology
from asof_ontologies.registry import load
from asof_streams.instants import parse

SAID_AT = parse("2024-05-15T10:00:00Z")
ONTOLOGIES = [load(name) for name in ("default", "agent_memory_v1")]
CUES = sorted({word for each in ONTOLOGIES for rule in sentence_rules(patterns(each)) for word in rule.cues})
WORDS = st.sampled_from(
    "I i'm we my our she Ana Ben Berlin moved lives to in at not no over never owner owns command deadline 5 May 900 "
    "euros is was a the and but because , . ! : ` every day use tabs prefer called name".split(" ")
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(st.one_of(WORDS, st.sampled_from(CUES)), max_size=24).map(" ".join))


def state(context: TurnContext, parsed: ParsedSentence) -> object:
    found = context.findings
    noted = sorted(parsed.taken), context.work.units, list(context.misses or ()), found.speaker
    return found.extraction(), noted, context.people.resolve_pronoun("she", len(context.turn.text))


def check(ontology: Ontology, texts: Iterable[str]) -> int:
    """Call all rules on texts; return how often one was called that `SentenceRules` would have left out."""
    rules = sentence_rules(patterns(ontology))
    chooser, left_out = SentenceRules(rules), 0
    for text in texts:
        turn = Turn("e", "Kim", "user", text, SAID_AT)
        context = TurnContext(turn, (), lambda _: {}, patterns(ontology), find_times, misses=[])
        for parsed in context.sentences:
            context.meet(parsed)
            chosen = chooser.of(parsed.sentence, named=bool(parsed.names))
            for rule in rules:
                asked = rule.asked or not parsed.sentence.question
                reads = asked and (parsed.names or not rule.named)
                before = None if rule.extract in chosen or not reads else state(context, parsed)
                if reads:
                    rule.extract(context, parsed)
                if before is not None:
                    left_out += 1
                    assert state(context, parsed) == before, (rule.extract, text)
            context.people.end_sentence(parsed.sentence)
    return left_out


@pytest.mark.parametrize("ontology", ONTOLOGIES, ids=lambda each: each.id)
@given(text=TEXTS)
def test_no_rule_that_is_left_out_finds_anything(ontology: Ontology, text: str) -> None:
    check(ontology, [text])


@pytest.mark.parametrize("ontology", ONTOLOGIES, ids=lambda each: each.id)
def test_no_rule_that_is_left_out_finds_anything_in_what_people_write(ontology: Ontology) -> None:
    texts = [example.text for each in ONTOLOGIES for example in each.examples]
    texts += [json.loads(line)["content"] for line in synthetic.chat_lines(200)]
    assert check(ontology, texts) > len(texts)  # most rules, of most sentences

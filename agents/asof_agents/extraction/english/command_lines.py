"""Commands by which work is done: "the test command is `make test`"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, PRONOUNS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.negations import after_negation
from asof_agents.extraction.english.work import WORD

COMMANDS: Final = frozenset({"command", "commands"})
_BE: Final = frozenset({"is", "'s", ":"})
_OURS: Final = frozenset({"the", "our", "my"})
_WORDS_MAX: Final = 2  # before "command"
_NO_COMMANDS: Final = PRONOUNS | {"not", "no", "never", "a", "an", "broken", "slow", "wrong"}


def extract_command_lines(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the command that a sentence, which is no question, gives under a name."""
    relation = context.patterns.values.get("value")
    low = parsed.sentence.low
    if relation is None or relation.targets[0] != "Value" or COMMANDS.isdisjoint(low) or parsed.sentence.unsure:
        return
    context.work.spend(WORD * len(low))
    noun = next(at for at, word in enumerate(low) if word in COMMANDS)
    first = noun
    while first and noun - first < _WORDS_MAX and low[first - 1][0].isalpha() and low[first - 1] not in _OURS:
        first -= 1
    opens = first == 0 or low[first - 1] in _OURS
    after = noun + 1
    if first == noun or not opens or low[after : after + 1] == () or low[after] not in _BE:
        return
    after += 1
    while after < parsed.last_word and low[after] in ADVERBS:
        after += 1
    behind = after_negation(low, after)
    denied, after = low[after:behind], behind
    if denied and "but" in low[after:]:
        denied, after = (), low.index("but", after) + 1  # "not `make test` but `make check`"
    if after >= parsed.last_word or low[after] in _NO_COMMANDS:
        return
    start, end = parsed.sentence.starts[after], parsed.sentence.end_of(parsed.last_word - 1)
    text = context.turn.text
    opening = text.rfind("`", parsed.sentence.start, start)
    closing = text.find("`", start, parsed.sentence.end)
    if opening >= 0 and not text[opening + 1 : start].strip() and closing >= 0:
        start, end = opening + 1, closing
    elif denied == ("not",):
        return  # "not what I meant": only a command that is quoted is surely one
    source = context.findings.mention("Matter", *parsed.sentence.span(first, noun + 1))
    target = context.findings.mention("Value", start, end)
    if denied and not (context.was_mentioned(source.text) or context.was_mentioned(target.text)):
        return
    parsed.taken.update(range(after, parsed.last_word))
    meaning = Meaning("ended" if denied else "holds")
    context.findings.relate(source, relation.name, target, meaning, None, parsed.sentence, 0.9, relation.name)

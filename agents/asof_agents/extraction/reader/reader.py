"""The reader: says of each clause of a turn how probable it is that it is worth keeping.

It answers requests as a language model does, so its answers are recorded as a model's are: a replay asks nobody.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from asof_agents.extraction.english.context import FindTimes, ParsedSentence, TurnContext
from asof_agents.extraction.english.patterns import Patterns, patterns
from asof_agents.extraction.ports import KnownNames, ModelReply, ModelRequest, Turn
from asof_agents.extraction.reader.antecedents import Antecedents
from asof_agents.extraction.reader.candidates import ClauseCandidate, candidates
from asof_agents.extraction.reader.features import features
from asof_agents.extraction.reader.head import head, version
from asof_agents.extraction.reader.third_person import speaker_of
from asof_ontologies.registry import load
from asof_projections.embedding.ports import Embedder

PROMPT: Final = "read"
USER: Final = "user"  # the type of those whose messages are read
LONGEST: Final = 8_000  # characters of a turn that are read
_MOST: Final = 200  # clauses of a turn: each is embedded
_DIGITS: Final = 3  # of a probability in an answer


class Clause(NamedTuple):
    """A candidate in its sentence, and its words in the turn's text. meant: the words for a pronoun it begins with."""

    parsed: ParsedSentence
    candidate: ClauseCandidate
    span: tuple[int, int]
    meant: str = ""


def request_about(turn: Turn) -> ModelRequest:
    """Return the request about a turn: all that its answer depends on."""
    said = {"text": turn.text[:LONGEST], "role": turn.role, "said_at": turn.said_at}
    user = json.dumps({**said, "timezone": turn.timezone}, ensure_ascii=False)
    return ModelRequest(PROMPT, 1, f"{version()}/{head().embedder}", 0.0, "", user, "")


def clauses_of(context: TurnContext) -> Iterator[Clause]:
    """Yield the clauses of a turn that may be worth keeping, in order: the first 200."""
    number = 0
    antecedents = Antecedents(context, speaker_of(context.turn.role))
    for parsed in context.sentences:
        context.meet(parsed)
        named: list[ClauseCandidate] = []
        for found in candidates(context, parsed):
            meant = ""
            if found.subject in {"person", "it"}:
                meant = antecedents.meant(parsed, found) or ""
                if not meant and found.subject == "it":
                    continue
            else:
                antecedents.note(parsed, found)
                named.append(found)
            number += 1
            if number > _MOST:
                return
            yield Clause(parsed, found, parsed.sentence.span(found.first, found.last), meant)
        antecedents.end_sentence(parsed, named)


def context_of(
    turn: Turn, find_times: FindTimes, before: tuple[Turn, ...] = (), known: KnownNames = lambda _: {}
) -> TurnContext:
    """Return what is known of a turn's first 8,000 characters, by the words of the default ontology, not its own."""
    return TurnContext(replace(turn, text=turn.text[:LONGEST]), before, known, _patterns(), find_times)


@lru_cache(maxsize=1)
def _patterns() -> Patterns:
    return patterns(load("default"))


class TrainedReader:
    """Implements journal.Model. The answer is a JSON object: `clauses`, each with its offsets and its probability.

    embedder: the one that the head was learned with. Used from any thread.
    """

    def __init__(self, embedder: Embedder, find_times: FindTimes) -> None:
        self._embedder = embedder
        self._find_times = find_times

    @property
    def version(self) -> str:
        """The version of the reader with its weights: a part of that of an extractor."""
        return version()

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return the reply to a request about a turn."""
        said = json.loads(request.user)
        turn = Turn("", said["role"], USER, said["text"], said["said_at"], timezone=said["timezone"])
        answer = [[*span, round(probable, _DIGITS)] for span, probable in self.probabilities(turn)]
        return ModelReply(json.dumps({"clauses": answer}))

    def probabilities(self, turn: Turn) -> list[tuple[tuple[int, int], float]]:
        """Return the probability of each clause of a turn that it is worth keeping, by its words [start, end)."""
        import numpy as np  # noqa: PLC0415 - a command starts without it

        context = context_of(turn, self._find_times)
        found = list(clauses_of(context))
        if not found:
            return []
        vectors = self._embedder.embed([turn.text[slice(*each.span)] for each in found])
        rules = np.array([features(context, each.parsed, each.candidate) for each in found], np.float32)
        probable = head().probabilities(np.concatenate([vectors, rules], axis=1))
        return [(each.span, float(one)) for each, one in zip(found, probable, strict=True)]

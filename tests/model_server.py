"""A small server that speaks OpenAI's chat completions over real HTTP: no model, the same answer to the same question.

It answers with what the rules read in the message that it is shown, so that its answers stand in the text; asked whom a
name means, with a known thing that has all of its words. It fails as it is told to, waits as long as it is told to, and
counts calls and tokens (four characters each). By hand, with `make fake-model`: it tells its address and runs until
Ctrl-C.
"""

import argparse
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Mention, Turn
from asof_ontologies import registry
from asof_projections.names import words
from asof_streams.instants import INF, NEG, parse, render
from openai_server import OpenAIServer, started

Fault = str | tuple[int, str]  # the content of an answer, or a status and a body

_DOUBTS = re.compile(r"^Message of .*\n\nMentions:\n(?P<mentions>.*)\n\nKnown:\n(?P<known>.*)\n\Z", re.DOTALL)
_ENDINGS = re.compile(r"^Message of .*?:\n(?P<text>.*)\n\nFacts:\n(?P<facts>.*)\n\Z", re.DOTALL)
_FACT = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_MENTION = re.compile(r"^(\d+)\. (.*) \((\w+)\): ([\d, ]+)$", re.MULTILINE)
_KNOWN = re.compile(r"^(\d+)\. (.*?)(?:, also (.*?))?: .*$", re.MULTILINE)
_MESSAGE = re.compile(r"^Message of (?P<who>.*) at (?P<time>\S+):\n(?P<text>.*)\n\Z", re.MULTILINE | re.DOTALL)


class ModelServer(OpenAIServer):
    """First it gives the answers in `faults`, one a call; then `says(text)` of the message, or what the rules read.

    ends: given a message and facts by their numbers, answers which of them it ends; else none.
    decides: given the names in doubt and those of what is known, by their numbers, answers whom they mean.
    latency: seconds a call takes. structured: whether it knows schemas; one that does not answers 400 to them.
    keeps: whether it keeps what it is asked; by hand it may be asked a hundred thousand times.
    """

    path = "/chat/completions"

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.latency = 0.0
        self.structured = True
        self.keeps = True
        self.faults: list[Fault] = []
        self.says: Callable[[str], str] | None = None
        self.decides: Callable[[dict[int, str], dict[int, str]], str] | None = None
        self.ends: Callable[[str, dict[int, str]], str] | None = None
        self.prompt_tokens = 0
        self.at_once = 0  # the most calls that were under way together
        self._under_way = 0
        self._not_kept = 0
        self._lock = threading.Lock()
        self._rules = EnglishExtractor(registry.load("default"), find_times)

    @property
    def calls(self) -> int:
        return self._not_kept + len(self.requests)

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        with self._lock:
            if self.keeps:
                self.requests.append(asked)
            else:
                self._not_kept += 1
            self._under_way += 1
            self.at_once = max(self.at_once, self._under_way)
            fault = self.faults.pop(0) if self.faults else None
            tokens = prompt_tokens(asked)
            self.prompt_tokens += tokens
        try:
            time.sleep(self.latency)
            if isinstance(fault, tuple):
                return fault
            if asked["response_format"]["type"] == "json_schema" and not self.structured:
                return 400, json.dumps({"error": {"message": "response_format json_schema is not supported"}})
            content = fault if fault is not None else self._content(asked["messages"][-1]["content"])
            return 200, json.dumps(_completion(asked["model"], content, tokens))
        finally:
            with self._lock:
                self._under_way -= 1

    def _content(self, shown: str) -> str:
        doubts = _DOUBTS.search(shown)
        if doubts:
            return self._decided(_MENTION.findall(doubts["mentions"]), _KNOWN.findall(doubts["known"]))
        endings = _ENDINGS.search(shown)
        if endings:
            facts = {int(number): fact for number, fact in _FACT.findall(endings["facts"])}
            return json.dumps({"ended": []}) if self.ends is None else self.ends(endings["text"], facts)
        found = _MESSAGE.search(shown)
        assert found, "a message was to be shown"
        if self.says is not None:
            return self.says(found["text"])
        with self._lock:
            return json.dumps(self._read(Turn("", found["who"], "user", found["text"], parse(found["time"]))))

    def _decided(self, mentions: list[tuple[str, ...]], known: list[tuple[str, ...]]) -> str:
        names = {int(number): name for number, name, _ in known}
        if self.decides is not None:
            return self.decides({int(number): text for number, text, *_ in mentions}, names)
        meant = []
        for number, text, _, candidates in mentions:
            said = set(words(text))
            fits = [n for n in map(int, candidates.split(", ")) if said <= set(words(names[n]))]
            meant.append({"mention": int(number), "known": fits[0] if fits else 0, "confidence": 0.9})
        return json.dumps({"meant": meant, "same": []})

    def _read(self, turn: Turn) -> dict[str, Any]:
        found = self._rules.extract(turn, [], lambda _: {})
        ids: dict[Mention, int] = {}
        for mention in found.mentions:
            ids[mention] = 0 if mention.speaker else len(ids) + 1
        return {
            "entities": [{"id": id_, "text": m.text, "type": m.type} for m, id_ in ids.items() if id_],
            "facts": [
                {
                    "subject": ids[stated.source],
                    "relation": stated.relation,
                    "object": ids[stated.target],
                    "stance": stated.stance,
                    "quote": turn.text[slice(*stated.span)],
                    "valid_from": _rendered(stated.valid_from),
                    "valid_to": _rendered(stated.valid_to),
                    "time_words": stated.time_words,
                    "confidence": stated.confidence,
                }
                for stated in found.relationships
            ],
            "attributes": [],
        }


def _rendered(instant: int | None) -> str | None:
    return None if instant in (None, NEG, INF) else render(instant)


def prompt_tokens(asked: dict[str, Any]) -> int:
    """Return what a request costs to read, its schema included: four characters of JSON a token."""
    return (len(json.dumps(asked["messages"])) + len(json.dumps(asked.get("response_format")))) // 4


def _completion(model: str, content: str, prompt_tokens: int) -> dict[str, Any]:
    written = len(content) // 4
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": written, "total_tokens": prompt_tokens + written}
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def serving() -> AbstractContextManager[ModelServer]:
    return started(ModelServer())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("latency", nargs="?", type=float, default=0.0, help="seconds that each call takes")
    parser.add_argument("--port", type=int, default=8089, help="0 is any that is free")
    chosen = parser.parse_args()
    with ModelServer(chosen.port) as server:
        server.latency = chosen.latency
        server.keeps = False
        sys.stdout.write(f"ASOF_EXTRACTOR=model ASOF_MODEL_NAME=fake ASOF_MODEL_URL={server.url}\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.stdout.write(f"\n{server.calls} calls, {server.prompt_tokens} prompt tokens\n")


if __name__ == "__main__":
    main()

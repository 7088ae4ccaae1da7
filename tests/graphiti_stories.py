"""Stories of requests to Graphiti's server, each with the answer recorded from it: tests/recorded/graphiti.

A story is a file of JSON lines. The first says how the answers were made; each other one is a request and its answer:

    {"method", "path", "body" or "text", "headers"?, "recorded": answer, "here"?: {"why", ...answer}}

An answer is {"status", "json" or "text"}. `here` is what asof answers where it differs on purpose. What no two runs
have in common is evened out: ids become <id N> in the order in which they appear (and stand so in later paths and
bodies), times of the recording <now>, vectors <vector>, what an error quotes <input>, which in ours is nothing. Facts
are in the order of their texts: ranking is each system's own.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

FOLDER = Path(__file__).parent / "recorded" / "graphiti"
STORIES = sorted(FOLDER.glob("*.jsonl"))

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,6})?(Z|\+00:00)")
_NAMED = re.compile(r"<id \d+>")


class Answer(Protocol):
    """What any HTTP client gives."""

    status_code: int
    text: str

    def json(self) -> Any: ...


class Story:
    """One story, told to one server: its requests with their ids filled in, their answers evened out."""

    def __init__(self, path: Path) -> None:
        self.made, *self.cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        self._names: dict[str, str] = {}

    def requests(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield each case, and what to give to `client.request`."""
        for case in self.cases:
            given: dict[str, Any] = {"method": case["method"], "url": self._filled(case["path"])}
            if "body" in case:
                given["json"] = json.loads(self._filled(json.dumps(case["body"])))
            if "text" in case:
                given["content"] = case["text"].encode()
            yield case, {**given, "headers": case.get("headers")}

    def evened(self, answer: Answer) -> dict[str, Any]:
        """Return an answer as a story has it."""
        try:
            found = answer.json()
        except ValueError:
            return {"status": answer.status_code, "text": answer.text}
        return {"status": answer.status_code, "json": self._even(found)}

    def _even(self, value: Any) -> Any:
        match value:
            case {"facts": list(facts)}:
                facts = sorted(facts, key=lambda fact: fact["fact"])
                return {**value, "facts": [self._even(fact) for fact in facts]}
            case {"type": _, "loc": _, "input": _}:
                return {**value, "input": "<input>"}
            case dict():
                return {key: self._even(inner) for key, inner in value.items()}
            case [float(), *_]:
                return "<vector>"
            case list():
                return [self._even(inner) for inner in value]
            case str():
                return _ID.sub(self._name, _TIME.sub(_moment, value))
        return value

    def _name(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"<id {len(self._names) + 1}>")

    def _filled(self, text: str) -> str:
        ids = {name: id_ for id_, name in self._names.items()}
        return _NAMED.sub(lambda found: ids[found[0]], text)


def _moment(found: re.Match[str]) -> str:
    recent = abs(datetime.fromisoformat(found[1]).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(days=1)
    return f"<now>{found[2]}" if recent else found[0]


def is_accepted(case: dict[str, Any], answer: Answer) -> bool:
    """Whether work goes on behind an answer."""
    return case["path"] == "/messages" and answer.status_code == 202 and bool(case.get("body", {}).get("messages"))

"""Directories and topics as an earlier version wrote them, and what it answered: where they are, and how to ask again.

`tests/history/write_directories.py` wrote them. Of a directory NAME there are NAME.tar.xz and NAME.answers.json.xz:

    settings   the environment in which it was asked
    asked      questions, with what the version that wrote it answered
    rebuilt    commands that build generations anew beside those that there are, and what they printed
    replayed   questions asked once all but the messages log was deleted; left out where a model or a topic is needed
    http       requests to `asof serve` on it

What builds read anew, under `rebuilt` and `replayed`, is written down again when the rules read otherwise, as the
changelog says; `asked` never is. Digests are written down again when they are made in another way, once today's code
has come, in the earlier way, to all that were written down.
"""

import hashlib
import json
import lzma
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from asof_command import asof

FOLDER: Final = Path(__file__).resolve().parent / "history" / "directories"
NAMES: Final = sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz"))
TOPICS: Final = FOLDER / "topics.jsonl.xz"

# What everything but the messages log is made from it again.
DERIVED: Final = ("episodic.sqlite*", "episodes.db*", "generations/*/semantic.*.sqlite*", "generations/*/graph.db*")

# Questions that were about all groups where they named none, and are about the default one today.
OF_GROUPS: Final = frozenset(
    "changes communities diff entities entity export facts history search timeline".split(),
)

# Options that have another name today, by command.
RENAMED: Final = {"changes": {"--since": "--after"}, "rebuild": {"--from": "--input"}}

RANKING: Final = frozenset(("score", "scores", "hop", "probability"))  # of a hit: the other fields are of the fact

Ask = dict[str, Any]
"""`ask`: the arguments of a command; `lines`: of a file that stands in them as @; `code` and `answer`: what came of it,
but for the sentence of an error; `digest`: the answer is that of the events that were printed."""


@cache
def expected(name: str) -> dict[str, Any]:
    """Return what is written down of a directory."""
    found: dict[str, Any] = json.loads(lzma.decompress((FOLDER / f"{name}.answers.json.xz").read_bytes()))
    return found


def unpack(name: str, folder: Path) -> Path:
    """Put a directory there as it was written; return where it is."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


def forget_derived(data: Path) -> None:
    """Leave of a directory only what its messages log cannot give back."""
    for pattern in DERIVED:
        for file in data.glob(pattern):
            file.unlink()


def ask(data: Path, question: Ask) -> Ask:
    """Return a question with the answer of today."""
    arguments = [RENAMED.get(question["ask"][0], {}).get(argument, argument) for argument in question["ask"]]
    if "lines" in question:
        file = data.with_name("lines.jsonl")
        lines = [line if "group_id" in line else {**line, "all_groups": True} for line in question["lines"]]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        arguments[arguments.index("@")] = str(file)
    elif arguments[0] in OF_GROUPS and "--group" not in arguments:
        arguments.append("--all-groups")
    if arguments[0] == "search":
        arguments += ["--limit", "1000", "--min-probability", "0"]
    said = asof(*arguments, "--data", str(data))
    answer = _lasting(arguments[0], _read(said.out))
    answer = found_again(answer, question["answer"]) if arguments[0] == "search" else answer
    return {**question, "code": said.code, "answer": _digest(answer) if "digest" in question else answer}


def found_again(facts: list[Any], before: list[Any]) -> list[Any]:
    """Return those of some facts that were found before, as they came then and without their scores.

    How facts are ranked changes; what was found is found, and is what it was.
    """
    known = {fact["uuid"]: fact for fact in facts}
    again = (known[fact["uuid"]] for fact in before if fact["uuid"] in known)
    return [{name: value for name, value in fact.items() if name not in RANKING} for fact in again]


def _read(text: str) -> Any:
    """Return JSON as what it says, JSON lines as a list, and anything else as it is."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return text


_PASSING: Final[dict[str, Callable[[Any], Any]]] = {
    "communities": lambda found: [_without("summary", community) for community in found],
    "export": lambda found: _as_before(found) if isinstance(found, dict) else found,
    "generations": lambda found: {**found, "generations": [_without("made_by", one) for one in found["generations"]]},
    "rebuild": lambda found: {**found, "generation": _without("made_by", found["generation"])},
    "stats": lambda found: _without("bytes", found),
    "search": lambda found: found["facts"],  # which were all that there was; episodes have come beside them
    "events": lambda found: [_without("term", event) for event in found],
    "verify": lambda found: [
        {**check, "found": check["found"].partition(": ")[0]}  # without the digest, which is of the file's layout too
        for check in found
        if check["what"].startswith(("log ", "graph "))
    ],
}


def _lasting(command: str, answer: Any) -> Any:
    """Return an answer without what says nothing of what is known: the size of files, how often one was opened, and
    whether what is not made from the logs is whole, which the exit code says too."""
    return _PASSING.get(command, lambda found: found)(answer)


def _as_before(graph: dict[str, Any]) -> dict[str, Any]:
    """Return a graph as it was before edges said how the words of a time were understood, and communities summaries."""
    if "episodes" in graph:
        return {**graph, "edges": [{**e, "content": _without("interpreted", e["content"])} for e in graph["edges"]]}
    nodes = [_without("summary", node) if node["type"] == "Community" else node for node in graph["nodes"]]
    return {**graph, "nodes": nodes}


def _without(name: str, found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != name}


# Event types that have later versions since these directories were written, and what came with them.
RAISED: Final[dict[str, tuple[str, ...]]] = {
    "episode.recorded": (
        *("statement_version", "external_id", "reply_to", "is_proactive", "author_id", "corrects", "edited_at"),
    ),
    "fact.asserted": ("occurrence", "planned", "number", "qualifiers"),
    "fact.invalidated": (),
    "fact.reinforced": ("granule", "planned", "number", "qualifiers"),
    "fact.stated": ("grain", "qualifiers"),
    "generation.started": ("rule",),
    "message.sent": ("external_id", "reply_to", "kind", "is_proactive", "author_id"),
    "relationship.stated": ("granule", "planned", "former"),
}
SECOND_THEN: Final = ("episode.recorded", "message.sent")  # the types that were at their second version


def _as_written(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event as the version that wrote the directories has it."""
    later = RAISED.get(event["type"])
    if later is None:
        return event
    then = 2 if event["type"] in SECOND_THEN else 1
    data = {k: v for k, v in event["data"].items() if k not in later}
    if event["type"] == "generation.started":  # a version of the rules changes no id
        data["extractor"] = data["extractor"].replace("rules-3/", "rules-2/")
    return {**event, "version": then, "data": data}


def _digest(events: list[Any]) -> dict[str, Any]:
    """Return how many events there are, and what they come to."""
    events = [_as_written(event) for event in events]
    return {"events": len(events), "sha256": hashlib.sha256(json.dumps(events).encode()).hexdigest()}

"""Answers about directories and topics of an earlier version that are not what they were, on purpose."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from asof_streams.events import types
from asof_streams.ids import episode_id
from asof_streams.instants import parse
from old_directories import RAISED, Ask, found_again


class Changed(NamedTuple):
    """Answers that are not what they were, on purpose."""

    asked: tuple[str, ...]  # how the command lines begin, or the paths of the requests
    entry: str  # words of the changelog's entry that says so
    becomes: Callable[[Ask], Ask]  # given the question with the answer of old, that with the answer of today


def failing(old: Ask) -> Ask:
    """Return a question whose command ends with 1."""
    return {**old, "code": 1}


def limited(old: Ask) -> Ask:
    """Return a question about an entity with as many facts as it asks for: there were as many of each direction."""
    if "--limit" not in old["ask"]:
        return old
    limit = int(old["ask"][old["ask"].index("--limit") + 1])
    return {**old, "answer": [{**entity, "facts": entity["facts"][:limit]} for entity in old["answer"]]}


def seeking(old: Ask) -> Ask:
    """Return a request whose answer goes on from a fact, not from a number of facts."""
    cursor = "RmFjdHMKCjE3MTE5NjIwMDAwMDAwMDEKMTU2MTA3NTIwMDAwMDAwMAoxMDkKMTcxMDgzODgwMDAwMDAwMA"
    return {**old, "answer": {**old["answer"], "next": cursor}}


_MOST_MESSAGES: Final = 100  # of a directory

SECOND: Final = ("message.parked", "extraction.failed")  # event types in their second version

# Of `model`, which gave no answer about one message.
_FAILED: Final = {
    "log": "episodic",
    "position": 12,
    "group_id": "g",
    "recorded_at": "2024-07-03T10:00:00Z",
    "reason": "not JSON",
    "state": "failed",
}


def counting(old: Ask) -> Ask:
    """Return a question whose answer names the embedder, and counts what failed and what is being erased."""
    answer = old["answer"]
    failed = [_FAILED] if "model" in answer["generations"]["main"]["extractor"] else []
    embedder = {"embedder": os.environ["ASOF_EMBEDDER"], "embedder_fallback": None}
    more = {**embedder, "failed": len(failed), "erasing": 0}
    parked = [{**message, "state": "parked"} for message in answer["parked_messages"]]
    return {**old, "answer": {**answer, **more, "parked_messages": [*failed, *parked]}}


def unranked(old: Ask) -> Ask:
    """Return a search whose hits are facts without scores."""
    return {**old, "answer": found_again(old["answer"], old["answer"])}


def failing_not(old: Ask) -> Ask:
    """Return a request for a message about which no model failed."""
    return {**old, "answer": {**old["answer"], "failed": None}}


_BELIEF: Final = ("uuid", "subject", "relation", "object", "fact", "valid_at", "invalid_at")


def affecting(old: Ask) -> Ask:
    """Return a request for a message that said something new, with what it did: it is in the changes."""
    changes = old["answer"]["changes"]
    sides = {
        side: [{name: c["fact"][name] for name in _BELIEF} for c in changes if c["change"] == side]
        for side in ("opened", "closed")
    }
    before, after = ({one["uuid"] for one in sides[side]} for side in ("closed", "opened"))
    effect = {
        "began": [one for one in sides["opened"] if one["uuid"] not in before],
        "ended": [one for one in sides["opened"] if one["uuid"] in before],
        "retracted": [one for one in sides["closed"] if one["uuid"] not in after],
        "restored": [],
        "refined": [],
        "reinforced": [],
        "duplicates": [],
        "understood": True,
    }
    return {**old, "answer": {**old["answer"], "effect": effect}}


def reporting(old: Ask) -> Ask:
    """Return a request for a message with its report: `/0` stated an entity, and `/3` two facts of three names."""
    names = ("chunks_processed", "entities_extracted", "relations_extracted", "entity_nodes_created", "entity_merges")
    counts = dict(zip(names, (1, 3, 2, 3, 0) if old["path"].endswith("/3") else (0, 0, 0, 1, 0), strict=True))
    none = ("chunks_failed", "contradictions_detected", "parts_refused")
    edges = counts["entities_extracted"] + counts["relations_extracted"]
    report = {**counts, **dict.fromkeys(none, 0), "edges_created": edges, "times": None}
    return {**old, "answer": {**old["answer"], "report": report}}


def raising(old: Ask) -> Ask:
    """Return events that were parked or failed in their second version; where a digest stands, it is of these."""
    if "digest" in old:
        return old
    return {**old, "answer": [{**e, "version": 2} if e["type"] in SECOND else e for e in old["answer"]]}


def raised(old: Ask) -> Ask:
    """Return events in their present version; a digest is of what they were."""
    if "digest" in old:
        return old
    today = {type_: types()[type_].version for type_ in RAISED}
    return {**old, "answer": [{**e, "version": today.get(e["type"], e["version"])} for e in old["answer"]]}


_ADVICE: Final = "it keeps deeds as states, as earlier versions did: rebuild dates them (asof rebuild, then switch)"


def advising(old: Ask) -> Ask:
    """Return counts with the advice to build a generation anew that keeps deeds as states."""
    generations = {name: {**one, "advice": _ADVICE} for name, one in old["answer"]["generations"].items()}
    return {**old, "answer": {**old["answer"], "generations": generations}}


_KEY: Final = '<key id="edge.{0}" for="edge" attr.name="{0}" attr.type="string"/>\n'


def _with(answer: Any, after: str, names: tuple[str, ...], added: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return an answer with more in each of its objects; in GraphML, with keys of these names after another one."""
    if isinstance(answer, str):
        keys = (_KEY.format(name) for name in (after, *names))
        return answer.replace(_KEY.format(after), "".join(keys))
    if isinstance(answer, list):
        return [_with(part, after, names, added) for part in answer]
    if not isinstance(answer, dict):
        return answer
    parts = {name: _with(part, after, names, added) for name, part in answer.items()}
    return added(parts) | parts


def telling_plans(old: Ask) -> Ask:
    """Return an answer in which each fact, version, segment and belief says whether it is a plan, or an occurrence."""

    def added(parts: dict[str, Any]) -> dict[str, Any]:
        if not {"relation", "valid_at", "invalid_at", "object"} <= parts.keys():
            return {}
        return {"planned": False} | ({"occurrence": False} if "expired_at" in parts else {})

    return {**old, "answer": _with(old["answer"], "generation", ("occurrence", "planned"), added)}


def telling_literals(old: Ask) -> Ask:
    """Return an answer in which each fact has its value and its qualifiers, and so has each evidence."""

    def added(parts: dict[str, Any]) -> dict[str, Any]:
        if {"relation", "object", "expired_at"} <= parts.keys():
            return {"value": None, "qualifiers": {}}
        return {"qualifiers": {}} if {"quote", "relationship"} <= parts.keys() else {}

    return {**old, "answer": _with(old["answer"], "planned", ("value", "qualifiers"), added)}


def telling_sources(old: Ask) -> Ask:
    """Return an answer in which each evidence says where its statement comes from."""

    def added(parts: dict[str, Any]) -> dict[str, Any]:
        return {"source_description": ""} if {"quote", "relationship"} <= parts.keys() else {}

    return {**old, "answer": _with(old["answer"], "qualifiers", ("source_description",), added)}


def turning(old: Ask) -> Ask:
    """Return an episodic graph whose turns are counted in their group, and stand at nodes and edges too."""
    graph, counts, turns = old["answer"], Counter[str](), {}
    for episode in graph["episodes"]:
        group = episode["metadata"]["session_id"]
        turns[episode["id"]] = counts[group]
        counts[group] += 1

    def turned(piece: dict[str, Any], content: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        turn = turns[piece["episode_id"]]
        more = {"content": {**content, "turn": turn}, "metadata": {**metadata, "turn": str(turn)}}
        return {**piece, **more}

    def named(episode: dict[str, Any]) -> dict[str, Any]:
        own = not re.fullmatch(r"turn_\d+", episode["metadata"]["turn_id"])
        name = episode["metadata"]["turn_id"] if own else f"turn_{turns[episode['id']]}"
        return {**episode, "metadata": {**episode["metadata"], "turn_id": name}}

    nodes = [turned(node, {"mention": node["mention"]}, {"timestamp": node["validAt"]}) for node in graph["nodes"]]
    edges = [turned(edge, edge["content"], edge["metadata"]) for edge in graph["edges"]]
    return {**old, "answer": {"nodes": nodes, "edges": edges, "episodes": [named(e) for e in graph["episodes"]]}}


def without_digests(old: Ask) -> Ask:
    """Return a verification without the digests of graphs, which are of the layout of their files too."""
    return {**old, "answer": [{**check, "found": check["found"].partition(": ")[0]} for check in old["answer"]]}


def agreeing(old: Ask) -> Ask:
    """Return a rebuild whose digest is that of what answers, although something was erased."""
    answer = old["answer"]
    return {**old, "answer": {**answer, "same": answer["digest"] == answer["compared_digest"]}}


def naming_inputs(old: Ask) -> Ask:
    """Return an answer in which what a generation is built from is its input."""

    def named(answer: Any) -> Any:
        if isinstance(answer, list):
            return [named(part) for part in answer]
        if not isinstance(answer, dict):
            return answer
        is_generation = "ontology_digest" in answer
        return {"input" if is_generation and name == "source" else name: named(p) for name, p in answer.items()}

    return {**old, "answer": named(old["answer"])}


def ruling(old: Ask) -> Ask:
    """Return an answer in which generations that are begun today are under the fifth rule of belief."""

    def begun(answer: Any) -> Any:
        if isinstance(answer, list):
            return [begun(part) for part in answer]
        if not isinstance(answer, dict):
            return answer
        return {name: 5 if (name, part) == ("rule", 2) else begun(part) for name, part in answer.items()}

    return {**old, "answer": begun(old["answer"])}


def reading_anew(old: Ask) -> Ask:
    """Return an answer in which generations that are begun today are read by the third version of the rules."""
    return {**old, "answer": json.loads(json.dumps(old["answer"]).replace("rules-2/", "rules-3/"))}


def telling_then(old: Ask) -> Ask:
    """Return changes that tell each fact as it was known then: without the end and the episodes that came later."""

    def then(change: dict[str, Any]) -> dict[str, Any]:
        fact, position = change["fact"], change["position"]
        later = {episode_id(fact["group_id"], at) for at in range(position + 1, position + _MOST_MESSAGES)}
        expired, told = fact["expired_at"], parse(change["recorded_at"])
        known = {
            "expired_at": expired if expired is None or parse(expired) <= told else None,
            "episodes": [episode for episode in fact["episodes"] if episode not in later],
        }
        return {**change, "fact": {**fact, **known}}

    if "changes" not in old["answer"]:  # of a message that was parked or erased
        return old
    return {**old, "answer": {**old["answer"], "changes": list(map(then, old["answer"]["changes"]))}}


def restating(old: Ask) -> Ask:
    """Return an explanation that names the facts by which its own was stated again: none was."""
    return {**old, "answer": {**old["answer"], "restated_by": []}}


CHANGED: list[Changed] = [
    Changed(("verify",), "Graphs are built anew once", without_digests),
    Changed(("search",), "`asof search --json` is an object with `facts`, `episodes`", lambda old: old),
    Changed(
        (
            "timeline Ana --group gone --known-at",
            "timeline Eva --group gone --known-at",
            "timeline Ben --group two --known-at 2024-05",
        ),
        "`asof timeline` of a name that no entity has ends with 1 and says so",
        failing,
    ),
    Changed(("stats",), "`asof stats` names the embedder, and counts what failed", counting),
    Changed(("entity ",), "A limit of `entity` counts the facts of both directions together", limited),
    Changed(("/v1/facts?group_id=two&any_time=true&limit=3",), "Cursors of `/v1` are opaque", seeking),
    Changed(("search ",), "Scores of facts by words count the facts that hold at the moment", unranked),
    Changed(("/v1/messages/",), "`/v1/messages/{position}` says in `failed` why", failing_not),
    Changed(("/v1/messages/",), "`memory.add` and others, by `GET /v1/messages/{position}` later", affecting),
    Changed(("/v1/messages/",), "`memory.message(position)` and its kin say it later without times", reporting),
    Changed(("events",), "Several event types are at version 2", raised),
    Changed(("events",), "`message.sent` and `episode.recorded` are at version 3", raised),
    Changed(("stats",), "`asof stats` advises a rebuild", advising),
    Changed(
        tuple("facts search entity timeline history why diff changes export /v1/ what-if overlapping fact".split()),
        "Every fact says whether it is an `occurrence`, and whether it is `planned`",
        telling_plans,
    ),
    Changed(
        tuple("facts search entity timeline history why diff changes export /v1/ what-if overlapping fact".split()),
        "Every fact has a `value` and `qualifiers`",
        telling_literals,
    ),
    Changed(("why", "/v1/why"), "Evidence has a `source_description`", telling_sources),
    Changed(("events",), "`message.parked` and `extraction.failed` are at version 2", raising),
    Changed(("generations", "rebuild", "stats"), "What a generation is built from is its `input`", naming_inputs),
    Changed(("generations", "rebuild"), "A start that nobody stated gives way", ruling),
    Changed(("generations", "rebuild"), "The rules are at version 3", reading_anew),
    Changed(
        ("changes", "/v1/changes", "/v1/messages/"),
        "A change, and what became of a message, tell each fact as it was known then",
        telling_then,
    ),
    Changed(("export --episodic",), "In the exported episodic graph `turn_N` counts the turns of a group", turning),
    Changed(("rebuild",), "After an erasure `asof rebuild` has the digest of what answers", agreeing),
    Changed(("why",), "names the others in `restated_by`", restating),
]


def wanted(old: Ask) -> Ask:
    """Return a question with the answer that it is to have today."""
    said = old["path"] if "path" in old else " ".join(old["ask"])
    for changed in CHANGED:
        if said.startswith(changed.asked):
            old = changed.becomes(old)
    return old

"""A Python twin of each AQL query of the ArangoDB adapter: what we take its text to mean, side by side with it.

These are where trust begins: that a text and its twin say the same is for a reader to see, and for a live server to
confirm (make verify-arango). `on` gives the documents of a bound collection.
"""

import math

import numpy as np

from asof_projections.graph.arango import aql


def _met(f: dict, b: dict) -> bool:
    begun = f["vf"] <= b["vmax"] or (b["deeds"] and f["planned"])
    left = f["vt"] > b["vmin"] or (b["deeds"] and f["occurrence"])
    return begun and left and f["kf"] <= b["kmax"] and f["kt"] > b["kmin"]


def _of_group(d: dict, b: dict) -> bool:
    return b["group"] is None or d["grp"] == b["group"]


def _again(on, b: dict, fact: int, known: int | None = None) -> list[dict]:
    found = (r for r in on.rows(b, "reinforcements") if r["fact"] == fact)
    return sorted((r for r in found if known is None or r["created_at"] <= known), key=lambda r: r["n"])


def _held(on, b: dict, facts: list[dict]) -> list[dict]:
    """Facts in their order, each with what said it again, and whose sayings no longer count."""
    found = sorted(facts, key=lambda f: (f["vf"], f["fact"], f["kf"]))[: b["limit"]]
    rows = [{"row": f, "again": _again(on, b, f["fact"], b["kmax"])} for f in found]
    return [row | {"withdrawn": _withdrawn(on, b, row)} for row in rows]


def _withdrawn(on, b: dict, row: dict) -> list[str]:
    said = {r["episode"] for r in (row["row"], *row["again"])}
    return [w["episode"] for w in on.rows(b, "withdrawals") if w["episode"] in said and w["created_at"] <= b["kmin"]]


def facts(on, b):
    asked = {"subjects": "_from", "objects": "thing", "numbers": "fact"}
    found = [f for f in on.rows(b, "facts") if _met(f, b) and _of_group(f, b)]
    for name, attribute in asked.items():
        found = [f for f in found if b[name] is None or f[attribute] in b[name]]
    found = [f for f in found if b["relation"] in (None, f["relation"])]
    types = {e["_id"]: e["type"] for e in on.rows(b, "entities")}
    ends = ("_from", "_to")
    if b["near"] is not None:
        found = [f for f in found if any(f[end] in b["near"] for end in ends)]
    found = [f for f in found if b["relations"] is None or f["relation"] in b["relations"]]
    found = [f for f in found if b["groups"] is None or f["grp"] in b["groups"]]
    if b["types"] is not None:
        found = [f for f in found if any(types.get(f[end]) in b["types"] for end in ends)]
    if b["object_type"] is not None:
        found = [f for f in found if types.get(f["_to"]) == b["object_type"]]
    if b["after"] is not None:
        found = [f for f in found if [f["vf"], f["fact"], f["kf"]] > b["after"]]
    held = _held(on, b, found)
    return [row["row"]["fact"] for row in held] if b["brief"] else held


def _counted(on, b: dict, names: list[dict]) -> list[dict]:
    gone = {w["episode"] for w in on.rows(b, "withdrawals") if w["created_at"] <= b["known"]}
    return [m for m in names if m["n"] == m["entity"] or m["episode"] not in gone]


def reach(on, b):
    entities = {e["_id"]: e for e in on.rows(b, "entities")}
    named = [m for m in on.rows(b, "names") if m["key"] == b["key"] and m["created_at"] <= b["known"]]
    named = _counted(on, b, [m for m in named if _of_group(m, b)])
    exact = [m["entity_id"] for m in named if m["name"] == b["name"]]
    meant = list(dict.fromkeys(exact or [m["entity_id"] for m in named]))
    links = [d for d in on.rows(b, "duplicate_of") if d["kf"] <= b["known"] < d["kt"]]
    starts = [s for s in meant or b["ids"] if s in entities and _of_group(entities[s], b)]
    levels = [{*starts, *b["also"]}]
    for _ in range(3):
        ends = [{d["_from"], d["_to"]} for d in links]
        levels.append(levels[-1].union(*(pair for pair in ends if pair & levels[-1])))
    same = levels[-1]
    met = [f for f in on.rows(b, "facts") if _met(f, b) and _of_group(f, b)] if b["limit"] else []
    return [
        {
            "called": sorted((entities[m] for m in meant if m in entities), key=lambda e: e["n"]),
            "exact": bool(exact),
            "alike": [entities[e]["uuid"] for e in same],
            "outward": _held(on, b, [f for f in met if f["_from"] in same]),
            "inward": _held(on, b, [f for f in met if f["_to"] in same]),
            "same": sorted(same),
            "more": len(same) > len(levels[-2]),
        }
    ]


def why(on, b):
    said = {a["_key"]: a for a in on.rows(b, "assertions")}
    ended, retracted = ({d["_key"]: d for d in on.rows(b, kind)} for kind in ("endings", "retractions"))
    if (a := said.get(b["key"])) is None:
        return []

    def ends(e):
        slot = all(e[name] == a[name] for name in ("s", "relation", "grp"))
        return (
            slot and e["at"] > a["stated_from"] and e["thing"] in (None, a["thing"]) and e["fact"] in (None, a["uuid"])
        )

    def in_order(rows):
        return sorted(rows, key=lambda row: row["n"])

    closings = in_order(c for c in on.rows(b, "closings") if c["fact"] == a["n"])
    sources = ((said | ended | retracted).get(c["statement_key"]) for c in closings)
    return [
        {
            "row": a,
            "again": _again(on, b, a["n"]),
            "corrected_by": [c["uuid"] for c in in_order(said.values()) if c["corrects"] == a["uuid"]],
            "repetitions": in_order(
                p
                for p in said.values()
                if all(p[name] == a[name] for name in ("subject_uuid", "relation", "thing"))
                and p["n"] > a["n"]
                and (b["retracted"] or not p["dead"])
            ),
            "endings": in_order(filter(ends, ended.values())),
            "retractions": in_order(r for r in retracted.values() if r["target"] == a["uuid"]),
            "closings": [{"row": c, "source": source} for c, source in zip(closings, sources, strict=True)],
        }
    ]


def retracted_by(on, b):
    named = (r for r in on.rows(b, "retractions") if r["target"] in b["targets"])
    return [[r["uuid"], r["target"]] for r in named if r["created_at"] <= b["known"]]


def changes(on, b):
    found = [
        {"at": f[how], "opened": int(how == "opened"), "row": f}
        for f in on.rows(b, "facts")
        for how in ("opened", "closed")
        if f[how] is not None and f[how] > b["since"]
    ]
    ats = sorted(c["at"] for c in found)
    until = ats[b["limit"] - 1] if len(ats) >= b["limit"] else b["end"]
    found = sorted((c for c in found if c["at"] <= until), key=lambda c: (c["at"], c["opened"], c["row"]["n"]))
    known = [c["row"]["kf" if c["opened"] else "kt"] for c in found]
    return [{**c, "known": k, "again": _again(on, b, c["row"]["fact"], k)} for c, k in zip(found, known, strict=True)]


def about(on, b):
    def part(name, kind, attribute, **more):
        rows = on.rows(b, kind) if name in b["parts"] else []
        found = [d for d in rows if d[attribute] in b["ids"] and d["created_at"] <= b["known"]]
        return sorted((d for d in found if all(d[k] == v for k, v in more.items())), key=lambda d: d["n"])

    links = on.rows(b, "duplicate_of") if "links" in b["parts"] else []
    links = [d for d in links if {d["_from"], d["_to"]} & {*b["ids"]}]
    return [
        {
            "names": [m["name"] for m in _counted(on, b, part("names", "names", "entity_id"))],
            "attributes": part("attributes", "attributes", "entity_id", holds=1),
            "links": sorted((d for d in links if d["kf"] <= b["known"]), key=lambda d: d["n"]),
            "mentions": len(part("mentions", "mention_links", "_to")),
            "communities": _communities(on, b) if "communities" in b["parts"] else [],
        }
    ]


def _communities(on, b):
    entities = {e["_id"]: e for e in on.rows(b, "entities")}
    member_of = [m for m in on.rows(b, "member_of") if m["kf"] <= b["known"] < m["kt"]]
    theirs = None if b["ids"] is None else {m["_to"] for m in member_of if m["_from"] in b["ids"]}
    found = []
    for c in sorted(on.rows(b, "communities"), key=lambda c: c["n"]):
        members = sorted((m for m in member_of if m["_to"] == c["_id"]), key=lambda m: (m["kf"], m["entity"]))
        if members and (theirs is None or c["_id"] in theirs) and _of_group(c, b) and c["created_at"] <= b["known"]:
            found.append({"row": c, "members": [entities[m["_from"]] for m in members]})
    return found[: b["limit"]]


def page(on, b):
    found = [d for d in on.rows(b) if d["n"] > b["after"] and _of_group(d, b)]
    found = [d for d in found if d.get("recorded_at", -math.inf) <= b["known"]]  # what is missing is less than numbers
    found = [d for d in found if b["prefix"] is None or d["key"].startswith(b["prefix"])]
    return sorted(found, key=lambda d: d["n"])[: b["limit"]]


def counts(on, b):
    whole = {"facts": "assertions", "versions": "facts"}
    kinds = ("episodes", "mentions", "relationships", "entities", "facts", "versions")
    counted = {kind: len(on.rows(b, whole.get(kind, kind))) for kind in kinds}
    opened = {"merges": "duplicate_of", "open_versions": "facts"}
    counted |= {name: sum(d["kt"] == b["open"] for d in on.rows(b, kind)) for name, kind in opened.items()}
    counted["communities"] = len({m["_to"] for m in on.rows(b, "member_of") if m["kt"] == b["open"]})
    counted |= {"names": len(on.rows(b, "names")), "formed": len(on.rows(b, "communities"))}
    retried = {r["cause"]: r["n"] for r in sorted(on.rows(b, "retries"), key=lambda r: r["n"])}
    unsettled = {(p["state"], p["cause"]) for p in on.rows(b, "parked") if retried.get(p["cause"], -1) < p["n"]}
    counted |= {state: sum(is_ == state for is_, _ in unsettled) for state in ("parked", "failed")}
    counted["contradictions"] = sum(c["settled_at"] == b["open"] for c in on.rows(b, "contradictions"))
    return [counted]


def text(on, b):
    known = [a for a in on.rows(b, "assertions") if _of_group(a, b) and a["recorded_at"] <= b["kmax"]]
    weights: dict[tuple, float] = {}
    for word in b["words"]:
        having = [(a["n"], len(a["words"])) for a in known if word in a["words"]]
        weight = math.log((len(known) + 1) / (len(having) + 0.5))
        weights |= {each: weights.get(each, 0) + weight for each in having}
    found = {n: round(1e6 * weight / (1 + 1.2 * (0.25 + 0.75 * long / 5))) for (n, long), weight in weights.items()}
    held = {f["fact"] for f in on.rows(b, "facts") if _met(f, b)}
    held = held if b["numbers"] is None else held & {*b["numbers"]}
    ranked = sorted((-score, n) for n, score in found.items() if n in held)
    return [[n, -score] for score, n in ranked][: b["limit"]]


def cosine_similarity(one: list[float], other: list[float]) -> float:
    x, y = np.array(one, float), np.array(other, float)
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def near(on, b):
    held = {f["fact"] for f in on.rows(b, "facts") if _met(f, b)} if b["holding"] else None
    keys = None if b["keys"] is None else {*b["keys"]}
    found = [v for v in on.rows(b) if v["model"] == b["model"] and _of_group(v, b)]
    found = [v for v in found if (keys is None or v["_key"] in keys) and (held is None or v["n"] in held)]
    scored = [(cosine_similarity(v["vector"], b["near"]), v) for v in found]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1]["n"]))[: b["limit"]]
    return [[v["_key"], score] for score, v in ranked]


def nearly(on, b):
    """What an index that misses nothing would find; each tenth vector it misses."""
    on.vector_index(b["@rows"], len(b["near"]))
    found = [v for v in on.rows(b) if v["model"] == b["model"] and _of_group(v, b) and v["n"] % 10 != 9]
    scored = sorted(((cosine_similarity(v["vector"], b["near"]), v) for v in found), key=lambda pair: -pair[0])
    held = {f["fact"] for f in on.rows(b, "facts") if _met(f, b)}
    ranked = sorted(scored[: b["candidates"]], key=lambda pair: (-pair[0], pair[1]["n"]))
    return [[v["_key"], score] for score, v in ranked if v["n"] in held][: b["limit"]]


def erase(on, b):
    gone = [d for d in on.rows(b) if d["grp"] == b["group"]][: b["limit"]]
    for document in gone:
        on.put(b["@rows"], document["_key"], None)
    return [1] * len(gone)


TWINS = {
    getattr(aql, twin.__name__.upper()): twin
    for twin in (facts, reach, why, retracted_by, changes, about, page, counts, text, near, nearly, erase)
}

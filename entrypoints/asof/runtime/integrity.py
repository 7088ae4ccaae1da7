"""Looking into a directory: how much there is, how far everything has come, and whether it is whole."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from asof.runtime.control_log import expect_control
from asof.runtime.erasure import owing
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import Progress, existing, open_log
from asof_projections.graph.sqlite_store import inspection
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import rebuild
from asof_streams.errors import AsofError, DamagedFile, DamagedView
from asof_streams.instants import render
from asof_streams.key_store import key_place
from asof_streams.sqlite_log import SqliteLog

_COUNTED = ("entities", "merges", "communities", "facts", "open_versions", "contradictions")
_SHOWN = 100  # parked messages of each log


@dataclass(frozen=True, slots=True)
class Check:
    """Whether one part of a directory is whole."""

    what: str
    ok: bool
    found: str  # what was counted, or what is wrong and where

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return {"what": self.what, "ok": self.ok, "found": self.found}


def verify(places: DirectoryLayout, progress: Progress | None = None) -> Iterator[Check]:
    """Check each hash chain, each store against one built anew from its log, the vectors and the ontologies."""
    for what, found in inspect(places, progress):
        yield Check(what, ok=isinstance(found, str), found=str(found))


def inspect(places: DirectoryLayout, progress: Progress | None = None) -> Iterator[tuple[str, str | AsofError]]:
    """Yield what `verify` checks, each with what was counted in it, or with the error that looking at it ended in."""
    stores = {"episodic": places.episodes}
    stores |= {f"semantic.{g.name}": places.graph(g.name) for g in existing(places).generations}
    work: list[tuple[str, Callable[[], str]]] = []
    if places.keys.exists():
        work.append((f"keys {places.keys.name}", partial(check_keys, places)))
    if existing(places).control and not is_copy(places.root):
        work.append(("log control", partial(_check_control, places)))
    work += [(f"log {name}", partial(_check_chain, places, name)) for name in ("messages", *stores)]
    work += [(f"graph of {name}", partial(_check_store, places, name, path)) for name, path in stores.items()]
    if places.conversation.exists():
        work.append(("log conversation", partial(_check_chain, places, "conversation")))
        if places.conversations.exists() and not is_copy(places.root):
            work.append((f"projection {places.conversations.name}", partial(_check_conversations, places)))
    work += _vector_checks(places)
    work += [
        (f"ontology {path.relative_to(places.root)}", partial(_check_ontology, path, digest))
        for path, digest in _ontologies(places).items()
    ]
    for done, (what, check) in enumerate(work, 1):
        try:
            yield what, check()
        except AsofError as error:
            yield what, error
        if progress:
            progress(done, len(work))


def check_keys(places: DirectoryLayout) -> str:
    """Check that the keys of encrypted content can be read. KeysUnavailable; DamagedFile: a file of them is damaged."""
    place = key_place(places.keys)
    files = 0 if place is None else place.open().check()
    return f"{files} file{'s' * (files != 1)} of keys, each can be read"


def _check_chain(places: DirectoryLayout, name: str) -> str:
    with _log(places, name) as log:
        records = log.verify()
        if name not in ("messages", "conversation"):
            with _log(places, "messages" if name == "episodic" else "episodic") as before:
                from asof.runtime.generations import check_order  # with all that derives beliefs

                check_order(before, log)
        return _whole(records)


def _check_control(places: DirectoryLayout) -> str:
    expect_control(places, existing(places))
    with SqliteLog(places.control) as log:
        return _whole(log.verify())


def _check_conversations(places: DirectoryLayout) -> str:
    from asof.runtime.conversation_inspection import check_conversations

    return check_conversations(places)


def _whole(records: int) -> str:
    return f"{records} record{'s' * (records != 1)}, chain whole"


def _check_store(places: DirectoryLayout, name: str, path: Path) -> str:
    with _log(places, name) as log, tempfile.TemporaryDirectory() as scratch:
        copy, anew = Path(scratch) / "copy.db", Path(scratch) / path.name
        inspection.copy_store(path, copy)
        with SqliteGraph(copy, name) as store:
            position, head = store.position(), store.head()
        if position < log.end() and head == log.head(position):
            return f"at {position} of {log.end()}: the next write brings it up"
        inspection.check_file(copy, path)
        rebuild(log, anew)
        live = inspection.content_of(copy, path)
        if (position, head) != (log.end(), log.head(log.end())) or live != inspection.content_of(anew, anew):
            raise DamagedView(f"{path} is not what its log says: asof repair builds it anew")
        return f"equals its log: {live[:16]}"


def _vector_checks(places: DirectoryLayout) -> list[tuple[str, Callable[[], str]]]:
    checks: list[tuple[str, Callable[[], str]]] = []
    if places.vectors.exists():
        checks.append((f"vectors {places.vectors.name}", partial(_check_cache, places)))
    if places.turns_index.exists():
        checks.append((f"vectors {places.turns_index.name}", partial(_check_turns, places)))
    for info in existing(places).generations:
        for path, is_of_facts in ((places.index(info.name), True), (places.names_index(info.name), False)):
            if path.exists():
                check = partial(_check_index, places, info.name, path, is_of_facts=is_of_facts)
                checks.append((f"vectors {path.relative_to(places.root)}", check))
    return checks


def _check_cache(places: DirectoryLayout) -> str:
    from asof_projections.vectors.inspection import check_cache

    check_cache(places.vectors)
    return "pages whole"


def _check_turns(places: DirectoryLayout) -> str:
    from asof_projections.vectors.inspection import check_index

    with SqliteGraph(places.episodes, "episodic") as store:
        texts = [(number, text) for number, _, text in store.turn_texts()]
    return _as_texts(check_index(places.turns_index, texts, places.vectors))


def _check_index(places: DirectoryLayout, generation: str, path: Path, *, is_of_facts: bool) -> str:
    from asof_projections.vectors.inspection import check_index

    with SqliteGraph(places.graph(generation), f"semantic.{generation}") as store:
        texts = [(number, text) for number, _, text in (store.sentences() if is_of_facts else store.names())]
    return _as_texts(check_index(path, texts, places.vectors))


def _as_texts(vectors: int) -> str:
    return f"{vectors} vector{'s' * (vectors != 1)}, each as its text"


def _ontologies(places: DirectoryLayout) -> dict[Path, str | None]:
    """Return the files of ontologies, with the digest that the catalogue has of each.

    A copy of topics that no worker writes has none: they hold the digests alone.
    """
    paths: dict[Path, str | None] = {places.ontology: None}
    paths |= {places.ontology_of(i.name): i.ontology_digest for i in existing(places).generations}
    if is_copy(places.root):
        paths = {path: digest for path, digest in paths.items() if path.exists()}
    return {**paths, **dict.fromkeys(sorted(places.named_ontology("*").parent.glob("*.json")))}


def _check_ontology(path: Path, digest: str | None) -> str:
    ontology = kept_ontology(path)
    if digest not in (None, ontology.digest):
        raise DamagedFile(f"{path} is not the ontology that its generation was begun with: restore it from a backup")
    return f"{ontology.id} as it was kept"


def stats(places: DirectoryLayout) -> dict[str, Any]:
    """Return counts, positions and sizes, and the first hundred parked or failed messages of each log, with reasons."""
    catalog = existing(places)
    with _log(places, "messages") as messages, _log(places, "episodic") as episodic:
        heads = {"messages": messages.end(), "episodic": episodic.end()}
        waiting = messages.end() - episodic.checkpoint()
    with SqliteGraph(places.episodes, "episodic") as episodes:
        recorded, shown = episodes.counts(), _parked(episodes, "episodic")
        unsettled = Counter({state: recorded[state] for state in ("parked", "failed")})
    generations: dict[str, Any] = {}
    for info in catalog.generations:
        name = f"semantic.{info.name}"
        with _log(places, name) as log, SqliteGraph(places.graph(info.name), name) as store:
            counts = store.counts()
            generations[info.name] = {
                **{name: value for name, value in info.to_json().items() if name != "rule"},
                "advice": info.advice,
                "events": log.end(),
                "lag": heads["episodic"] - log.checkpoint(),
                **{kind: counts[kind] for kind in _COUNTED},
            }
            if info.name == catalog.active:
                shown += _parked(store, name)
                unsettled.update({state: counts[state] for state in unsettled})
    return {
        "messages": heads["messages"],
        "waiting": waiting,
        "episodic_events": heads["episodic"],
        **{kind: recorded[kind] for kind in ("episodes", "mentions", "relationships")},
        "active": catalog.active,
        "generations": generations,
        **unsettled,
        "erasing": len(owing(places)),
        "parked_messages": shown,
        "bytes": _sizes(places.root),
    }


def _sizes(root: Path) -> dict[str, int]:
    """Return the size of each file; those that another process removes meanwhile are left out."""
    sizes: dict[Path, int] = {}
    for folder, _, names in os.walk(root):
        for path in (Path(folder, name) for name in names):
            with suppress(FileNotFoundError):
                sizes[path.relative_to(root)] = path.stat().st_size
    return {str(path): sizes[path] for path in sorted(sizes)}


def together(found: Sequence[dict[str, Any]], folders: Sequence[str]) -> dict[str, Any]:
    """Return the stats of all partitions as one: counts are added up, parked messages name their folder."""
    return {
        "partitions": len(found),
        **_added([{k: v for k, v in one.items() if k not in ("parked_messages", "bytes")} for one in found]),
        "parked_messages": [
            {"partition": folder, **parked}
            for folder, one in zip(folders, found, strict=True)
            for parked in one["parked_messages"]
        ],
        "bytes": {
            f"{folder}/{name}": size
            for folder, one in zip(folders, found, strict=True)
            for name, size in one["bytes"].items()
        },
    }


def _added(found: Sequence[Any]) -> Any:
    """Add up numbers, in whatever they lie; the rest is as in the first."""
    match found[0]:
        case dict():
            names = dict.fromkeys(name for one in found for name in one)
            return {name: _added([one[name] for one in found if name in one]) for name in names}
        case int():
            return sum(found)
    return found[0]


def _parked(store: SqliteGraph, log: str) -> list[dict[str, Any]]:
    found = store.parked(None, limit=_SHOWN)
    return [{"log": log, **p._asdict(), "recorded_at": render(p.recorded_at)} for p in found]


def _log(places: DirectoryLayout, name: str) -> SqliteLog:
    kind, _, generation = name.partition(".")
    return open_log(places, kind, generation or None)

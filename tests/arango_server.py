"""A stand-in for an ArangoDB server, under the driver's HTTPClient: what it keeps, how it fails, what it refuses.

It is honest within limits. Documents, transactions (staged writes, snapshots, conflicts, locks, an idle time after
which they are gone), collections, indexes, graphs and databases behave as ArangoDB's documentation says; a number that
is whole is an integer, as there. It interprets no AQL: each query of the adapter has a Python twin in
arango_twins.py, found by the exact text. So it shows what the adapter sends and does, never what AQL means. Whatever it
does not know, and whatever the table of operations or the published API description does not have, fails the test.
"""

import itertools
import json
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import requests
from arango.http import HTTPClient
from arango.response import Response

import arango_twins
from arango_operations import Operation, check, operation
from asof_projections.graph.arango import aql, connection

IDLE_SECONDS = 60.0
BATCH = 1_000  # rows of a cursor's answer


class Refused(Exception):
    """An answer that is an error: HTTP status and error number."""

    def __init__(self, status: int, number: int) -> None:
        super().__init__(f"{status}/{number}")
        self.status, self.number = status, number


@dataclass
class Fault:
    """What goes wrong with the `nth` request of an operation from now on."""

    on: str
    nth: int
    status: int = 0
    number: int = 0
    before: bool = False  # the connection breaks before the server does anything
    after: bool = False  # it does it, and the answer is lost
    idle: float = 0.0  # so much time passes first
    down: bool = False  # the server goes away
    each: bool = False  # not the request fails, but each document of it


@dataclass
class Collection:
    edge: bool
    documents: dict = field(default_factory=dict)  # never changed in place: replaced as a whole when written
    indexes: dict = field(default_factory=dict)


@dataclass
class Transaction:
    declared: dict
    before: dict  # collection -> documents at begin
    staged: dict = field(default_factory=dict)  # collection -> key -> document or None
    used: float = 0.0
    state: str = "running"


class Request(NamedTuple):
    path: list[str]
    params: dict
    body: Any


class Database:
    def __init__(self) -> None:
        self.collections: dict[str, Collection] = {}
        self.graphs: dict[str, dict] = {}
        self.views: dict[str, dict] = {}
        self.transactions: dict[str, Transaction] = {}
        self.cursors: dict[str, tuple[list, int]] = {}  # the rows that are left, and how many an answer has


class Server:
    """One server, shared by as many clients as are opened with `http`."""

    def __init__(self, version: str = "3.12.10", password: str = "secret") -> None:
        self.version, self.password = version, password
        self.databases = {"_system": Database()}
        self.asked: list[str] = []  # the operations, in order
        self.faults: list[Fault] = []
        self.now = 0.0
        self.largest = 1 << 27  # bytes of a document
        self.rights: dict[str, str] | None = None  # on databases: "ro", "rw"; None: all
        self.memory: set[int] = set()  # the limits that queries had
        self.most_rows = 0  # of an answer
        self.read_only = self.down = False
        self._numbers = itertools.count(1)

    def http(self) -> "Wire":
        return Wire(self)

    def fail(self, on: str, nth: int = 1, **how) -> None:
        self.faults.append(Fault(on, nth, **how))

    def counted(self, work: Callable[[], object]) -> Counter:
        """Return how many requests of each operation some work costs."""
        start = len(self.asked)
        work()
        return Counter(self.asked[start:])

    def stored(self) -> str:
        """Return all documents of all databases as text."""
        return json.dumps([c.documents for d in self.databases.values() for c in d.collections.values()])

    def answer(self, method: str, url: str, headers: dict, params: dict, data: str | None, auth: tuple) -> tuple:
        """Answer one request: (status, body)."""
        if self.down:
            raise requests.exceptions.ConnectionError
        parts = urlsplit(url)
        name, path = _database(parts.path)
        body = json.loads(data, parse_float=_number) if data else None
        asked = operation(method, path)
        check(asked, params, body)
        self.asked.append(asked.name)
        fault = self._fault(asked.name)
        if fault is not None:
            self.now += fault.idle
            self.down |= fault.down
            if self.down:
                raise requests.exceptions.ConnectionError
            if fault.before:
                raise requests.exceptions.ConnectionError
            if fault.each:
                return 202, [_error(fault.status, fault.number)[1] for _ in body or ()]
            if fault.status:
                return _error(fault.status, fault.number)
        try:
            answered = self._answer(asked, name, unquote(path), headers or {}, params or {}, body, auth)
        except Refused as refused:
            answered = _error(refused.status, refused.number)
        if fault is not None and fault.after:
            raise requests.exceptions.ConnectionError
        status, answer = answered
        if isinstance(answer, dict) and "_id" not in answer:  # all but documents say how it went
            answer = {"error": False, "code": status, **answer}
        return status, answer

    def _fault(self, name: str) -> Fault | None:
        for fault in [f for f in self.faults if f.on == name]:
            fault.nth -= 1
            if fault.nth == 0:
                self.faults.remove(fault)
                return fault
        return None

    def _answer(self, asked: Operation, name: str, path: str, headers, params, body, auth) -> tuple:
        if auth is None or auth[1] != self.password:
            raise Refused(401, 11)
        if name not in self.databases:
            raise Refused(404, 1228)
        right = "rw" if self.rights is None else self.rights.get(name)
        if right is None:
            raise Refused(401, 11)
        if right == "ro" and asked.writes:
            raise Refused(403, 11)
        if self.read_only and asked.writes:
            raise Refused(403, 1004)
        work = Work(self, self.databases[name], headers.get("x-arango-trx-id"))
        return getattr(work, asked.name)(Request(path.split("/"), params, body))

    def number(self) -> str:
        return str(next(self._numbers))


class Work:
    """One request's view of a database: that of its transaction, if it names one."""

    def __init__(self, server: Server, database: Database, transaction: str | None) -> None:
        self.server, self.database = server, database
        self.transaction = None if transaction is None else self._running(transaction)

    def _running(self, number: str) -> Transaction:
        for transaction in self.database.transactions.values():
            if transaction.state == "running" and self.server.now - transaction.used > IDLE_SECONDS:
                transaction.state = "aborted"
        found = self.database.transactions.get(number)
        if found is None or found.state == "aborted":
            raise Refused(404, 1655)
        found.used = self.server.now
        return found

    # Documents as this request sees them.

    def documents(self, name: str) -> dict:
        if name not in self.database.collections:
            raise Refused(404, 1203)
        if self.transaction is None:
            return self.database.collections[name].documents
        there = dict(self.transaction.before[name])
        for key, document in self.transaction.staged.get(name, {}).items():
            if document is None:
                there.pop(key, None)
            else:
                there[key] = document
        return there

    def document(self, name: str, key: str) -> dict | None:
        if name not in self.database.collections:
            raise Refused(404, 1203)
        if self.transaction is None:
            return self.database.collections[name].documents.get(key)
        return self.transaction.staged.get(name, {}).get(key, self.transaction.before[name].get(key))

    def put(self, name: str, key: str, document: dict | None) -> None:
        collection = self.database.collections[name]
        if self.transaction is None:
            collection.documents = {**collection.documents, key: document}
            if document is None:
                del collection.documents[key]
            return
        if name not in self.transaction.declared["write"] + self.transaction.declared["exclusive"]:
            raise Refused(400, 1652)
        if collection.documents.get(key) is not self.transaction.before[name].get(key):
            raise Refused(409, 1200)
        self.transaction.staged.setdefault(name, {})[key] = document

    # Documents.

    def insert(self, r) -> tuple:
        name = r.path[-1]
        if isinstance(r.body, list):
            return 202, [self._each(partial(self._insert, name, r.params, document)) for document in r.body]
        return 202, self._insert(name, r.params, r.body)

    def _each(self, work: Callable[[], dict]) -> dict:
        """One of many fails alone, and the request succeeds."""
        try:
            return work()
        except Refused as refused:
            return _error(refused.status, refused.number)[1]

    def _insert(self, name: str, params: dict, document: dict) -> dict:
        key = document.get("_key")
        assert isinstance(key, str), "asof gives every document its key"
        if not key or len(key) > 254 or not all(c.isascii() and (c.isalnum() or c in "_-.@()+,=;$!*'%:") for c in key):
            raise Refused(400, 1221)
        if len(json.dumps(document)) > self.server.largest:
            raise Refused(413, 1216)
        old = self.document(name, key)
        if self.database.collections[name].edge and not {"_from", "_to"} <= document.keys():
            raise Refused(400, 1233)
        version = params.get("versionAttribute")
        if old is not None:
            if params.get("overwriteMode") != "replace":
                raise Refused(409, 1210)
            if version and document[version] <= old[version]:
                return {"_id": f"{name}/{key}", "_key": key, "_rev": old["_rev"], "_oldRev": old["_rev"]}
        whole = {**document, "_id": f"{name}/{key}", "_rev": self.server.number()}
        self.put(name, key, whole)
        return {what: whole[what] for what in ("_id", "_key", "_rev")}

    def get_many(self, r) -> tuple:
        assert r.params.get("onlyget") in ("1", 1, True, "true")
        there = self.documents(r.path[-1])
        return 200, [there.get(key) or _error(404, 1202)[1] for key in r.body]

    def get(self, r) -> tuple:
        found = self.documents(r.path[-2]).get(r.path[-1])
        if found is None:
            raise Refused(404, 1202)
        return 200, found

    def delete_many(self, r) -> tuple:
        return 202, [self._each(partial(self._delete, r.path[-1], key)) for key in r.body]

    def delete(self, r) -> tuple:
        return 202, self._delete(r.path[-2], r.path[-1])

    def _delete(self, name: str, key: str) -> dict:
        found = self.document(name, key)
        if found is None:
            raise Refused(404, 1202)
        self.put(name, key, None)
        return {what: found[what] for what in ("_id", "_key", "_rev")}

    # Queries.

    def query(self, r) -> tuple:
        twin = arango_twins.TWINS.get(r.body["query"])
        assert twin is not None, "no query of asof_projections.graph.arango.aql"
        bound = r.body.get("bindVars", {})
        if bound.keys() != aql.binds(r.body["query"]):
            raise Refused(400, 1551)
        self.server.memory.add(r.body.get("memoryLimit", 0))
        rows = json.loads(json.dumps(twin(self, bound)), parse_float=_number)
        return 201, self._batch(self.server.number(), rows, r.body.get("batchSize", BATCH))

    def _batch(self, number: str, rows: list, size: int) -> dict:
        """Some rows of a cursor, which holds the rest."""
        self.server.most_rows = max(self.server.most_rows, len(rows[:size]))
        if len(rows) <= size:
            return {"result": rows, "hasMore": False}
        self.database.cursors[number] = rows[size:], size
        return {"result": rows[:size], "hasMore": True, "id": number}

    def more(self, r) -> tuple:
        rest = self.database.cursors.pop(r.path[-1], None)
        if rest is None:
            raise Refused(404, 1600)
        return 200, self._batch(r.path[-1], *rest)

    def rows(self, bound: dict, kind: str = "rows") -> list[dict]:
        """The documents of a bound collection."""
        return list(self.documents(bound[f"@{kind}"]).values())

    def vector_index(self, name: str, dimensions: int) -> None:
        """Refuse a query that needs a trained vector index where there is none of these dimensions."""
        found = [i for i in self.database.collections[name].indexes.values() if i["type"] == "vector"]
        if [i for i in found if i["params"]["dimension"] == dimensions and i["params"]["metric"] == "cosine"] == []:
            raise Refused(400, 1554)
        if len(self.documents(name)) < found[0]["params"]["nLists"]:
            raise Refused(400, 1555)

    # Transactions.

    def begin(self, r) -> tuple:
        assert self.transaction is None
        declared = {how: _listed(r.body["collections"].get(how)) for how in ("read", "write", "exclusive")}
        if set(itertools.chain(*declared.values())) - self.database.collections.keys():
            raise Refused(404, 1203)
        until = self.server.now + r.body.get("lockTimeout", 900)
        for other in self.database.transactions.values():
            if other.state == "running" and {*other.declared["exclusive"]} & {*declared["exclusive"]}:
                gone = other.used + IDLE_SECONDS
                self.server.now = min(gone, until)
                if gone > until:
                    raise Refused(409, 18)
                other.state = "aborted"
        before = {name: c.documents for name, c in self.database.collections.items()}
        number = self.server.number()
        self.database.transactions[number] = Transaction(declared, before, used=self.server.now)
        return 201, {"result": {"id": number, "status": "running"}}

    def commit(self, r) -> tuple:
        transaction = self._running(r.path[-1])
        if transaction.state == "running":
            self.transaction = None
            for name, staged in transaction.staged.items():
                collection = self.database.collections[name]
                written = {**collection.documents, **staged}
                collection.documents = {key: d for key, d in written.items() if d is not None}
            transaction.state = "committed"
        return 200, {"result": {"id": r.path[-1], "status": "committed"}}

    def abort(self, r) -> tuple:
        self._running(r.path[-1]).state = "aborted"
        return 200, {"result": {"id": r.path[-1], "status": "aborted"}}

    # What is there.

    def list_collections(self, _) -> tuple:
        found = [
            {"id": name, "name": name, "isSystem": False, "type": 3 if c.edge else 2, "status": 3}
            for name, c in self.database.collections.items()
        ]
        return 200, {"result": found}

    def create_collection(self, r) -> tuple:
        if r.body["name"] in self.database.collections:
            raise Refused(409, 1207)
        self._make(r.body["name"], edge=r.body.get("type") == 3)
        return 200, {"id": self.server.number(), "name": r.body["name"], "type": r.body.get("type", 2), "status": 3}

    def _make(self, name: str, *, edge: bool) -> None:
        assert name[0].isalpha()
        assert name.replace("_", "").replace("-", "").isalnum()
        self.database.collections.setdefault(name, Collection(edge))

    def delete_collection(self, r) -> tuple:
        if any(r.path[-1] in named_by(graph) for graph in self.database.graphs.values()):
            raise Refused(403, 1942)
        if self.database.collections.pop(r.path[-1], None) is None:
            raise Refused(404, 1203)
        return 200, {"id": r.path[-1]}

    def count(self, r) -> tuple:
        return 200, {"count": len(self.documents(r.path[-2]))}

    def truncate(self, r) -> tuple:
        assert self.transaction is None
        self.documents(r.path[-2])
        self.database.collections[r.path[-2]].documents = {}
        return 200, {"name": r.path[-2]}

    def list_indexes(self, r) -> tuple:
        found = self.database.collections[r.params["collection"]].indexes
        return 200, {"indexes": [{"id": name, "unique": False, "sparse": False, **i} for name, i in found.items()]}

    def create_index(self, r) -> tuple:
        indexes = self.database.collections[r.params["collection"]].indexes
        new = r.body["name"] not in indexes
        assert new or indexes[r.body["name"]] == r.body
        indexes[r.body["name"]] = r.body
        return 201 if new else 200, {"id": r.body["name"], "isNewlyCreated": new, "unique": False, **r.body}

    def get_graph(self, r) -> tuple:
        if r.path[-1] not in self.database.graphs:
            raise Refused(404, 1924)
        return 200, {"graph": self.database.graphs[r.path[-1]]}

    def create_graph(self, r) -> tuple:
        if r.body["name"] in self.database.graphs:
            raise Refused(409, 1925)
        for edge in r.body["edgeDefinitions"]:
            self._make(edge["collection"], edge=True)
        for name in named_by(r.body):
            self._make(name, edge=False)
        self.database.graphs[r.body["name"]] = r.body
        return 202, {"graph": {**r.body, "_id": f"_graphs/{r.body['name']}", "orphanCollections": []}}

    def list_graphs(self, _) -> tuple:
        return 200, {
            "graphs": [{"_id": f"_graphs/{n}", "_key": n, "_rev": "1", **g} for n, g in self.database.graphs.items()]
        }

    def delete_graph(self, r) -> tuple:
        if self.database.graphs.pop(r.path[-1], None) is None:
            raise Refused(404, 1924)
        return 202, {"removed": True}

    def list_views(self, _) -> tuple:
        return 200, {"result": [{"id": n, "name": n, "type": "arangosearch"} for n in self.database.views]}

    def create_view(self, r) -> tuple:
        self.database.views[r.body["name"]] = r.body
        return 201, {"id": r.body["name"], **r.body}

    def delete_view(self, r) -> tuple:
        if self.database.views.pop(r.path[-1], None) is None:
            raise Refused(404, 1203)
        return 200, {"result": True}

    def list_databases(self, _) -> tuple:
        return 200, {"result": list(self.server.databases)}

    def create_database(self, r) -> tuple:
        assert r.body["options"]["sharding"] == "single"
        self.server.databases[r.body["name"]] = Database()
        return 201, {"result": True}

    def delete_database(self, r) -> tuple:
        del self.server.databases[r.path[-1]]
        return 200, {"result": True}

    def get_version(self, _) -> tuple:
        return 200, {"server": "arango", "license": "community", "version": self.server.version}


class Wire(HTTPClient):
    """Carries the driver's requests to a Server in this process."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def create_session(self, host):
        del host
        return requests.Session()

    def send_request(self, session, method, url, headers=None, params=None, data=None, auth=None) -> Response:
        del session
        status, body = self._server.answer(method, url, headers, params, data, auth)
        return Response(method, url, {}, status, "", json.dumps(body))


@contextmanager
def carrying(server: Server) -> Iterator[str]:
    """Let what this process sends to graph databases reach a server in it, without a port; yield an address of it.

    The driver sends the same. A request by a port takes most of its time for HTTP: for a test that sends thousands.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "DefaultHTTPClient", lambda **_: Wire(server))
        yield f"http://root:{server.password}@arango.invalid/asof"


@contextmanager
def listening(server: Server) -> Iterator[str]:
    """Give a server a port of this machine, as a user's settings name it; yield its address."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16
        disable_nagle_algorithm = True

        def handle_one(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            data = self.rfile.read(length).decode() if length else None
            parts = urlsplit(self.path)
            params = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            user, _, password = b64decode(self.headers["authorization"].split()[1]).decode().partition(":")
            try:
                with lock:
                    status, body = server.answer(
                        self.command.lower(), parts.path, dict(self.headers), params, data, (user, password)
                    )
            except requests.exceptions.ConnectionError:
                self.close_connection = True
                return
            answered = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(answered)))
            self.end_headers()
            self.wfile.write(answered)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_one  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads = True
    thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://root:{server.password}@127.0.0.1:{serving.server_port}/asof"
    finally:
        serving.shutdown()
        serving.server_close()
        thread.join()


def named_by(graph: dict) -> set[str]:
    """The collections that a graph names."""
    edges = graph["edgeDefinitions"]
    ends = {name for edge in edges for name in edge["from"] + edge["to"]}
    return {*ends, *(edge["collection"] for edge in edges), *graph.get("orphanCollections", ())}


def _database(path: str) -> tuple[str, str]:
    """Split /_db/<name>/... into the name and the rest."""
    _, _, name, rest = path.split("/", 3)
    return unquote(name), f"/{rest}"


def _error(status: int, number: int) -> tuple[int, dict]:
    return status, {"error": True, "code": status, "errorNum": number, "errorMessage": "with content, maybe"}


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _listed(names: list[str] | str | None) -> list[str]:
    return [names] if isinstance(names, str) else names or []

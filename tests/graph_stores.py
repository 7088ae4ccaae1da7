"""Where each kind of graph store is made and opened: the contract and the oracle are put to all of them."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from arango_server import Server
from asof_projections.graph.arango import aql
from asof_projections.graph.arango.administration import create
from asof_projections.graph.arango.connection import Address, client, database
from asof_projections.graph.arango.schema import CHECKPOINTS, COLLECTIONS, prefix
from asof_projections.graph.arango.store import ArangoGraph
from asof_projections.graph.arango.wire import OPEN
from asof_projections.graph.sqlite_store.store import SqliteGraph

LOG = "semantic.main"


class SqliteStores:
    """Each name is a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._fresh = count()

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def fresh(self) -> str:
        return f"fresh{next(self._fresh)}"

    @contextmanager
    def writing(self, name: str = "graph") -> Iterator[SqliteGraph]:
        with SqliteGraph(self.path(name), LOG, writable=True) as store:
            yield store

    def reading(self, name: str = "graph", log: str = LOG) -> SqliteGraph:
        return SqliteGraph(self.path(name), log)

    def stored(self) -> bytes:
        return b"".join(file.read_bytes() for file in self.folder.iterdir())

    def age(self) -> None:
        """Make the store one of another version."""
        with sqlite3.connect(self.path("graph")) as db:
            db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
        db.close()


class ArangoStores:
    """Each name is a database of one server."""

    def __init__(self) -> None:
        self.server = Server()
        self._fresh = count()

    def address(self, name: str = "graph") -> Address:
        return Address.parse(f"http://root:{self.server.password}@server/{name}")

    def fresh(self) -> str:
        return f"fresh{next(self._fresh)}"

    @contextmanager
    def writing(self, name: str = "graph") -> Iterator[ArangoGraph]:
        create(self.address(name), LOG, self.server.http)
        with self.reading(name) as store:
            yield store

    def reading(self, name: str = "graph", log: str = LOG) -> ArangoGraph:
        return ArangoGraph(self.address(name), log, self.server.http)

    def stored(self) -> bytes:
        return self.server.stored().encode()

    def age(self) -> None:
        documents = self.server.databases["graph"].collections[CHECKPOINTS].documents
        documents[LOG] = {**documents[LOG], "schema": "0"}


class LiveStores:
    """Each name is a database of the server at ARANGO_URL, which is removed at the end."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._start = f"asof-verify-{os.getpid()}-{next(_RUNS)}"
        self.made: set[str] = set()
        self._fresh = count()

    def address(self, name: str = "graph") -> Address:
        return Address.parse(f"{self.url}/{self._start}-{name}")

    def fresh(self) -> str:
        return f"fresh{next(self._fresh)}"

    @contextmanager
    def writing(self, name: str = "graph") -> Iterator[ArangoGraph]:
        self.made.add(name)
        create(self.address(name), LOG)
        with self.reading(name) as store:
            yield store

    def reading(self, name: str = "graph", log: str = LOG) -> ArangoGraph:
        return ArangoGraph(self.address(name), log)

    def stored(self) -> bytes:
        names = [prefix(LOG) + kind for kind in COLLECTIONS.values()]
        bound = {"group": None, "after": -1, "known": OPEN, "limit": 10**9, "prefix": None}
        with self.database() as db:
            found = [list(db.aql.execute(aql.PAGE, bind_vars={"@rows": name, **bound})) for name in names]
        return json.dumps(found, ensure_ascii=False).encode()

    def age(self) -> None:
        with self.database() as db:
            checkpoints = db.collection(CHECKPOINTS)
            checkpoints.insert({**checkpoints.get(LOG), "schema": "0"}, overwrite_mode="replace")

    def close(self) -> None:
        for name in self.made:
            with self.database(system=True) as db:
                db.delete_database(self.address(name).database)

    @contextmanager
    def database(self, name: str = "graph", *, system: bool = False):
        """Give a database as the driver has it."""
        opened = client(self.address(name))
        try:
            yield database(opened, self.address(name), "_system" if system else None)
        finally:
            opened.close()


_RUNS = count()
Stores = SqliteStores | ArangoStores | LiveStores

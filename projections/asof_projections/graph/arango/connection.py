"""The address of a graph database, and a connection to it for one thread, which never repeats a request by itself."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from arango.client import ArangoClient
from arango.http import DefaultHTTPClient

from asof_projections.graph.arango.errors import translated_errors
from asof_projections.graph.arango.schema import OLDEST
from asof_projections.graph.arango.wire import dumps
from asof_streams.errors import ContractError, InvalidInput

TIMEOUT_SECONDS: Final = 90  # longer than a lock is waited for
LOCK_SECONDS: Final = 75  # longer than the 60 after which a server forgets a transaction whose client is gone

MakeHttp = Callable[[], Any]
"""Makes the driver's HTTPClient."""


@dataclass(frozen=True, slots=True)
class Address:
    """A server, a user and a database."""

    server: str
    user: str
    password: str = field(repr=False)
    database: str
    query_memory: int = 1 << 30  # bytes that a query may take on the server

    @classmethod
    def parse(cls, url: str, password: str | None = None, query_memory: int = 1 << 30) -> "Address":
        """Parse http[s]://[user[:password]@]host[:port]/database. InvalidInput: it is no such address."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise InvalidInput("the address of ArangoDB is http://USER@HOST:PORT/DATABASE") from None
        database = unquote(parts.path.strip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname or not database or "/" in database:
            raise InvalidInput("the address of ArangoDB is http://USER@HOST:PORT/DATABASE")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        server = f"{parts.scheme}://{host}:{port or 8529}"
        shown = unquote(parts.password or "") if password is None else password
        return cls(server, unquote(parts.username or "root"), shown, database, query_memory)

    def beside(self, suffix: str) -> "Address":
        """Return the address of the database whose name has a suffix behind this one's."""
        return replace(self, database=self.database + suffix)

    @property
    def where(self) -> str:
        """The address as messages show it: without the user."""
        return f"{self.server}/{self.database}"


def client(address: Address, http: MakeHttp | None = None) -> Any:
    """Return a client of the driver, which the caller closes. Nothing is sent yet."""
    carrier = http() if http else DefaultHTTPClient(request_timeout=TIMEOUT_SECONDS, retry_attempts=0)
    return ArangoClient(hosts=address.server, http_client=carrier, resolver_max_tries=1, serializer=dumps)


def database(opened: Any, address: Address, name: str | None = None) -> Any:
    """Return the driver's object of a database: the one in the address, unless `name` is another."""
    return opened.db(name or address.database, username=address.user, password=address.password)


def require_version(db: Any, where: str) -> str:
    """Return the server's version. ContractError: it is too old."""
    with translated_errors(where):
        version: str = db.version()
    numbers = tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:3] if part.isdigit())
    if numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise ContractError(f"ArangoDB at {where} has version {version}, asof needs {wanted} or later")
    return version

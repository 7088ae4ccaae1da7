"""Translates ArangoDB's errors by their numbers. Its messages may quote content, so none is passed on."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from arango.exceptions import ArangoError, ArangoServerError

from asof_streams.errors import (
    AccessDenied,
    AsofError,
    ContractError,
    GraphUnavailable,
    InvalidInput,
    NotFound,
    StorageFailed,
)

AGAIN: Final = frozenset({18, 28, 29, 503, 1200, 1654, 1655, 21004})
"""Errors after which a unit of work is repeated: locks, conflicts, lost transactions, an overloaded server."""

_NOT_FOUND: Final = 1202  # a document
_NOT_THERE: Final = (1203, 1228, 1924)  # collection or view, database, graph
_REFUSED: Final = (11, 401, 403)
_NOT_WRITTEN: Final = (1004, 1104)  # read-only, by hand or by its licence's limit on size; the disk is full
_NO_INDEX: Final = (1554, 1555)
_TOO_MUCH: Final = (32, 1216)  # memory or transaction size, size of a document


class NoVectorIndex(ContractError):
    """No trained vector index fits the query: search exactly instead."""


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Raise the driver's errors as ours. where: the database, without its user."""
    try:
        yield
    except ArangoServerError as error:
        raise translation(error, where) from None
    except OSError:  # of the transport; its message may name the user
        raise GraphUnavailable(f"ArangoDB does not answer at {where}: check that it runs, and ASOF_GRAPH_URL") from None
    except ArangoError as error:
        raise ContractError(f"ArangoDB at {where}: the driver refused a request ({type(error).__name__})") from None


def require_gone(results: Iterable[Any]) -> None:
    """Raise the error of a document that could not be removed; one that was never there is fine."""
    for result in results:
        if isinstance(result, ArangoServerError) and result.error_code != _NOT_FOUND:
            raise result


def translation(error: Any, where: str) -> AsofError:
    """Return an error of the server as one of ours."""
    number, status = error.error_code, error.http_code
    if number in AGAIN or status == 503:
        return GraphUnavailable(f"ArangoDB at {where} is busy or not ready (error {number}): try again")
    if number in _NOT_THERE:
        return NotFound(f"ArangoDB at {where} does not hold this graph (error {number}): asof graph create makes it")
    if number in _NOT_WRITTEN:
        return StorageFailed(
            f"ArangoDB at {where} refuses writes (error {number}): its disk is full, or it is read-only, by its "
            "configuration or because the size limit of its licence is exceeded"
        )
    if number in _TOO_MUCH:
        return InvalidInput(
            f"ArangoDB at {where} refused a request for its size (error {number}): raise its limits on documents, "
            "transactions and memory"
        )
    if number in _NO_INDEX:
        return NoVectorIndex(f"ArangoDB at {where} has no vector index that is ready (error {number}): check the index")
    if number in _REFUSED or status in _REFUSED:
        return AccessDenied(
            f"ArangoDB at {where} refuses this user: check the user and ASOF_GRAPH_PASSWORD, and its rights on this "
            "database: ro to ask, rw to write"
        )
    return ContractError(f"ArangoDB at {where} refused a request (error {number}, HTTP {status}): report it")

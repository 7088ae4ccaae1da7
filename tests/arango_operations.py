"""The operations of ArangoDB's HTTP API that the adapter uses, and what a request of each may be.

The table is written by hand, from the documentation. Where the published API description is at hand, every request is
checked against it as well.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType

from jsonschema_rs import Draft202012Validator

DESCRIPTION = Path(__file__).resolve().parents[2] / "shared/arango/openapi-3.12-subset.json"
DESCRIBED = DESCRIPTION.exists()  # looked up once, not for each request
_WRITE = {"returnNew", "returnOld", "silent", "overwrite", "overwriteMode", "versionAttribute"}


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str  # a pattern
    published: str | None  # the path in the published description
    params: frozenset[str] = frozenset()
    body: type | tuple[type, ...] = NoneType
    fields: frozenset[str] = frozenset()  # of an object that is the body
    writes: bool = False


def _op(name, method, path, published=None, params=(), body=NoneType, fields=(), *, writes=False) -> Operation:
    return Operation(name, method, path, published, frozenset(params), body, frozenset(fields), writes)


_DB = "/_db/{database-name}"
_DOCUMENT = f"{_DB}/_api/document/{{collection}}"
_INDEX_FIELDS = {"type", "name", "fields"}
_QUERY_FIELDS = {"query", "count", "batchSize", "bindVars", "memoryLimit", "options", "allowRetry", "failOnWarning"}
OPERATIONS = [
    _op("insert", "post", "/_api/document/[^/]+", _DOCUMENT, _WRITE, (dict, list), writes=True),
    _op("get_many", "put", "/_api/document/[^/]+", f"{_DOCUMENT}#get", {"onlyget"}, list),
    _op("delete_many", "delete", "/_api/document/[^/]+", _DOCUMENT,
        {"returnOld", "ignoreRevs", "overwrite", "silent"}, list, writes=True),
    _op("get", "get", "/_api/document/[^/]+/[^/]+", f"{_DOCUMENT}/{{key}}"),
    _op("delete", "delete", "/_api/document/[^/]+/[^/]+", f"{_DOCUMENT}/{{key}}",
        {"returnOld", "ignoreRevs", "overwrite", "silent"}, writes=True),
    _op("query", "post", "/_api/cursor", f"{_DB}/_api/cursor", (), dict, _QUERY_FIELDS),
    _op("more", "post", "/_api/cursor/[^/]+", f"{_DB}/_api/cursor/{{cursor-identifier}}"),
    _op("begin", "post", "/_api/transaction/begin", f"{_DB}/_api/transaction/begin", (), dict,
        {"collections", "allowImplicit", "lockTimeout"}),
    _op("commit", "put", "/_api/transaction/[^/]+", f"{_DB}/_api/transaction/{{transaction-id}}"),
    _op("abort", "delete", "/_api/transaction/[^/]+", f"{_DB}/_api/transaction/{{transaction-id}}"),
    _op("list_collections", "get", "/_api/collection", f"{_DB}/_api/collection"),
    _op("create_collection", "post", "/_api/collection", f"{_DB}/_api/collection", (), dict, writes=True),
    _op("count", "get", "/_api/collection/[^/]+/count", f"{_DB}/_api/collection/{{collection-name}}/count"),
    _op("truncate", "put", "/_api/collection/[^/]+/truncate", f"{_DB}/_api/collection/{{collection-name}}/truncate",
        writes=True),
    _op("delete_collection", "delete", "/_api/collection/[^/]+", None, (), writes=True),
    _op("list_indexes", "get", "/_api/index", f"{_DB}/_api/index", {"collection"}),
    _op("create_index", "post", "/_api/index", f"{_DB}/_api/index#persistent", {"collection"}, dict, _INDEX_FIELDS,
        writes=True),
    _op("get_graph", "get", "/_api/gharial/[^/]+", f"{_DB}/_api/gharial/{{graph}}"),
    _op("list_graphs", "get", "/_api/gharial"),
    _op("create_graph", "post", "/_api/gharial", f"{_DB}/_api/gharial", (), dict, writes=True),
    _op("delete_graph", "delete", "/_api/gharial/[^/]+", None, {"dropCollections"}, writes=True),
    _op("list_views", "get", "/_api/view"),
    _op("create_view", "post", "/_api/view", f"{_DB}/_api/view", (), dict, writes=True),
    _op("delete_view", "delete", "/_api/view/[^/]+", writes=True),
    _op("list_databases", "get", "/_api/database"),
    _op("create_database", "post", "/_api/database", "/_db/_system/_api/database", (), dict, {"name", "options"},
        writes=True),
    _op("delete_database", "delete", "/_api/database/[^/]+", writes=True),
    _op("get_version", "get", "/_api/version", f"{_DB}/_api/version", {"details"}),
]  # fmt: skip


def operation(method: str, path: str) -> Operation:
    found = [op for op in OPERATIONS if op.method == method and re.fullmatch(op.path, path)]
    assert len(found) == 1, f"no operation that the adapter uses: {method} {path}"
    return found[0]


def check(asked: Operation, params: dict | None, body: object) -> None:
    """Refuse a request that the table, or the published description, does not have."""
    given = (params or {}).keys()
    assert given <= asked.params, f"{asked.name}: {given - asked.params}"
    assert isinstance(body, asked.body), f"{asked.name}: {type(body)}"
    if asked.fields and isinstance(body, dict):
        assert body.keys() <= asked.fields, f"{asked.name}: {body.keys() - asked.fields}"
    if asked.published and DESCRIBED:
        _check_published(asked, params or {}, body)


def _check_published(asked: Operation, params: dict, body: object) -> None:
    published = asked.published
    assert published is not None
    if asked.name == "insert" and isinstance(body, list):
        published += "#multiple"
    described = _description()["paths"][published][asked.method]
    known = {p["name"]: p for p in described.get("parameters", ()) if p["in"] == "query"}
    tolerated = {
        "silent",
        "overwrite",
        "returnNew",
        "returnOld",
        "ignoreRevs",
        "details",
    }  # the driver always sends them
    assert params.keys() <= known.keys() | tolerated, f"{asked.name}: {params.keys() - known.keys()}"
    for name, value in params.items():
        if "enum" in known.get(name, {}).get("schema", {}):
            assert value in known[name]["schema"]["enum"], f"{asked.name}: {name}={value}"
    for name, parameter in known.items():
        assert not parameter.get("required") or name in params, f"{asked.name} needs {name}"
    schema = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is not None and body is not None:
        _validator(published, asked.method).validate(body)


@cache
def _description() -> dict:
    return json.loads(DESCRIPTION.read_text())


@cache
def _validator(published: str, method: str) -> Draft202012Validator:
    described = _description()["paths"][published][method]
    return Draft202012Validator(described["requestBody"]["content"]["application/json"]["schema"])

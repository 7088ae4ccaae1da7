"""The page at /docs describes every route by itself, and programs are told the same in OpenAPI 3.1."""

import json
import re
from typing import Any

import pytest

from http_server import Server


@pytest.fixture
def described(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.client.get("/openapi.json").json()
    return found


def test_the_page_names_every_operation_parameter_and_schema(server: Server, described: dict[str, Any]) -> None:
    answer = server.client.get("/docs")

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in answer.text
            assert all(f"<code>{each['name']}</code>" in answer.text for each in operation.get("parameters", []))
    for name in described["components"]["schemas"]:
        assert f'id="{name}"' in answer.text


def test_the_page_loads_nothing_and_each_of_its_links_leads_somewhere(server: Server) -> None:
    page = server.client.get("/docs").text

    assert not re.findall(r"<script|<link|<img|<iframe|@import|url\(|https?://", page)
    links = set(re.findall(r'href="([^"]+)"', page))
    assert links - {"openapi.json"} == {f"#{name}" for name in re.findall(r'id="([^"]+)"', page)} & links
    assert server.client.get("/openapi.json").is_success


def test_the_root_leads_to_the_page(server: Server) -> None:
    answer = server.client.get("/", follow_redirects=True)

    assert answer.url.path == "/docs"
    assert answer.is_success


def test_there_is_one_schema_of_a_problem_and_operation_ids_are_unique(described: dict[str, Any]) -> None:
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    answers = [answer for operation in operations for answer in operation["responses"].values()]
    problems = [answer["content"]["application/problem+json"]["schema"] for answer in answers if _is_problem(answer)]

    assert described["openapi"].startswith("3.1.")
    assert '"itemSchema"' not in json.dumps(described), "a word of OpenAPI 3.2"
    assert problems
    assert all(schema == {"$ref": "#/components/schemas/Problem"} for schema in problems)
    assert {"type", "title", "status", "detail", "field"} == set(
        described["components"]["schemas"]["Problem"]["properties"]
    )
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))


def _is_problem(answer: dict[str, Any]) -> bool:
    return "application/problem+json" in answer.get("content", {})

"""The page that describes the API, at /docs: made from its OpenAPI description, without a script or a network."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

_SCHEMAS: Final = "#/components/schemas/"
_STYLE: Final = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
summary { cursor: pointer } details { margin: .3em 0 } details > :not(summary) { margin-left: 1.5em }
td, th { text-align: left; vertical-align: top; padding: .1em .8em .1em 0 } code { font-size: .95em }
"""

router = APIRouter(tags=["description"], include_in_schema=False)


@router.get("/")
async def root() -> RedirectResponse:
    """Lead a browser to the description."""
    return RedirectResponse("docs")


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Return the description as a page."""
    return HTMLResponse(page(request.app.openapi()))


def page(api: Mapping[str, Any]) -> str:
    """Return an OpenAPI description as HTML: the operations by tag, then the schemas that they name."""
    return "\n".join(_page(api))


def _page(api: Mapping[str, Any]) -> Iterator[str]:
    title = f"{api['info']['title']} {api['info']['version']}"
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
    yield f"<p>{escape(api['info']['summary'])}</p>"
    yield '<p>The same for programs, as OpenAPI: <a href="openapi.json">openapi.json</a></p>'
    operations = [(path, *each) for path, methods in api["paths"].items() for each in methods.items()]
    for tag in dict.fromkeys(operation["tags"][0] for _, _, operation in operations):
        yield f"<h2>{escape(tag)}</h2>"
        for path, method, operation in operations:
            if operation["tags"][0] == tag:
                yield from _operation(path, method, operation)
    yield "<h2>Schemas</h2>"
    for name, schema in api["components"]["schemas"].items():
        yield from _schema(name, schema)


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    said = operation.get("description", "").partition("\n")[0]
    yield f'<details id="{escape(operation["operationId"])}">'
    yield f"<summary><code>{method.upper()} {escape(path)}</code> {escape(said)}</summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    if parameters := operation.get("parameters"):
        rows = ((p["name"], p["schema"], p.get("required", False), p.get("description")) for p in parameters)
        yield from _table("parameter", rows)
    for body in operation.get("requestBody", {}).get("content", {}).values():
        yield f"<p>Body: {_kind(body['schema'])}</p>"
    yield "<table><tr><th>status</th><th>answer</th><th></th></tr>"
    for status, answer in operation["responses"].items():
        kinds = " or ".join(_kind(each.get("schema", {})) for each in answer.get("content", {}).values())
        yield f"<tr><td>{status}</td><td>{kinds}</td><td>{escape(answer['description'])}</td></tr>"
    yield "</table></details>"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
    yield f"<p>{escape(schema.get('description', ''))}</p>"
    if properties := schema.get("properties"):
        needed = schema.get("required", [])
        yield from _table("field", ((n, p, n in needed, p.get("description")) for n, p in properties.items()))
    else:
        yield f"<p>{_kind(schema)}</p>"
    yield "</details>"


def _table(first: str, rows: Iterator[tuple[str, Mapping[str, Any], bool, str | None]]) -> Iterator[str]:
    yield f"<table><tr><th>{first}</th><th>type</th><th></th><th></th></tr>"
    for name, schema, required, description in rows:
        default = "required" if required else f"default {schema['default']!r}" if schema.get("default") else ""
        cells = f"<td>{_kind(schema)}</td><td>{escape(default)}</td><td>{escape(description or '')}</td>"
        yield f"<tr><td><code>{escape(name)}</code></td>{cells}</tr>"
    yield "</table>"


def _kind(schema: Mapping[str, Any]) -> str:
    """Return a type as people read it; a schema that has a name is a link to it."""
    match schema:
        case {"$ref": str(reference)}:
            name = escape(reference.removeprefix(_SCHEMAS))
            return f'<a href="#{name}">{name}</a>'
        case {"anyOf": options} | {"oneOf": options}:
            return " or ".join(map(_kind, options))
        case {"enum": values}:
            return " or ".join(f"<code>{escape(str(value))}</code>" for value in values)
        case {"const": value}:
            return f"<code>{escape(str(value))}</code>"
        case {"type": "array", "items": items}:
            return f"list of {_kind(items)}"
        case {"type": str(name)}:
            return escape(f"{name} ({schema['format']})" if "format" in schema else name)
        case _:
            return "any"

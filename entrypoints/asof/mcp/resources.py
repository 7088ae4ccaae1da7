"""The resources: documents by their URIs, for clients that read them beside the tools."""

from typing import Final

from mcp import types

from asof.mcp.documents import DocumentAddress, document_of
from asof.mcp.scope import ClientScope
from asof.mcp.tools import Access
from asof.operations.errors import InvalidInput

TEXT: Final = "text/plain"
_PROFILE: Final = "What holds now of this group, as facts with their dates."
TEMPLATES: Final = {
    "profile": ("group", _PROFILE),
    "entity": ("id", "A person, place or thing, by name or id: names, attributes, facts that hold."),
    "timeline": ("name", "What held of a person or thing, and when, with gaps."),
    "fact": ("id", "A fact with the words that it rests on, and what became of it."),
    "episode": ("id", "What was said, and the facts in it."),
}


def listed_resources(scope: ClientScope) -> list[types.Resource]:
    """Return the resources that a list has: of the group of the address, or of the one that is meant without one."""
    try:
        group = scope.one(None)
    except InvalidInput:  # the key is for other groups
        return []
    uri = DocumentAddress(group, "profile").uri
    return [types.Resource(uri=uri, name="profile", description=_PROFILE, mime_type=TEXT)]


def listed_templates(scope: ClientScope) -> list[types.ResourceTemplate]:
    """Return the forms of the URIs that can be read, with the group of the address where it has one."""
    group = "asof://{group}" if scope.group is None else DocumentAddress(scope.group, "").uri.rstrip("/")
    return [
        types.ResourceTemplate(
            uri_template=f"{group}/{kind}" if kind == "profile" else f"{group}/{kind}/{{{name}}}",
            name=kind,
            description=description,
            mime_type=TEXT,
        )
        for kind, (name, description) in TEMPLATES.items()
        if kind != "profile" or scope.group is None
    ]


async def read_resource(access: Access, uri: str) -> types.ReadResourceResult:
    """Return a document. NotFound: there is none of this URI. InvalidInput: its group is not the caller's."""
    found = await document_of(access, DocumentAddress.read(uri))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=TEXT, text=found.text)])

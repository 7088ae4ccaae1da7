"""The tools that ChatGPT asks a source of knowledge for: search and fetch, in the form that it expects.

Each answer is one JSON object, as structured content and as text. What is stored stands in it escaped, as in a quote.
"""

from typing import Final

from pydantic import BaseModel, Field

from asof.mcp.arguments import Arguments, like
from asof.mcp.documents import DocumentAddress, document_of, title_of, title_of_words
from asof.mcp.episode_text import said_in
from asof.mcp.found_answers import RecalledFact
from asof.mcp.tools import Access, Reply, tool
from asof.operations import facts
from asof.operations.errors import NotFound
from asof.operations.queries import FactSearchQuery, ask
from asof.operations.service_answers import run_as_of

_MOST: Final = 10  # facts, and episodes


class FoundDocument(BaseModel):
    """A document that fits a query."""

    id: str = Field(description="For fetch.")
    title: str
    url: str


class FoundDocuments(BaseModel):
    """The documents that fit a query best: facts first, whenever they hold, then what was said."""

    results: tuple[FoundDocument, ...]


class FetchedDocument(FoundDocument):
    """A document with its text."""

    text: str = Field(description="Marked as reference data: stored text stands in double quotes alone.")
    metadata: dict[str, str] = Field(description="The moments that it is of, and how far the log is processed.")


class SearchArguments(Arguments):
    """The arguments of search."""

    query: str = like(FactSearchQuery, "query")


@tool(SearchArguments, FoundDocuments)
async def search(access: Access, asked: SearchArguments) -> Reply:
    """Search the memory for facts, with the period over which each holds, and for what was said."""
    group = access.scope.one(None)
    query = ask(FactSearchQuery, {"query": asked.query, "group_id": group, "any_time": True, "limit": _MOST})
    found, _ = await run_as_of(access.served, facts.search, query, [group])
    titles = {DocumentAddress(group, "fact", fact.uuid): title_of(RecalledFact.of(fact)) for fact in found}
    said = ((one.uuid, title_of_words(one.role, said_in(one.source, one.content))) for one in found.episodes)
    titles |= {DocumentAddress(group, "episode", uuid): title for uuid, title in said}
    results = (FoundDocument(id=_id_of(one), title=title, url=one.uri) for one, title in titles.items())
    answer = FoundDocuments(results=tuple(results))
    return Reply(answer, answer.model_dump_json())


class FetchArguments(Arguments):
    """The arguments of fetch."""

    id: str = Field(description="As search returned it.")


@tool(FetchArguments, FetchedDocument)
async def fetch(access: Access, asked: FetchArguments) -> Reply:
    """Fetch a document: a fact with the words that it rests on and what became of it, or what was said."""
    kind, _, name = asked.id.partition("/")
    address = DocumentAddress(access.scope.one(None), kind, name)
    if kind not in ("fact", "episode"):
        raise NotFound("no document has this id: search returns the ids")
    found = await document_of(access, address)
    moments = found.as_of.model_dump(mode="json", exclude_none=True)
    answer = FetchedDocument(
        id=asked.id,
        title=found.title,
        url=address.uri,
        text=found.text,
        metadata={name: str(value) for name, value in moments.items()},
    )
    return Reply(answer, answer.model_dump_json())


def _id_of(address: DocumentAddress) -> str:
    return f"{address.kind}/{address.name}"

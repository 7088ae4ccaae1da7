"""Documents: what is known of a fact, an episode, an entity, a timeline or a whole group, as one text each.

Each has a URI, `asof://GROUP/KIND/NAME`, by which a resource is read and an answer is cited.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import quote as escaped
from urllib.parse import unquote

from asof.mcp.answers import Moments, ToolAnswer
from asof.mcp.episode_text import said_in
from asof.mcp.episodes import facts_of_episode
from asof.mcp.explanations import ExplainArguments, explain_fact
from asof.mcp.found_answers import RecalledFact
from asof.mcp.history import TimelineArguments, get_entity_timeline
from asof.mcp.identifiers import episode_of, unknown_entity
from asof.mcp.text import block, of_fact, period, plain, when
from asof.mcp.tools import Access, Reply, shared_fields
from asof.operations import entities, facts
from asof.operations.answers import EntityProfile
from asof.operations.errors import NotFound
from asof.operations.queries import EntityQuery, FactQuery, FactsQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import run, run_as_of

_SCHEME: Final = "asof://"
_FACTS: Final = 100  # of an entity, or of a group
_TITLE: Final = 80  # characters of words


class ToldDocument(NamedTuple):
    """A text with its title, which quotes nothing but cannot break out of a line, either."""

    title: str
    text: str
    as_of: Moments


class DocumentAddress(NamedTuple):
    """The parts of a URI. name: empty for a whole group."""

    group: str
    kind: str
    name: str = ""

    @property
    def uri(self) -> str:
        """The URI; what it names may have any signs."""
        return _SCHEME + "/".join(escaped(part, safe="") for part in self if part)

    @classmethod
    def read(cls, uri: str) -> "DocumentAddress":
        """Return the parts of a URI. NotFound: it is none of a document."""
        parts = [unquote(part, errors="replace") for part in uri.removeprefix(_SCHEME).split("/")]
        needed = 2 if parts[1:2] == ["profile"] else 3
        if not uri.startswith(_SCHEME) or len(parts) != needed or not all(parts):
            raise _unknown()
        return cls(*parts)


async def document_of(access: Access, address: DocumentAddress) -> ToldDocument:
    """Return a document of a group that the caller may read. InvalidInput: another one's. NotFound: there is none."""
    group = access.scope.one(address.group)
    reader = _READERS.get(address.kind)
    if reader is None:
        raise _unknown()
    return await reader(access, group, address.name)


def _unknown() -> NotFound:
    kinds = ", ".join(kind if kind == "profile" else f"{kind}/NAME" for kind in _READERS)
    return NotFound(f"there is no such document: a URI is {_SCHEME}GROUP/ and one of {kinds}")


async def _profile(access: Access, group: str, name: str) -> ToldDocument:
    del name
    query = ask(FactsQuery, {"group_id": group, "limit": _FACTS})
    found, reached = await run_as_of(access.served, facts.facts, query, [group])
    answer = ToolAnswer(group_ids=(group,), as_of=Moments.of(reached))
    lines = [f"- {of_fact(RecalledFact.of(fact))}" for fact in found] or ["Nothing is known."]
    more = [f"These are the first {_FACTS} facts."] if found.next else []
    return ToldDocument("What holds now", block(answer, [*lines, *more]), answer.as_of)


async def _entity(access: Access, group: str, name: str) -> ToldDocument:
    query = ask(EntityQuery, {"name": name, "group_id": group, "limit": _FACTS})
    found, reached = await run_as_of(access.served, entities.entity, query, [group])
    if not found:
        raise unknown_entity()
    answer = ToolAnswer(group_ids=(group,), as_of=Moments.of(reached))
    lines = [line for profile in found for line in _profile_lines(profile)]
    return ToldDocument(plain(found[0].name), block(answer, lines), answer.as_of)


def _profile_lines(profile: EntityProfile) -> list[str]:
    kind = f" ({quote(profile.type)})" if profile.type else ""
    names = "".join(f", also {quote(name)}" for name in profile.names[1:])
    summary = f": {quote(profile.summary)}" if profile.summary else ""
    heading = f"{quote(profile.name)}{kind}{names}{summary}"
    attributes = [f"- {quote(each.name)}: {quote(each.value)}" for each in profile.attributes]
    return [heading, *attributes, *(f"- {of_fact(RecalledFact.of(fact))}" for fact in profile.facts)]


async def _timeline(access: Access, group: str, name: str) -> ToldDocument:
    found = await get_entity_timeline.run(access, ask(TimelineArguments, {"entity": name, "group_id": group}))
    return _document(f"{plain(name)} over time", found)


async def _fact(access: Access, group: str, name: str) -> ToldDocument:
    found = await explain_fact.run(access, ask(ExplainArguments, {"fact_id": name, "group_id": group}))
    answer: Any = found.answer
    fact: RecalledFact = answer.facts[0].fact
    with suppress(NotFound):  # it was retracted
        fact = RecalledFact.of(await run(access.served, facts.fact, ask(FactQuery, {"id": fact.uuid})))
    return _document(title_of(fact), found)


async def _episode(access: Access, group: str, name: str) -> ToldDocument:
    episode = await episode_of(access, name)
    if episode.group_id != group:
        raise NotFound("no episode of this group has this id: list_episodes shows the ids")
    said = await access.served.ask(partial(facts_of_episode, episode=episode))
    answer = ToolAnswer(**await shared_fields(access, [group]))
    said_words = said_in(episode.source, episode.content)
    words = f"{quote(said_words)}, said {when(episode.valid_at)}"
    speaker = f" by {quote(episode.role)}" if episode.role else ""
    lines = [words + speaker, *(f"- {of_fact(RecalledFact.of(fact))}" for fact in said.values())]
    return ToldDocument(title_of_words(episode.role, said_words), block(answer, lines), answer.as_of)


def _document(title: str, reply: Reply) -> ToldDocument:
    answer: Any = reply.answer
    return ToldDocument(title, reply.text, answer.as_of)


def title_of(fact: RecalledFact) -> str:
    """Return the title of a fact: its sentence and its period."""
    return plain(fact.fact) + period(fact.valid_at, fact.invalid_at)


def title_of_words(role: str, content: str) -> str:
    """Return the title of words: who said them, and how they begin."""
    beginning = content if len(content) <= _TITLE else content[:_TITLE] + "…"
    return plain(f"{role}: {beginning}" if role else beginning)


_READERS: Final[Mapping[str, Callable[[Access, str, str], Awaitable[ToldDocument]]]] = {
    "profile": _profile,
    "entity": _entity,
    "timeline": _timeline,
    "fact": _fact,
    "episode": _episode,
}

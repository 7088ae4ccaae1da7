"""What the English rules read out of a text, as lines that a test can compare."""

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Turn
from asof_ontologies.registry import load
from asof_streams.instants import parse, render

SAID_AT = parse("2024-05-15T10:00:00Z")  # a Wednesday
DEFAULT = EnglishExtractor(load("default"), find_times)
AGENT_MEMORY = EnglishExtractor(load("agent_memory_v1"), find_times)


def nothing_known(_asked: object) -> dict[str, str]:
    return {}


def turn(text: str, number: int = 0, role: str = "Kim", role_type: str = "user") -> Turn:
    return Turn(f"episode-{number}", role, role_type, text, SAID_AT)


def read(text: str, extractor: EnglishExtractor = DEFAULT) -> Extraction:
    return extractor.extract(turn(text), [], nothing_known)


def talk(*texts: str | tuple[str, str], extractor: EnglishExtractor = DEFAULT) -> list[Extraction]:
    """Read turns one after the other, each with up to four before it. A turn may be (role, text)."""
    before: list[Turn] = []
    answers = []
    for number, text in enumerate(texts):
        role, words = text if isinstance(text, tuple) else ("Kim", text)
        now = turn(words, number, role)
        found = extractor.extract(now, before, nothing_known)
        answers.append(found)
        before = [*before[-3:], Turn(now.episode_id, role, now.role_type, words, SAID_AT, found.mentions)]
    return answers


def day(instant: int | None) -> str:
    return "" if instant is None else (render(instant) or "")[:10]


def shown(found: Extraction) -> list[str]:
    """Statements as "subject relation object", then the stance unless it holds, then from..to where stated."""
    lines = []
    for each in found.relationships:
        subject = "I" if each.source.speaker else each.source.text
        stance = "" if each.stance == "holds" else f" {each.stance}"
        times = (
            ""
            if each.valid_from is None and each.valid_to is None
            else f" {day(each.valid_from)}..{day(each.valid_to)}"
        )
        lines.append(f"{subject} {each.relation} {each.target.text}{stance}{times}")
    return lines


def check(text: str, *expected: str, extractor: EnglishExtractor = DEFAULT) -> None:
    assert sorted(shown(read(text, extractor))) == sorted(expected)

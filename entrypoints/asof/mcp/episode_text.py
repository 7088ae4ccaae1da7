"""The words of an episode: a structured fact, which the log has as JSON, is shown as its sentence."""

import json
from typing import Any, Final

_NEEDED: Final = frozenset({"group_id", "op"})  # of a structured fact as the log has it


def said_in(source: str, content: str) -> str:
    """Return what an episode of a source says."""
    return sentence_of_statement(content) if source == "fact" else content


def sentence_of_statement(content: str) -> str:
    """Return the sentence of a structured fact, given as the log has it; any other text stays as it is."""
    try:
        stated: Any = json.loads(content)
    except ValueError:
        return content
    if not isinstance(stated, dict) or not stated.keys() >= _NEEDED:
        return content
    reason = (stated.get("qualifiers") or {}).get("reason")
    return f"{_claim(stated)} ({reason})" if reason else _claim(stated)


def _claim(stated: dict[str, Any]) -> str:
    if stated.get("fact"):
        return str(stated["fact"])
    relation = str(stated.get("relation") or "").replace("_", " ")
    parts = [str(part) for part in (stated.get("subject"), relation, stated.get("object")) if part not in (None, "")]
    match stated["op"]:
        case "end":
            return f"{' '.join(parts)}: no longer so" if parts else "It ended"
        case "retract":
            return f"{' '.join(parts)}: never so" if parts else "It was never so"
        case _:
            return " ".join(parts)

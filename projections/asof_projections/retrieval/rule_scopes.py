"""Which rules of work hold for a path: the ones about it or a folder above it, and those that are about no path.

A rule says in its own words where it holds, "In src/api, always use httpx", and is believed whole. So its scope is read
from these words whenever somebody asks: a path at its beginning, or that of the files that it forbids to touch. Paths
are compared as in a .gitignore: one without a slash inside is of any folder, and `*` and `**` stand for any names.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import islice, takewhile
from typing import Final

RULE: Final = "has_rule"  # the relation of rules, in the ontologies that have them

_WORD: Final = re.compile(r"[^\s,;:\"'`()<>]+")
_ADDRESS: Final = re.compile(r"\b[a-z]{2,9}://\S+", re.IGNORECASE)
_STOPS: Final = ".!?"
_NAME: Final = re.compile(r"[\w.@+*~-]+")
_GLOB: Final = re.compile(r"\*?\.\w{1,5}|[\w*.-]*\*[\w*.-]*")
_OPENING: Final = re.compile(
    r"(?:please )?(?:(?:when|whenever|if|before) (?:(?:you|we|are) ){0,2}(?:work|edit|chang|touch)\w* )?"
    r"(?:(?:in|inside|under|within|below|for|on) )?(?:the )?(?:(?:file|files|folder|directory) )?",
    re.IGNORECASE,
)
_UNDER: Final = re.compile(r"\b(?:files?|anything|everything|code) (?:under|below) (?=[\w.-]+$)", re.IGNORECASE)
_EDITED: Final = re.compile(
    r"\b(?:in|inside|under|within|below|files?|folder|(?:chang|delet|edit|modif|renam|remov|touch)\w*) "
    r"(?:the )?(?:files? |folder |directory )?",
    re.IGNORECASE,
)
_PUTS: Final = re.compile(
    r"\b(?:add|belongs?|copy|create|generate|goes?|keep|lives?|log|move|place|put|save|store|write)\b", re.IGNORECASE
)
_BOTH: Final = frozenset(
    "and/or either/or ci/cd tcp/ip i/o a/b n/a w/o he/she his/her yes/no on/off true/false read/write input/output "
    "client/server s/he".split()
)  # of which neither is a folder
_MOST: Final = 20  # paths of a text, and names of a path
_MOST_ANY: Final = 2  # `**` of a path

Path = tuple[str, ...]


def named_paths(text: str) -> list[Path]:
    """Return the paths that a text names, without those that are a mere file name: where that is, nobody said."""
    paths = (_path(found[0]) for found in _WORD.finditer(_ADDRESS.sub(" ", text)) if "/" in found[0])
    return [*islice(filter(None, paths), _MOST)]


def scope_of(rule: str) -> list[Path]:
    """Return the paths of which a rule is, by its own words; none: it is of no path."""
    rule = _ADDRESS.sub(" ", rule)
    opening, under = _OPENING.match(rule), _UNDER.search(rule)
    if opening is not None and (path := _path_at(rule, opening.end())):
        return [path]
    if under is not None and (path := _path(rule[under.end() :])):
        return [path]  # the slash behind a folder's name may have ended the sentence
    if _PUTS.search(rule) is not None:
        return []  # it says where something belongs, whatever is worked on
    places = (_path_at(rule, found.end()) for found in _EDITED.finditer(rule))
    return [*islice(dict.fromkeys(filter(None, places)), _MOST)]


def closeness(rule: str, paths: Sequence[Path]) -> int | None:
    """Return how many folders a rule names of the way to some paths; 0: it is of no path; None: it is of others."""
    scopes = scope_of(rule)
    if not scopes:
        return 0
    return max((len(scope) for scope in scopes if any(_meet(scope, path) for path in paths)), default=None)


def _path_at(text: str, at: int) -> Path | None:
    while text[at : at + 1] in {"`", '"', "'"}:
        at += 1
    found = _WORD.match(text, at)
    words = "" if found is None else found[0].rstrip(_STOPS)
    return _path(words) if "/" in words or _GLOB.fullmatch(words) else None


def _path(words: str) -> Path | None:
    """Return the names of a path; None: the words are none. One of any folder begins with `**`."""
    words = words.rstrip(_STOPS).casefold()
    if words in _BOTH:
        return None
    names = [name for name in words.split("/") if name not in {"", ".", "~", ".."}]
    if not names or len(names) > _MOST or not all(map(_NAME.fullmatch, names)) or all(map(str.isdigit, names)):
        return None
    if names.count("**") > _MOST_ANY:
        return None
    anywhere = len(names) == 1 or words[0] in "/~"
    return ("**", *names) if anywhere and names[0] != "**" else tuple(names)


def _meet(scope: Path, path: Path) -> bool:
    """Whether a path is what a scope names, or lies beneath it; or the scope lies beneath the path."""
    starts = range(len(path)) if path[0] == "**" else (0,)
    if any(_is_under(path[at:], scope) for at in starts):
        return True
    return _is_under(tuple(takewhile(lambda name: "*" not in name, scope)), path)


def _is_under(names: Path, folder: Path) -> bool:
    """Whether a path is what a pattern of names stands for, or lies beneath it."""
    if not folder:
        return bool(names)
    if folder[0] == "**":
        return any(_is_under(names[at:], folder[1:]) for at in range(len(names)))
    return bool(names) and fnmatchcase(names[0], folder[0]) and (len(folder) == 1 or _is_under(names[1:], folder[1:]))

"""Judges whether a time in prose was understood whole: one read in part is wrong more often than not.

"the Friday before my birthday" is no last Friday, "two months and three weeks ago" not three weeks ago, and "on a
Friday" or "that Friday" any.
"""

from collections.abc import Sequence

from asof_agents.extraction.english.times.rewriting import Token

_TIMES = frozenset({"when", "latent", "period", "hint", "maybe_month", "hardly_month", "month", "weekday", "season"})
_COUNTED = frozenset({"unit", "weekday", "weekdays", "ago", "seasons"})  # after a time, these say which
_TOLD = frozenset({"that", "following", "one"})  # of a day in a story, or any day
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def is_whole(tokens: Sequence[Token], at: int, text: str) -> bool:
    """Return whether the time that is the token `at` has no words of time beside it that were not understood."""
    this = tokens[at]
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    words = text[this.start : this.end].lower().split()
    if after is not None and (after.kind in _COUNTED or (after.kind == "or" and _is_time(tokens, at + 2))):
        return False
    bare_day = words[-1] in _DAYS and words[0] in (*_DAYS, "on", "the", "following")
    if bare_day and (words[0] == "following" or (after is not None and after.kind in ("before", "after"))):
        return words[0] == "on"
    if before is None:
        return True
    if before.kind == "or":
        return not _is_time(tokens, at - 2)
    if words[-1] in ("ago", "back"):
        joined = at > 1 and before.kind == "and" and tokens[at - 2].kind == "duration"
        return not joined and before.kind != "duration"
    if words[0] in ("before", "after") and before.kind in _TIMES | _COUNTED:
        return False
    told = text[before.start : before.end].lower() in _TOLD or before.kind == "a"
    return before.kind != "ordinal" and not (bare_day and told)


def _is_time(tokens: Sequence[Token], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at].kind in _TIMES

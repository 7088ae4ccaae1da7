"""The words of time: the kind and the value of each."""

from datetime import timedelta
from functools import partial
from typing import Any, Final

from asof_agents.extraction.english.times.calendar_spans import SEASONS, month_of
from asof_agents.extraction.english.times.when import Clock, When

_MONTHS: Final = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sept sep", "october oct", "november nov", "december dec",
)  # fmt: skip
_WEEKDAYS: Final = (
    "monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat",
    "sunday sun",
)  # fmt: skip
ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_UNITS: Final = {
    "seconds sec secs": (1, "second"),
    "minute minutes min mins": (1, "minute"),
    "hour hours hr hrs h": (1, "hour"),
    "day days": (1, "day"),
    "week weeks wk wks": (1, "week"),
    "fortnight fortnights": (2, "week"),
    "month months": (1, "month"),
    "year years yr yrs": (1, "year"),
    "decade decades": (10, "year"),
}
_PARTS: Final = {
    "morning": (0, 12),
    "noonish": (11, 13),
    "lunch lunchtime": (12, 14),
    "afternoon": (12, 19),
    "evening night": (18, 24),
}
_ZONES: Final = {
    "utc gmt": 0, "bst cet": 1, "cest": 2, "ist": 5.5, "jst": 9,
    "edt": -4, "est cdt": -5, "cst mdt": -6, "mst pdt": -7, "pst": -8,
}  # fmt: skip
_FUNCTION_WORDS: Final = {
    "a": "a an", "the": "the", "of": "of", "in": "in", "on": "on", "at": "at @", "for": "for", "more": "more",
    "measure": "walk walking drive driving ride away flat notice",
    "during": "during throughout", "over": "over", "within": "within", "from": "from starting", "to": "to",
    "until": "until untill till til through thru", "before": "before", "by": "by", "since": "since",
    "after": "after", "between": "between", "and": "and but", "ago": "ago back", "hence": "hence", "now": "now",
    "last": "last previous", "past": "past", "next": "next coming upcoming following", "this": "this current",
    "every": "every each", "half": "half", "begin": "beginning start", "end": "end",
    "early": "early", "mid": "mid middle", "late": "late", "rest": "rest", "oclock": "oclock o'clock",
    "onward": "onward onwards", "later": "later", "than": "than", "as": "as", "or": "or", "recent": "other",
    "right": "right", "just": "just", "ad": "ad",
}  # fmt: skip
_HEDGES: Final = "about around approximately approx roughly exactly ish sharp circa anytime sometime sometimes"
_SOME: Final = {"couple": 2, "pair": 2}
_DAYS: Final = {"today": 0, "yesterday": -1, "tomorrow": 1}
_SHORTHANDS: Final = {
    f"{edge[0]}o{unit[0]}": (edge, unit) for edge in ("begin", "end") for unit in ("day", "week", "month", "year")
}

NAMES_TOO: Final = frozenset("april june august may march jan sun sat mon wed".split())
"""Words that are also names: with a capital they count only beside other words of time."""
WORDS_TOO: Final = frozenset("may march mar sun sat mon wed".split())
"""Words with another common meaning: in lower case they hardly ever mean a time."""


def _lexicon() -> dict[str, tuple[str, Any]]:
    words: dict[str, tuple[str, Any]] = {w: (kind, kind) for kind, ws in _FUNCTION_WORDS.items() for w in ws.split()}
    for number, names in enumerate(_MONTHS, 1):
        words |= {w: ("month", When(yearly=partial(month_of, number))) for w in names.split()}
    for number, names in enumerate(_WEEKDAYS):
        words |= dict.fromkeys(names.split(), ("weekday", number))
        words[names.split()[0] + "s"] = ("weekdays", number)
    for table, kind in ((_UNITS, "unit"), (_PARTS, "part")):
        words |= {w: (kind, value) for names, value in table.items() for w in names.split()}
    words |= {w: ("zone", timedelta(hours=hours)) for names, hours in _ZONES.items() for w in names.split()}
    words |= {w: ("ordinal", number) for number, w in enumerate(ORDINALS, 1) if w != "second"}
    words |= {w: ("number", number) for number, w in enumerate(_NUMBERS.split())}
    words |= {w: ("number", number) for number, w in zip((30, 40, 50), ("thirty", "forty", "fifty"), strict=True)}
    words |= dict.fromkeys(("quarter", "quarters", "qtr"), ("quarter", (1, "quarter")))
    words["second"] = ("second", (1, "second"))
    words |= {w: ("some", number) for w, number in _SOME.items()}
    words |= {"few": ("few", 3), "several": ("several", None)}
    words |= {w: ("today", days) for w, days in _DAYS.items()}
    words |= {w: ("shorthand", edge_unit) for w, edge_unit in _SHORTHANDS.items()}
    words |= {w: ("season", When(yearly=season)) for w, season in SEASONS.items()}
    words |= {w + "s": ("seasons", When(yearly=season)) for w, season in SEASONS.items() if w not in ("spring", "fall")}
    words |= dict.fromkeys(_HEDGES.split(), ("hedge", None))
    words |= dict.fromkeys(("weekend", "weekends", "week-end", "wkend"), ("weekend", None))
    words |= dict.fromkeys(("tonight", "tonite"), ("tonight", (18, 24)))
    words |= dict.fromkeys(("noon", "midday"), ("noon", Clock(12))) | {"midnight": ("noon", Clock(0))}
    return words


LEXICON: Final = _lexicon()

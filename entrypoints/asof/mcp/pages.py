"""The pages of lists: a cursor is of one tool, its arguments and groups, and keeps what the first page was as of."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import dumps
from typing import Any, Final, Generic, NamedTuple, TypeVar

from asof.operations.errors import InvalidInput
from asof.operations.queries import FAR, Cursor, instant

T = TypeVar("T")

_DIGEST_LETTERS: Final = 16
_OTHER_LIST: Final = "it is of another list: send the other arguments as they were with the first page, or leave it out"


PageMoments = tuple[int | None, int | None]  # valid and known, in microseconds


class Cut(NamedTuple, Generic[T]):
    """The items of a page, and the cursor of the next one."""

    items: Sequence[T]
    next_cursor: str | None


class Pages:
    """The pages of a list, and which of them a call is about.

    Its times are from then on those of the first page. InvalidInput: the cursor is none of this tool with these
    arguments and groups. The size of a page may differ from page to page.
    """

    def __init__(self, tool: str, asked: Any, groups: Sequence[str]) -> None:
        self._tool = tool
        self._asked = asked
        self._groups = groups
        cursor = None if asked.cursor is None else self._read(asked.cursor)
        self.is_first: Final = cursor is None
        self.moments: Final[PageMoments] = (None, None) if cursor is None else (cursor.valid, cursor.known)
        """The moments of a later page, valid and known in microseconds; None: any."""
        self.place: Final = "" if cursor is None else self._placed(cursor.after[1:])
        """Where a later page begins: how many items are before it, or the cursor of a query."""

    @property
    def start(self) -> int:
        """How many items are before the page. InvalidInput: the cursor is of a list that has no such number."""
        number = int(self.place) if self.place.isascii() and self.place.isdigit() else 0
        if number > FAR or (number == 0 and not self.is_first):
            raise InvalidInput(_OTHER_LIST, field="cursor")
        return number

    def cut(self, items: Sequence[T], size: int, moments: PageMoments) -> Cut[T]:
        """Return the page of a list that is known one item beyond it; the next page is as of the same moments."""
        stop = self.start + size
        return Cut(items[self.start : stop], self.next_cursor(str(stop), moments) if len(items) > stop else None)

    def next_cursor(self, place: str, moments: PageMoments) -> str:
        """Return the cursor of the page that begins at a place."""
        times = (f"{name}={time}" for name, time in self._asked.times().items())
        return Cursor(self._tool, *moments, (self._digest(), place, *times)).encode()

    def _read(self, text: str) -> Cursor:
        try:
            cursor = Cursor.decode(text)
        except ValueError:
            raise InvalidInput("it is no cursor of a page: take next_cursor of the page before", "cursor") from None
        if cursor.question != self._tool or cursor.after[0] != self._digest():
            raise InvalidInput(_OTHER_LIST, field="cursor")
        return cursor

    def _placed(self, after: Sequence[str]) -> str:
        """Take over the times of the first page; return where this one begins."""
        try:
            place, *times = after
            self._asked.use_times(_instants_of(times))
        except (ValueError, InvalidInput):
            raise InvalidInput(_OTHER_LIST, field="cursor") from None
        return place

    def _digest(self) -> str:
        left_out = {*self._asked.PAGING, "group_id", "group_ids"}
        given = self._asked.model_dump(exclude=left_out, exclude_defaults=True)
        whole = dumps([*self._groups, given], sort_keys=True)
        return sha256(whole.encode()).hexdigest()[:_DIGEST_LETTERS]


def _instants_of(times: Sequence[str]) -> Mapping[str, int]:
    """Return the times of a cursor by their names. ValueError, InvalidInput: they are none."""
    return {name: instant(int(time)) for name, _, time in (each.partition("=") for each in times)}

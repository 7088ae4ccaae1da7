"""The moments that a question is asked as of, and the pages of its answer."""

from collections.abc import Sequence
from typing import TypeVar

from asof.service.session import Session
from asof_projections.model.answers import Page
from asof_projections.model.queries import Cursor, KnownQuery, MomentQuery, Paged, numbers_of
from asof_projections.model.rows import Moment

T = TypeVar("T")


def moment_of(session: Session, query: MomentQuery) -> Moment:
    """Return the moment of a question: that of the first page, where it is about a later one."""
    page = query.page if isinstance(query, Paged) else None
    return query.moment(session.now) if page is None else Moment(page.valid, page.known)


def known_of(query: KnownQuery) -> int:
    """Return the known moment of a question: that of the first page, where it is about a later one."""
    page = query.page if isinstance(query, Paged) else None
    return query.known if page is None or page.known is None else page.known


def page_of(items: Sequence[T], query: Paged, known: int | None) -> Page[T]:
    """Return a page of a list that is known whole; `known` is the moment that it is as of."""
    start = 0 if query.page is None else max(numbers_of(query.page, 1)[0], 0)
    stop = len(items) if query.limit is None else start + query.limit
    more = Cursor(None, known, (str(stop),)).encode() if stop < len(items) else None
    return Page.until(items[start:stop], more)

"""The moments that a question is asked as of, and the pages of its answer.

A question whose answer is a page is asked as of a known moment that is fixed before it is answered: the later pages
then know no more than the first. Facts, entities and episodes seek by the key of the last item; a list that is known
whole, such as a timeline, is computed anew as of that moment, and cut by number.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from asof.service.session import Session
from asof_projections.model.answers import Page
from asof_projections.model.queries import HEAD, AnyTimeQuery, GroupQuery, KnownQuery, MomentQuery, Paged, numbers_of
from asof_projections.model.rows import Moment
from asof_streams.errors import InvalidInput

_NOT_OF_THE_FIRST: Final = "the cursor keeps that of the first page, and this is another one: leave it out"

T = TypeVar("T")


def moment_of(session: Session, query: MomentQuery) -> Moment:
    """Return the moment of a question: that of the first page, where it is about a later one.

    InvalidInput: another moment is given beside the cursor of that page.
    """
    page = query.page
    if page is not None:
        if query.valid_at not in (None, page.valid):
            raise InvalidInput(_NOT_OF_THE_FIRST, field="valid_at")
        if isinstance(query, AnyTimeQuery) and query.any_time and page.valid is not None:
            raise InvalidInput(_NOT_OF_THE_FIRST, field="any_time")
        return Moment(page.valid, known_of(session, query))
    at = query.moment(session.now)
    if query.known_at is not None or not query.is_page:
        return at
    return Moment(at.valid, known_of(session, query))


def known_of(session: Session, query: GroupQuery, log: str = "semantic") -> int:
    """Return the known moment of a question: that of the first page, where it is about a later one.

    Left out, it is after everything; of a page, when the last record was recorded that the graph of a log has.
    InvalidInput: another one is given beside the cursor of that page.
    """
    page = query.page
    known_at = query.known_at if isinstance(query, KnownQuery) else None
    if page is not None and page.known is not None:
        if known_at not in (None, page.known):
            raise InvalidInput(_NOT_OF_THE_FIRST, field="known_at")
        return page.known
    if known_at is not None:
        return known_at
    if not query.is_page:
        return HEAD
    return max(source.known(query.group, log) for source in session.sources.every())


def page_of(items: Sequence[T], query: Paged, known: int) -> Page[T]:
    """Return a page of a list that is known whole; `known` is the moment that it is as of."""
    start = 0 if query.page is None else max(numbers_of(query.page, 1)[0], 0)
    stop = len(items) if query.limit is None else start + query.limit
    more = query.cursor_after(str(stop), known=known) if stop < len(items) else None
    return Page.until(items[start:stop], more)

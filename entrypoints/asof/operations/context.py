"""The context of a question: what is known about it, as one text for a prompt."""

from asof.operations.operation import operation
from asof.service.contexts import gather_context
from asof.service.session import Session
from asof_projections.model.contexts import Context
from asof_projections.model.queries import ContextQuery


@operation(vectors=lambda _: True)
def context(session: Session, query: ContextQuery) -> Context:
    """Return what is known about a question, as one text for a prompt and as the lines that it is made of.

    It names who and what the question is about, the facts that hold at the moment, what happened before it and what is
    planned, the facts that ended or are still ahead with what replaced them, those that were retracted, and the turns
    that fit it best or say the facts. The text is marked as reference data, has never more tokens than the budget, and
    says "Nothing is known about this" where that is so. While the embedder fails, words alone decide, and `unavailable`
    says why. What has no vector yet is found by words, and `vectors_behind` says how many facts and episodes that are.
    """
    return gather_context(session, query)

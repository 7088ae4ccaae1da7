"""The operation that sums up what calls to language models have cost, from the answers that are recorded."""

from asof.operations.operation import operation
from asof.runtime.model_usage import model_usage
from asof.service.session import Session
from asof_projections.model.usage import ModelUsage, UsageQuery
from asof_streams.errors import EmptyMemory


@operation(items="usage")
def usage(session: Session, query: UsageQuery) -> list[ModelUsage]:
    """Return what calls to language models have cost, by group, prompt and model, over all generations.

    Each call counts once, however many generations use its answer. Answers of a group that was erased are gone, and so
    is what they cost. Money is by the prices that are set now.
    """
    source = session.of(query.group)
    try:
        source.process_backlog()
    except EmptyMemory:
        return []
    return model_usage(source.places, query.group, session.settings.model_prices)

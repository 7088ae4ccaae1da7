"""Questions about a chat beside its turns: the feedback that was given, and the objectives of a group."""

from asof.operations.operation import operation
from asof.service.session import Session
from asof_projections.model.answers import Feedback, Objective
from asof_projections.model.queries import FeedbackQuery, ObjectivesQuery


@operation(items="objectives")
def objectives(session: Session, query: ObjectivesQuery) -> list[Objective]:
    """Return what a group aims at, by the goals that it declared: the most salient first, else in their order."""
    beliefs = session.of(query.group).opened().beliefs
    return list(map(Objective.of, beliefs.objectives(query.group, query.known_at, limit=query.limit)))


@operation(items="feedback")
def feedback(session: Session, query: FeedbackQuery) -> list[Feedback]:
    """Return the feedback on messages of the bot, as it came; `withdrawn`: also what was taken back."""
    episodes = session.of(query.group).opened().episodes
    rows = episodes.feedback(query.group, query.known_at, withdrawn=query.withdrawn, limit=query.limit)
    return list(map(Feedback.of, rows))

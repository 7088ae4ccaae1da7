"""The commands about a chat beside its turns: objectives, feedback."""

from asof.cli.binding import question
from asof.cli.tables import Table
from asof.operations import posts as operations

objectives = question(
    operations.objectives,
    Table(
        ("objective", "description"),
        ("saliency", "saliency"),
        ("status", "status"),
        ("said", "said_at"),
        ("id", "uuid"),
    ),
)
feedback = question(
    operations.feedback,
    Table(("by", "role"), ("said", "said_at"), ("about", "reply_to"), ("feedback", "content"), ("id", "uuid")),
)

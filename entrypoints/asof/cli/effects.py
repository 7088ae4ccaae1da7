"""The lines that tell what a message did to what is believed."""

from typing import TYPE_CHECKING, Any, Final

from asof.cli import show
from asof.cli.tables import sentence
from asof.operations import facts

if TYPE_CHECKING:
    from asof.operations.sessions import Session

NOT_UNDERSTOOD: Final = "nothing understood, kept as an episode"
BELIEF_CHANGES: Final = ("began", "ended", "retracted", "restored", "refined")


def show_beliefs(effect: Any) -> None:
    """Print a line for each fact that a message began or changed, and for each pair of entities that it made one."""
    for kind in BELIEF_CHANGES:
        for belief in getattr(effect, kind):
            show.line(f"{kind}: {sentence(belief)}, {show.period(belief.valid_at, belief.invalid_at)}")
    show_duplicates(effect)


def show_duplicates(effect: Any) -> None:
    """Print a line for each pair of entities that a message made one."""
    for link in effect.duplicates:
        show.line(f"duplicate: {link.duplicate_name} is {link.into_name}: {link.reason}")


def show_effect(session: "Session", effect: Any) -> None:
    """Print a line for each fact that a message touched, or one that says that there is none; None: not known here."""
    if effect is None:
        return
    show_beliefs(effect)
    for uuid in effect.reinforced:
        show.line(f"said again: {facts.fact.ask(session, id=uuid).fact}")
    if not effect.understood:
        show.line(NOT_UNDERSTOOD)
    elif not (effect.reinforced or effect.duplicates or any(getattr(effect, kind) for kind in BELIEF_CHANGES)):
        show.line("no fact changed")

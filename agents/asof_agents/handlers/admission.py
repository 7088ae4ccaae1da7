"""Admission: what a generation takes up of an extraction, by the labels, toggles and threshold of its configuration.

Pure. A name that is not taken up means no entity, and what is said of it is not believed.
"""

from collections.abc import Sequence
from typing import Final

from asof_projections.confidence import entity_confidence
from asof_projections.names import key
from asof_streams.episodic import AttributeStated, MentionObserved, RelationshipStated
from asof_streams.events import Event
from asof_streams.ingestion_config import IngestionConfig

_SPEAKER: Final = 1.0


def admit(events: Sequence[Event], config: IngestionConfig) -> Sequence[Event]:
    """Return the events of an extraction that a generation takes up, in their order."""
    least = config.min_confidence
    if config.enable_relations and not config.ner_labels and not least:
        return events
    surest = _surest(events)
    without = set[str]()  # mentions that are not taken up
    admitted: list[Event] = []
    for event in events:
        match event:
            case MentionObserved(entity_type=type_) if (
                config.ner_labels and type_ not in config.ner_labels and not event.speaker
            ) or surest[_name(event)] < least:
                without.update((event.mention_id, event.repeats or event.mention_id))
            case RelationshipStated() if (
                not config.enable_relations or event.confidence < least or without & {event.source, event.target}
            ):
                pass
            case AttributeStated() if event.confidence < least or event.mention_id in without:
                pass
            case _:
                admitted.append(event)
    return admitted


def _surest(events: Sequence[Event]) -> dict[tuple[str, str], float]:
    """Return the highest confidence of each name and type that an extraction mentions."""
    surest: dict[tuple[str, str], float] = {}
    for event in events:
        if isinstance(event, MentionObserved):
            sure = _SPEAKER if event.speaker else entity_confidence(event.text, event.entity_type)
            surest[_name(event)] = max(sure, surest.get(_name(event), 0.0))
    return surest


def _name(mention: MentionObserved) -> tuple[str, str]:
    return key(mention.text), mention.entity_type

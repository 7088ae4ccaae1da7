"""The recorder turns a message into episodic events: its episode, mentions and relationships as worded."""

from dataclasses import dataclass

from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.handlers import episodes, mentions
from asof_agents.layer import EpisodicStore, Layer
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.outcomes import log_outcome
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event, Record
from asof_streams.messages import Message


@dataclass(slots=True)
class Recorder:
    """The episodic layer as the engine writes it. answers: those of a language model; None: no model."""

    layer: Layer
    store: EpisodicStore
    extractors: ExtractorRegistry
    answers: Answers | None = None
    meter: IngestionMeter = UNMETERED

    def record(self, message: Record, now: Record) -> list[Event]:
        """Return the episodic events of a message; `now`: the record that causes them, the message or its retry."""
        events = list(episodes.record(message, self.store, self.extractors.ontologies))
        if events and isinstance(episode := events[-1], EpisodeRecorded) and episode.source != "fact":
            recorded = now._replace(event=episode, cause=now.position)
            content = message.event.content if isinstance(message.event, Message) else None
            extractor = self.extractors.of(episode)
            with self.meter.phases["ner"]:
                events += mentions.extract(recorded, extractor, self.answers, self.store, self.store, "", content)
            if self.answers is not None:
                log_outcome(episode.episode_id, self.layer.log.name, events)
        return events

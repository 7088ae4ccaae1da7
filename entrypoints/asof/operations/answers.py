"""The answers that doors show, and what language models have cost."""

from asof_agents.extraction.llm.usage import Usage
from asof_projections.model.answers import Entity, Episode, EventPage, Fact, LogEvent, Page, Queued, WhatIf

__all__ = ["Entity", "Episode", "EventPage", "Fact", "LogEvent", "Page", "Queued", "Usage", "WhatIf"]

"""A build that the service was asked for, in a process of its own: neither requests nor messages wait for it.

It dies with the service, and can be resumed then. What ends it otherwise stands in the service's log.
"""

import logging
from contextlib import closing

from asof.runtime.build_file import unfinished_info
from asof.runtime.child_process import Channel
from asof.runtime.extractors import extractor_factory
from asof.runtime.generation_build import build
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr, lower_priority
from asof.settings import Settings
from asof_projections.model.prices import ModelBudget
from asof_streams.errors import AsofError

log = logging.getLogger(__name__)


def run_build(channel: Channel, settings: Settings, name: str, budget: ModelBudget) -> None:
    """Go on with a build until it is complete, or was stopped since it was asked for."""
    del channel
    lower_priority()
    log_to_stderr(settings, "asof", "asof_agents")
    try:
        _build(settings, name, budget)
    except AsofError as error:
        log.warning("the build of generation %s ended: %s", name, error)


def _build(settings: Settings, name: str, budget: ModelBudget) -> None:
    places = DirectoryLayout(settings.data)
    info, ontology = unfinished_info(places, name), kept_ontology(places.ontology_of(name))
    if settings.kafka is not None:
        from asof.kafka.rebuild import rebuild

        rebuild(settings, info, ontology, None, budget, is_asked=False)
        return
    with closing(extractor_factory(settings)) as extractors:
        build(places, extractors, info, ontology, None, budget, is_asked=False)

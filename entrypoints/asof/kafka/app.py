"""The app that Faust's own command line loads: `faust -A asof.kafka.app worker` is `asof worker` without options.

One Faust app is one consumer group, with signals and an event loop of Faust's. Each agent of a worker is a consumer
group of its own, and so an app of its own (asof_agents.worker). So this app has no agents: its worker runs ours.
"""

import sys
from typing import Any, NoReturn

import faust

from asof.kafka.worker_process import run
from asof.runtime.wiring import connection_of
from asof.settings import Settings, read
from asof_streams.errors import AsofError


class _Worker(faust.Worker):
    """What Faust's command starts in place of a worker of its own."""

    def execute_from_commandline(self) -> NoReturn:
        try:
            run(_settings())
        except AsofError as error:
            sys.exit(f"asof: {error}")
        sys.exit(0)


def _settings() -> Settings:
    """Return the settings. The program ends where they cannot be, or name no Kafka."""
    try:
        settings = read()
        connection_of(settings)
    except AsofError as error:
        sys.exit(f"asof: {error}")
    return settings


def _configure(*arguments: Any, **_: Any) -> None:
    """Set what Faust's command shows as it starts; the arguments are those of a signal of Faust."""
    settings, conf = _settings(), arguments[-1]
    conf.id = settings.kafka_prefix
    conf.broker = [f"kafka://{server.strip()}" for server in connection_of(settings).bootstrap.split(",")]
    conf.datadir = settings.data / "faust"


app = faust.App("asof", Worker=_Worker, store="memory://", web_enabled=False)
app.on_configured.connect(_configure)

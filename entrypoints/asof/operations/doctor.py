"""The check of what asof needs: Python, SQLite, extras, weights, ontologies, the directory, and the servers named."""

from asof.runtime.doctor import Diagnosis, examine
from asof.runtime.server_checks import examine_servers
from asof.settings import Settings


def doctor(settings: Settings) -> list[Diagnosis]:
    """Return what asof needs and what was found, each with its remedy where it is absent or broken.

    Kafka's brokers with their topics, and ArangoDB, are asked where the settings name them.
    """
    return [*examine(settings.data, settings.model_dir), *examine_servers(settings)]

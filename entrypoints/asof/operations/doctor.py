"""The check of what asof needs: Python, SQLite, extras, model weights, ontologies, and the directory."""

from asof.runtime.doctor import Diagnosis, examine
from asof.settings import Settings


def doctor(settings: Settings) -> list[Diagnosis]:
    """Return what asof needs and what was found, each with its remedy where it is absent or broken."""
    return list(examine(settings.data, settings.model_dir))

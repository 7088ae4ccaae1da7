"""The check of what asof needs: Python, SQLite, extras, model weights, ontologies, and the directory."""

from asof.runtime.doctor import Finding, examine
from asof.settings import Settings


def doctor(settings: Settings) -> list[Finding]:
    """Return what asof needs and what was found, each with its remedy where it is absent or broken."""
    return list(examine(settings.data, settings.model_dir))

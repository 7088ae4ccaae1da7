"""The ontologies that a directory keeps: as they were when they were first used, whatever became of their files."""

from functools import lru_cache
from pathlib import Path
from typing import Final

from asof.runtime.layout import DirectoryLayout
from asof_ontologies import registry
from asof_ontologies.model import Ontology
from asof_projections.generations import FIRST, Catalog, GenerationInfo
from asof_streams.errors import DamagedFile, InvalidInput
from asof_streams.files import locked_folder, make_folder, replace_file
from asof_streams.json_document import read_json

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
    kept = read_json(content)
    ontology = Ontology.model_validate(kept["ontology"])
    if ontology.digest != kept["digest"]:
        raise ValueError("another digest")
    return ontology


def ontology_names(places: DirectoryLayout) -> list[str]:
    """Return the ids of the ontologies that messages may name beside the memory's own."""
    kept = [path.stem for path in places.named_ontology("*").parent.glob("*.json")]
    return [*registry.names(), *kept]


def restore_ontologies(places: DirectoryLayout, catalog: Catalog, ontology: Ontology) -> None:
    """Write down the ontology where a copy of topics lacks it: they hold its digest alone. InvalidInput: it is unknown.

    ontology: the one that is set.
    """
    first = catalog.generations[0]
    wanted = {places.ontology: first, **{places.ontology_of(info.name): info for info in catalog.generations}}
    for path, info in wanted.items():
        if path.exists():
            continue
        make_folder(path.parent)
        with locked_folder(path.parent):  # the recorder and the believer of a partition may begin at the same time
            if not path.exists():
                keep_ontology(ontology_begun_with(ontology, info, path), path)


def expect_ontology(places: DirectoryLayout, info: GenerationInfo, ontology: Ontology) -> None:
    """Check that the ontology of a generation is here, or is known. InvalidInput: it is neither."""
    path = places.ontology_of(info.name)
    if not path.exists():
        ontology_begun_with(ontology, info, path)


def ontology_begun_with(ontology: Ontology, info: GenerationInfo, path: Path) -> Ontology:
    """Return the ontology in the place of one that is missing: the one that is set, or an earlier one of asof.

    One that was built beside the first may have any of asof's. InvalidInput: none is the one that it was begun with.
    """
    built = info.name != FIRST and info.ontology in registry.names()
    own = [registry.load(info.ontology)] if built else []
    digest = info.ontology_digest
    found = next((known for known in (ontology, *own) if known.digest == digest), None) or registry.earlier(digest)
    if found is None:
        raise InvalidInput(
            f"{path} is missing, and the ontology that is set ({ontology.id}) is not the one that generation "
            f"{info.name} was begun with ({info.ontology}): start with that one, in ASOF_ONTOLOGY"
        )
    return found

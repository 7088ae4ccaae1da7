"""The version of the rules: with their ontology it decides what they find. It is known without their tables."""

from typing import Final

from asof_ontologies.model import Ontology

_VERSION: Final = "rules-3"


def version_of(ontology: Ontology) -> str:
    """Return the version of the extractor of an ontology."""
    return f"{_VERSION}/{ontology.id}@{ontology.digest[:12]}"

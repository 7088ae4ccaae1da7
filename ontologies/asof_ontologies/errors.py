"""The one error of this package. The package imports nothing else of asof, so a caller turns it into InvalidInput."""


class OntologyError(ValueError):
    """An ontology cannot be used; the message names the file, the line, the key and what to write instead."""

"""The one error of this package. It imports nothing above it, so the doors turn it into their own InvalidInput."""


class OntologyError(ValueError):
    """An ontology cannot be used; the message names the file, the line, the key and what to write instead."""

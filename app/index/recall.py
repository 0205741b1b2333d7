"""How much of the exact answer an index finds, measured on its own vectors.

Owns the sample and the comparison. Reads every vector once for each query of the sample.
"""

from __future__ import annotations

import numpy as np

from app.index.faiss_flat import FlatIndex

SAMPLE = 50
AT = 10


def recall(index: FlatIndex, sample: int = SAMPLE) -> float:
    """Return the mean share of the exact best ten that searches find.

    The queries are means of two stored vectors each, drawn alike at every call.
    """
    ids = index.every_id()
    scanned = index.scanned()
    random = np.random.default_rng(0)
    found = expected = 0
    for pair in random.choice(ids, size=(sample if len(ids) else 0, 2)):
        query = index.vectors(pair).sum(axis=0)
        query /= np.maximum(np.linalg.norm(query), np.float32(1e-6))
        best = {each.chunk_id for each in scanned.search(query, AT)}
        found += len(best & {each.chunk_id for each in index.search(query, AT)})
        expected += len(best)
    return found / expected if expected else 1.0

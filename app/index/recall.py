"""How much of the exact answer an index finds, measured on its own vectors.

Owns the sample and the comparison. Reads every vector once for each query of the sample.
"""

from __future__ import annotations

import numpy as np

from app.index.exact import best_first, exact_scores
from app.index.faiss_flat import FlatIndex
from app.index.protocol import Ids, Query

SAMPLE = 50
AT = 10


def recall(index: FlatIndex, sample: int = SAMPLE) -> float:
    """Return the mean share of the exact best ten that searches find.

    The queries are means of two stored vectors each, drawn alike at every call.
    """
    ids = index.every_id()
    random = np.random.default_rng(0)
    found = expected = 0
    for pair in random.choice(ids, size=(sample if len(ids) else 0, 2)):
        query = _vector(index, pair[0]) + _vector(index, pair[1])
        query /= np.maximum(np.linalg.norm(query), np.float32(1e-6))
        best = set(_exact(index, query).tolist())
        found += len(best & {each.chunk_id for each in index.search(query, AT)})
        expected += len(best)
    return found / expected if expected else 1.0


def _vector(index: FlatIndex, id_: int) -> Query:
    wanted = np.array([id_], dtype=np.int64)
    rows = [s.core.vectors[s.core.positions(wanted)] for s in index.segments]
    return np.asarray(np.concatenate(rows)[0], dtype=np.float32)


def _exact(index: FlatIndex, query: Query) -> Ids:
    ids, scores = [np.empty(0, np.int64)], [np.empty(0, np.float64)]
    for segment in index.segments:
        core = segment.core
        rough = core.rough_scores(query)
        if segment.alive is not None:
            rough[~segment.alive] = -np.inf
        near = np.argpartition(-rough, min(4 * AT, len(rough) - 1))[: 4 * AT]
        near = near[np.isfinite(rough[near])]
        ids.append(core.ids[near])
        scores.append(exact_scores(core.vectors[near], query))
    every_id, every_score = np.concatenate(ids), np.concatenate(scores)
    return np.asarray(every_id[best_first(every_id, every_score, AT)], dtype=np.int64)

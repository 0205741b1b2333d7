"""Drops the vectors of models that are neither in use nor on the way to be.

Owns the choice of what goes. Going back to such a model costs embedding every note anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from app.db import changeover
from app.db.engine import Database
from app.sync.transaction import transaction


def prune(database: Database, kept: Iterable[int]) -> dict[str, int]:
    """Delete the spaces that nothing uses; return their vectors' numbers, by ``provider/model``.

    ``kept`` are the ids of spaces that are used though they are not active.
    """
    with transaction(database) as unit:
        idle = changeover.idle(unit.connection, kept)
        for space_id in idle:
            unit.removed_vectors(changeover.remove(unit.connection, space_id))
    counts: Counter[str] = Counter()
    for provider, model, count in idle.values():
        counts[f"{provider}/{model}"] += count
    return dict(counts)

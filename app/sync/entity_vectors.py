"""Vectors of entities: their names embedded, behind all that notes need.

Owns the loop. An entity is found by the words of its name at once, and by its meaning later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.db import entities
from app.db.engine import Database
from app.domain.chunks import KIND_ENTITY, Chunk
from app.domain.fragments import Entity
from app.embedding.active import ActiveEmbedder
from app.sync.companions import raise_if_all_failed
from app.sync.spaces import settle_dimension
from app.sync.texts import Prepared
from app.sync.transaction import transaction
from app.sync.vectors import Outcome, embed, rows_of

GROUP = 64


class EntityEmbedder:
    """Embeds the names of entities that have no vector in the active space."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active

    def missing(self) -> tuple[int, ...]:
        """Return the entities without a vector in the active space, by id."""
        with self._database.read() as connection:
            return entities.lacking(connection, self._active.current.space_id)

    def clear(self) -> None:
        """Delete every vector in the active space, so that all are made anew."""
        with transaction(self._database) as unit:
            unit.removed_vectors(
                entities.remove_vectors(unit.connection, self._active.current.space_id)
            )

    def fill(
        self,
        on_progress: Callable[[int], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> int:
        """Make all that is missing, group by group; return the number of entities that got one.

        A name that is refused is left without, and tried again the next time.

        Raises:
            ProviderError: the provider failed for a whole group; what was made by then is stored.
            SpaceMismatch: the provider answered with vectors of another dimension.
        """
        entity_ids = self.missing()
        made = 0
        for start in range(0, len(entity_ids), GROUP):
            if is_cancelled():
                break
            made += self._fill_group(entity_ids[start : start + GROUP])
            if on_progress is not None:
                on_progress(min(start + GROUP, len(entity_ids)))
        return made

    def _fill_group(self, entity_ids: Sequence[int]) -> int:
        active = self._active.current
        with self._database.read() as connection:
            found = entities.named(connection, entity_ids)
        prepared = {id_: _prepared(each, active.embedder.max_chars) for id_, each in found.items()}
        outcomes = embed(active.embedder, list(prepared.values()))
        raise_if_all_failed(outcomes)
        made = dict(zip(prepared, outcomes, strict=True))
        fresh = {id_: each for id_, each in made.items() if each.failure is None}
        with transaction(self._database) as unit:
            lacking = entities.lacking(unit.connection, active.space_id, fresh)
            rows = [_row(id_, active.space_id, fresh[id_]) for id_ in lacking]
            if rows:
                settle_dimension(unit, active.space_id, len(fresh[lacking[0]].vectors[0]))
                unit.add_vectors(rows)
        return len(rows)


def _prepared(entity: Entity, max_chars: int) -> Prepared:
    return Prepared("", (Chunk(0, entity.name[:max_chars], KIND_ENTITY),))


def _row(entity_id: int, space_id: int, outcome: Outcome) -> dict[str, object]:
    [row] = rows_of(entity_id, space_id, outcome.prepared.chunks, outcome.vectors)
    return {**row, "note_id": None, "entity_id": entity_id}

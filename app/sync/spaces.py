"""Makes the configured embedding space exist and be the active one.

Owns the life of a space. Must not embed.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sqlalchemy import Connection

from app.db import changeover, changes, chunks, coverage, spaces
from app.db.engine import Database
from app.domain.calibration import Scale
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import STATUS_PENDING
from app.domain.spaces import Space, SpaceSpec
from app.errors import SpaceMismatch
from app.settings import addresses
from app.settings.values import Settings
from app.sync.transaction import Transaction, transaction

KEPT_CHANGES = 100_000
"""Entries of the change feed that are always kept; more when there are more chunks."""


_log = logging.getLogger(__name__)


def prepare(database: Database, spec: SpaceSpec) -> Space:
    """Make the space of a provider's model active, and mend what a crash may have left.

    While it lacks notes that the one before holds, that one stands in for searches.

    A note that calls itself done but has no chunk row becomes pending; nothing else is guessed.
    Of the change feed, what no reader needs is dropped.
    """
    with database.read() as connection:
        known = spaces.active(connection)
        needs_care = known is not None and _needs_care(connection, known.id)
    if known is not None and not needs_care and _same(known.spec, spec):
        return known
    with transaction(database) as unit:
        space = _activate(unit, spec)
        broken = coverage.notes_without_chunks(unit.connection, space.id, KIND_CHUNK)
        if broken:
            spaces.set_status(unit.connection, space.id, broken, STATUS_PENDING)
        changes.trim(unit.connection, _kept_changes(unit.connection, space.id))
    return space


def resume(database: Database, space_id: int) -> Space:
    """Make a stored space active again; what it lacks is embedded while another stands in."""
    with transaction(database) as unit:
        return _made_active(unit, spaces.get(unit.connection, space_id))


def begin_variant(database: Database, spec: SpaceSpec) -> Space:
    """Make a new space active for a model that bears a stored one's name and is another.

    The vectors of that one are kept, and answer until the new space has all notes.
    """
    with transaction(database) as unit:
        known = spaces.variants(unit.connection, spec.provider, spec.model)
        number = max((space.spec.variant for space in known), default=-1) + 1
        space_id = spaces.add(unit.connection, replace(spec, variant=number))
        return _made_active(unit, spaces.get(unit.connection, space_id))


def _needs_care(connection: Connection, space_id: int) -> bool:
    if coverage.notes_without_chunks(connection, space_id, KIND_CHUNK):
        return True
    return changes.count(connection) > _kept_changes(connection, space_id)


def _kept_changes(connection: Connection, space_id: int) -> int:
    return max(KEPT_CHANGES, 2 * chunks.count(connection, space_id, KIND_CHUNK))


def _same(one: SpaceSpec, other: SpaceSpec) -> bool:
    return (one.provider, one.model) == (other.provider, other.model)


def _activate(unit: Transaction, spec: SpaceSpec) -> Space:
    return _made_active(unit, spaces.get(unit.connection, ensure(unit, spec)))


def _made_active(unit: Transaction, space: Space) -> Space:
    if space.active:
        return space
    spaces.activate(unit.connection, space.id, _stand_in(unit.connection, space.id))
    unit.changed_space(space.id)
    return spaces.get(unit.connection, space.id)


def _stand_in(connection: Connection, space_id: int) -> int | None:
    """Return the space that goes on answering, unless the new one holds all that it holds."""
    before = spaces.searching(connection)
    if before is None or before.id == space_id:
        return None
    return before.id if changeover.done_only_in(connection, before.id, space_id) else None


def ensure(unit: Transaction, spec: SpaceSpec) -> int:
    """Return the id of a provider's model's space, stored now if it was unknown."""
    known = spaces.find(unit.connection, spec.provider, spec.model)
    return known.id if known else spaces.add(unit.connection, spec)


def keep(database: Database, spec: SpaceSpec) -> Space:
    """Return the space of a provider's model, stored now if it was unknown, active or not."""
    with database.read() as connection:
        known = spaces.find(connection, spec.provider, spec.model)
    if known is not None:
        return known
    with transaction(database) as unit:
        return spaces.get(unit.connection, ensure(unit, spec))


def remember(settings: Settings, space: Space) -> None:
    """Note where the model of a space is asked, for the time when another one is configured."""
    spec = space.spec
    try:
        addresses.remember(
            settings.data_dir, spec.provider, spec.model, settings.embedding.base_url, spec.variant
        )
    except OSError as error:
        _log.warning("the address of the model is not noted: %s", error)


def settle_dimension(unit: Transaction, space_id: int, dimension: int) -> None:
    """Keep the dimension of the first vectors of a space; all later ones must agree.

    Raises:
        SpaceMismatch: the space has vectors of another dimension.
    """
    space = unit.space(space_id)
    if space.spec.dimension is None:
        spaces.set_dimension(unit.connection, space_id, dimension)
        unit.changed_space(space_id)
    elif space.spec.dimension != dimension:
        raise SpaceMismatch(
            f"The space {space.spec.provider}/{space.spec.model} holds vectors of "
            f"{space.spec.dimension} dimensions, the provider answered {dimension}; set the "
            "provider and model back, or run: crystal reindex"
        )


def rescale(unit: Transaction, space_id: int, scale: Scale) -> None:
    """Have the cosines of a space read in another way; its vectors stay."""
    spaces.set_scale(unit.connection, space_id, scale)
    unit.changed_space(space_id)

"""The scales that ship with a version, and the writing of one into a space.

Owns which spaces have one. A change goes through the change feed, so every process follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from app.db import spaces
from app.db.engine import Database
from app.domain.calibration import Scale
from app.domain.spaces import PLAIN_BORDER, Space, SpaceMeans
from app.embedding import builtin, quality
from app.sync import spaces as space_sync
from app.sync.transaction import transaction

Packaged = Callable[[], tuple[float, SpaceMeans | None]]

SHIPPED: Final[Mapping[tuple[str, str], Packaged]] = {
    (builtin.BuiltinEmbedder.provider, builtin.MODEL): builtin.packaged_scale,
    (quality.QualityEmbedder.provider, quality.MODEL): quality.packaged_scale,
}
"""By provider and model: where the border and the means that come with this version are."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A space that reads its cosines in another way than this version would."""

    space: Space
    shipped: Scale


def scale_of(space: Space) -> Scale:
    """Return how a space reads its cosines now."""
    return Scale(space.spec.border, space.spec.means)


def offers(connection: Connection) -> tuple[Offer, ...]:
    """Return the spaces whose scale is another than the one that ships for their model.

    Raises:
        ConfigurationError: a packaged file is damaged.
    """
    found = []
    for (provider, model), packaged in SHIPPED.items():
        space = spaces.find(connection, provider, model)
        if space is not None and scale_of(space) != (shipped := Scale(*packaged())):
            found.append(Offer(space, shipped))
    return tuple(found)


def offered(database: Database) -> tuple[Offer, ...]:
    """Return these offers, and the plain scale for an active space of a model without one.

    Raises:
        ConfigurationError: a packaged file is damaged.
        DatabaseUnavailable: the database cannot be read.
    """
    with database.read() as connection:
        found = offers(connection)
        space = spaces.active(connection)
    plain = Scale(PLAIN_BORDER)
    is_plain = space is None or _key(space) in SHIPPED or scale_of(space) == plain
    return found if is_plain or space is None else (*found, Offer(space, plain))


def _key(space: Space) -> tuple[str, str]:
    return space.spec.provider, space.spec.model


def write(database: Database, space_id: int, scale: Scale) -> None:
    """Have a space read its cosines in another way, in every process.

    Raises:
        DatabaseUnavailable: the database cannot be written.
    """
    with transaction(database) as unit:
        space_sync.rescale(unit, space_id, scale)

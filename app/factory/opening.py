"""What every part stands on: the database, upgraded and healed, and the embedder of its vectors.

Owns which database the settings name, and what is refused before anything is opened.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import URL

from app.db import migrate, spaces
from app.db.engine import Database
from app.embedding import registry
from app.embedding.active import Active, ActiveEmbedder, SecondSpace
from app.embedding.base import Embedder
from app.errors import ConfigurationError
from app.importers.chatcrystal import DATABASE as ORIGINAL
from app.lexical.chinese import DICTIONARY
from app.maintenance.tokens import TokenKeeper
from app.mirror import backends
from app.mirror.mirror import Mirror
from app.ranking.registry import BY_NAME as RANKERS
from app.settings.values import Settings
from app.sync import healing
from app.sync import second as second_sync
from app.sync import spaces as space_sync
from app.sync.changeover import Changeover


@dataclass(frozen=True, slots=True)
class Ground:
    """The parts that all others are made over."""

    settings: Settings
    database: Database
    active: ActiveEmbedder
    second: SecondSpace | None
    changeover: Changeover
    mirror: Mirror


def database_url(settings: Settings) -> str | URL:
    """Return the URL of the configured database, by default a file in the data folder."""
    # Not as a text: a question mark or percent sign in the path would mean something there.
    return settings.database_url or URL.create(
        "sqlite", database=str(settings.data_dir / "crystal.db")
    )


def knows_tokens(settings: Settings) -> bool:
    """Tell whether a database knows API tokens; it is neither made nor upgraded for that.

    Raises:
        DatabaseUnavailable: it cannot be read.
    """
    database = Database(database_url(settings))
    try:
        if database.path is not None and not database.path.exists():
            return False
        is_newest = migrate.revision(database) == migrate.newest()
        return is_newest and bool(TokenKeeper(database).every())
    finally:
        database.close()


def open_ground(settings: Settings, embedder: Embedder | None, second: Embedder | None) -> Ground:
    """Open the database, bring it up to date, and make what searches and writes stand on.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be opened.
    """
    _refuse_unusable(settings)
    DICTIONARY.configure(settings.data_dir)
    database = Database(database_url(settings))
    migrate.upgrade(database)
    embedder = embedder or embedder_of(settings, database)
    space = space_sync.prepare(database, embedder.spec)
    healing.fill_words(database)
    healing.fill_fragments(database, space.id)
    healing.fill_links(database)
    healing.fill_messages(database)
    active = ActiveEmbedder(Active(settings, embedder, space.id))
    space_sync.remember(settings, space)
    changeover = Changeover(database, active)
    changeover.follow()
    second_space = second_sync.second_space(settings, database, second)
    held = backends.holding(settings.index, settings.data_dir, database)
    mirror = Mirror(database, second_space.space_id if second_space else None, held)
    return Ground(settings, database, active, second_space, changeover, mirror)


def embedder_of(settings: Settings, database: Database) -> Embedder:
    """Make the embedder, which must keep to the dimension of the vectors it made before."""
    fresh = registry.create(settings.embedding)
    spec = fresh.spec
    with database.read() as connection:
        known = spaces.find(connection, spec.provider, spec.model)
    if known is None or known.spec.dimension is None:
        return fresh
    fresh.close()
    return registry.create(settings.embedding, known.spec.dimension)


def _refuse_unusable(settings: Settings) -> None:
    if settings.search_ranker not in RANKERS:
        raise ConfigurationError(
            f"Setting search.ranker must be one of {', '.join(RANKERS)}, "
            f"not {settings.search_ranker!r}"
        )
    if (settings.data_dir / ORIGINAL).exists():
        raise ConfigurationError(
            f"{settings.data_dir} is ChatCrystal's own folder: set data_dir to another one and run "
            f"crystal import chatcrystal {settings.data_dir}"
        )

"""Changes of the settings that a running server takes: provider, model, address, key, ranker.

Owns what a change means for the vectors: kept, left in another space, or dropped. Must not
accept paths or anything else that the table of settings keeps from HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from app.db import chunks, spaces
from app.db.engine import Database
from app.domain.chunks import KIND_CHUNK
from app.embedding import registry
from app.embedding.active import Active, ActiveEmbedder
from app.embedding.base import Embedder
from app.errors import ConfigurationError, CrystalError, InvalidParameter
from app.settings import store
from app.settings.environment import current as current_environment
from app.settings.table import BY_NAME
from app.settings.values import Settings, Value, parse_one
from app.sync import spaces as space_sync
from app.sync.transaction import transaction

SAME_VECTOR = 0.999
"""A provider whose vector of a stored text has at least this cosine to the stored one is the
same model at another address."""

GROUPS = ("embedding", "llm")
"""Groups of settings that name a provider: its key belongs to its address, its model to it."""

_MODEL = "embedding.model"
_RANKER = "search.ranker"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change came to; without confirmation nothing was changed."""

    requires_confirmation: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """What a provider answered to a trial."""

    provider: str
    model: str
    dimension: int


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    stored: dict[str, str]
    settings: Settings
    embedder: Embedder
    drops_vectors: bool = False
    warnings: tuple[str, ...] = ()


class Reconfigurer:
    """Changes the settings of a running process; safe among threads."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active
        self._lock = Lock()

    def change(self, changes: Mapping[str, str], *, is_confirmed: bool) -> Outcome:
        """Store settings and use them from now on.

        Without confirmation, a change after which notes have to be embedded anew is only told.

        Raises:
            InvalidParameter: a setting is unknown here, or cannot have this value.
            ProviderError: another address of the same model cannot be compared with the vectors.
        """
        with self._lock:
            plan = self._plan(changes)
            if plan.warnings and not is_confirmed:
                plan.embedder.close()
                return Outcome(requires_confirmation=True, warnings=plan.warnings)
            store.write(plan.settings.data_dir, plan.stored)
            if plan.drops_vectors:
                with transaction(self._database) as unit:
                    space_sync.empty(unit, self._active.current.space_id, plan.embedder.spec)
            space = space_sync.prepare(self._database, plan.embedder.spec)
            with self._database.read() as connection:
                searched = spaces.searching(connection)
            self._active.replace(
                Active(plan.settings, plan.embedder, space.id), searched.id if searched else None
            )
            space_sync.remember(plan.settings, space)
            return Outcome(warnings=plan.warnings)

    def test(self, changes: Mapping[str, str]) -> Probe:
        """Embed a word with the settings as they would be, changing nothing.

        Raises:
            InvalidParameter: a setting is unknown here, or cannot have this value.
            ProviderError: the provider failed.
        """
        _, settings = self._settings_with(changes)
        embedder = _created(settings)
        try:
            vectors = embedder.embed_passages(["test"])
        finally:
            embedder.close()
        return Probe(embedder.provider, embedder.model, vectors.shape[1])

    def _settings_with(self, changes: Mapping[str, str]) -> tuple[dict[str, str], Settings]:
        """Return the stored texts and the settings as they would be."""
        for name in changes:
            if name not in BY_NAME or not BY_NAME[name].over_http:
                raise InvalidParameter(name, "is no setting that can be changed here")
            _refuse_overruled(name)
        now = self._active.current.settings
        completed = _completed(changes)
        try:
            values = {name: parse_one(BY_NAME[name], text) for name, text in completed.items()}
        except ConfigurationError as error:
            raise InvalidParameter(next(iter(changes), ""), f"is refused: {error}") from error
        ranker = str(values.pop(_RANKER, now.search_ranker))
        embedding = replace(now.embedding, **_leaves(values, "embedding."))
        llm = replace(now.llm, **_leaves(values, "llm."))
        stored = store.read(now.data_dir) | completed
        return stored, replace(now, embedding=embedding, llm=llm, search_ranker=ranker)

    def _plan(self, changes: Mapping[str, str]) -> _Plan:
        """Find out what a change would do."""
        stored, settings = self._settings_with(changes)
        now = self._active.current
        if settings.embedding == now.settings.embedding:
            return _Plan(stored, settings, now.embedder)
        before, after = now.embedder.spec, _created(settings).spec
        with self._database.read() as connection:
            vectors = chunks.count(connection, now.space_id, KIND_CHUNK)
            known = spaces.find(connection, after.provider, after.model)
        dimension = known.spec.dimension if known else None
        plan = _Plan(stored, settings, _created(settings, dimension))
        if not vectors:
            return plan
        if (before.provider, before.model) != (after.provider, after.model):
            return replace(plan, warnings=(_other_space(before.model, after.model),))
        return self._compared(plan)

    def _compared(self, plan: _Plan) -> _Plan:
        """Find out whether the same model's name at another address means the same vectors."""
        with self._database.read() as connection:
            sample = chunks.first(connection, self._active.current.space_id, KIND_CHUNK)
        if sample is None:
            return plan
        text, vector = sample
        unbound = _created(plan.settings)
        try:
            found = unbound.embed_passages([text])[0]
        except CrystalError:
            unbound.close()
            raise
        if len(found) == len(vector) and float(np.dot(found, vector)) >= SAME_VECTOR:
            unbound.close()
            return plan
        warning = (
            "The model at this address makes other vectors than the stored ones, which will be "
            "deleted; every note must be embedded anew before it is found by meaning"
        )
        return replace(plan, embedder=unbound, drops_vectors=True, warnings=(warning,))


def _created(settings: Settings, dimension: int | None = None) -> Embedder:
    try:
        return registry.create(settings.embedding, dimension)
    except ConfigurationError as error:
        raise InvalidParameter(_MODEL, f"is refused: {error}") from error


def _completed(changes: Mapping[str, str]) -> dict[str, str]:
    """Add what a change takes with it: a key belongs to an address, a model to a provider."""
    completed = dict(changes)
    for group in GROUPS:
        provider, address = f"{group}.provider", f"{group}.base_url"
        if provider in changes:
            for name in (f"{group}.model", address):
                completed.setdefault(name, "")
        if provider in changes or address in changes:
            completed.setdefault(f"{group}.api_key", "")
    return completed


def _leaves(values: Mapping[str, Value], prefix: str) -> dict[str, Any]:
    """Return the values of one group of settings, by their names in it."""
    return {
        name.removeprefix(prefix): value
        for name, value in values.items()
        if name.startswith(prefix)
    }


def _refuse_overruled(name: str) -> None:
    for variable in BY_NAME[name].environment:
        if current_environment().get(variable):
            raise InvalidParameter(name, f"is set by the environment variable {variable}")


def _other_space(before: str, after: str) -> str:
    return (
        f"The embedding model changes from {before} to {after}: every note must be embedded anew. "
        "Until all are, searches use the vectors of the old model, which are kept"
    )

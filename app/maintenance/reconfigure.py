"""Changes of the settings that a running server takes: provider, model, address, key, ranker.

Owns which space a change leads to: the one in use, one that was, or a new one; vectors are kept in
any case. Must not accept paths or anything else that the table of settings keeps from HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.db import chunks, spaces
from app.db.engine import Database
from app.domain.chunks import KIND_CHUNK
from app.domain.spaces import Space
from app.embedding import registry
from app.embedding.active import Active, ActiveEmbedder
from app.embedding.base import Embedder
from app.errors import ConfigurationError, CrystalError, InvalidParameter
from app.settings import addresses, store
from app.settings.environment import current as current_environment
from app.settings.table import BY_NAME
from app.settings.values import Settings, Value, parse_one
from app.sync import spaces as space_sync

SAME_VECTOR = 0.999
"""A provider whose vector of a stored text has at least this cosine to the stored one is the
same model at another address."""

GROUPS = ("embedding", "llm")
"""Groups of settings that name a provider: its key belongs to its address, its model to it."""

_OTHER_VECTORS = (
    "The model at this address makes other vectors than the stored ones: every note must be "
    "embedded anew. Until all are, searches use the stored vectors, which are kept"
)
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
    returns_to: Space | None = None
    begins_variant: bool = False
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
            self._take(plan)
            return Outcome(warnings=plan.warnings)

    def recognise(self) -> bool:
        """Give the model a space of its own if its vectors have become of another length.

        That is what a provider does when another model is put behind the name. Tell whether it was.

        Raises:
            ProviderError: the provider failed.
        """
        with self._lock:
            now = self._active.current
            plan = _Plan({}, now.settings, _created(now.settings))
            with self._database.read() as connection:
                known = spaces.variants(connection, now.embedder.provider, now.embedder.model)
            chosen = self._of_same_vectors(plan.embedder, known)
            stored = next((space.spec.dimension for space in known if space.active), None)
            if plan.embedder.spec.dimension in (None, stored):
                plan.embedder.close()
                return False
            self._take(self._led_to(chosen, plan, known))
            return True

    def _take(self, plan: _Plan) -> None:
        space = self._prepared(plan)
        with self._database.read() as connection:
            searched = spaces.searching(connection)
        self._active.replace(
            Active(plan.settings, plan.embedder, space.id), searched.id if searched else None
        )
        space_sync.remember(plan.settings, space)

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
        plan = _Plan(stored, settings, _created(settings))
        before, after = now.embedder.spec, plan.embedder.spec
        with self._database.read() as connection:
            vectors = chunks.count(connection, now.space_id, KIND_CHUNK)
            known = spaces.variants(connection, after.provider, after.model)
        if (before.provider, before.model) == (after.provider, after.model):
            return self._led_to(self._of_same_vectors(plan.embedder, known), plan, known)
        chosen = self._asked_there(settings, known)
        if chosen is None:
            chosen = self._of_same_vectors(plan.embedder, known)
        plan = self._led_to(chosen, plan, known)
        return replace(plan, warnings=(_other_space(before.model, after.model),) if vectors else ())

    def _asked_there(self, settings: Settings, known: Sequence[Space]) -> Space | None:
        """Return the space of a model's name that was filled from the address in the settings."""
        for space in known:
            spec = space.spec
            address = addresses.known(settings.data_dir, spec.provider, spec.model, spec.variant)
            if address in (None, settings.embedding.base_url):
                return space
        return None

    def _of_same_vectors(self, embedder: Embedder, known: Sequence[Space]) -> Space | None:
        """Return the space whose vectors an embedder makes; an empty one fits if no other does."""
        with self._database.read() as connection:
            samples = {
                space.id: sample
                for space in known
                if (sample := chunks.first(connection, space.id, KIND_CHUNK)) is not None
            }
        made = _vectors_of(embedder, {text for text, _ in samples.values()})
        for space in known:
            text, vector = samples.get(space.id, ("", None))
            if vector is not None and _are_same(made[text], vector):
                return space
        empty = [space for space in known if space.id not in samples]
        dimension = embedder.spec.dimension
        fitting = [
            space
            for space in empty
            if dimension is None or space.spec.dimension in (None, dimension)
        ]
        return fitting[0] if fitting else None

    def _led_to(self, chosen: Space | None, plan: _Plan, known: Sequence[Space]) -> _Plan:
        """Complete a plan by the space of its model, None when it has none yet."""
        if chosen is None:
            warnings = (_OTHER_VECTORS,) if known else ()
            return replace(plan, begins_variant=bool(known), warnings=warnings)
        plan.embedder.close()
        embedder = _created(plan.settings, chosen.spec.dimension)
        return replace(plan, embedder=embedder, returns_to=None if chosen is known[0] else chosen)

    def _prepared(self, plan: _Plan) -> Space:
        if plan.begins_variant:
            return space_sync.begin_variant(self._database, plan.embedder.spec)
        if plan.returns_to is not None:
            return space_sync.resume(self._database, plan.returns_to.id)
        return space_sync.prepare(self._database, plan.embedder.spec)


def _vectors_of(embedder: Embedder, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    ordered = sorted(texts)
    try:
        return dict(zip(ordered, embedder.embed_passages(ordered), strict=True))
    except CrystalError:
        embedder.close()
        raise


def _are_same(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    return len(one) == len(other) and float(np.dot(one, other)) >= SAME_VECTOR


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

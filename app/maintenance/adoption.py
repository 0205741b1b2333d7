"""Takes over a data directory of ChatCrystal: rows, vectors, and on request its provider.

Owns the order: everything that can fail for what the directory holds is read before anything is
written. The rows go through ``app.sync.adopting``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from app.db import spaces
from app.db.engine import Database
from app.domain.adoption import (
    ADOPTED_KINDS,
    LEFT_OUT_KINDS,
    NUMBERED_KINDS,
    AdoptedSpace,
    AdoptionReport,
    AdoptionRequest,
    Progress,
)
from app.domain.notes import STATUS_PENDING
from app.embedding.active import ActiveEmbedder
from app.errors import ImportFailed
from app.importers import chatcrystal
from app.importers.chatcrystal import DataDirectory, Origin
from app.importers.chatcrystal_rows import wanted_vectors
from app.importers.vectra import Vectors, read_vectors
from app.maintenance.reconfigure import Reconfigurer
from app.sync.adopting.chunks import ChunkAdopter
from app.sync.adopting.rows import RowAdopter
from app.sync.adopting.space import Choice, choose, named, settings_for
from app.sync.adopting.target import Target

_ADDRESS = "embedding.base_url"


def no_progress(stage: str, done: int, total: int) -> None:
    """Tell nobody how far the work is."""


class Adopter:
    """Takes directories over into one database."""

    def __init__(
        self, database: Database, active: ActiveEmbedder, reconfigurer: Reconfigurer
    ) -> None:
        self._database = database
        self._active = active
        self._reconfigurer = reconfigurer

    def adopt(
        self,
        request: AdoptionRequest,
        on_progress: Progress = no_progress,
        *,
        is_dry_run: bool = False,
    ) -> AdoptionReport:
        """Take over what is not there yet, in small transactions; run again, it changes nothing.

        Notes whose vectors belong to the configured space are found by the next search. All
        others are left ``pending`` for the caller to embed.

        Raises:
            ImportFailed: the directory cannot be read or is damaged; nothing has changed.
            ConfigurationError: its provider cannot become the configured one; nothing has
                changed.
            InvalidParameter: the environment keeps another provider; nothing has changed.
        """
        target = Target(self._database, is_dry_run=is_dry_run)
        with chatcrystal.opened(request.folder) as directory:
            self._refuse_own_folder(request)
            origin = named(request, chatcrystal.origin(request.folder))
            vectors = _read(directory, target, on_progress)
            choice = self._choose(origin, vectors, target)
            if request.configures:
                choice = self._configure(origin, choice, target)
            rows = RowAdopter(target, directory, on_progress)
            rows.adopt()
            if choice.space is None:
                target.tally.statuses[STATUS_PENDING] = len(rows.fresh)
            else:
                chunks = ChunkAdopter(target, choice.space, vectors, rows)
                chunks.adopt(directory, on_progress)
        return self._report(request, target, choice, vectors.dimension)

    def _refuse_own_folder(self, request: AdoptionRequest) -> None:
        if request.folder.resolve() == self._active.current.settings.data_dir.resolve():
            raise ImportFailed(
                f"{request.folder} is the data folder of this program as well: set data_dir "
                "(CRYSTAL_DATA_DIR) to another one"
            )

    def _choose(self, origin: Origin, vectors: Vectors, target: Target) -> Choice:
        if vectors.dimension is None:
            return Choice(None)
        active = self._active.current
        choice = choose(origin, vectors.dimension, active.embedder, active.settings.embedding)
        if choice.space is None:
            target.tally.left_out["vectors_of_unknown_model"] = len(vectors.by_row)
            return choice
        with self._database.read() as connection:
            known = spaces.find(connection, choice.space.provider, choice.space.model)
        if known is not None and known.spec.dimension not in (None, vectors.dimension):
            raise ImportFailed(
                f"The vectors have {vectors.dimension} dimensions and those stored already for "
                f"{choice.space.provider}/{choice.space.model} {known.spec.dimension}: another "
                "model made them; name it with --provider and --model"
            )
        return choice

    def _configure(self, origin: Origin, choice: Choice, target: Target) -> Choice:
        """Make the provider the configured one, from now on and in this process too."""
        changes = settings_for(origin, self._active.current.settings.embedding)
        if not changes:
            return choice
        if not target.is_dry_run:
            self._reconfigurer.change(changes, is_confirmed=True)
            choice = replace(choice, space=choice.space and self._active.current.embedder.spec)
        where = f", at {changes[_ADDRESS]}" if _ADDRESS in changes else ""
        warning = (
            f"The configured model is {origin.provider}/{origin.model} from now on{where}; "
            "a server that runs takes it on when it is started anew"
        )
        return replace(choice, warnings=(*choice.warnings, warning))

    def _report(
        self, request: AdoptionRequest, target: Target, choice: Choice, dimension: int | None
    ) -> AdoptionReport:
        tally = target.tally
        return AdoptionReport(
            folder=str(request.folder),
            is_dry_run=target.is_dry_run,
            added=_all_of(ADOPTED_KINDS, tally.added),
            unchanged=_all_of(ADOPTED_KINDS, tally.unchanged),
            left_out=_all_of(LEFT_OUT_KINDS, tally.left_out),
            renumbered=_all_of(NUMBERED_KINDS, tally.renumbered),
            invalid_json=tuple(tally.invalid_json),
            statuses=dict(sorted(tally.statuses.items())),
            space=self._space(request, choice, dimension),
            warnings=choice.warnings,
        )

    def _space(
        self, request: AdoptionRequest, choice: Choice, dimension: int | None
    ) -> AdoptedSpace | None:
        if choice.space is None or dimension is None:
            return None
        mine = self._active.current.embedder.spec
        provider, model = choice.space.provider, choice.space.model
        is_mine = (provider, model) == (mine.provider, mine.model)
        return AdoptedSpace(
            provider=provider,
            model=model,
            dimension=dimension,
            is_configured=is_mine or request.configures,
            is_assumed=choice.is_assumed,
        )


def _read(directory: DataDirectory, target: Target, on_progress: Progress) -> Vectors:
    """Read all vectors, so that a damaged file is found before anything is stored."""
    wanted = wanted_vectors(directory)
    vectors = Vectors()
    if directory.index is not None:
        vectors = read_vectors(
            directory.index, wanted, lambda done, total: on_progress("vectors", done, total)
        )
    left_out = target.tally.left_out
    left_out["chunks_without_vector"] = wanted.count - len(vectors.by_row)
    left_out["vectors_without_chunk"] = vectors.without_chunk
    left_out["vectors_of_other_dimension"] = vectors.of_other_dimension
    left_out["vectors_of_no_direction"] = vectors.of_no_direction
    return vectors


def _all_of(kinds: Iterable[str], counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in kinds}

"""The check of the embedding provider: whether it answers, with vectors of the stored length."""

from __future__ import annotations

from app.db import spaces
from app.embedding import registry
from app.errors import CrystalError
from app.maintenance.doctor.checks import Check, Patient
from app.settings.values import EmbeddingSettings

PROVIDER = "provider"
PROBE = "ready?"


def examine(patient: Patient, settings: EmbeddingSettings) -> Check:
    """Embed a word with the model that is configured."""
    try:
        embedder = registry.create(settings)
        try:
            vectors = embedder.embed_passages([PROBE])
        finally:
            embedder.close()
    except CrystalError as error:
        return Check(PROVIDER, False, 1, error.message)
    name = embedder.provider, embedder.model
    with patient.database.read() as connection:
        known = spaces.find(connection, *name)
    stored = known.spec.dimension if known else None
    if stored not in (None, vectors.shape[1]):
        return Check(
            PROVIDER, False, 1,
            f"{'/'.join(name)} answers with {vectors.shape[1]} dimensions, the stored vectors have "
            f"{stored}",
        )  # fmt: skip
    return Check(PROVIDER, True)

"""Makes the second model's space exist, if the model is installed and wanted.

Owns the condition. Must not embed.
"""

from __future__ import annotations

from app.db.engine import Database
from app.embedding import quality
from app.embedding.active import SecondSpace
from app.embedding.base import Embedder
from app.settings.values import Settings
from app.sync import spaces


def second_space(
    settings: Settings, database: Database, model: Embedder | None = None
) -> SecondSpace | None:
    """Return the second model and its space; None without the extra, or where it is off.

    The model is the installed one, unless another is handed in.
    """
    if not settings.search_second_space:
        return None
    if model is None and not quality.is_installed():
        return None
    embedder = model or quality.QualityEmbedder(settings.embedding)
    return SecondSpace(embedder, spaces.keep(database, embedder.spec).id)

"""When nothing can be found by meaning though there are notes: what to say instead of nothing.

Owns the check and its words. An empty answer must mean that there is no such note.
"""

from __future__ import annotations

from sqlalchemy import Connection

from app.db import spaces
from app.domain.notes import STATUS_DONE
from app.embedding.active import ActiveEmbedder
from app.errors import CrystalError, NothingEmbedded, ProviderError
from app.mirror.view import View


def told_of_unembedded(connection: Connection, view: View) -> tuple[str, ...]:
    """Return a warning when there are notes and none is embedded yet, nothing otherwise.

    Raises:
        NothingEmbedded: none is, and it is no matter of waiting: the provider refused them, or
            their vectors are of another model.
    """
    if view.index is not None and view.index.count():
        return ()
    counts = spaces.status_counts(connection)
    total = sum(counts.values())
    if not total or counts.get(STATUS_DONE):
        return ()
    failed = spaces.first_failure(connection)
    because = f"; the last reason: {failed}" if failed else ""
    sentence = (
        f"None of the {total} notes is embedded yet, so nothing can be found by meaning"
        f"{because}. Run: crystal reindex"
    )
    if failed or spaces.have_vectors(connection):
        raise NothingEmbedded(sentence)
    return (sentence,)


def while_changing(active: ActiveEmbedder, fault: CrystalError) -> CrystalError:
    """Return a provider's fault, and while the model is being changed say that as well."""
    if active.searching is active.current or not isinstance(fault, ProviderError):
        return fault
    new = active.current.embedder.spec
    return type(fault)(
        f"{fault.message}. The notes are being embedded anew by {new.provider}/{new.model}, which "
        "answers once it has them all (see /api/ready); until then only words are searched"
    )

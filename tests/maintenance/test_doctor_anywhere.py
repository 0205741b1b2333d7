"""The check-up over whichever database the tests run over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.factory import Application
from app.maintenance.doctor.checks import Patient, Report
from app.maintenance.doctor.examination import examine, opened, repair
from tests.support.application import ask, found_ids, plant
from tests.support.databases import DATABASES

COSINES = (0.9, 0.8, 0.7)


def silent(done: int, total: int) -> None:
    """Show no progress."""


@pytest.fixture
def patient(application: Application) -> Iterator[Patient]:
    """The database of three embedded notes."""
    plant(application, COSINES)
    folder = application.settings.data_dir
    with opened(DATABASES.url_of(folder), folder) as found:
        yield found


def wrong(report: Report) -> dict[str, int]:
    """What a report calls wrong, with the counts."""
    return {check.name: check.count for check in report.checks if not check.ok}


def test_a_sound_database_passes(patient: Patient) -> None:
    assert wrong(examine(patient, silent)) == {}


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DELETE FROM lexical_documents WHERE note_id = 1 AND kind = 'root'", "documents_missing"),
        ("DELETE FROM note_names WHERE note_id = 2", "links"),
        ("DELETE FROM embeddings WHERE note_id = 3", "chunks_missing"),
    ],
    ids=["words", "names", "vectors"],
)
def test_what_is_lost_is_named_and_mended(
    application: Application, patient: Patient, statement: str, named: str
) -> None:
    with application.database.write() as connection:
        assert connection.execute(text(statement)).rowcount > 0
    assert wrong(examine(patient, silent)).get(named) == 1
    repair(patient, silent)
    application.batches.embed_many(application.batches.unembedded())
    assert wrong(examine(patient, silent)) == {}
    assert found_ids(ask(application)) == [1, 2, 3]

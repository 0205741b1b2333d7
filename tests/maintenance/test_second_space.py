"""The doctor on vectors of the second space: found, dropped, and made again behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from app.maintenance.doctor import examination, vectors
from app.maintenance.doctor.checks import Check, Patient
from app.sync.companions import Coverage
from tests.support.application import opened, plant
from tests.support.provider import StubProvider
from tests.support.second import fill_both, second_values
from tests.sync.conftest import statuses


def silent(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def check_of(patient: Patient, name: str) -> Check:
    report = examination.examine(patient, silent)
    return next(check for check in report.checks if check.name == name)


@pytest.mark.parametrize("is_filled", [True, False], ids=["filled", "not filled yet"])
def test_what_is_still_to_be_made_is_no_fault(
    empty_folder: Path, provider: StubProvider, tmp_path: Path, is_filled: bool
) -> None:
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, second_values(provider)) as doubled:
        plant(doubled, [0.9, 0.8])
        if is_filled:
            fill_both(doubled)
        report = examination.examine(Patient(doubled.database, tmp_path), silent)
        assert [check.name for check in report.checks if not check.ok] == []


def test_a_damaged_vector_is_dropped_and_made_again(
    empty_folder: Path, provider: StubProvider, tmp_path: Path
) -> None:
    """The note stays embedded in the active space: only what the second model said is gone."""
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, second_values(provider)) as doubled:
        plant(doubled, [0.9, 0.8])
        fill_both(doubled)
        assert doubled.second is not None
        assert doubled.second_companions is not None
        with doubled.database.write() as connection:
            connection.execute(
                text(
                    "UPDATE embeddings SET vector = :zeros"
                    " WHERE note_id = 1 AND kind = 'whole' AND space_id = :space"
                ),
                {"zeros": bytes(16), "space": doubled.second.space_id},
            )
        patient = Patient(doubled.database, tmp_path)
        assert check_of(patient, vectors.VECTORS).count == 1
        report = examination.repair(patient, silent)
        assert report.wrong == 0
        assert statuses(doubled) == ["done", "done"]
        assert doubled.companions.missing() == ()
        assert doubled.second_companions.coverage() == Coverage(1, 2)
        fill_both(doubled)
        assert doubled.second_companions.coverage() == Coverage(2, 2)

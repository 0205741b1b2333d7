"""Databases to be exported, opened once: tests only read them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.adoption import AdoptionRequest
from app.factory import Application
from tests.conftest import FOREIGN_NAMES, FOREIGN_PREFIXES
from tests.maintenance.export.library import fill_awkwardly
from tests.support.application import opened, planted_vector, stub_values
from tests.support.golden import COPY
from tests.support.provider import StubProvider, golden_vector


@pytest.fixture(scope="session")
def own_environment() -> Iterator[None]:
    """No settings of whoever runs the tests, for fixtures that outlive a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper() in FOREIGN_NAMES or name.startswith(FOREIGN_PREFIXES):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def golden(
    own_environment: None, empty_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """The recorded data directory, imported."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copytree(empty_folder, folder, dirs_exist_ok=True)
    with (
        StubProvider(vector=golden_vector) as stub,
        opened(folder, stub_values(stub)) as application,
    ):
        application.adopter.adopt(AdoptionRequest(COPY / "chatcrystal" / "datadir"))
        yield application


@pytest.fixture(scope="session")
def awkward(
    own_environment: None, empty_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """Examples, notes made by hand, and values that only other programs would write."""
    folder = tmp_path_factory.mktemp("awkward")
    shutil.copytree(empty_folder, folder, dirs_exist_ok=True)
    with (
        StubProvider(vector=planted_vector) as stub,
        opened(folder, stub_values(stub)) as application,
    ):
        fill_awkwardly(application)
        yield application


@pytest.fixture(params=["golden", "awkward"])
def filled(request: pytest.FixtureRequest) -> Application:
    """One database after the other."""
    application: Application = request.getfixturevalue(request.param)
    return application

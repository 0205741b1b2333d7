"""Test clients: over a library that is only read, over a copy of it, over an empty application."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from tests.api.library import fill
from tests.conftest import FOREIGN_NAMES, FOREIGN_PREFIXES
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The library, for tests that change nothing."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper() in FOREIGN_NAMES or name.startswith(FOREIGN_PREFIXES):
                patch.delenv(name)
        folder = tmp_path_factory.mktemp("library")
        with StubProvider() as stub, opened(folder, stub_values(stub)) as built:
            fill(built)
            yield built


@pytest.fixture(scope="session")
def reader(library: Application) -> FlaskClient:
    """A client of the library."""
    return library.flask().test_client()


@pytest.fixture
def stub() -> Iterator[StubProvider]:
    """A provider whose vectors speak of the words of a text."""
    with StubProvider() as running:
        yield running


@pytest.fixture
def filled(stub: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """A library of the test's own."""
    with opened(tmp_path, stub_values(stub)) as built:
        fill(built)
        yield built


@pytest.fixture
def editor(filled: Application) -> FlaskClient:
    """A client of the test's own library."""
    return filled.flask().test_client()


@pytest.fixture
def client(application: Application) -> FlaskClient:
    """A client of an empty application."""
    return application.flask().test_client()

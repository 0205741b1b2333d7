"""Fixtures that every test uses."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from app.db import migrate
from app.db.engine import Database
from app.factory import Application
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

# The same examples at every run, and no timing: a failure is a fault and not a slow machine.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")

FOREIGN_PREFIXES = ("CRYSTAL_", "EMBEDDING_", "LLM_")
FOREIGN_NAMES = {"PORT", "DATA_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the settings and proxies of whoever runs the tests."""
    for name in list(os.environ):
        if name.upper() in FOREIGN_NAMES or name.startswith(FOREIGN_PREFIXES):
            monkeypatch.delenv(name)


@pytest.fixture
def provider() -> Iterator[StubProvider]:
    """An embedding provider whose vectors have the cosines that texts name, as in cos=0.83."""
    with StubProvider(vector=planted_vector) as stub:
        yield stub


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose database has its tables, to be copied: migrating takes 50 ms."""
    folder = tmp_path_factory.mktemp("empty")
    database = Database(f"sqlite:///{folder / 'crystal.db'}")
    migrate.upgrade(database)
    database.close()
    return folder


@pytest.fixture
def application(
    empty_folder: Path, provider: StubProvider, tmp_path: Path
) -> Iterator[Application]:
    """An empty application over ``tmp_path`` that embeds with that provider."""
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(provider)) as built:
        yield built

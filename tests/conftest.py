"""Fixtures that every test uses."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from app.db import migrate
from app.db.engine import Database
from app.factory import Application
from tests.support.application import opened, planted_vector, stub_values
from tests.support.databases import CHOICES, DATABASES, SQLITE, sqlite_url
from tests.support.postgresql import Server
from tests.support.provider import StubProvider

# The same examples at every run, and no timing: a failure is a fault and not a slow machine.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")

FOREIGN_PREFIXES = ("CRYSTAL_", "EMBEDDING_", "LLM_")
FOREIGN_NAMES = {"PORT", "DATA_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run say which database its tests use."""
    parser.addoption("--database", choices=CHOICES, default=SQLITE, help="database of the tests")


def pytest_configure(config: pytest.Config) -> None:
    """Settle the database before any test is loaded."""
    config.addinivalue_line("markers", "sqlite: is about the file of a SQLite database")
    DATABASES.kind = config.getoption("--database")
    # A shell that runs the tests in the background has them, and the programs that they start,
    # ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure() -> None:
    """End the server of the tests, if one was started."""
    DATABASES.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is about SQLite's file to the runs over SQLite."""
    if not DATABASES.is_postgresql:
        return
    left = [item for item in items if item.get_closest_marker("sqlite")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if not item.get_closest_marker("sqlite")]


@pytest.fixture(scope="session")
def postgresql() -> Server:
    """The PostgreSQL server of the run, for tests that need one whatever the database is."""
    return DATABASES.server


@pytest.fixture(autouse=True)
def forget_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """Drop the databases of the test's own folder; a thousand of them would take 10 GB."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if folder is not None:
        DATABASES.forget(folder)


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
    database = Database(sqlite_url(folder))
    migrate.upgrade(database)
    database.close()
    return folder


@pytest.fixture
def application(
    empty_folder: Path, provider: StubProvider, tmp_path: Path
) -> Iterator[Application]:
    """An empty application over ``tmp_path`` that embeds with that provider."""
    if not DATABASES.is_postgresql:
        shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(provider)) as built:
        yield built


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell which means of the graded corpora rose (tests/evaluation/test_ratchet.py)."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    told = [text for report in reports for name, text in report.user_properties if name == "rose"]
    if told:
        terminalreporter.section("relevance rose: python -m benchmarks.ratchet --update keeps it")
        for text in told:
            terminalreporter.write_line(str(text))

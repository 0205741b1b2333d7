"""A real server on a port of its own, and a real Chromium that looks at it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from tests.browser.library import fill, many_records
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MILLISECONDS = 15_000


@contextmanager
def serving(app: Flask, port: int = 0) -> Iterator[str]:
    """Serve an application on a free port; yield its URL."""
    server = make_server("127.0.0.1", port, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="page", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, as the distribution has it."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program, "Chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        # Root, as which CI runs, may not use Chromium's own sandbox.
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with notes that are hard to show."""
    folder = tmp_path_factory.mktemp("site")
    with (
        StubProvider(vector=planted_vector) as stub,
        opened(folder, stub_values(stub)) as application,
    ):
        fill(application)
        with serving(application.flask()) as url:
            yield url


@pytest.fixture
def complaints() -> list[str]:
    """What the page has to complain about: errors, dialogs, breaches of its policy."""
    return []


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest, complaints: list[str]) -> Iterator[Page]:
    """A page in English; whatever it complains about fails the test."""
    options: dict[str, Any] = {"viewport": {"width": 1100, "height": 800}, "locale": "en-GB"}
    marker = request.node.get_closest_marker("context")
    context = browser.new_context(**options | (dict(marker.kwargs) if marker else {}))
    opened_page = context.new_page()
    opened_page.set_default_timeout(PATIENCE_MILLISECONDS)
    opened_page.on("pageerror", lambda error: complaints.append(str(error)))
    opened_page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    opened_page.on(
        "console",
        lambda said: (
            complaints.append(said.text) if "Content Security Policy" in said.text else None
        ),
    )
    yield opened_page
    context.close()
    assert complaints == []


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """A folder for pictures of the page."""
    return tmp_path


@pytest.fixture(scope="session")
def many_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with 10,000 notes."""
    folder = tmp_path_factory.mktemp("many")
    with StubProvider() as stub, opened(folder, stub_values(stub)) as application:
        report = application.importer.import_records(many_records())
        assert not report.refused
        application.batches.embed_many(application.batches.unembedded())
        application.companions.fill()
        with serving(application.flask()) as url:
            yield url

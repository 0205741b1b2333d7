"""Takes the pictures of the README: ``python -m docs.take_screenshots``.

Serves the example notes on a port of its own and looks at the page with Chromium. Writes
``docs/images``.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright
from werkzeug.serving import make_server

from app.factory import build
from app.maintenance.fixtures import example_records
from app.settings.values import parse

FOLDER = Path(__file__).parent / "images"
SIZE = {"width": 1000, "height": 640}
VIEWS = {
    "results.png": ("#/?q=redis lock deleted by another worker", "ol.results mark"),
    "why.png": ("#/why/8?q=redis lock deleted by another worker", ".stages"),
    "graph.png": ("#/graph/8", ".graph .node.chosen"),
}


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        application = build(parse({"data_dir": folder, "search.second_space": "false"}, {}))
        application.importer.import_records(example_records())
        application.batches.embed_many(application.batches.unembedded())
        application.companions.fill()
        server = make_server("127.0.0.1", 0, application.flask(), threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            _take(f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()
            application.close()


def _take(url: str) -> None:
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        for name, (view, awaited) in VIEWS.items():
            page.goto(url + view)
            page.wait_for_selector(awaited)
            page.screenshot(path=FOLDER / name)
        browser.close()


if __name__ == "__main__":
    main()

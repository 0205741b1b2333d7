"""``crystal demo``: the example notes, a real server, and what can be asked of it.

Owns the story. Everything it shows comes over HTTP, from a server of its own on a free port.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console

from app import factory
from app.maintenance.fixtures import example_records
from app.settings import environment, store
from app.settings.table import SETTINGS
from cli.addresses import DEFAULT_PORT
from cli.admin import pidfile
from cli.admin.background import end, launch, wait_for
from cli.admin.faults import reported
from cli.answers import show_found
from cli.client import Answer, Client, Query
from cli.explanations import show_explanation, show_why
from cli.failures import Failure
from cli.options import Whole, query_of, with_session
from cli.output import Output
from cli.session import Session
from cli.tables import show_heading, show_line

START_SECONDS = 60.0
ANSWER_SECONDS = 30.0
PIPE_WIDTH = 100
SHOWN_NOTES = 5

ENGLISH = "sqlite database is locked"
CHINESE = "容器内存没满却被杀掉"
EXPANDED = "redis lock deleted by another worker"

TO_TRY = (
    "crystal {}search 数据库写锁 --limit 4",
    "crystal {}why 'sqlite locked' 20",
    "claude mcp add chatcrystal -- crystal {}mcp",
)


@click.command()
@click.option("--stay", is_flag=True, help="Serve the example notes until Ctrl-C, for trying out.")
@click.option(
    "-p",
    "--port",
    type=Whole(0, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port with --stay; 0 takes a free one.",
)
@with_session
def demo(session: Session, stay: bool, port: int) -> None:
    """Search the example notes and see it explained.

    Uses a temporary folder and a server of its own, which are gone afterwards.
    """
    with TemporaryDirectory(prefix="crystal-demo-") as name, reported():
        folder = Path(name)
        console = _console(session.output)
        _prepare(session.output, console, folder)
        with _server(folder, port if stay else 0) as (client, process):
            show_line(console, f"A server answers at {client.base_url}.")
            if stay:
                _wait(console, client, process)
            else:
                _tell(console, client)
    if not stay:
        _part(console)


def _wait(console: Console, client: Client, process: subprocess.Popen[bytes]) -> None:
    """Name what can be tried, and serve until interrupted."""
    default = f":{DEFAULT_PORT}"
    address = "" if client.base_url.endswith(default) else f"-b {client.base_url} "
    show_line(console)
    show_line(console, f"The page: {client.base_url}/   Its graph: {client.base_url}/#/graph")
    show_line(console, "In another terminal:")
    show_line(console)
    for command in TO_TRY:
        show_line(console, command.format(address), "bold")
    show_line(console)
    show_line(console, "Ctrl-C stops the server and removes its folder.")
    # Who is ended by a signal also has to stop the server and remove the folder.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        process.wait()
        raise Failure("The server has ended by itself", "demo_failed")


def _part(console: Console) -> None:
    show_line(console, "The server is stopped and its folder removed. Your own notes:")
    show_line(console)
    show_line(console, "crystal serve -d", "bold")
    show_line(console, "crystal import", "bold")
    show_line(console, 'crystal search "what you look for" --explain', "bold")
    show_line(console)


def _console(output: Output) -> Console:
    """Return where the story is told: for people, also in a pipe."""
    if output.console.is_terminal:
        return output.console
    return Console(file=sys.stdout, width=PIPE_WIDTH, highlight=False)


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment without anyone's settings, but with a data folder."""
    own = {variable for setting in SETTINGS for variable in setting.environment}
    kept = {name: text for name, text in environment.current().items() if name not in own}
    return kept | {"CRYSTAL_DATA_DIR": str(folder)}


def _prepare(output: Output, console: Console, folder: Path) -> None:
    """Import the example notes and embed them."""
    show_heading(console, "ChatCrystal search, with example notes")
    with closing(factory.build(store.load(environment=_environment(folder)))) as application:
        report = application.importer.import_records(example_records())
        note_ids = application.batches.unembedded()
        show_line(
            console,
            f"{report.added['note']} notes of English and Chinese speakers, joined by "
            f"{report.added['relation']} relations.",
        )
        began = time.monotonic()
        with output.progress("Embedding", len(note_ids)) as advance:
            embedded = application.batches.embed_many(note_ids, advance)
        spent = time.monotonic() - began
    if report.refused or embedded.embedded != len(note_ids) or not note_ids:
        raise Failure("The example notes could not be prepared", "demo_failed")
    show_line(
        console,
        f"Embedded on this machine: {embedded.chunks} chunks in {spent:.1f} s; "
        "nothing was sent anywhere.",
    )


@contextmanager
def _server(folder: Path, port: int) -> Iterator[tuple[Client, subprocess.Popen[bytes]]]:
    """Run a server over a folder, for as long as the block runs; port 0 is a free one."""

    def url() -> str | None:
        found = pidfile.find(folder, started.process.pid)
        return None if found is None else found.url

    with ExitStack() as undo:
        started = launch(folder, ["--port", str(port)], _environment(folder))
        undo.callback(end, started.process)
        client = undo.enter_context(Client(wait_for(url, started, START_SECONDS)))
        client.call("GET", "/api/ready", seconds=START_SECONDS)
        yield client, started.process


def _tell(console: Console, client: Client) -> None:
    english = _search(console, client, ENGLISH, explain=True)
    _search(console, client, CHINESE, explain=True)
    expanded = _search(console, client, EXPANDED, expand=True)
    if not any(row["via_relation"] for row in expanded.data):
        raise Failure(f"No relation led from the notes found for {EXPANDED!r}", "demo_failed")
    _why(console, client, ENGLISH, _missing_note(english))


def _search(
    console: Console, client: Client, query: str, *, explain: bool = False, expand: bool = False
) -> Answer:
    flags = "".join(
        f" --{name}" for name, is_on in (("explain", explain), ("expand", expand)) if is_on
    )
    _show_command(console, f'crystal search "{query}" --limit {SHOWN_NOTES}{flags}')
    parameters = {"q": query, "limit": SHOWN_NOTES, "explain": explain, "expand": expand}
    answer = client.call(
        "GET", "/api/search", query=query_of(parameters.items()), seconds=ANSWER_SECONDS
    )
    if not answer.data or (explain and not answer.explanation):
        raise Failure(f"Nothing was found for {query!r}", "demo_failed")
    show_found(console, answer.data, query)
    if answer.explanation:
        show_explanation(console, answer.explanation)
    return answer


def _missing_note(answer: Answer) -> int:
    """Return the best note that was considered and left out."""
    present = {row["note_id"] for row in answer.data}
    for candidate in answer.explanation["candidates"]:
        note_id: int = candidate["note_id"]
        if note_id not in present:
            return note_id
    raise Failure("Every note that was considered is in the answer", "demo_failed")


def _why(console: Console, client: Client, query: str, note_id: int) -> None:
    _show_command(console, f'crystal why "{query}" {note_id} --limit {SHOWN_NOTES}')
    asked: Query = [("q", query), ("note_id", str(note_id)), ("limit", str(SHOWN_NOTES))]
    data = client.call("GET", "/api/search/why", query=asked, seconds=ANSWER_SECONDS).data
    if data["returned"] or not data["message"]:
        raise Failure(f"It was not told why note {note_id} is missing", "demo_failed")
    show_why(console, data)


def _show_command(console: Console, command: str) -> None:
    show_line(console)
    show_line(console, f"$ {command}", "bold green")

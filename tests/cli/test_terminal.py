"""Commands in processes of their own: on a real terminal, and at the end of a pipe that breaks."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Mapping
from fcntl import ioctl
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from app.domain.notes import NoteDraft
from app.factory import Application
from tests.cli.conftest import Served, environment_of
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

PATIENCE_SECONDS = 60.0


def on_terminal(
    environment: Mapping[str, str],
    *arguments: str,
    answer: bytes = b"",
    width: int = 100,
    question: bytes = b"[y/N]",
) -> tuple[int, str]:
    """Run a command whose streams are one terminal; type an answer once it asks the question."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "LANG": "C.UTF-8"},
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], PATIENCE_SECONDS)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:
                # So a terminal says that the last process on it is gone.
                break
            if not part:
                break
            shown += part
            if answer and question in shown:
                os.write(ours, answer)
                answer = b""
    finally:
        os.close(ours)
        code = process.wait(PATIENCE_SECONDS)
    return code, shown.decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_gets_tables_in_colour(served: Served) -> None:
    code, shown = on_terminal({**served.environment, "TERM": "xterm-256color"}, "tags")
    assert code == 0
    assert "\x1b[1;36m  9 tags" in shown
    assert "数据库" in shown


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["no-color", "dumb"])
def test_a_terminal_without_colour_gets_none(served: Served, more: dict[str, str]) -> None:
    code, shown = on_terminal({**served.environment, **more}, "tags")
    assert code == 0
    assert "9 tags" in shown
    assert "36m" not in shown


def test_json_is_printed_on_a_terminal_where_it_is_asked_for(served: Served) -> None:
    code, shown = on_terminal(served.environment, "--json", "tags")
    assert code == 0
    assert shown.startswith('[\n  {\n    "id": ')


def test_an_error_on_a_terminal_is_one_plain_line(served: Served) -> None:
    assert on_terminal(served.environment, "notes", "get", "99") == (1, "Error: Note not found\n")


@pytest.mark.parametrize(
    ("answer", "flags", "said"),
    [
        (b"n\n", (), "Aborted!"),
        (b"\n", (), "Aborted!"),
        (b"\x04", (), "Aborted!"),
        (b"", ("--no-interactive",), "Give --yes"),
    ],
    ids=["no", "nothing", "end", "no-interactive"],
)
def test_a_deletion_is_asked_for_and_not_done_without_a_yes(
    served: Served, answer: bytes, flags: tuple[str, ...], said: str
) -> None:
    code, shown = on_terminal(served.environment, "notes", "delete", "1", *flags, answer=answer)
    assert code != 0
    assert said in shown
    assert ("Delete note 1? [y/N]" in shown) is (not flags)
    assert served.run("notes", "get", "1").code == 0


def test_a_deletion_is_done_with_a_yes(served: Served) -> None:
    added = served.run("notes", "add", "--title", "to be deleted", "--summary", "cos=-1")
    note = str(added.data["id"])
    code, shown = on_terminal(served.environment, "notes", "delete", note, answer=b"y\n")
    assert code == 0
    assert f"Note {note} is deleted." in shown
    assert served.run("notes", "get", note).code == 1


@pytest.fixture
def own(tmp_path: Path, provider: StubProvider) -> Iterator[tuple[Application, dict[str, str]]]:
    """An application of the test's own, and the environment of commands that reach it."""
    with opened(tmp_path, stub_values(provider)) as application:
        application.writer.create_note(NoteDraft("Redis pool", "cos=0.9"))
        server = make_server("127.0.0.1", 0, application.flask(), threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        yield application, environment_of(tmp_path, provider, CRYSTAL_BASE_URL=url)
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("answer", "flags", "said", "model"),
    [
        (b"y\n", (), "embedding.model is changed.", "another"),
        (b"n\n", (), "Aborted!", "text-embedding-3-small"),
        (b"", ("--no-interactive",), "give --confirm", "text-embedding-3-small"),
    ],
    ids=["yes", "no", "no-interactive"],
)
def test_a_change_of_the_model_is_asked_for(
    own: tuple[Application, dict[str, str]],
    answer: bytes,
    flags: tuple[str, ...],
    said: str,
    model: str,
) -> None:
    application, environment = own
    change = ("config", "set", "embedding.model", "another", *flags)
    code, shown = on_terminal(environment, *change, answer=answer)
    assert (code == 0) is (model == "another")
    assert said in shown
    assert shown.count("Warning: The embedding model changes from ") == 1
    assert ("Change it? [y/N]" in shown) is (not flags)
    assert application.embedder.model == model


@pytest.mark.parametrize("value", [(), ("-",)], ids=["asked", "stdin"])
def test_a_key_is_typed_unseen(
    own: tuple[Application, dict[str, str]], value: tuple[str, ...]
) -> None:
    application, environment = own
    change = ("config", "set", "embedding.apiKey", *value)
    code, shown = on_terminal(environment, *change, answer=b"sk-secret\n", question=b"API key:")
    assert code == 0, shown
    assert "embedding.apiKey is changed." in shown
    assert "sk-secret" not in shown
    assert application.active.current.settings.embedding.api_key.reveal() == "sk-secret"


def test_a_key_is_not_asked_for_where_nobody_answers(
    own: tuple[Application, dict[str, str]],
) -> None:
    change = ("config", "set", "embedding.apiKey", "--no-interactive")
    for value in ((), ("-",)):
        code, shown = on_terminal(own[1], *change, *value)
        assert (code, shown.count("\n")) == (2, 1)
        assert "there is nobody to ask" in shown


def test_a_pipe_that_breaks_is_quiet(served: Served) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as sink:
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "notes", "list"],
            stdout=sink,
            stderr=subprocess.PIPE,
            env=served.environment,
            check=False,
        )
    assert done.stderr == b""


def test_a_full_disk_is_one_line(served: Served) -> None:
    with open("/dev/full", "wb") as sink:
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "notes", "list"],
            stdout=sink,
            stderr=subprocess.PIPE,
            env=served.environment,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.decode().startswith("Error: ")
    assert done.stderr.count(b"\n") == 1


def test_json_is_utf8_whatever_the_locale_says(served: Served) -> None:
    environment = {**served.environment, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "search", "数据库"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "数据库连接池" in done.stdout.decode("utf-8")


def test_arguments_that_are_no_utf8_are_worked_with(served: Served) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "search", b"caf\xe9"],
        capture_output=True,
        env=served.environment,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")

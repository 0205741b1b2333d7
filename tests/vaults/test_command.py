"""``crystal import markdown``: what it prints, how it ends, and that it keeps up with a folder."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from app.factory import build
from app.settings import store
from cli.main import crystal
from cli.session import Wiring
from tests.support.provider import StubProvider, status
from tests.vaults.test_importing import write

Run = Callable[..., Any]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder with two notes and a bad file."""
    folder = tmp_path / "vault"
    write(folder / "a.md", "To [[b]] and [[missing]].")
    write(folder / "b.md", "# Bee\n\nText.")
    write(folder / "bad.md", b"\x00\x01" * 50)
    return folder


@pytest.fixture
def configured(tmp_path: Path, provider: StubProvider, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose application embeds with the stub, for this process and its children."""
    folder = tmp_path / "data"
    settings = {
        "CRYSTAL_DATA_DIR": str(folder),
        "CRYSTAL_EMBEDDING_PROVIDER": "openai",
        "CRYSTAL_EMBEDDING_BASE_URL": provider.base_url,
        "CRYSTAL_EMBEDDING_RETRIES": "0",
        "CRYSTAL_SEARCH_SECOND_SPACE": "false",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return folder


def run(*arguments: str, wiring: Wiring | None = None) -> Any:
    return CliRunner().invoke(crystal, ("import", "markdown", *arguments), obj=wiring)


@pytest.mark.usefixtures("configured")
def test_the_report_is_json_in_a_pipe(vault: Path) -> None:
    done = run(str(vault))
    assert done.exit_code == 0
    assert done.stderr == (
        "Warning: bad.md is refused: its encoding is not known, or it is no text\n"
    )
    data = json.loads(done.stdout)
    assert data["folder"] == str(vault)
    assert (data["new"], data["links"], data["unresolved"]) == (["a.md", "b.md"], 2, 1)
    assert [each["path"] for each in data["refused"]] == ["bad.md"]
    assert (data["embedded"]["notes"], data["embedded"]["failed"]) == (2, [])
    with closing(build(store.load())) as application:
        assert application.batches.unembedded() == ()
        assert application.companions.missing() == ()


@pytest.mark.usefixtures("configured")
def test_the_report_is_a_table_on_a_terminal(vault: Path) -> None:
    run(str(vault))
    (vault / "b.md").rename(vault / "c.md")
    (vault / "a.md").unlink()
    (vault / "out").symlink_to("/")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    assert run(str(vault), wiring=Wiring(console=console)).exit_code == 0
    lines = [line.rstrip() for line in screen.getvalue().splitlines()]
    assert f"  Taken in from {vault}" in lines
    assert "  moved                  1" in lines
    assert "  gone                   1" in lines
    assert "  Moved: b.md to c.md" in lines
    assert "  Gone: a.md" in lines
    assert "  Left out: out (it is a symbolic link, which is not followed)" in lines
    assert "  Notes of files that are gone stay; --prune removes them." in lines


@pytest.mark.usefixtures("configured")
def test_prune_and_overwrite_are_passed_on(vault: Path) -> None:
    run(str(vault), "--no-embed")
    (vault / "a.md").unlink()
    data = json.loads(run(str(vault), "--prune", "--overwrite", "--no-embed").stdout)
    assert (data["is_pruned"], data["deleted"], data["embedded"]) == (True, ["a.md"], None)


def test_a_dry_run_makes_no_database(vault: Path, configured: Path) -> None:
    data = json.loads(run(str(vault), "--dry-run").stdout)
    assert (data["is_dry_run"], data["new"]) == (True, ["a.md", "b.md"])
    assert not (configured / "crystal.db").exists()


@pytest.mark.usefixtures("configured")
def test_a_failing_provider_fails_the_command_and_not_the_import(
    vault: Path, provider: StubProvider
) -> None:
    provider.behave(status(500))
    done = run(str(vault))
    assert done.exit_code == 1
    assert "All is taken in, but 2 notes are not embedded" in done.stderr
    assert json.loads(done.stdout)["new"] == ["a.md", "b.md"]


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("missing",), 1, "missing is no folder that can be read"),
        ((), 2, "Missing argument 'DIR'"),
        (("x", "--watch", "--dry-run"), 2, "--watch and --dry-run exclude each other"),
    ],
    ids=["missing", "none", "both"],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], code: int, problem: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert problem in done.stderr


def documents_of(process: subprocess.Popen[str], count: int) -> list[Any]:
    """Read JSON documents from a process as they come."""
    assert process.stdout is not None
    found: list[Any] = []
    text = ""
    while len(found) < count:
        line = process.stdout.readline()
        assert line, process.communicate()
        text += line
        if line == "}\n":
            found.append(json.loads(text))
            text = ""
    return found


@pytest.mark.usefixtures("configured")
def test_watching_keeps_up_with_changes_and_ends_cleanly(vault: Path) -> None:
    (vault / "bad.md").unlink()
    command = [sys.executable, "-m", "cli.main", "import", "markdown", str(vault), "--watch"]
    with subprocess.Popen(
        [*command, "--prune", "--no-embed"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    ) as process:
        try:
            assert documents_of(process, 1)[0]["new"] == ["a.md", "b.md"]
            (vault / "missing.md").write_text("Here now.")
            found = documents_of(process, 1)[0]
            assert (found["new"], found["unresolved"]) == (["missing.md"], 0)
            (vault / "missing.md").rename(vault / "moved.md")
            assert documents_of(process, 1)[0]["moved"] == [
                {"source": "missing.md", "target": "moved.md"}
            ]
            (vault / "moved.md").unlink()
            assert documents_of(process, 1)[0]["deleted"] == ["moved.md"]
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, rest) == (0, "")
    assert errors.splitlines() == [f"Watching {vault}; Ctrl-C ends it.", "Stopped watching."]

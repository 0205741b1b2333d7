"""``crystal export``: what goes to stdout, what to stderr, and how it ends."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from app.factory import Application
from app.maintenance.export.formats import FORMATS
from cli.admin.export import export
from cli.session import Wiring
from tests.cli.conftest import Ran, run_with
from tests.maintenance.export.library import lines_of
from tests.support.databases import DATABASES


@pytest.fixture
def data(golden: Application, monkeypatch: pytest.MonkeyPatch) -> Application:
    """The recorded database as that of this machine."""
    be_of_this_machine(golden, monkeypatch)
    return golden


def be_of_this_machine(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands find the database of an application."""
    folder = application.settings.data_dir
    for name, value in {"data_dir": str(folder), **DATABASES.setting(folder)}.items():
        monkeypatch.setenv(f"CRYSTAL_{name.upper()}", value)


def run(*arguments: str) -> Ran:
    """Run the command with its output in a pipe."""
    return run_with(Wiring(), ("export", *arguments))


@pytest.mark.parametrize(
    "arguments", [(), ("-",), ("--format", "jsonl"), ("--json",)], ids=" ".join
)
def test_stdout_is_the_data_and_nothing_else(data: Application, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.encode("utf-8") == lines_of(data)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_of_counts_is_on_stdout(data: Application, tmp_path: Path, name: str) -> None:
    path = tmp_path / "out"
    ran = run("--json", "--format", name, str(path))
    assert (ran.code, ran.err) == (0, "")
    assert path.exists()
    assert list(ran.data) == ["format", "path", "counts", "warnings"]
    assert ran.data["format"] == name
    assert ran.data["path"] == str(path)
    assert list(ran.data["counts"]) == list(FORMATS[name].kinds)
    assert ran.data["counts"]["notes"] == 44


def test_a_person_reads_one_line_and_sees_a_bar(data: Application, tmp_path: Path) -> None:
    screen, beside = io.StringIO(), io.StringIO()
    wiring = Wiring(
        console=Console(file=screen, force_terminal=True, width=200, color_system=None),
        errors=Console(file=beside, force_terminal=True, width=200),
    )
    path = tmp_path / "vault"
    ran = run_with(wiring, ("export", "--format", "markdown", str(path)))
    assert ran.code == 0
    assert screen.getvalue().strip() == f"44 notes, 24 relations written to {path}."
    assert "Exporting" in beside.getvalue()


def test_a_warning_is_told_beside_the_report(
    awkward: Application, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_of_this_machine(awkward, monkeypatch)
    ran = run("--format", "chatcrystal", str(tmp_path / "out"))
    assert ran.code == 0
    assert ran.error == "Warning: ChatCrystal has no place for Markdown bodies; left out: 1"
    assert ran.data["warnings"] == [ran.error.removeprefix("Warning: ")]


@pytest.mark.parametrize("name", ["markdown", "chatcrystal"])
def test_a_folder_must_be_named(data: Application, name: str) -> None:
    ran = run("--format", name)
    assert (ran.code, ran.out) == (2, "")
    assert f"Name the folder that --format {name} writes." in ran.error


def test_an_unknown_format_is_a_usage_error(data: Application) -> None:
    ran = run("--format", "csv")
    assert (ran.code, ran.out) == (2, "")
    assert "'jsonl', 'markdown', 'chatcrystal'" in ran.error


@pytest.mark.parametrize("name", FORMATS)
def test_a_target_that_cannot_be_written_fails_in_one_line(
    data: Application, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "missing" / "out"
    ran = run("--format", name, str(path))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.startswith(f"Error: {path} cannot be written: ")
    ran = run("--json", "--format", name, str(path))
    assert json.loads(ran.error)["code"] == "export_failed"
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_notes_has_nothing_to_export(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CRYSTAL_DATA_DIR", str(tmp_path / "data"))
    ran = run()
    assert (ran.code, ran.out) == (1, "")
    assert "There is nothing to export" in ran.error
    assert list(tmp_path.iterdir()) == []


def test_help_reads_the_table_of_formats() -> None:
    shown = " ".join(run("--help").out.split())
    for name, form in FORMATS.items():
        assert f"{name}: {form.help}" in shown
    assert export.name == "export"

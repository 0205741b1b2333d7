"""``crystal import chatcrystal``: what it prints, how it ends, and what it leaves."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from cli.main import crystal
from cli.session import Wiring
from tests.importers.directories import (
    contents_of,
    edit,
    index_of,
    items_of,
    state_of,
    write_config,
    write_items,
)
from tests.support.application import ask, found_ids, opened, stub_values
from tests.support.provider import StubProvider, golden_vector, status


@dataclass(frozen=True)
class Ran:
    """What a run came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Runner = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, embedding_server: StubProvider, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs the command, for a data folder of the test's own and the stub provider."""
    settings = stub_values(embedding_server, model="m")
    own = tmp_path / "own"
    own.mkdir()
    (own / "config.json").write_text(
        json.dumps({"embedding": {name.split(".")[1]: text for name, text in settings.items()}})
    )
    monkeypatch.setenv("CRYSTAL_DATA_DIR", str(own))

    def run(*arguments: str, wiring: Wiring | None = None) -> Ran:
        done = CliRunner().invoke(crystal, ("import", "chatcrystal", *arguments), obj=wiring)
        return Ran(done.exit_code, done.stdout, done.stderr)

    return run


def saved(folder: Path) -> Any:
    return json.loads((folder / "own" / "config.json").read_text("utf-8"))["embedding"]


def test_the_report_has_every_count(run: Runner, source: Path, tmp_path: Path) -> None:
    write_config(source, provider="openai", model="m")
    ran = run(str(source), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data == {
        "folder": str(source),
        "is_dry_run": False,
        "added": {
            "conversations": 49,
            "messages": 12,
            "tags": 34,
            "notes": 44,
            "note_tags": 74,
            "relations": 24,
            "chunks": 53,
        },
        "unchanged": dict.fromkeys(ran.data["added"], 0),
        "left_out": {
            "notes_without_conversation": 1,
            "messages_without_conversation": 0,
            "tags_without_note": 1,
            "chunks_without_note": 0,
            "relations_without_note": 1,
            "chunks_without_vector": 0,
            "chunks_of_edited_notes": 0,
            "vectors_without_chunk": 2,
            "vectors_of_other_dimension": 0,
            "vectors_of_no_direction": 0,
            "vectors_of_unknown_model": 0,
        },
        "renumbered": {"tags": 0, "notes": 0, "relations": 0},
        "invalid_json": [],
        "statuses": {"done": 40, "failed": 1, "pending": 2, "syncing": 1},
        "space": {
            "provider": "openai",
            "model": "m",
            "dimension": 64,
            "is_configured": True,
            "is_assumed": False,
        },
        "warnings": [],
        "embedded": None,
        "not_embedded": 4,
    }
    with opened(tmp_path / "own", {f"embedding.{k}": v for k, v in saved(tmp_path).items()}) as own:
        assert found_ids(ask(own, "connection pool"))[0] == 1


def test_people_are_told_what_was_left_out(run: Runner, source: Path) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    ran = run(str(source), wiring=Wiring(console=console))
    assert ran.code == 0
    assert ran.out == ""
    text = screen.getvalue()
    for words in (
        f"Taken over from {source}",
        "Left out, notes without conversation: 1.",
        "Left out, vectors without chunk: 2.",
        "Vectors: openai/m, 64 dimensions, which is configured.",
        'Not embedded: 4 notes; "crystal reindex" embeds them.',
    ):
        assert words in text
    assert re.search(r"^  notes +44 +0$", text, re.MULTILINE)
    assert "Warning: Nothing says which model made the vectors" in ran.err


def test_progress_is_shown_on_a_terminal(run: Runner, source: Path) -> None:
    screen = io.StringIO()
    errors = Console(file=screen, force_terminal=True, width=100)
    assert run(str(source), wiring=Wiring(errors=errors)).code == 0
    for label in ("Reading vectors", "Conversations", "Notes", "Relations", "Storing vectors"):
        assert label in screen.getvalue()


def test_a_dry_run_leaves_everything_as_it_was(run: Runner, source: Path, tmp_path: Path) -> None:
    before = state_of(tmp_path)
    ran = run(str(source), "--dry-run")
    assert ran.code == 0
    assert ran.data["is_dry_run"] is True
    assert ran.data["added"]["chunks"] == 53
    assert (ran.data["embedded"], ran.data["not_embedded"]) == (None, None)
    assert state_of(tmp_path) == before
    run(str(source))
    before = state_of(tmp_path)
    assert run(str(source), "--dry-run").data["unchanged"]["chunks"] == 53
    assert state_of(tmp_path) == before


def test_vectors_of_another_model_mean_embedding_now(
    run: Runner, source: Path, tmp_path: Path
) -> None:
    write_config(source, provider="ollama", model="other")
    ran = run(str(source))
    assert ran.code == 0
    assert "44 notes have no vectors of the configured model, openai/m: embedding" in ran.err
    assert ran.data["space"]["is_configured"] is False
    # Note 40 has no text; the original embedded its white space.
    assert ran.data["embedded"]["notes"] == 43
    assert [failed["note_id"] for failed in ran.data["embedded"]["failed"]] == [40]
    again = run(str(source))
    assert again.code == 0
    assert sum(again.data["added"].values()) == 0
    assert again.data["embedded"]["notes"] == 0


def test_a_provider_that_fails_is_told_and_nothing_is_lost(
    run: Runner, source: Path, embedding_server: StubProvider
) -> None:
    write_config(source, provider="ollama", model="other")
    embedding_server.behave(status(500))
    ran = run(str(source))
    assert ran.code == 1
    assert "All is taken over, but 43 notes are not embedded" in ran.err
    assert ran.data["added"]["notes"] == 44


def test_adopting_writes_the_settings(run: Runner, source: Path, tmp_path: Path) -> None:
    with StubProvider(vector=golden_vector) as theirs:
        write_config(source, provider="ollama", model="other", baseURL=theirs.base_url)
        ran = run(str(source), "--adopt")
        assert ran.code == 0
        assert ran.data["space"]["is_configured"] is True
        assert ran.data["embedded"] is None
        assert saved(tmp_path)["provider"] == "ollama"
        assert saved(tmp_path)["model"] == "other"
        values = {f"embedding.{name}": text for name, text in saved(tmp_path).items()}
        with opened(tmp_path / "own", values) as application:
            assert found_ids(ask(application, "connection pool"))[0] == 1
            stored = contents_of(application.database)["embeddings"]
            assert len(stored) == 53
    assert f"The configured model is ollama/other from now on, at {theirs.base_url}" in ran.err


def test_columns_that_were_no_json_are_named(run: Runner, source: Path) -> None:
    edit(source, "UPDATE notes SET files_touched = 'x' WHERE id = 9")
    ran = run(str(source))
    assert ran.code == 0
    assert f"Note 9 of {source}: files_touched was no JSON" in ran.err
    assert ran.data["invalid_json"] == [{"note_id": 9, "column": "files_touched"}]


def no_database(source: Path) -> None:
    (source / "chatcrystal.db").unlink()


def cut_database(source: Path) -> None:
    path = source / "chatcrystal.db"
    path.write_bytes(path.read_bytes()[:9_000])


def cut_index(source: Path) -> None:
    index_of(source).write_text('{"items":[{"id"')


def no_folder(source: Path) -> None:
    source.rename(source.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (no_folder, "does not exist"),
        (no_database, "has no chatcrystal.db"),
        (cut_database, "is damaged"),
        (cut_index, "is damaged"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--adopt",)], ids=" ".join)
def test_what_cannot_be_read_is_one_clear_line(
    run: Runner,
    source: Path,
    tmp_path: Path,
    *,
    break_it: Callable[[Path], None],
    words: str,
    options: tuple[str, ...],
) -> None:
    write_config(source, provider="ollama", model="other")
    break_it(source)
    before = saved(tmp_path)
    ran = run(str(source), *options)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert words in ran.err
    assert saved(tmp_path) == before


def test_errors_are_json_where_json_is_asked_for(run: Runner, tmp_path: Path) -> None:
    ran = run(str(tmp_path / "none"), "--json")
    assert ran.code == 1
    assert json.loads(ran.err)["code"] == "import_failed"


def test_the_folder_of_the_original_is_the_default(
    run: Runner, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".chatcrystal").mkdir()
    source.rename(tmp_path / ".chatcrystal" / "data")
    ran = run()
    assert ran.code == 0
    assert ran.data["folder"] == str(tmp_path / ".chatcrystal" / "data")
    assert ran.data["added"]["notes"] == 44


def test_a_name_can_be_given_where_the_directory_has_none(run: Runner, source: Path) -> None:
    write_items(source, [item | {"vector": item["vector"][:16]} for item in items_of(source)])
    ran = run(str(source), "--provider", "voyage", "--model", "v-3")
    assert ran.code == 0
    assert ran.data["space"] == {
        "provider": "voyage",
        "model": "v-3",
        "dimension": 16,
        "is_configured": False,
        "is_assumed": False,
    }

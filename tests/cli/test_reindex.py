"""`crystal reindex`: embeds this machine's notes, whether or not a server runs."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from app.domain.notes import NoteDraft
from app.errors import SpaceMismatch
from app.sync.companions import Coverage
from cli.session import Wiring
from tests.cli.conftest import here, run_with
from tests.support.application import ask, opened, stub_values
from tests.support.provider import StubProvider, fine, of_dimension, refused_address, status
from tests.support.second import fill_both, second_values


def test_what_is_not_embedded_is_embedded(own_data: Path) -> None:
    with (
        StubProvider(usual=status(400)) as broken,
        opened(own_data, stub_values(broken)) as application,
    ):
        wiring = Wiring(transport=httpx.WSGITransport(app=application.flask()))
        for title in ("one", "two"):
            run_with(wiring, ("notes", "add", "--title", title))
    ran = here("reindex")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data == {"embedded": 2, "chunks": 2, "failed": [], "left": 0}
    assert here("reindex").data["embedded"] == 0
    assert here("reindex", "--all").data["embedded"] == 2


def test_a_model_whose_vectors_became_longer_gets_a_space_of_its_own(
    own_data: Path, provider: StubProvider
) -> None:
    with opened(own_data, stub_values(provider)) as application:
        application.writer.create_note(NoteDraft("walrus", ""))
        application.writer.create_note(NoteDraft("ocelot", ""))
        provider.behave(of_dimension(32))
        with pytest.raises(SpaceMismatch, match="crystal reindex"):
            ask(application, "a query", ranker="vector")
        assert here("reindex").data["embedded"] == 2
        # A server does so every other second.
        application.changeover.follow()
        assert len(ask(application, "a query", ranker="vector").found) > 0
        assert here("reindex").data["embedded"] == 0
        provider.behave(fine)
        assert here("reindex").data["embedded"] == 0
        application.changeover.follow()
        assert len(ask(application, "another query", ranker="vector").found) > 0


def test_what_words_find_notes_by_is_written_anew(own_data: Path, provider: StubProvider) -> None:
    """Documents of another text, and those that are missing."""
    with opened(own_data, stub_values(provider)) as application:
        for title in ("walrus", "salamander", "ocelot"):
            application.writer.create_note(NoteDraft(title, ""))
        statement = "SELECT postings FROM lexical_documents WHERE kind = 'root' ORDER BY note_id"
        with application.database.read() as connection:
            before = list(connection.execute(text(statement)).scalars())
        with application.database.write() as connection:
            connection.execute(
                text("UPDATE lexical_documents SET postings = :old WHERE note_id = 1"),
                {"old": before[1]},
            )
            connection.execute(text("DELETE FROM lexical_documents WHERE note_id = 3"))

        def found(query: str) -> int:
            answer = ask(application, query, ranker="fusion", explain=True)
            assert answer.explanation is not None
            count: int = answer.explanation["notes_by_words"]
            return count

        assert (found("walrus"), found("salamander"), found("ocelot")) == (0, 2, 0)
        assert here("reindex").code == 0
        assert (found("walrus"), found("salamander"), found("ocelot")) == (1, 1, 1)
        with application.database.read() as connection:
            assert list(connection.execute(text(statement)).scalars()) == before


@pytest.mark.parametrize("is_all", [False, True], ids=["missing", "all"])
def test_the_second_model_is_filled_in(
    own_data: Path, provider: StubProvider, monkeypatch: pytest.MonkeyPatch, is_all: bool
) -> None:
    monkeypatch.setenv("CRYSTAL_SEARCH_SECOND_SPACE", "true")
    with opened(own_data, second_values(provider)) as application:
        application.writer.create_note(NoteDraft("one", ""))
        fill_both(application)
        application.writer.create_note(NoteDraft("two", ""))
        statement = "SELECT id FROM embeddings WHERE space_id = 2 AND note_id = 1 ORDER BY id"
        with application.database.read() as connection:
            before = list(connection.execute(text(statement)).scalars())
        assert here("reindex", *(["--all"] if is_all else [])).code == 0
        assert application.second_companions is not None
        assert application.second_companions.coverage() == Coverage(2, 2)
        with application.database.read() as connection:
            after = list(connection.execute(text(statement)).scalars())
        assert (after != before) is is_all


def test_a_running_server_finds_what_was_embedded_beside_it(
    own_data: Path, provider: StubProvider
) -> None:
    with opened(own_data, stub_values(provider)) as application:
        wiring = Wiring(transport=httpx.WSGITransport(app=application.flask()))
        run_with(wiring, ("import", "jsonl", "-", "--no-embed"), given=(
            '{"type": "conversation", "external_id": "c"}\n'
            '{"type": "note", "external_id": "n", "conversation": "c", "title": "锁"}\n'
        ))  # fmt: skip
        assert run_with(wiring, ("search", "锁")).data == []
        assert here("reindex").code == 0
        assert [row["title"] for row in run_with(wiring, ("search", "锁")).data] == ["锁"]


def test_a_provider_that_is_down_is_one_line(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        StubProvider(usual=status(400)) as broken,
        opened(own_data, stub_values(broken)) as application,
    ):
        wiring = Wiring(transport=httpx.WSGITransport(app=application.flask()))
        run_with(wiring, ("notes", "add", "--title", "one"))
    with refused_address() as address:
        monkeypatch.setenv("CRYSTAL_EMBEDDING_BASE_URL", address)
        ran = here("reindex")
    assert ran.code == 1
    assert ran.data["embedded"] == 0
    assert ran.error.startswith("Error: 1 of 1 notes are not embedded: ")


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("CRYSTAL_EMBEDDING_PROVIDER", "nonsense", "configuration_error"),
        ("CRYSTAL_DATABASE_URL", "sqlite:////proc/none/crystal.db", "database_unavailable"),
    ],
    ids=["setting", "database"],
)
def test_errors_of_the_application_are_one_line(
    own_data: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    code: str,
) -> None:
    monkeypatch.setenv(name, text)
    ran = here("reindex", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.endswith(f'"code":"{code}"}}')

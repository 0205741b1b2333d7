"""A change of the model: the old space answers until the new one is complete, in every process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import enumerate as enumerate_threads
from time import monotonic, sleep

import pytest

from app.domain.notes import NoteDraft, NotePatch
from app.domain.search import SearchAnswer
from app.errors import NothingEmbedded, ProviderError
from app.factory import Application
from app.maintenance.pruning import prune
from app.settings import addresses
from tests.support.application import ask, found_ids, opened, plant, planted_vector, stub_values
from tests.support.provider import StubProvider, VectorFunction, refused_address, status
from tests.sync.conftest import rows, statuses

NEW = {"embedding.model": "another"}
PATIENCE = 20.0


def until(holds: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < end
        sleep(0.02)


def models(provider: StubProvider) -> list[str]:
    return [asked.body["model"] for asked in provider.requests]


def by_meaning(application: Application, query: str) -> SearchAnswer:
    return ask(application, query, ranker="vector")


@contextmanager
def changed(application: Application, count: int = 3) -> Iterator[Application]:
    """The application with embedded notes and another model configured."""
    plant(application, [0.9, 0.8, 0.7][:count])
    application.reconfigurer.change(NEW, is_confirmed=True)
    yield application


@pytest.fixture
def changing(application: Application) -> Iterator[Application]:
    with changed(application) as changed_application:
        yield changed_application


def test_the_old_space_answers_until_the_new_one_is_complete(
    changing: Application, provider: StubProvider
) -> None:
    assert statuses(changing) == ["pending"] * 3
    assert found_ids(by_meaning(changing, "one")) == [1, 2, 3]
    assert models(provider)[-1] == "text-embedding-3-small"
    changing.batches.embed_many([1, 2])
    assert found_ids(by_meaning(changing, "two")) == [1, 2, 3]
    assert models(provider)[-1] == "text-embedding-3-small"
    progress = changing.changeover.progress()
    assert progress is not None
    assert (progress.notes, progress.done, progress.failed) == (3, 2, 0)
    changing.batches.embed_many([3])
    assert changing.changeover.progress() is None
    assert found_ids(by_meaning(changing, "three")) == [1, 2, 3]
    assert models(provider)[-1] == "another"


@pytest.mark.parametrize("ranker", ["chatcrystal", "vector", "fusion", "hybrid", "finder"])
def test_every_ranker_finds_meanwhile_what_it_found_before(
    application: Application, ranker: str
) -> None:
    plant(application, [0.9, 0.8], words="pool")
    application.companions.fill()
    before = found_ids(ask(application, "pool", ranker=ranker))
    application.reconfigurer.change(NEW, is_confirmed=True)
    assert before
    assert found_ids(ask(application, "pool", ranker=ranker)) == before


def test_a_note_written_meanwhile_is_found_at_once(changing: Application) -> None:
    note_id = changing.writer.create_note(NoteDraft("new", "cos=0.95"))
    assert found_ids(by_meaning(changing, "one")) == [note_id, 1, 2, 3]
    changing.writer.edit_note(note_id, NotePatch({"summary": "cos=0.5"}))
    assert found_ids(by_meaning(changing, "two")) == [1, 2, 3, note_id]
    changing.writer.delete_note(1)
    assert found_ids(by_meaning(changing, "three")) == [2, 3, note_id]
    changing.batches.embed_many(changing.batches.unembedded())
    assert changing.changeover.progress() is None
    assert found_ids(by_meaning(changing, "four")) == [2, 3, note_id]


def test_a_change_that_was_interrupted_goes_on_where_it_was(
    changing: Application, provider: StubProvider, tmp_path: Path
) -> None:
    changing.batches.embed_many([1])
    with opened(tmp_path, stub_values(provider, model="another")) as started:
        assert found_ids(by_meaning(started, "one")) == [1, 2, 3]
        assert models(provider)[-1] == "text-embedding-3-small"
        assert started.batches.unembedded() == (2, 3)
        started.batches.embed_many(started.batches.unembedded())
        assert started.changeover.progress() is None
        assert models(provider).count("another") == 2
        assert found_ids(by_meaning(started, "two")) == [1, 2, 3]


def test_another_process_moves_over_with_its_next_search(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    plant(application, [0.9, 0.8])
    with opened(tmp_path, stub_values(provider)) as other:
        assert found_ids(by_meaning(other, "one")) == [1, 2]
        application.reconfigurer.change(NEW, is_confirmed=True)
        assert found_ids(by_meaning(other, "two")) == [1, 2]
        application.batches.embed_many([1, 2])
        assert found_ids(by_meaning(other, "three")) == [1, 2]
        assert models(provider)[-1] == "another"
        assert other.embedder.model == "another"


def test_a_server_fills_the_new_space_by_itself(changing: Application) -> None:
    changing.changeover.start(changing.queue)
    until(lambda: changing.changeover.progress() is None)
    assert statuses(changing) == ["done"] * 3
    until(lambda: changing.queue.progress().count("completed") == 3)


def test_what_is_closed_before_it_was_started_stays_closed(application: Application) -> None:
    """A server that is told to stop while it still starts."""
    assert application.changeover.close()
    assert application.filler.close()
    application.warm()
    names = {thread.name for thread in enumerate_threads()}
    assert not names & {"changeover", "companions"}
    assert application.changeover.close()
    assert application.filler.close()


def test_going_back_meanwhile_costs_nothing(changing: Application, provider: StubProvider) -> None:
    changing.batches.embed_many([1])
    asked = len(provider.requests)
    changing.reconfigurer.change({"embedding.model": ""}, is_confirmed=True)
    assert changing.changeover.progress() is None
    assert statuses(changing) == ["done"] * 3
    assert len(provider.requests) == asked
    assert found_ids(by_meaning(changing, "one")) == [1, 2, 3]


def test_notes_that_the_new_model_fails_at_hold_the_change_up(
    changing: Application, provider: StubProvider
) -> None:
    provider.behave(status(401))
    changing.batches.embed_many([1, 2, 3])
    progress = changing.changeover.progress()
    assert progress is not None
    assert (progress.done, progress.failed) == (0, 3)
    with pytest.raises(ProviderError, match=r"another.*/api/ready"):
        by_meaning(changing, "a query")
    answer = ask(changing, "note", ranker="fusion")
    assert sorted(found_ids(answer)) == [1, 2, 3]
    assert "words alone" in answer.warnings[0]


def test_a_former_model_that_is_gone_leaves_words_and_an_error(tmp_path: Path) -> None:
    with (
        StubProvider(vector=planted_vector) as gone,
        opened(tmp_path / "own", stub_values(gone)) as old,
    ):
        plant(old, [0.9, 0.8])
    with (
        StubProvider(vector=planted_vector) as fresh,
        opened(tmp_path / "own", stub_values(fresh, model="another")) as started,
    ):
        with pytest.raises(ProviderError, match="another"):
            by_meaning(started, "a query")
        answer = ask(started, "note", ranker="fusion")
        assert sorted(found_ids(answer)) == [1, 2]
        assert answer.warnings
        started.batches.embed_many(started.batches.unembedded())
        assert found_ids(by_meaning(started, "a query")) == [1, 2]


def test_nothing_embedded_is_an_error_that_says_why(tmp_path: Path) -> None:
    with refused_address() as address:
        values = {"embedding.provider": "openai", "embedding.base_url": address,
                  "embedding.retries": "0"}  # fmt: skip
        with opened(tmp_path, values) as down:
            down.writer.create_note(NoteDraft("WAL", "checkpoint"))
    with StubProvider() as provider, opened(tmp_path, stub_values(provider)) as up:
        with pytest.raises(NothingEmbedded, match=r"None of the 1 notes .* crystal reindex"):
            by_meaning(up, "a query")
        with pytest.raises(NothingEmbedded):
            ask(up, "zzz", ranker="fusion")
        assert found_ids(ask(up, "WAL", ranker="fusion")) == [1]


def test_no_notes_are_no_error(application: Application) -> None:
    assert found_ids(by_meaning(application, "a query")) == []


def longer(text: str) -> list[float]:
    """What a model makes that bears the same name and has another dimension."""
    return [*planted_vector(text), 0.0, 0.0]


def otherwise(text: str) -> list[float]:
    """What a model makes that bears the same name and has the same dimension."""
    return planted_vector(text)[::-1]


@pytest.mark.parametrize("vector", [longer, otherwise], ids=["other dimension", "other vectors"])
def test_a_model_of_the_same_name_takes_over_when_it_has_all_notes(
    application: Application, provider: StubProvider, vector: VectorFunction
) -> None:
    plant(application, [0.9, 0.8])
    with StubProvider(vector=vector) as other:
        change = application.reconfigurer.change
        assert change({"embedding.base_url": other.base_url}, is_confirmed=False).warnings
        assert statuses(application) == ["done"] * 2
        change({"embedding.base_url": other.base_url}, is_confirmed=True)
        assert statuses(application) == ["pending"] * 2
        assert found_ids(by_meaning(application, "one")) == [1, 2]
        application.batches.embed_many([1])
        assert found_ids(by_meaning(application, "two")) == [1, 2]
        assert provider.requests[-1].texts == ["two"]
        application.batches.embed_many([2])
        assert application.changeover.progress() is None
        assert found_ids(by_meaning(application, "three")) == [1, 2]
        assert other.requests[-1].texts == ["three"]
        embedded = len(provider.requests)
        change({"embedding.base_url": provider.base_url}, is_confirmed=True)
        assert statuses(application) == ["done"] * 2
        assert found_ids(by_meaning(application, "four")) == [1, 2]
        # The text by which the vectors were recognised, and the query.
        assert len(provider.requests) == embedded + 2
        assert prune(application.database, ()) == {"openai/text-embedding-3-small": 2}


@pytest.mark.parametrize("vector", [longer, otherwise], ids=["other dimension", "other vectors"])
def test_another_process_moves_over_to_a_model_of_the_same_name(
    application: Application, provider: StubProvider, tmp_path: Path, vector: VectorFunction
) -> None:
    plant(application, [0.9, 0.8])
    with StubProvider(vector=vector) as other, opened(tmp_path, stub_values(provider)) as beside:
        assert found_ids(by_meaning(beside, "one")) == [1, 2]
        change = {"embedding.base_url": other.base_url}
        application.reconfigurer.change(change, is_confirmed=True)
        assert found_ids(by_meaning(beside, "two")) == [1, 2]
        application.batches.embed_many([1, 2])
        assert found_ids(by_meaning(beside, "three")) == [1, 2]
        assert other.requests[-1].texts == ["three"]


def test_a_model_of_the_same_name_takes_over_after_a_restart_too(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    plant(application, [0.9, 0.8])
    with StubProvider(vector=longer) as other:
        change = {"embedding.base_url": other.base_url}
        application.reconfigurer.change(change, is_confirmed=True)
        with opened(tmp_path, stub_values(other)) as started:
            assert found_ids(by_meaning(started, "one")) == [1, 2]
            assert provider.requests[-1].texts == ["one"]
            started.batches.embed_many(started.batches.unembedded())
            assert found_ids(by_meaning(started, "two")) == [1, 2]
            assert other.requests[-1].texts == ["two"]
            started.reconfigurer.change(NEW, is_confirmed=True)
            started.reconfigurer.change(
                {"embedding.model": "", "embedding.base_url": provider.base_url}, is_confirmed=True
            )
            assert started.changeover.progress() is None
            assert found_ids(by_meaning(started, "three")) == [1, 2]
            assert provider.requests[-1].texts == ["three"]


def test_pruning_drops_what_nothing_uses_and_nothing_else(
    changing: Application, provider: StubProvider
) -> None:
    assert prune(changing.database, ()) == {}
    changing.batches.embed_many([1, 2, 3])
    dropped = prune(changing.database, ())
    assert list(dropped) == ["openai/text-embedding-3-small"]
    assert rows(changing, "SELECT model, active FROM embedding_spaces") == [("another", 1)]
    assert rows(changing, "SELECT count(*) FROM embeddings WHERE space_id = 1") == [(0,)]
    assert found_ids(by_meaning(changing, "one")) == [1, 2, 3]
    changing.reconfigurer.change({"embedding.model": ""}, is_confirmed=True)
    assert found_ids(by_meaning(changing, "two")) == [1, 2, 3]
    assert models(provider)[-1] == "another"


def test_the_address_of_a_model_is_kept_without_its_key(
    provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider, api_key="sk-secret")):
        known = addresses.known(tmp_path, "openai", "text-embedding-3-small")
    path = tmp_path / addresses.FILE_NAME
    assert known == provider.base_url
    assert path.stat().st_mode & 0o777 == 0o600
    assert "sk-secret" not in path.read_text(encoding="utf-8")

"""Which space imported vectors belong to, and what follows for statuses, searches and settings."""

from pathlib import Path
from typing import Any

import pytest

from app.domain.adoption import AdoptionReport, AdoptionRequest
from app.errors import ConfigurationError, ImportFailed, InvalidParameter, NothingEmbedded
from app.factory import Application
from app.settings import store
from tests.importers.directories import contents_of, feed_of, items_of, write_config, write_items
from tests.support.application import ask, found_ids, opened
from tests.support.provider import StubProvider, of_dimension, refused_address

QUERY = "connection pool"


def adopt(application: Application, source: Path, **more: Any) -> AdoptionReport:
    return application.adopter.adopt(AdoptionRequest(source, **more))


def statuses(application: Application) -> set[str]:
    return {row["embedding_status"] for row in contents_of(application.database)["notes"]}


def spaces(application: Application) -> dict[tuple[str, str], int | None]:
    rows = contents_of(application.database)["embedding_spaces"]
    return {(row["provider"], row["model"]): row["dimension"] for row in rows}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"provider": "openai", "model": "m"}, {}),
        ({"provider": "custom", "model": "m"}, {}),
        ({"provider": "ollama", "model": "x"}, {"provider": "openai", "model": "m"}),
        ({}, {"provider": "openai", "model": "m"}),
        ({"provider": "openai"}, {"model": "m"}),
    ],
    ids=["config", "custom", "named-instead", "named", "both"],
)
def test_vectors_of_the_configured_model_are_used_at_once(
    target: Application, source: Path, config: dict[str, str], named: dict[str, str]
) -> None:
    write_config(source, **config)
    report = adopt(target, source, **named)
    assert report.space is not None
    assert (report.space.provider, report.space.model) == ("openai", "m")
    assert report.space.is_configured and not report.space.is_assumed
    assert report.warnings == ()
    assert found_ids(ask(target, QUERY))[0] == 1


@pytest.mark.parametrize(
    "config",
    [None, {}, {"provider": "openai"}, {"model": "m"}],
    ids=["no-file", "nothing", "provider", "model"],
)
def test_without_a_name_the_dimension_decides_and_the_report_says_so(
    target: Application, source: Path, config: dict[str, str] | None
) -> None:
    if config is not None:
        write_config(source, **config)
    report = adopt(target, source)
    assert report.space is not None and report.space.is_assumed
    assert len(report.warnings) == 1
    assert "Nothing says which model" in report.warnings[0]
    assert found_ids(ask(target, QUERY))[0] == 1


def test_a_provider_that_is_silent_is_taken_at_the_word_of_the_settings(
    tmp_path: Path, source: Path
) -> None:
    with refused_address() as address:
        values = {
            "embedding.provider": "openai",
            "embedding.base_url": address,
            "embedding.retries": "0",
        }
        with opened(tmp_path / "own", values) as application:
            report = adopt(application, source)
    assert report.space is not None and report.space.is_assumed


@pytest.mark.parametrize(
    "config",
    [None, {"provider": "ollama"}, {"model": "other"}],
    ids=["dimension", "provider", "model"],
)
def test_vectors_of_an_unknown_model_are_left_out(
    target: Application,
    source: Path,
    embedding_server: StubProvider,
    config: dict[str, str] | None,
) -> None:
    if config is None:
        embedding_server.behave(of_dimension(32))
    else:
        write_config(source, **config)
    report = adopt(target, source)
    assert report.space is None
    assert report.left_out["vectors_of_unknown_model"] == 53
    assert "--provider" in report.warnings[0]
    assert statuses(target) == {"pending"}
    assert contents_of(target.database)["embeddings"] == []


def test_vectors_left_out_are_taken_over_once_their_model_is_named(
    target: Application, source: Path
) -> None:
    write_config(source, provider="ollama")
    adopt(target, source)
    report = adopt(target, source, model="bge-m3")
    assert report.space is not None
    assert (report.space.provider, report.space.model) == ("ollama", "bge-m3")
    assert {kind: count for kind, count in report.added.items() if count} == {"chunks": 53}


@pytest.mark.parametrize(
    ("provider", "model"), [("ollama", "bge-m3"), ("voyage", "v-3")], ids=["known", "unknown"]
)
def test_vectors_of_another_model_keep_their_space_and_all_notes_wait(
    target: Application, source: Path, provider: str, model: str
) -> None:
    write_config(source, provider=provider, model=model)
    report = adopt(target, source)
    assert report.space is not None
    assert not report.space.is_configured
    assert report.statuses == {"done": 40, "failed": 1, "pending": 2, "syncing": 1}
    assert spaces(target) == {("openai", "m"): None, (provider, model): 64}
    assert statuses(target) == {"pending"}
    with pytest.raises(NothingEmbedded):
        ask(target, QUERY)
    target.batches.embed_many(target.batches.unembedded())
    assert found_ids(ask(target, QUERY))[0] == 1
    assert len(contents_of(target.database)["embeddings"]) > 53


def test_adopting_makes_the_model_the_configured_one(
    source: Path, tmp_path: Path, embedding_server: StubProvider
) -> None:
    write_config(
        source, provider="custom", model="m", baseURL=embedding_server.base_url, apiKey="sk-hush"
    )
    with opened(tmp_path / "own") as application:
        report = adopt(application, source, configures=True)
        assert report.space is not None and report.space.is_configured
        assert report.statuses == {"done": 40, "failed": 1, "pending": 2, "syncing": 1}
        assert any(embedding_server.base_url in warning for warning in report.warnings)
        assert "hush" not in repr(report)
        assert found_ids(ask(application, QUERY))[0] == 1
    assert embedding_server.requests[-1].headers["authorization"] == "Bearer sk-hush"
    settings = store.load({"data_dir": str(tmp_path / "own")}, environment={})
    assert (settings.embedding.provider, settings.embedding.model) == ("openai", "m")
    with opened(tmp_path / "own", store.read(tmp_path / "own")) as again:
        assert found_ids(ask(again, QUERY))[0] == 1


def test_adopting_later_changes_the_space_and_no_row(
    source: Path, tmp_path: Path, embedding_server: StubProvider
) -> None:
    write_config(source, provider="openai", model="m", baseURL=embedding_server.base_url)
    with opened(tmp_path / "own") as application:
        adopt(application, source)
        assert statuses(application) == {"pending"}
        report = adopt(application, source, configures=True)
        assert sum(report.added.values()) == 0
        assert statuses(application) == {"done", "failed", "pending", "syncing"}
        assert found_ids(ask(application, QUERY))[0] == 1


def test_adopting_what_is_configured_already_changes_no_setting(
    target: Application, source: Path, tmp_path: Path
) -> None:
    write_config(source, provider="openai", model="m")
    adopt(target, source, configures=True)
    assert not (tmp_path / "own" / "config.json").exists()


@pytest.mark.parametrize(
    ("config", "environment", "kind", "words"),
    [
        ({}, {}, ConfigurationError, "give --provider and --model"),
        ({"provider": "ollama"}, {}, ConfigurationError, "give --provider and --model"),
        (
            {"provider": "voyage", "model": "v"},
            {},
            ConfigurationError,
            "voyage cannot be configured",
        ),
        (
            {"provider": "ollama", "model": "v"},
            {"EMBEDDING_PROVIDER": "openai"},
            InvalidParameter,
            "EMBEDDING_PROVIDER",
        ),
    ],
    ids=["nameless", "half-named", "unknown", "environment"],
)
def test_what_cannot_be_configured_is_refused_before_anything_changes(
    target: Application,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    config: dict[str, str],
    environment: dict[str, str],
    kind: type[Exception],
    words: str,
) -> None:
    write_config(source, **config)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    before, feed = contents_of(target.database), feed_of(target.database)
    with pytest.raises(kind, match=words):
        adopt(target, source, configures=True)
    assert contents_of(target.database) == before
    assert feed_of(target.database) == feed


def test_vectors_that_the_named_model_cannot_have_made_are_refused(
    target: Application, source: Path
) -> None:
    write_config(source, provider="openai", model="m")
    adopt(target, source)
    write_items(source, [item | {"vector": item["vector"][:32]} for item in items_of(source)])
    before = contents_of(target.database)
    with pytest.raises(ImportFailed, match="32 dimensions"):
        adopt(target, source)
    assert contents_of(target.database) == before


def test_vectors_that_the_built_in_model_cannot_have_made_are_refused(
    target: Application, source: Path
) -> None:
    with pytest.raises(ImportFailed, match="64 dimensions"):
        adopt(target, source, provider="builtin", model="use-multilingual-v3")


def test_a_name_counts_for_its_own_provider_only(target: Application, source: Path) -> None:
    write_config(source, provider="ollama", model="bge-m3", baseURL="http://x", apiKey="hush")
    report = adopt(target, source, provider="openai")
    assert report.space is not None
    assert (report.space.provider, report.space.model) == ("openai", "m")
    assert report.space.is_assumed

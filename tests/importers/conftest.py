"""A copy of the recorded directory, and an application that embeds as the original did."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.factory import Application
from tests.importers.directories import RECORDED
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, golden_vector


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data directory of ChatCrystal to be changed at will."""
    folder = tmp_path / "source"
    shutil.copytree(RECORDED, folder, copy_function=shutil.copyfile)
    return folder


@pytest.fixture
def embedding_server() -> Iterator[StubProvider]:
    """The provider that made the recorded vectors."""
    with StubProvider(vector=golden_vector) as stub:
        yield stub


@pytest.fixture
def target(tmp_path: Path, embedding_server: StubProvider) -> Iterator[Application]:
    """An empty application that embeds with it."""
    with opened(tmp_path / "own", stub_values(embedding_server, model="m")) as application:
        yield application

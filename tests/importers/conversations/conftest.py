"""A home folder as the tools leave it, with all stories in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.conversations.build import build


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder; nothing may be written below it."""
    folder = tmp_path_factory.mktemp("home")
    build(folder)
    return folder

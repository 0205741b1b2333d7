"""What a process refuses to start on."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.factory import build
from tests.support.application import make_settings


def test_the_originals_own_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "chatcrystal.db").write_bytes(b"theirs")
    with pytest.raises(ConfigurationError, match="import chatcrystal"):
        build(make_settings(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["chatcrystal.db"]


def test_an_unknown_default_ranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"search\.ranker.*chatcrystal"):
        build(make_settings(tmp_path, {"search.ranker": "best"}))

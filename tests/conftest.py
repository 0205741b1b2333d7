"""Fixtures that every test uses."""

import os

import pytest

FOREIGN_PREFIXES = ("CRYSTAL_", "EMBEDDING_", "LLM_")
FOREIGN_NAMES = {"PORT", "DATA_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the settings and proxies of whoever runs the tests."""
    for name in list(os.environ):
        if name.upper() in FOREIGN_NAMES or name.startswith(FOREIGN_PREFIXES):
            monkeypatch.delenv(name)

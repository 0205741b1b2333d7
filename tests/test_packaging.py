"""What is said of the package in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import app

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["version"] == app.__version__
    assert VERSION.fullmatch(app.__version__)


def test_the_changelog_begins_with_what_is_next_and_has_every_release_once() -> None:
    headings = re.findall(
        r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert headings[0] == "Unreleased"
    assert all(VERSION.fullmatch(heading) for heading in headings[1:])
    assert len(set(headings)) == len(headings)


def test_every_optional_part_is_named_where_its_absence_is_told() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("app", "cli")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )
    extras = set(PROJECT["optional-dependencies"]) - {"dev"}
    named = set(re.findall(r"chatcrystal-search\[([a-z]+)\]", sources))
    assert named <= extras


def test_the_container_does_not_run_as_root_and_is_checked() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER (?!root|0$)\w+$", text, re.MULTILINE)
    assert "HEALTHCHECK" in text
    assert "VOLUME" in text

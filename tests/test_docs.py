"""The documentation says what the code does: reference pages, links, names, both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.api.application import ROUTES
from app.ranking.registry import RANKERS
from docs import build_reference

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`(?:GET|POST|PATCH|DELETE)? ?(/api/[a-z/<>_.-]*)")


@pytest.mark.parametrize("name", build_reference.PAGES)
def test_a_reference_page_is_what_the_code_writes(name: str) -> None:
    written = (build_reference.FOLDER / name).read_text(encoding="utf-8")
    assert written == build_reference.page(name), "run: python -m docs.build_reference"


def test_no_reference_page_is_left_over() -> None:
    found = {path.name for path in build_reference.FOLDER.iterdir()}
    assert found == set(build_reference.PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_routes_that_a_page_names_exist(page: Path) -> None:
    known = {re.sub(r"<[a-z]+:[a-z_]+>", "<id>", route.rule) for route in ROUTES}
    named = _PATH.findall(page.read_text(encoding="utf-8"))
    unknown = [path for path in named if path.rstrip("/.") not in known and path != "/api/"]
    assert unknown == []


@pytest.mark.parametrize("ranker", [ranker.name for ranker in RANKERS])
def test_every_ranker_has_its_section(ranker: str) -> None:
    text = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
    assert f"## `{ranker}`" in text


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_two_commands_stand_first(readme: str) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    first_block = text.split("```")[1]
    assert "make demo" in first_block
    assert "make test" in first_block

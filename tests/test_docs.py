"""The documentation says what the code does: reference pages, links, names, both languages."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.api.application import ROUTES
from app.ranking.registry import RANKERS
from cli.main import crystal
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


def _whole_lines(block: str) -> list[str]:
    return block.replace("\\\n", " ").splitlines()


def commands(page: Path) -> list[str]:
    """The lines of a page's shell blocks, without what is said beside them."""
    blocks = re.findall(r"```(?:sh|json)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line) for block in blocks for line in _whole_lines(block)]
    return [line for line in lines if line]


def test_both_readmes_have_the_same_commands_examples_and_links() -> None:
    english, chinese = ROOT / "README.md", ROOT / "README.zh-CN.md"
    assert commands(english) == commands(chinese)
    texts = [page.read_text(encoding="utf-8") for page in (english, chinese)]
    examples, tried, links = (
        [found(text) for text in texts]
        for found in (
            re.compile(r"```text\n(.*?)```", re.DOTALL).findall,
            re.compile(r"\| `(crystal [^`]+|claude [^`]+)` \|").findall,
            lambda text: {link for link in _LINK.findall(text) if not link.startswith("README")},
        )
    )
    assert examples[0] == examples[1]
    assert tried[0] == tried[1]
    assert links[0] == links[1]


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md", "docs/mcp.md"])
def test_configuration_of_clients_can_be_read(name: str) -> None:
    readers = {"json": json.loads, "toml": tomllib.loads}
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"```(json|toml)\n(.*?)```", text, re.DOTALL)
    assert found
    for language, block in found:
        assert "'command': 'crystal'" in str(readers[language](block))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_a_page_shows_exist_with_their_options(page: Path) -> None:
    for line in commands(page):
        for part in re.split(r" \| | && ", line):
            if part.startswith("crystal "):
                words = shlex.split(part)[1:]
                # Help is shown only when the command and every option before it are known.
                ran = CliRunner().invoke(crystal, [*words, "--help"])
                assert ran.exit_code == 0, f"{part}: {ran.output}"

"""`crystal search --ranker finder` and `crystal notes expand`."""

from __future__ import annotations

import httpx
import pytest

from tests.cli.conftest import Runner, run_on_terminal
from tests.cli.test_search import api, asked_of


def test_overrides_become_parameters() -> None:
    url = asked_of(
        "search", "x", "--ranker", "finder", "-O", "damping=0.3", "-O", "finder.weights.mentions=0",
        "--seeds", "vector",
    )  # fmt: skip
    assert dict(url.params) == {
        "q": "x", "ranker": "finder", "seeds": "vector", "finder.damping": "0.3",
        "finder.weights.mentions": "0",
    }  # fmt: skip


@pytest.mark.parametrize("override", ["damping", "=0.3", " =1"])
def test_an_override_reads_name_and_value(read: Runner, override: str) -> None:
    ran = read("search", "x", "--ranker", "finder", "-O", override)
    assert ran.code == 2
    assert "is not NAME=VALUE" in ran.err


def test_a_wrong_override_is_named(read: Runner) -> None:
    ran = read("search", "x", "--ranker", "finder", "-O", "damping=7")
    assert ran.code == 1
    assert 'Parameter "finder.damping" must be a number from 0 to 0.99' in ran.err


def test_hints_are_shown_below_the_table(library: httpx.WSGITransport) -> None:
    [row, *_] = api(library, "/api/search?q=连接池&ranker=finder&limit=1")["data"]
    ran = run_on_terminal(library, "search", "连接池", "--ranker", "finder", "-l", "1")
    assert ran.code == 0
    shown = " ".join(ran.out.split())
    assert f"{row['note_id']} {row['title']}" in shown
    for hint in row["hints"]:
        assert f"{hint['score']:.3f}" in shown
        assert hint["preview"][:10] in shown


def test_why_takes_the_same_options(read: Runner) -> None:
    ran = read("why", "连接池", "1", "--ranker", "finder", "-O", "graph_hops=0")
    assert ran.code == 0
    assert ran.data["search"]["options"]["graph_hops"] == 0


def test_a_note_is_expanded(read: Runner, library: httpx.WSGITransport) -> None:
    ran = read("notes", "expand", "1", "-l", "2")
    assert ran.code == 0
    assert ran.data == api(library, "/api/notes/1/expand?limit=2")["data"]


def test_the_expansion_is_drawn(library: httpx.WSGITransport) -> None:
    data = api(library, "/api/notes/1/expand")["data"]
    ran = run_on_terminal(library, "notes", "expand", data["title"], width=160)
    assert ran.code == 0
    for neighbour in data["neighbours"][:2]:
        assert str(neighbour["note_id"]) in ran.out
    assert "Fragment" in ran.out
    assert "root" in ran.out


def test_a_note_that_does_not_exist_cannot_be_expanded(read: Runner) -> None:
    assert read("notes", "expand", "999").code == 1

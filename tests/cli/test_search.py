"""`crystal search` and `crystal why`: the same data as the API, and tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from cli.session import Wiring
from tests.cli.conftest import Runner, run_on_terminal, run_with, without_trailing_blanks
from tests.cli.library import CHINESE_TITLE, FAMILY, LONG_TITLE

ITEM_KEYS = [
    "note_id",
    "conversation_id",
    "title",
    "project_name",
    "project",
    "score",
    "tags",
    "via_relation",
]


def api(library: httpx.WSGITransport, path: str) -> Any:
    """What the API itself answers."""
    with httpx.Client(transport=library, base_url="http://localhost") as client:
        return client.get(path).json()


def asked_of(*arguments: str) -> httpx.URL:
    """The request that a command makes."""
    seen: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, json={"success": True, "data": []})

    ran = run_with(Wiring(transport=httpx.MockTransport(answer)), arguments)
    assert ran.code == 0, ran.err
    (url,) = seen
    return url


def test_a_pipe_gets_the_data_as_json(read: Runner, library: httpx.WSGITransport) -> None:
    ran = read("search", "连接池", "-l", "3")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.data == api(library, "/api/search?q=连接池&limit=3")["data"]
    assert [list(row) for row in ran.data] == [ITEM_KEYS] * 3
    assert ran.out.startswith('[\n  {\n    "note_id": 1,\n')
    assert ran.out.endswith("]\n")
    assert CHINESE_TITLE in ran.out


def test_a_terminal_gets_json_where_it_is_asked_for(library: httpx.WSGITransport) -> None:
    wiring = Wiring(transport=library)
    assert run_with(wiring, ("--json", "search", "x")) == run_with(wiring, ("search", "x"))


@pytest.mark.parametrize("place", [0, 1, 2], ids=["before", "after", "last"])
def test_global_options_may_stand_anywhere(read: Runner, place: int) -> None:
    words = ["search", "pool"]
    words[place:place] = ["--json", "--no-interactive"]
    assert read(*words).data


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (("two", "words"), [("q", "two words")]),
        (("--limit", "+5", "x"), [("q", "x"), ("limit", "5")]),
        (("-q", "one", "-q", "two"), [("q", "one"), ("q", "two")]),
        (("a", "b", "-q", "c"), [("q", "a b"), ("q", "c")]),
        (("--", "--json"), [("q", "--json")]),
        (("x", "--expand", "--explain"), [("q", "x"), ("expand", "true"), ("explain", "true")]),
        (
            ("x", "--ranker", "v049", "--cut", "off"),
            [("q", "x"), ("ranker", "v049"), ("cut", "off")],
        ),
        (
            ("x", "--project", "知识库", "-t", "a", "--tag", "b,c"),
            [("q", "x"), ("project", "知识库"), ("tag", "a"), ("tag", "b,c")],
        ),
        (
            ("x", "--since", "30d", "--until", "2026-03-01", "--source", "codex", "--path", "a/"),
            [
                ("q", "x"),
                ("source", "codex"),
                ("since", "30d"),
                ("until", "2026-03-01"),
                ("path", "a/"),
            ],
        ),
        (("x", "--fields", "summary,path"), [("q", "x"), ("fields", "summary,path")]),
    ],
    ids=[
        "words",
        "limit",
        "topics",
        "words-and-topic",
        "dashes",
        "flags",
        "ranker",
        "filters",
        "times",
        "fields",
    ],
)
def test_options_become_parameters(arguments: Sequence[str], query: list[tuple[str, str]]) -> None:
    url = asked_of("search", *arguments)
    assert url.path == "/api/search"
    assert sorted(url.params.multi_items()) == sorted(query)
    assert url.params.get_list("q") == [value for name, value in query if name == "q"]


USAGE = {
    "no-query": (("search",), "Missing argument 'QUERY...'"),
    "word": (("search", "x", "-l", "abc"), "'-l' / '--limit'"),
    "negative": (("search", "x", "-l", "-1"), "'-l' / '--limit'"),
    "fraction": (("search", "x", "--limit=1.5"), "'-l' / '--limit'"),
    "other-digits": (("search", "x", "-l", "１"), "'-l' / '--limit'"),
    "empty": (("search", "x", "-l", ""), "'-l' / '--limit'"),
    "huge": (("search", "x", "-l", "9" * 5000), "'-l' / '--limit'"),
    "cut": (("search", "x", "--cut", "maybe"), "'--cut'"),
    "option": (("search", "x", "--frob"), "--frob"),
    "why-nothing": (("why",), "Missing argument"),
    "why-no-note": (("why", "query"), "Missing argument"),
    "why-blank": (("why", "query", " "), "'NOTE'"),
}


@pytest.mark.parametrize(("arguments", "named"), USAGE.values(), ids=USAGE)
@pytest.mark.parametrize("as_json", [False, True], ids=["line", "json"])
def test_wrong_usage_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...], named: str, as_json: bool
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"{request.url} was asked")

    given = (*arguments, "--json") if as_json else arguments
    ran = run_with(Wiring(transport=httpx.MockTransport(answer)), given)
    assert ran.code == 2
    assert ran.out == ""
    if as_json:
        assert ran.error.startswith('{"success":false,"error":"')
        assert ran.error.endswith('"code":"usage"}')
    else:
        assert ran.error.startswith("Error: ")
    assert named in ran.error


REFUSED = {
    "blank": (("search", " "), "missing_query"),
    "ranker": (("search", "x", "--ranker", "nope"), "invalid_parameter"),
    "since": (("search", "x", "--since", "yesterday"), "invalid_parameter"),
    "fields": (("search", "x", "--fields", "nope"), "invalid_parameter"),
    "too-long": (("search", "长" * 4001), "invalid_parameter"),
    "topics": (("search", "-q", "a", "-q", "b"), "invalid_parameter"),
    "note": (("why", "x", "99"), "note_not_found"),
}


@pytest.mark.parametrize(("arguments", "code"), REFUSED.values(), ids=REFUSED)
def test_what_the_server_refuses_is_one_line_and_exit_1(
    read: Runner, arguments: tuple[str, ...], code: str
) -> None:
    plain = read(*arguments)
    assert (plain.code, plain.out) == (1, "")
    assert plain.error.startswith("Error: ")
    as_json = read(*arguments, "--json")
    assert (as_json.code, as_json.out) == (1, "")
    assert as_json.error.endswith(f'"code":"{code}"}}')


def test_nothing_found_is_success(read: Runner) -> None:
    ran = read("search", "x", "--project", "no such project")
    assert (ran.code, ran.out, ran.err) == (0, "[]\n", "")


def test_an_explanation_stands_beside_the_results(
    read: Runner, library: httpx.WSGITransport
) -> None:
    ran = read("search", "pool", "--explain")
    assert list(ran.data) == ["results", "explain"]
    assert ran.data["results"] == api(library, "/api/search?q=pool")["data"]
    assert ran.data["explain"]["terms"] == ["pool"]


FOUND_TABLE = """
  4 results for "cos"

  Score  ID  Title                                    Project               Tags
  ──────────────────────────────────────────────────────────────────────────────────────
  0.950   1  Redis pool exhausted                     atlas                 redis, po...
  0.900   2  数据库连接池在高峰期耗尽导致请求超时...  知识库检索平台与...   数据库,...
  0.850   3  A title of forty columns and one mor...  a project name wi...  layout
  0.820   4  Release 🎉 with FAMILY emoji                 atlas

""".replace("FAMILY", FAMILY)


def test_the_table_shows_what_was_found(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "cos", "-l", "4", width=88)
    assert (ran.code, ran.err) == (0, "")
    assert without_trailing_blanks(ran.out) == FOUND_TABLE


def test_an_empty_answer_says_so(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "x", "--project", "nope")
    assert (ran.code, ran.out) == (0, "\n  No results found.\n\n")


def test_expanded_notes_show_their_relation(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "x", "-l", "1", "--expand")
    heads, _, *rows = ran.out.splitlines()[3:]
    assert heads.split()[-1] == "Via"
    assert [row.split()[-1] for row in rows if "Far away" in row] == ["CAUSED_BY"]


def test_asked_fields_are_shown(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "x", "-l", "1", "--fields", "summary,external_id")
    assert "note-1" in ran.out
    assert "  Second paragraph." in ran.out.splitlines()


def test_an_explanation_is_drawn_stage_by_stage(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "redis", "-l", "2", "--explain")
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert "  How this was found" in lines
    assert "  Terms            redis" in lines
    assert "  Rounds           k=2: 2 notes" in lines
    assert "  Stopped          enough notes" in lines
    assert "  Candidates" in lines
    assert "     1     1  0.950     0.950  kept" in lines


def test_relations_that_were_followed_are_drawn(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "redis", "-l", "1", "--expand", "--explain")
    lines = [line.rstrip() for line in ran.out.splitlines()]
    rows = lines[lines.index("  Relations") + 3 :][:2]
    assert [row.split() for row in rows] == [
        ["1", "6", "CAUSED_BY", "80%", "0.532"],
        ["1", "2", "SIMILAR_TO", "95%", "0.632"],
    ]


def test_a_dropped_candidate_shows_why(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "zebra", "--explain")
    reason = "raw 0.100 < 0.58 and term 'zebra' missing"
    assert f"     6     6  0.100         -  dropped  {reason}" in ran.out


def test_many_candidates_are_cut(library: httpx.WSGITransport) -> None:
    explanation = {"candidates": [{"rank": rank, "note_id": rank} for rank in range(1, 26)]}
    body = {"success": True, "data": [], "explain": explanation}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    ran = run_on_terminal(transport, "search", "x", "--explain")
    assert "... and 15 more (--json shows all)" in ran.out


def test_the_record_of_an_unknown_ranker_is_shown_by_its_names() -> None:
    explanation = {
        "ranker": "another",
        "weight": 0.123456,
        "lists": {"words": 3},
        "expanded_terms": ["a", "b"],
        "fused_notes": [{"note": 7, "score": 0.5, "parts": [1]}, {"note": 8, "score": 0.25}],
    }
    body = {"success": True, "data": [], "explain": explanation}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    lines = run_on_terminal(transport, "search", "x", "--explain").out.splitlines()
    stripped = [line.rstrip() for line in lines]
    assert "  Weight          0.123" in stripped
    assert '  Lists           {"words": 3}' in stripped
    assert "  Expanded terms  a, b" in stripped
    assert "  Fused notes" in stripped
    assert "  Note  Score" in stripped
    assert "     8  0.250" in stripped


def test_warnings_of_the_server_are_told_beside() -> None:
    body = {"success": True, "data": [], "warnings": ["The provider\nfailed"]}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    ran = run_with(Wiring(transport=transport), ("search", "x"))
    assert (ran.out, ran.err) == ("[]\n", "Warning: The provider failed\n")
    ran = run_with(Wiring(transport=transport), ("search", "x", "--json"))
    assert (ran.out, ran.err) == ("[]\n", '{"warning":"The provider\\nfailed"}\n')


def test_why_joins_words_and_takes_the_note_last(
    read: Runner, library: httpx.WSGITransport
) -> None:
    ran = read("why", "redis", "pool", "6", "--limit", "3", "--expand")
    told = api(library, "/api/search/why?q=redis+pool&note_id=6&limit=3&expand=true")["data"]
    assert ran.code == 0
    shown = ran.data
    for data in (shown, told):
        del data["search"]["milliseconds"]
    assert shown == told
    assert shown["via_relation"] == "CAUSED_BY"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("zebra", "6"), "raw 0.100 < 0.58 and term 'zebra' missing"),
        (("zebra", "6", "-l", "2"), "rank 6, search stopped at k=2 with enough notes"),
        (("zebra", "6", "--project", "atlas"), "the filters of the request leave this note out"),
        (("zebra", "1"), "place 1 of 5: raw 0.950"),
    ],
    ids=["dropped", "not-reached", "filtered", "returned"],
)
def test_why_shows_the_reason(
    library: httpx.WSGITransport, arguments: tuple[str, ...], shown: str
) -> None:
    ran = run_on_terminal(library, "why", *arguments)
    assert ran.code == 0
    assert f"  Reason  {shown}" in [line.rstrip() for line in ran.out.splitlines()]
    outcome = "found at place 1" if arguments[1] == "1" else "not in the answer"
    assert f"Note {arguments[1]} is {outcome}" in ran.out


def test_a_long_title_is_cut_to_forty_columns(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "search", "x", "-l", "3")
    assert LONG_TITLE not in ran.out
    assert LONG_TITLE[:37] + "..." in ran.out

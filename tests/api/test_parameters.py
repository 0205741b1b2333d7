"""What the values of query parameters may look like."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.api.parameters import LARGEST_WHOLE, LONGEST_TEXT, MOST_REPEATS, moment, read_all
from app.api.query import read_query
from app.errors import InvalidParameter
from app.factory import Application
from app.text import JS_WHITE_SPACE
from tests.api.answers import data_of, error_of, ids_of

WHOLE = {
    "plain": ("2", 2),
    "zero": ("0", 0),
    "plus": ("%2B2", 2),
    "blanks": ("%202%20", 2),
    "plus signs are blanks": ("+2+", 2),
    "tab and line end": ("%092%0A", 2),
    "ideographic blank": ("%E3%80%802", 2),
    "leading zeros": ("0002", 2),
    "the maximum": ("100", 100),
    "above the maximum": ("101", 100),
    "far above": ("9" * 30, 100),
    "beyond what converts": ("9" * 3_000, 100),
    "empty": ("", 50),
}

NOT_WHOLE = {
    "separator": "1_0",
    "full-width": "%EF%BC%91%EF%BC%90",
    "arabic": "%D9%A1",
    "superscript": "%C2%B2",
    "fraction": "1.5",
    "whole fraction": "1.0",
    "minus": "-1",
    "minus zero": "-0",
    "two pluses": "%2B%2B1",
    "plus and blank": "%2B%201",
    "inner blank": "1%200",
    "letters": "abc",
    "hexadecimal": "0x10",
    "exponent": "1e3",
    "infinity": "Infinity",
    "nan": "NaN",
    "null": "null",
    "list": "1,2",
    "blank only": "%20",
    "next line": "%C2%852",
    "zero-width": "%E2%80%8B2",
}


@pytest.mark.parametrize(("written", "value"), WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("route", ["notes", "conversations"])
def test_limit(reader: FlaskClient, route: str, written: str, value: int) -> None:
    assert data_of(reader.get(f"/api/{route}?limit={written}"))["limit"] == value


@pytest.mark.parametrize(
    ("written", "value"),
    [("%2B2", 2), ("+2+", 2), ("", 0), ("9" * 30, LARGEST_WHOLE), ("1000", 1000)],
    ids=["plus", "blanks", "empty", "far above", "beyond the end"],
)
def test_offset(reader: FlaskClient, written: str, value: int) -> None:
    page = data_of(reader.get(f"/api/notes?offset={written}"))
    assert page["offset"] == value
    assert page["total"] == 12
    assert len(page["items"]) == max(0, 12 - value)


@pytest.mark.parametrize("written", NOT_WHOLE.values(), ids=NOT_WHOLE)
@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize("route", ["notes", "conversations"])
def test_not_whole(reader: FlaskClient, route: str, name: str, written: str) -> None:
    sentence = error_of(reader.get(f"/api/{route}?{name}={written}"), 400, "invalid_parameter")
    assert sentence.startswith(f'Parameter "{name}" must be a whole number from 0 to ')


@pytest.mark.parametrize("written", NOT_WHOLE.values(), ids=NOT_WHOLE)
@pytest.mark.parametrize("name", ["limit", "note_id"])
def test_not_whole_in_searches(reader: FlaskClient, name: str, written: str) -> None:
    route = "search" if name == "limit" else "search/why"
    response = reader.get(f"/api/{route}?q=redis&{name}={written}")
    assert f'"{name}"' in error_of(response, 400, "invalid_parameter")


@pytest.mark.parametrize(("written", "size"), [("0", 0), ("3", 3), ("51", 12), ("9" * 30, 12)])
def test_limit_of_a_search(reader: FlaskClient, written: str, size: int) -> None:
    response = reader.get(f"/api/search?q=redis&ranker=vector&limit={written}")
    assert len(data_of(response)) == size


def test_default_limit_of_a_search(reader: FlaskClient) -> None:
    assert len(data_of(reader.get("/api/search?q=redis&ranker=vector"))) == 10
    assert len(data_of(reader.get("/api/search?q=redis&ranker=vector&limit="))) == 10


@pytest.mark.parametrize("written", ["", "0", "abc", "-3"])
def test_why_needs_a_note(reader: FlaskClient, written: str) -> None:
    response = reader.get(f"/api/search/why?q=redis&note_id={written}")
    assert '"note_id"' in error_of(response, 400, "invalid_parameter")


@pytest.mark.parametrize("written", ["9" * 30, str(2**63), "13"])
def test_why_of_no_note(reader: FlaskClient, written: str) -> None:
    error_of(reader.get(f"/api/search/why?q=redis&note_id={written}"), 404, "note_not_found")


@pytest.mark.parametrize(("written", "has"), [("true", True), ("false", False), ("", False)])
def test_boolean(reader: FlaskClient, written: str, has: bool) -> None:
    response = reader.get(f"/api/search?q=redis&explain={written}")
    data_of(response)
    assert ("explain" in response.get_json()) is has


@pytest.mark.parametrize("written", ["1", "0", "TRUE", "True", "yes", "true%20", "null"])
def test_not_boolean(reader: FlaskClient, written: str) -> None:
    response = reader.get(f"/api/search?q=redis&explain={written}")
    assert error_of(response, 400) == 'Parameter "explain" must be true or false'


@pytest.mark.parametrize("written", ["1", "TRUE", "true%20", "yes", "false", "", "[]"])
def test_expand_is_lenient(reader: FlaskClient, written: str) -> None:
    plain = reader.get("/api/search?q=redis+pool").get_data()
    assert reader.get(f"/api/search?q=redis+pool&expand={written}").get_data() == plain
    assert reader.get("/api/search?q=redis+pool&expand=true").get_data() != plain


def test_expand_is_given_once(reader: FlaskClient) -> None:
    response = reader.get("/api/search?q=redis&expand=true&expand=true")
    assert error_of(response, 400) == 'Parameter "expand" must be given once'


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("notes?match=regex", "match"),
        ("notes?match=LIKE", "match"),
        ("notes?in=title,author", "in"),
        ("notes?in=,", "in"),
        ("notes?sourceKind=both", "sourceKind"),
        ("search?q=x&ranker=best", "ranker"),
        ("search?q=x&cut=true", "cut"),
        ("search?q=x&fields=title", "fields"),
    ],
)
def test_choices(reader: FlaskClient, query: str, name: str) -> None:
    sentence = error_of(reader.get(f"/api/{query}"), 400, "invalid_parameter")
    assert sentence.startswith(f'Parameter "{name}" must ')


def test_choices_may_be_empty_repeated_and_spaced(reader: FlaskClient) -> None:
    plain = reader.get("/api/notes?search=postgres").get_data()
    for written in ("in=", "in=title,summary,title", "in=%20summary%20,,title", "match="):
        assert reader.get(f"/api/notes?search=postgres&{written}").get_data() == plain


SINGLE = [
    *(("notes", name) for name in ("search", "project", "source", "sourceKind", "match", "in")),
    *(("notes", name) for name in ("path", "since", "until", "offset", "limit")),
    *(("conversations", name) for name in ("source", "project", "status", "search", "limit")),
    *(("search", name) for name in ("q", "limit", "expand", "ranker", "explain", "cut", "fields")),
    ("search/why", "note_id"),
    ("relations/graph", "project"),
]


@pytest.mark.parametrize("again", ["2", ""], ids=["again", "empty again"])
@pytest.mark.parametrize(("route", "name"), SINGLE, ids=str)
def test_single_values_are_given_once(
    reader: FlaskClient, route: str, name: str, again: str
) -> None:
    response = reader.get(f"/api/{route}?{name}=2&{name}={again}")
    assert error_of(response, 400) == f'Parameter "{name}" must be given once'


@pytest.mark.parametrize("ranker", ["chatcrystal", "v049", "vector"])
def test_q_is_given_once(reader: FlaskClient, ranker: str) -> None:
    response = reader.get(f"/api/search?q=redis&q=pool&ranker={ranker}")
    assert error_of(response, 400) == 'Parameter "q" must be given once'


@pytest.mark.parametrize("more", ["x=1", "x=1&x=2", "tag[]=redis", "Limit=2", "q=1", "&&=&=1&x"])
def test_unknown_parameters_are_ignored(reader: FlaskClient, more: str) -> None:
    assert reader.get(f"/api/notes?{more}").get_data() == reader.get("/api/notes").get_data()


@pytest.mark.parametrize(
    ("path", "name"), [("search?q=", "q"), ("notes?search=", "search"), ("notes?tag=", "tag")]
)
@pytest.mark.parametrize("letter", ["a", "%F0%9F%8E%89", "%20a"], ids=["ascii", "emoji", "blanks"])
def test_longest_text(reader: FlaskClient, path: str, name: str, letter: str) -> None:
    many = letter * (LONGEST_TEXT // 2 if letter.startswith("%20") else LONGEST_TEXT)
    data_of(reader.get(f"/api/{path}{many}"))
    for more in ("a", "a" * 1_000):
        sentence = error_of(reader.get(f"/api/{path}{many}{more}"), 400, "invalid_parameter")
        assert sentence == (
            f'Parameter "{name}" has {LONGEST_TEXT + len(more)} characters; '
            f"at most {LONGEST_TEXT} are allowed"
        )


def test_most_repeats(reader: FlaskClient) -> None:
    assert data_of(reader.get("/api/notes?" + "tag=redis&" * MOST_REPEATS))["total"] == 1
    assert data_of(reader.get("/api/search?q=x&" + "tag=redis&" * MOST_REPEATS)) == []
    response = reader.get("/api/notes?" + "tag=redis&" * (MOST_REPEATS + 1))
    assert '"tag" must be given at most 100 times' in error_of(response, 400)


BLANK = {f"U+{ord(character):04X}": character for character in JS_WHITE_SPACE}


@pytest.mark.parametrize(
    "written",
    [None, "", "%00", *(quote(character) for character in (*JS_WHITE_SPACE, JS_WHITE_SPACE))],
    ids=["absent", "empty", "nul", *BLANK, "all"],
)
@pytest.mark.parametrize("route", ["search?limit=1", "search?limit=0", "search/why?note_id=1"])
def test_query_is_required(reader: FlaskClient, route: str, written: str | None) -> None:
    query = "" if written is None else f"&q={written}"
    sentence = error_of(reader.get(f"/api/{route}{query}"), 400, "missing_query")
    assert sentence == 'Query parameter "q" is required'


SEEN = {
    "next line": "\u0085",
    "file separator": "\u001c",
    "zero-width space": "\u200b",
    "emoji": "🎉",
    "family": "👩‍👩‍👧‍👦",
    "punctuation": "?!…",
    "percent": "%",
    "quotes": "\"'`",
    "han": "龘",
    "combining": "\u0301",
    "right to left": "\u202eabc",
    "like": "%_\\",
}


@pytest.mark.parametrize("query", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize("ranker", ["chatcrystal", "v049", "vector"])
def test_query_of_anything_else(reader: FlaskClient, ranker: str, query: str) -> None:
    found = data_of(reader.get(f"/api/search?q={quote(query)}&ranker={ranker}&limit=3"))
    assert len(found) == (0 if ranker == "chatcrystal" else 3)


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (b"a=1&b=2", {"a": ["1"], "b": ["2"]}),
        (b"a=1&a=2", {"a": ["1", "2"]}),
        (b"a=1;b=2", {"a": ["1;b=2"]}),
        (b"a", {"a": [""]}),
        (b"a=", {"a": [""]}),
        (b"a==b=", {"a": ["=b="]}),
        (b"&&a=1&", {"a": ["1"]}),
        (b"a=x+y%2Bz", {"a": ["x y+z"]}),
        (b"%61=1", {"a": ["1"]}),
        (b"a=100%", {"a": ["100%"]}),
        (b"a=100%+of%20it", {"a": ["100% of%20it"]}),
        (b"a=%zz", {"a": ["%zz"]}),
        (b"a=%E4%BD", {"a": ["%E4%BD"]}),
        (b"a=%FF+%61", {"a": ["%FF %61"]}),
        (b"a=%ED%A0%80", {"a": ["%ED%A0%80"]}),
        (b"a=%ED%A0%BC%ED%BE%89", {"a": ["%ED%A0%BC%ED%BE%89"]}),
        (b"a=%C0%80", {"a": ["%C0%80"]}),
        (b"a=x%00y", {"a": ["xy"]}),
        ("a=笔记".encode(), {"a": ["笔记"]}),
        (b"a=\xff", {"a": ["\ufffd"]}),
        (b"a=%F0%9F%8E%89", {"a": ["🎉"]}),
    ],
    ids=lambda value: repr(value) if isinstance(value, bytes) else "",
)
def test_decoding(raw: bytes, values: dict[str, list[str]]) -> None:
    assert read_query(raw) == values


@pytest.mark.parametrize("raw", ["%ED%A0%80", "%FF", "100%", "x%00y", "%C0%80"])
def test_undecodable_queries_work(reader: FlaskClient, raw: str) -> None:
    assert len(data_of(reader.get(f"/api/search?q={raw}&ranker=vector&limit=2"))) == 2
    assert data_of(reader.get(f"/api/notes?search={raw}&match=literal"))["total"] == (
        1 if raw == "100%" else 0
    )


SINCE = {
    "date": ("2026-03-03", "2026-03-03 00:00:00"),
    "compact date": ("20260303", "2026-03-03 00:00:00"),
    "time": ("2026-03-03T10:00:01", "2026-03-03 10:00:01"),
    "blank for T": ("2026-03-03 10:00:01", "2026-03-03 10:00:01"),
    "minutes": ("2026-03-03T10:05", "2026-03-03 10:05:00"),
    "fraction": ("2026-03-03T10:00:01.999", "2026-03-03 10:00:01"),
    "utc": ("2026-03-03T10:00:00Z", "2026-03-03 10:00:00"),
    "zone": ("2026-03-03T10:00:00+08:00", "2026-03-03 02:00:00"),
    "zone over midnight": ("2026-03-03T23:30:00-01:00", "2026-03-04 00:30:00"),
    "blanks around": (" 2026-03-03 ", "2026-03-03 00:00:00"),
    "long ago": ("0999-01-02", "0999-01-02 00:00:00"),
    "first": ("0001-01-01", "0001-01-01 00:00:00"),
}


@pytest.mark.parametrize(("written", "read"), SINCE.values(), ids=SINCE)
def test_since(written: str, read: str) -> None:
    table = (moment("since", "Since"),)
    assert read_all(table, {"since": [written]}) == {"since": read}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-03-03", "2026-03-03 23:59:59"),
        ("20260303", "2026-03-03 23:59:59"),
        ("2026-03-03T00:00", "2026-03-03 00:00:00"),
        ("9999-12-31", "9999-12-31 23:59:59"),
    ],
)
def test_until(written: str, read: str) -> None:
    table = (moment("until", "Until", is_end=True),)
    assert read_all(table, {"until": [written]}) == {"until": read}


@pytest.mark.parametrize(
    ("written", "ago"),
    [("30d", timedelta(days=30)), ("12h", timedelta(hours=12)), ("0d", timedelta())],
)
@pytest.mark.parametrize("is_end", [False, True], ids=["since", "until"])
def test_how_long_ago(written: str, ago: timedelta, is_end: bool) -> None:
    table = (moment("x", "X", is_end=is_end),)
    before = datetime.now(UTC) - ago
    read = datetime.fromisoformat(read_all(table, {"x": [written]})["x"] + "+00:00")
    assert before.replace(microsecond=0) <= read <= datetime.now(UTC) - ago


NO_TIMES = ["yesterday", "30", "d", "-3d", "1.5d", "3w", "30D", "2026-13-01", "2026-02-30"]
NO_TIMES += ["2026-03", "01.03.2026", "１０d", "２０２６-03-01", "1772323200", "2026-03-01T25:00"]
NO_TIMES += ["999999d", "0001-01-01T00:00:00+14:00", "2026-03-01T10:00:00 08:00", "null", "%"]


@pytest.mark.parametrize("written", NO_TIMES)
@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("route", ["notes?", "search?q=redis&"])
def test_no_times(reader: FlaskClient, route: str, name: str, written: str) -> None:
    response = reader.get(f"/api/{route}{name}={quote(written)}")
    sentence = error_of(response, 400, "invalid_parameter")
    assert sentence.startswith(f'Parameter "{name}" must be an ISO 8601 date or time')


RANGES: dict[str, tuple[str, list[int]]] = {
    "since is inclusive": ("since=2026-03-08T08:00:00", [12, 11]),
    "until is inclusive": ("until=2026-03-02T10:00:00", [2, 3, 4, 1]),
    "a whole day": ("since=2026-03-03&until=2026-03-03", [5, 6]),
    "until takes in the last second": ("until=2026-03-03&since=2026-03-03T20:00:00", [6]),
    "since takes in the first second": ("since=2026-03-04&until=2026-03-04", [7]),
    "a zone": ("since=2026-03-09T16:00:00%2B08:00", [12]),
    "rows with a T": ("since=2026-03-03T10:00:00&until=2026-03-03T10:00:00", [5]),
    "backwards": ("since=2026-03-05&until=2026-03-04", []),
    "in time to come": ("since=9000-01-01", []),
    "before all": ("until=0999-01-01", []),
}


@pytest.mark.parametrize(("query", "ids"), RANGES.values(), ids=RANGES)
def test_ranges_of_time(reader: FlaskClient, query: str, ids: list[int]) -> None:
    listed = data_of(reader.get(f"/api/notes?{query}"))
    assert [item["id"] for item in listed["items"]] == ids
    assert listed["total"] == len(ids)
    found = ids_of(reader.get(f"/api/search?q=redis&ranker=vector&{query}"))
    assert sorted(found) == sorted(ids)


def test_ago_is_counted_from_now(client: FlaskClient, application: Application) -> None:
    data_of(client.post("/api/notes", json={"title": "now"}), 201)
    data_of(client.post("/api/notes", json={"title": "then"}), 201)
    moment_ago = (datetime.now(UTC) - timedelta(hours=36)).strftime("%Y-%m-%d %H:%M:%S")
    with application.database.write() as connection:
        statement = text("UPDATE notes SET created_at = :moment WHERE id = 2")
        connection.execute(statement, {"moment": moment_ago})
    expected: dict[str, Any] = {"since=1d": [1], "since=40h": [1, 2], "until=30h": [2]}
    for query, ids in expected.items():
        assert ids_of(client.get(f"/api/notes?{query}")) == ids


def test_a_table_reads_each_parameter_by_itself() -> None:
    table = (moment("since", "Since"), moment("until", "Until", is_end=True))
    with pytest.raises(InvalidParameter, match='"until"'):
        read_all(table, {"since": ["2026-03-01"], "until": ["x"]})

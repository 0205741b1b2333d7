"""`crystal eval`: a server measured on graded queries, ours or the original's."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from app.ranking.registry import BY_NAME
from cli.session import Wiring
from tests.cli.conftest import Ran, Runner, run_on_terminal, run_with, runner_over
from tests.cli.graded import NOTES, QUERIES, graded_application, write_lines

ROW_KEYS = [
    "ranker",
    "entrance",
    "expand",
    "class",
    "queries",
    "ndcg@10",
    "mrr",
    "recall@5",
    "relevant_recall",
    "precision",
    "rejection",
    "median_ms",
    "p95_ms",
]
FIGURES = ROW_KEYS[5:11]
TIMES = {"median_ms", "p95_ms", "ms"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.WSGITransport]:
    """The way to a server with the graded notes, for tests that change nothing."""
    with graded_application(tmp_path_factory.mktemp("graded")) as application:
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(server: httpx.WSGITransport) -> Runner:
    return runner_over(server)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "queries.jsonl", QUERIES)


def row(data: dict[str, Any], ranker: str | None, group: str, expand: bool = False) -> Any:
    """The one row of a ranker (None: LIKE) and a class."""
    keys = {"ranker": ranker, "class": group, "expand": expand}
    (found,) = [each for each in data["rows"] if keys.items() <= each.items()]
    return found


def without_times(value: Any) -> Any:
    """Data without what a clock measured."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_rows_are_every_class_of_every_ranker_and_entrance(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--json").data
    assert [list(each) for each in data["rows"]] == [ROW_KEYS] * len(data["rows"])
    classes = ["exact", "paraphrase", "none", "all"]
    ways = [("like", None), *(("search", name) for name in BY_NAME)]
    assert [(each["entrance"], each["ranker"], each["class"]) for each in data["rows"]] == [
        (*way, group) for way in ways for group in classes
    ]
    assert [row(data, "vector", group)["queries"] for group in classes] == [2, 2, 1, 5]
    assert {"rows", "queries", "false_matches", "comparisons"} <= set(data)


def test_figures_are_those_that_can_be_counted_by_hand(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--ranker", "chatcrystal,vector", "--json").data
    exact = row(data, "chatcrystal", "exact")
    assert [exact[name] for name in FIGURES] == [1, 1, 1, 1, 1, None]
    # The grid is found first, the plain note with it, since all four notes come back.
    grid = row(data, "vector", "paraphrase")
    query = next(each for each in data["queries"] if each["query"].startswith("what"))
    assert grid["recall@5"] == 1
    assert query["class"] == "paraphrase"
    none = [row(data, name, "none") for name in ("chatcrystal", "vector")]
    assert [[each[name] for name in FIGURES[:4]] for each in none] == [[None] * 4] * 2
    assert [(each["precision"], each["rejection"]) for each in none] == [(None, 1), (0, 0)]
    everything = row(data, "vector", "all")
    assert (everything["relevant_recall"], everything["rejection"]) == (1, 0)
    assert everything["precision"] == pytest.approx((1 + 1 + 2 + 1 + 0) / 4 / 5)
    # LIKE finds the text of a query or nothing.
    like = row(data, None, "exact")
    assert (like["mrr"], like["relevant_recall"], like["precision"]) == (0.5, 0.5, 1)


def test_the_order_is_taken_without_the_border_and_the_rest_with_it(
    run: Runner, file: Path
) -> None:
    data = run("eval", str(file), "--ranker", "chatcrystal", "--json").data
    (odd,) = [
        each
        for each in data["queries"]
        if each["query"] == "redis again" and each["entrance"] == "search"
    ]
    rank = odd["order"].index(2) + 1
    assert odd["shown"] == [1]
    assert (odd["mrr"], odd["relevant_recall"]) == (round(1 / rank, 6), 0)
    assert odd["ndcg@10"] == pytest.approx(1 / log2(rank + 1), abs=1e-6)


def test_false_matches_are_listed_one_by_one(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--entrance", "search", "--ranker", "vector", "--json").data
    (weather,) = [each for each in data["queries"] if each["class"] == "none"]
    listed = [each for each in data["false_matches"] if not each["has_answer"]]
    assert [each["note_id"] for each in listed] == weather["shown"]
    assert [each["rank"] for each in listed] == [1, 2, 3, 4]
    assert {each["query"] for each in listed} == {"weather tomorrow"}
    others = [each for each in data["false_matches"] if each["has_answer"]]
    assert len(others) == 3 + 3 + 2 + 3


def test_expansion_is_measured_beside(run: Runner, file: Path) -> None:
    words = ("eval", str(file), "--entrance", "search", "--ranker", "chatcrystal", "--json")
    data = run(*words, "--expand", "both").data
    assert [each["expand"] for each in data["rows"]] == [False] * 4 + [True] * 4
    answers = {
        each["expand"]: each["shown"] for each in data["queries"] if each["query"] == "redis"
    }
    assert answers == {False: [1], True: [1, 4]}
    (linked,) = [
        each for each in data["false_matches"] if each["via_relation"] and each["id"] == "r"
    ]
    assert (linked["note_id"], linked["via_relation"]) == (4, "LEADS_TO")
    assert [each["expand"] for each in run(*words, "--expand", "on").data["rows"]] == [True] * 4


def test_two_rankers_are_compared_on_the_same_queries(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--ranker", "chatcrystal", "--ranker", "vector", "--json").data
    found = {
        (each["one"]["ranker"], each["other"]["ranker"], each["figure"]): each
        for each in data["comparisons"]
    }
    same = found["chatcrystal", "vector", "ndcg@10"]
    assert (same["queries"], same["p_value"]) == (4, 1)
    assert same["difference"] == pytest.approx(
        row(data, "chatcrystal", "all")["ndcg@10"] - row(data, "vector", "all")["ndcg@10"], abs=1e-6
    )
    like = found[None, "vector", "ndcg@10"]
    assert like["difference"] < 0
    assert like["interval"][0] <= like["difference"] <= like["interval"][1]


def test_an_evaluation_gives_the_same_but_for_the_times(run: Runner, file: Path) -> None:
    words = ("eval", str(file), "--ranker", "hybrid,fusion", "--expand", "both", "--json")
    one, other = run(*words), run(*words)
    assert without_times(one.data) == without_times(other.data)
    assert one.data["rows"][0]["median_ms"] > 0


def test_intervals_hold_the_means(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--ranker", "vector", "--json").data
    for mean, bounds in zip(data["rows"], data["intervals"], strict=True):
        for name in FIGURES:
            if bounds[name] is not None:
                assert bounds[name][0] <= mean[name] <= bounds[name][1]
    (overall,) = [
        each for each in data["intervals"] if (each["ranker"], each["class"]) == ("vector", "all")
    ]
    assert overall["rejection"] is None, "one query says nothing of chance"
    assert overall["precision"][0] < overall["precision"][1]


def test_the_worst_queries_are_explained(run: Runner, file: Path) -> None:
    data = run("eval", str(file), "--ranker", "chatcrystal", "--worst", "1", "--json").data
    (worst,) = data["worst"]
    assert (worst["query"], worst["note_id"]) == ("redis again", 2)
    assert worst["title"] == "SQLite is locked"
    assert worst["explanation"]["rule"] == "below_border"
    assert "0.58" in worst["explanation"]["message"]
    none = run("eval", str(file), "--ranker", "chatcrystal", "--worst", "0", "--json").data
    assert none["worst"] == []


def test_a_golden_file_is_taken_as_it_is(run: Runner, tmp_path: Path) -> None:
    queries = [
        {"id": "q1", "class": "exact_en", "text": "redis", "grades": {"n-redis": 2}},
        {"id": "q2", "class": "none", "text": "weather", "grades": {}},
    ]
    path = tmp_path / "relevance.json"
    path.write_text(json.dumps({"notes": [], "queries": queries}), encoding="utf-8")
    data = run("eval", str(path), "--ranker", "chatcrystal", "--json").data
    assert row(data, "chatcrystal", "all")["ndcg@10"] == 1
    assert [each["id"] for each in data["queries"][:2]] == ["q1", "q1"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is no JSON"),
        ("[]", "line 2 is no JSON object"),
        ('{"class": "a", "relevant": {}}', "line 2, field query: is missing"),
        ('{"query": 5, "class": "a", "relevant": {}}', "line 2, field query: is no text"),
        ('{"query": " ", "class": "a", "relevant": {}}', "line 2, field query: is blank"),
        ('{"query": "x", "relevant": {}}', "line 2, field class: is missing"),
        ('{"query": "x", "class": "all", "relevant": {}}', "line 2, field class: cannot be 'all'"),
        ('{"query": "x", "class": "a"}', "line 2, field relevant: is missing"),
        ('{"query": "x", "class": "a", "relevant": ["1"]}', "line 2, field relevant: is no object"),
        (
            '{"query": "x", "class": "a", "relevant": {"1": "2"}}',
            "line 2, field relevant: gives '1' the grade '2'",
        ),
        (
            '{"query": "x", "class": "a", "relevant": {"1": true}}',
            "line 2, field relevant: gives '1' the grade True",
        ),
        (
            '{"query": "x", "class": "a", "relevant": {"1": -1}}',
            "line 2, field relevant: gives '1' the grade -1",
        ),
        ('{"id": 7, "query": "x", "class": "a", "relevant": {}}', "line 2, field id: is no text"),
        (
            '{"id": "r", "query": "x", "class": "a", "relevant": {}}',
            "line 2, field id: 'r' is also that of",
        ),
        (
            '{"query": "x", "class": "a", "relevant": {"1": 2, "n-redis": 1}}',
            "line 2, field relevant: 'n-redis' names a note that is named already",
        ),
    ],
    ids=[
        "json", "list", "no-query", "number", "blank", "no-class", "all", "no-relevant", "array",
        "text-grade", "flag", "negative", "id", "same-id", "same-note",
    ],
)  # fmt: skip
def test_a_bad_line_is_refused_with_its_number_and_field(
    line: str, said: str, run: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(f"{json.dumps(QUERIES[0])}\n{line}\n", encoding="utf-8")
    ran = run("eval", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert f"{path} {said}" in ran.error


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe"], ids=["empty", "blank", "bytes"])
def test_a_file_without_queries_is_refused(content: bytes, run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(content)
    ran = run("eval", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert str(path) in ran.error
    assert run("eval", str(tmp_path / "none.jsonl")).error.endswith("No such file or directory")


def test_notes_that_are_not_there_are_told_and_count_as_missed(run: Runner, tmp_path: Path) -> None:
    lines = [QUERIES[0], {"query": "redis", "class": "gone", "relevant": {"n-gone": 2}}]
    ran = run("eval", str(write_lines(tmp_path / "q.jsonl", lines)), "--ranker", "vector")
    assert ran.err == "Warning: The server has no note 'n-gone'; they count as not found\n"
    assert row(ran.data, "vector", "gone")["relevant_recall"] == 0
    none = run("eval", str(write_lines(tmp_path / "none.jsonl", lines[1:])))
    assert none.error == (
        "Error: The server has none of the 1 notes that the file names, such as 'n-gone'"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ranker", "google"), "The server has no ranker 'google'. It has chatcrystal, v049,"),
        (("--entrance", "back"), "'back' is not one of like, search."),
        (("--plot", "chart.pdf"), "chart.pdf ends with neither .svg nor .png."),
        (("--plot", "/nowhere/chart.svg"), "There is no folder /nowhere."),
        (("--update-baseline",), "--update-baseline needs --baseline FILE."),
        (("more",), "Got unexpected extra argument (more)"),
    ],
    ids=["ranker", "entrance", "plot", "folder", "baseline", "argument"],
)
def test_wrong_usage_is_told(words: tuple[str, ...], said: str, run: Runner, file: Path) -> None:
    ran = run("eval", str(file), *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.error


def test_a_baseline_holds_and_is_renewed(run: Runner, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    words = ("eval", str(file), "--ranker", "vector", "--baseline", str(path))
    missing = run(*words)
    assert (missing.code, missing.error) == (
        1,
        f"Error: {path} cannot be read: No such file or directory",
    )
    assert run(*words, "--update-baseline").err == f"The means are written to {path}.\n"
    held = run(*words)
    assert (held.code, held.err) == (0, "")
    assert held.data["baseline"] == {"compared": 8, "fell": [], "rose": []}

    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert not TIMES & set(rows[0])
    moved(path, rows, 0.00005)
    assert run(*words).code == 0
    moved(path, rows, -0.01)
    risen = run(*words)
    assert risen.code == 0
    assert "vector search all: ndcg@10 rose from" in risen.err
    moved(path, rows, 0.0002)
    fallen = run(*words)
    assert fallen.code == 1
    assert fallen.err.splitlines()[-1].startswith("Error: ")
    assert "vector search all: ndcg@10 fell from" in fallen.err
    assert {"row", "figure", "before", "now"} == set(fallen.data["baseline"]["fell"][0])
    assert run(*words, "--update-baseline").code == 0
    assert run(*words).data["baseline"]["rose"] == []


def moved(path: Path, rows: list[dict[str, Any]], step: float) -> None:
    """Write a baseline that is better, or worse, than what was measured."""
    changed = [
        each if each["ndcg@10"] is None else {**each, "ndcg@10": each["ndcg@10"] + step}
        for each in rows
    ]
    path.write_text(json.dumps({"rows": changed}), encoding="utf-8")


def test_what_json_printed_is_a_baseline(run: Runner, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    words = ("eval", str(file), "--ranker", "vector,chatcrystal")
    path.write_text(run(*words, "--json").out, encoding="utf-8")
    assert run(*words, "--baseline", str(path)).data["baseline"]["compared"] == 12
    part = run("eval", str(file), "--ranker", "vector", "--baseline", str(path))
    assert (part.code, part.error) == (0, "Warning: 4 of 12 rows of the baseline were not measured")


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[]", '{"rows": [{"a": 1}]}', '{"rows": [{"class": "all", "mrr": "1"}]}'],
    ids=["empty", "no-rows", "no-row", "other", "text"],
)
def test_a_baseline_of_another_form_is_refused(
    content: str, run: Runner, file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(content, encoding="utf-8")
    ran = run("eval", str(file), "--baseline", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert str(path) in ran.error


def test_a_baseline_of_something_else_holds_nothing(
    run: Runner, file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "baseline.json"
    path.write_text('{"rows": [{"ranker": "x", "class": "all", "mrr": 1}]}', encoding="utf-8")
    ran = run("eval", str(file), "--ranker", "vector", "--baseline", str(path))
    assert ran.code == 1
    assert ran.err == "Error: The baseline and this evaluation have no row in common\n"


@pytest.mark.parametrize(
    ("name", "begins"), [("chart.svg", b"<?xml"), ("chart.png", b"\x89PNG")], ids=["svg", "png"]
)
def test_a_chart_is_drawn_the_same_each_time(
    name: str, begins: bytes, run: Runner, file: Path, tmp_path: Path
) -> None:
    drawn = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / name
        assert run("eval", str(file), "--ranker", "vector", "--plot", str(path)).code == 0
        drawn.append(path.read_bytes())
    assert drawn[0].startswith(begins)
    assert drawn[0] == drawn[1]
    if name.endswith(".svg"):
        assert b"paraphrase" in drawn[0]


def test_without_the_extra_a_chart_says_what_to_install(
    run: Runner, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "chart.svg"
    ran = run("eval", str(file), "--plot", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error == "Error: A chart needs matplotlib: pip install 'chatcrystal-search[plot]'"
    assert not path.exists()


def test_a_terminal_gets_the_table_first(server: httpx.WSGITransport, file: Path) -> None:
    ran = run_on_terminal(
        server, "eval", str(file), "--ranker", "chatcrystal,vector", "--expand", "both"
    )
    assert ran.code == 0
    lines = [line.strip() for line in ran.out.splitlines() if line.strip()]
    assert lines[0] == "5 queries, means by class"
    assert lines[1].split()[:4] == ["Class", "Ranker", "n", "nDCG@10"]
    assert lines[3].split()[:3] == ["exact", "like", "2"]
    order = [
        lines.index(next(line for line in lines if begin in line))
        for begin in (
            "Over all: 95 of 100",
            "against the others, nDCG@10",
            "vector: 4 false matches of queries without an answer",
            "The worst queries of",
        )
    ]
    assert order == sorted(order)
    assert any(line.startswith("vector +expand") for line in lines)
    assert "raw 0.000 < 0.58 and term" in ran.out


def test_a_bar_shows_how_far_it_is(server: httpx.WSGITransport, file: Path) -> None:
    screen = io.StringIO()
    errors = Console(file=screen, force_terminal=True, width=80)
    words = ("eval", str(file), "--entrance", "like")
    ran = run_with(Wiring(transport=server, errors=errors), words)
    assert ran.code == 0
    assert "Asking" in screen.getvalue()


def test_help_tells_of_both(run: Runner) -> None:
    shown = run("eval", "--help").out
    assert "crystal eval [OPTIONS] FILE" in shown
    assert "crystal eval init [FILE]" in shown
    assert "todo" in run("eval", "init", "--help").out


class Original:
    """The original's server as an evaluation sees it; it takes no parameter of ours."""

    def __init__(self) -> None:
        self.asked: list[httpx.URL] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        query = dict(request.url.params)
        if request.url.path == "/api/status":
            return self.answer({"server": True, "stats": {"totalNotes": 4}})
        if request.url.path == "/api/notes":
            found = [
                {"id": number, "title": title}
                for number, (_, _, title, summary) in enumerate(NOTES, start=1)
                if query.get("search", "").lower() in f"{title}\n{summary}".lower()
            ]
            page = {"items": found, "total": len(found), "offset": 0, "limit": 100}
            return self.answer(page)
        assert set(query) <= {"q", "limit", "expand"}
        assert request.url.path == "/api/search"
        number = 1 if "redis" in query["q"] else 2
        found = [{"note_id": number, "title": NOTES[number - 1][2], "score": 0.7}]
        return self.answer(found)

    @staticmethod
    def answer(data: Any) -> httpx.Response:
        return httpx.Response(200, json={"success": True, "data": data})


def test_the_original_is_measured_in_its_own_ways(tmp_path: Path) -> None:
    lines = [
        {"query": "redis", "class": "exact", "relevant": {"1": 2}},
        {"query": "weather", "class": "none", "relevant": {}},
    ]
    file = write_lines(tmp_path / "q.jsonl", lines)
    original = Original()
    ran = against(
        original, "eval", str(file), "--expand", "both", "--plot", str(tmp_path / "a.svg")
    )
    assert ran.code == 0, ran.err
    ways = {(each["entrance"], each["ranker"], each["expand"]) for each in ran.data["rows"]}
    assert ways == {
        ("like", None, False),
        ("search", "original", False),
        ("search", "original", True),
    }
    found = row(ran.data, "original", "all")
    assert [found[name] for name in FIGURES] == [1, 1, 1, 1, 0.5, 0]
    searches = [url for url in original.asked if url.path == "/api/search"]
    assert len(searches) == 4, "there is no border to switch off"
    assert ran.data["worst"] == []


def test_the_original_has_no_rankers_to_choose_from(file: Path) -> None:
    ran = against(Original(), "eval", str(file), "--ranker", "vector")
    assert (ran.code, ran.out) == (2, "")
    assert "leave --ranker out" in ran.error


def test_what_is_worst_at_the_original_has_no_explanation(tmp_path: Path) -> None:
    lines = [{"query": "redis", "class": "exact", "relevant": {"2": 1}}]
    ran = against(Original(), "eval", str(write_lines(tmp_path / "q.jsonl", lines)))
    (worst,) = ran.data["worst"]
    assert (worst["note_id"], worst["rank"], worst["explanation"]) == (2, None, None)
    assert worst["first"] == "Redis pool exhausted"


def against(original: Original, *words: str) -> Ran:
    """Run a command over the original."""
    return run_with(Wiring(transport=httpx.MockTransport(original)), words)


def test_init_proposes_lines_that_eval_takes(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    ran = run("eval", "init", str(path))
    assert ran.code == 0
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stubs = [line for line in lines if "todo" in line]
    assert ran.data == {"file": str(path), "queries": len(lines) - len(stubs), "to_fill_in": 4}
    assert [line["title"] for line in stubs] == [title for _, _, title, _ in NOTES]
    exact = [line for line in lines if line["class"] == "exact"]
    assert {"query": "ECONNRESET", "class": "exact", "relevant": {"n-redis": 2}} in [
        {name: line[name] for name in ("query", "class", "relevant")} for line in exact
    ]
    assert {line["class"] for line in lines if not line["relevant"]} == {
        "none_on_topic",
        "none_off_topic",
    }
    measured = run("eval", str(path), "--ranker", "chatcrystal")
    assert measured.code == 0
    assert "4 lines are left out" in measured.err
    assert row(measured.data, "chatcrystal", "exact")["relevant_recall"] == 1


def test_init_writes_over_nothing_unless_forced(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text("mine", encoding="utf-8")
    ran = run("eval", "init", str(path))
    assert (ran.code, ran.error) == (
        1,
        f"Error: {path} is there already: give --force to write over it",
    )
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("eval", "init", str(path), "--force", "--json").code == 0
    assert path.read_text(encoding="utf-8") == run("eval", "init").out
    assert run("eval", "init", str(tmp_path / "no" / "a.jsonl")).code == 1

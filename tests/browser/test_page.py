"""The web page as people use it, in a real browser over a real server."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Page, Route, expect

from app.factory import Application
from tests.browser.conftest import PATIENCE_MILLISECONDS, serving
from tests.browser.library import CHINESE, HOSTILE, LINKED, POOL, fill
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

RESULTS = "ol.results h2 a"
VIEWS = ["/", "/#/?q=pool", "/#/note/1", "/#/note/999", "/#/why/1?q=pool", "/#/graph", "/#/graph/1",
         "/#/tags", "/#/tag/pool", "/#/status", "/#/conversations"]  # fmt: skip


def search(page: Page, site: str, query: str) -> None:
    """Open the page and type a query key by key."""
    page.goto(site)
    page.keyboard.type(query)
    expect(page.locator(RESULTS).first).to_be_visible()


def test_results_show_as_one_types(page: Page, site: str) -> None:
    search(page, site, "connection pool")
    expect(page.locator(RESULTS).first).to_have_text(POOL)
    expect(page.locator("#said")).to_contain_text("notes")
    expect(page.locator("ol.results mark").first).to_be_visible()
    expect(page.locator("ol.results meter").first).to_have_attribute("max", "1")


def test_an_older_question_never_shows_over_a_newer_one(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_label("Text", exact=True).check()

    def late(route: Route) -> None:
        page.wait_for_timeout(400)
        route.continue_()

    page.route("**/api/notes?search=pool*", late)
    page.locator("#q").fill("pool")
    page.wait_for_timeout(150)
    page.locator("#q").fill("zebra")
    expect(page.locator("#said")).to_contain_text("zebra")
    page.wait_for_timeout(600)
    expect(page.locator("#said")).to_contain_text("zebra")
    expect(page.locator(RESULTS)).to_have_count(0)


def test_chinese_is_found_and_marked(page: Page, site: str) -> None:
    page.goto(site)
    page.locator("#q").fill("连接池耗尽")
    expect(page.locator(RESULTS, has_text=CHINESE)).to_be_visible()
    marks = page.locator("ol.results li", has_text=CHINESE).locator("mark")
    expect(marks.first).to_contain_text("连接池")


def test_text_entrance_finds_by_substring(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_label("Text", exact=True).check()
    page.locator("#q").fill("Timeouts of the")
    expect(page.locator(RESULTS)).to_have_text([LINKED])


def test_filters_and_rankers_are_sent(page: Page, site: str) -> None:
    search(page, site, "pool")
    with page.expect_request(lambda sent: "ranker=vector" in sent.url):
        page.get_by_label("Ranker").select_option("vector")
    page.get_by_text("Filters").click()
    page.get_by_label("Project").fill("知识库")
    page.get_by_label("Project").press("Tab")
    expect(page.locator(RESULTS)).to_have_text([CHINESE])


def test_expansion_adds_what_is_one_relation_away(page: Page, site: str) -> None:
    search(page, site, "connection pool exhausted")
    page.get_by_label("Ranker").select_option("chatcrystal")
    expect(page.locator("ol.results li", has_text="Far away")).to_have_count(0)
    page.get_by_label("Expand along relations").check()
    expect(page.locator("ol.results li", has_text="Far away")).to_contain_text("CAUSED_BY")


def test_a_note_shows_its_text_code_and_surroundings(page: Page, site: str) -> None:
    page.goto(f"{site}/#/note/1")
    article = page.locator("article")
    expect(article.get_by_role("heading", name="Cause")).to_be_visible()
    expect(article.locator("pre .k-k").first).to_have_text("def")
    panels = page.locator(".panels")
    expect(panels).to_contain_text("SIMILAR_TO")
    expect(panels).to_contain_text("Nobody wrote this")
    article.get_by_role("link", name=LINKED).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LINKED)


def test_why_draws_the_stages_with_their_numbers(page: Page, site: str) -> None:
    search(page, site, "connection pool")
    page.get_by_role("link", name="Why this?").first.click()
    expect(page.locator(".stages")).to_contain_text("candidates")
    expect(page.locator(".stages .decided")).to_contain_text("returned")
    expect(page.locator(".numbers").first).to_contain_text("cosine")


def test_why_not_names_the_rule_that_left_a_note_out(page: Page, site: str) -> None:
    search(page, site, "connection pool")
    page.get_by_label("Ranker").select_option("chatcrystal")
    expect(page.locator("ol.results li", has_text="Far away")).to_have_count(0)
    page.locator("#why-not input").fill("Far away")
    page.locator("#why-not button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Far away")
    expect(page.locator("main")).to_contain_text("Not in the answer")
    expect(page.locator(".stages .decided")).to_contain_text("below border")


def test_the_graph_zooms_and_leads_to_notes(page: Page, site: str) -> None:
    page.goto(f"{site}/#/graph")
    drawing = page.locator(".graph svg")
    expect(page.locator(".graph .node")).to_have_count(5)
    expect(page.locator(".graph .edge")).not_to_have_count(0)
    whole = drawing.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    assert drawing.get_attribute("viewBox") != whole
    drawing.focus()
    page.keyboard.press("-")
    page.get_by_role("button", name="Whole graph").click()
    assert drawing.get_attribute("viewBox") == whole
    page.get_by_role("link", name=CHINESE).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(CHINESE)


def test_everything_goes_by_keyboard(page: Page, site: str) -> None:
    page.goto(f"{site}/#/tags")
    expect(page.get_by_role("heading", name="Tags")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("pool")
    expect(page.locator(RESULTS).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(RESULTS).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator(RESULTS).nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("article h1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(RESULTS).first).to_be_visible()
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_have_value("")


def test_note_text_never_runs(page: Page, site: str) -> None:
    page.goto(f"{site}/#/note/4")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    for link in page.locator("article a").all():
        assert urlsplit(link.get_attribute("href") or "").scheme in ("", "http", "https", "mailto")
    for name in ("script", "img", "svg", "iframe", "style"):
        assert page.locator(f"main {name}").count() == 0
    shown = {
        "/#/?q=attack": RESULTS,
        "/#/graph": ".graph .node",
        "/#/tags": ".cloud",
        "/#/why/4?q=attack": ".stages",
    }
    for view, element in shown.items():
        page.goto(f"{site}{view}")
        expect(page.locator(element).first).to_be_visible()
    assert page.evaluate("window.ran") is None


def test_the_policy_lets_nothing_inline_run(page: Page, site: str, complaints: list[str]) -> None:
    answer = page.goto(site)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    page.evaluate("document.body.append(Object.assign(document.createElement('a'), {id: 'bait'}))")
    page.evaluate("document.getElementById('bait').setAttribute('onclick', 'window.ran = 1')")
    page.evaluate("document.getElementById('bait').click()")
    assert page.evaluate("window.ran") is None
    assert len(complaints) == 1
    complaints.clear()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Application]:
    with (
        StubProvider(vector=planted_vector) as stub,
        opened(tmp_path, stub_values(stub)) as application,
    ):
        fill(application)
        yield application


def search_before_it_goes(page: Page, flask: Flask) -> int:
    """Search with a server that stops then; return its port."""
    with serving(flask) as url:
        search(page, url, "pool")
    return urlsplit(url).port or 0


def test_the_page_says_that_the_server_is_gone_and_goes_on_when_it_is_back(
    page: Page, own: Application
) -> None:
    flask: Flask = own.flask()
    port = search_before_it_goes(page, flask)
    page.locator("#q").fill("连接池")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    with serving(flask, port):
        expect(page.locator(RESULTS, has_text=CHINESE)).to_be_visible()
        expect(page.get_by_role("alert")).to_be_hidden(timeout=20_000)


def test_a_look_that_hangs_does_not_keep_the_page_from_going_on(
    page: Page, own: Application
) -> None:
    flask: Flask = own.flask()
    port = search_before_it_goes(page, flask)
    hanging: list[Route] = []
    page.route(
        "**/api/health", lambda route: route.continue_() if hanging else hanging.append(route)
    )
    page.locator("#q").fill("连接池")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    with serving(flask, port):
        expect(page.get_by_role("alert")).to_be_hidden(timeout=20_000)
    assert len(hanging) == 1


def test_the_page_speaks_chinese(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("link", name="图谱")).to_be_visible()
    page.locator('input[value="text"]').check()
    page.locator("#q").fill("没有这样的东西")
    expect(page.locator("#said")).to_contain_text("没有笔记能回答")
    page.reload()
    expect(page.get_by_role("link", name="标签")).to_be_visible()


def test_light_and_dark_are_chosen_and_kept(page: Page, site: str) -> None:
    page.goto(site)
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(page: Page, site: str, view: str, theme: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{site}{view}")
    page.wait_for_load_state("networkidle")
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]})
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.context(viewport={"width": 360, "height": 700})
@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_never_scrolls_sideways(page: Page, site: str, view: str) -> None:
    page.goto(f"{site}{view}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_time_to_the_first_result(
    page: Page, many_notes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Print how long the first result takes after the last key, over 10,000 notes."""
    page.goto(many_notes)
    page.evaluate(
        """() => {
            window.times = [];
            let typed = 0;
            const field = document.getElementById("q");
            field.addEventListener("input", () => { typed = performance.now(); });
            new MutationObserver(() => {
                if (typed && document.querySelector("ol.results li")) {
                    window.times.push(performance.now() - typed);
                    typed = 0;
                }
            }).observe(document.getElementById("main"), { childList: true });
        }"""
    )
    for number in range(12):
        page.locator("#q").fill(f"retry timeout {number}")
        # The page's policy forbids what ``wait_for_function`` does.
        for _ in range(PATIENCE_MILLISECONDS // 20):
            if page.evaluate("window.times.length") > number:
                break
            page.wait_for_timeout(20)
        page.locator("#q").press("End")
    times = page.evaluate("window.times")[2:]
    with capsys.disabled():
        middle = statistics.median(times)
        print(f"\nfirst result after the last key, 10,000 notes: p50 {middle:.0f} ms")
    assert len(times) == 10


def test_a_conversation_shows_its_turns_with_tools_folded(page: Page, own: Application) -> None:
    own.importer.import_records(
        [
            {
                "type": "conversation",
                "external_id": "talk/1",
                "slug": "retry-storm",
                "project_name": "atlas",
                "first_message_at": "2026-03-01T10:00:00Z",
                "last_message_at": "2026-03-01T10:05:00Z",
            },
            {
                "type": "message",
                "external_id": "m1",
                "conversation": "talk/1",
                "role": "user",
                "content": "Why does it <script>window.ran = 1</script> **retry**?",
                "timestamp": "2026-03-01T10:00:00Z",
                "sort_order": 1,
            },
            {
                "type": "message",
                "external_id": "m2",
                "conversation": "talk/1",
                "role": "assistant",
                "content": "```python\nreturn None\n```",
                "thinking": "Let me look.",
                "timestamp": "2026-03-01T10:01:00Z",
                "sort_order": 2,
            },
        ]
    )
    with serving(own.flask()) as url:
        page.goto(f"{url}/#/conversations")
        page.get_by_role("link", name="retry-storm").click()
        expect(page.locator(".turn strong").first).to_be_visible()
        expect(page.locator(".turn pre .k-k")).to_have_text("return")
        expect(page.get_by_text("Let me look.")).to_be_hidden()
        page.get_by_text("Thinking").click()
        expect(page.get_by_text("Let me look.")).to_be_visible()
        assert page.evaluate("window.ran") is None
        page.goto("about:blank")

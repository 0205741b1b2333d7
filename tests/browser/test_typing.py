"""What happens between a key and its results: waiting, cancelling, choosing, opening."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, expect

from app.ranking.registry import RANKERS
from tests.browser.library import CHINESE, LINKED, POOL

RESULTS = "ol.results h2 a"
NAMES = [ranker.name for ranker in RANKERS]


def asked_of(page: Page) -> list[str]:
    """The addresses of searches, as the page sends them from now on."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if "/api/search?" in request.url:
            sent.append(request.url)

    page.on("request", note)
    return sent


def choose_text(page: Page) -> None:
    page.get_by_label("Text", exact=True).check()


def test_a_search_waits_until_typing_pauses(page: Page, site: str) -> None:
    page.clock.install(time=0)
    page.goto(site)
    page.clock.pause_at(60_000)
    sent = asked_of(page)
    page.keyboard.type("connection")
    page.clock.run_for(40)
    page.keyboard.type(" pool")
    page.clock.run_for(44)
    assert sent == []
    with page.expect_request("**/api/search?*"):
        page.clock.run_for(1)
    assert len(sent) == 1
    assert "q=connection+pool&" in sent[0]


def test_a_newer_question_cancels_the_older_one(page: Page, site: str) -> None:
    page.goto(site)
    page.route("**/api/search?q=slow*", lambda route: None)
    with page.expect_request("**/api/search?q=slow*"):
        page.locator("#q").fill("slow")
    with page.expect_event("requestfailed", lambda request: "q=slow" in request.url) as cancelled:
        page.locator("#q").fill("pool")
    assert "ABORTED" in (cancelled.value.failure or "")
    expect(page.locator(RESULTS).first).to_be_visible()


def test_words_under_composition_are_not_searched_for(page: Page, site: str) -> None:
    page.goto(site)
    sent = asked_of(page)
    keyboard = page.context.new_cdp_session(page)
    composed = {"text": "lian jie", "selectionStart": 8, "selectionEnd": 8}
    keyboard.send("Input.imeSetComposition", composed)
    expect(page.locator("#q")).to_have_value("lian jie")
    keyboard.send("Input.insertText", {"text": "连接池"})
    expect(page.locator(RESULTS, has_text=CHINESE)).to_be_visible()
    assert sent
    assert all("lian" not in address for address in sent)


def test_enter_opens_what_was_typed_not_what_stood_there(page: Page, site: str) -> None:
    page.goto(site)
    choose_text(page)
    page.locator("#q").fill("Every worker")
    expect(page.locator(RESULTS)).to_have_text([POOL])
    page.locator("#q").fill("Timeouts of the")
    page.locator("#q").press("Enter")
    expect(page.locator("article h1")).to_have_text(LINKED)


def test_enter_without_a_result_opens_nothing(page: Page, site: str) -> None:
    page.goto(site)
    choose_text(page)
    page.locator("#q").fill("zebra")
    page.locator("#q").press("Enter")
    expect(page.locator("#said")).to_contain_text("zebra")
    assert "/note/" not in page.url


def test_the_address_and_the_field_say_the_same(page: Page, site: str) -> None:
    page.goto(f"{site}/#/?q=pool")
    expect(page.locator(RESULTS).first).to_be_visible()
    page.evaluate("location.hash = '#/?q=Timeouts'")
    expect(page.locator("#q")).to_have_value("Timeouts")
    page.go_back()
    expect(page.locator("#q")).to_have_value("pool")


def test_every_ranker_can_be_chosen(page: Page, site: str) -> None:
    page.goto(site)
    choice = page.get_by_label("Ranker")
    expect(choice.locator("option")).to_have_text(NAMES)
    expect(choice).to_have_value("hybrid")


def test_the_text_entrance_offers_neither_ranker_nor_expansion(page: Page, site: str) -> None:
    page.goto(site)
    choose_text(page)
    expect(page.get_by_label("Ranker")).to_be_disabled()
    expect(page.get_by_label("Expand along relations")).to_be_disabled()
    page.get_by_label("Meaning", exact=True).check()
    expect(page.get_by_label("Ranker")).to_be_enabled()


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("Project", "atlas"),
        ("Tag", "database"),
        ("Since", "2020-01-02"),
        ("Until", "2100-01-02"),
    ],
    ids=["project", "tag", "since", "until"],
)
@pytest.mark.parametrize("entrance", ["Meaning", "Text"])
def test_filters_hold_for_both_entrances(
    page: Page, site: str, entrance: str, label: str, value: str
) -> None:
    page.goto(site)
    page.get_by_label(entrance, exact=True).check()
    page.locator("#q").fill("pool")
    page.get_by_text("Filters").click()
    with page.expect_response(lambda answer: f"{label.lower()}={value}" in answer.url) as answered:
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Tab")
    assert answered.value.ok
    expect(page.locator(RESULTS, has_text=POOL)).to_be_visible()


def test_a_bar_shows_the_score_that_stands_beside_it(page: Page, site: str) -> None:
    page.goto(f"{site}/#/?q=pool")
    bars = page.locator("ol.results li p.facts")
    expect(bars.first).to_be_visible()
    for line in bars.all():
        told = re.search(r"\d\.\d{3}", line.inner_text())
        assert told is not None
        value = line.locator("meter").get_attribute("value")
        assert round(float(value or "nan"), 3) == float(told[0])
        expect(line.locator("meter")).to_have_attribute("aria-label", "Score")

"""The views behind the results: reasons, graph, status, and what is said when one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Page, expect

from app.domain.notes import NoteDraft
from app.factory import Application
from app.ranking.registry import RANKERS
from tests.browser.conftest import serving
from tests.browser.library import CHINESE, LINKED, POOL, fill
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

RESULTS = "ol.results h2 a"
HELD = "held back"
PATIENCE_SECONDS = 20.0


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("note/999", "Note not found"),
        ("conversation/none", "Conversation not found"),
        ("ref/nobody", 'No note is called "nobody"'),
        ("tag/%E4", "%E4"),
    ],
    ids=["note", "conversation", "reference", "badly-encoded"],
)
def test_what_is_not_there_is_said(page: Page, site: str, view: str, said: str) -> None:
    page.goto(f"{site}/#/note/1")
    expect(page.locator("article h1")).to_have_text(POOL)
    page.evaluate("view => { location.hash = `#/${view}`; }", view)
    expect(page.locator("article h1")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    expect(page.locator("body")).to_contain_text(said)
    expect(page.locator("#said")).not_to_contain_text("Loading")


def test_an_address_of_no_view_shows_the_search(page: Page, site: str) -> None:
    page.goto(f"{site}/#/constructor")
    expect(page.locator("main")).to_contain_text("Type to search.")


def test_the_title_of_the_window_names_what_is_shown(page: Page, site: str) -> None:
    page.goto(f"{site}/#/note/1")
    expect(page).to_have_title(f"{POOL} · chatcrystal-search")
    page.goto(f"{site}/#/tags")
    expect(page).to_have_title("Tags · chatcrystal-search")


@pytest.mark.context(locale="zh-CN")
def test_texts_say_which_language_they_are_in(page: Page, site: str) -> None:
    page.goto(f"{site}/#/?q=pool")
    expect(page.locator(RESULTS, has_text=POOL)).to_have_attribute("lang", "en")
    expect(page.locator(RESULTS, has_text=CHINESE)).not_to_have_attribute("lang", "en")
    page.goto(f"{site}/#/note/1")
    expect(page.locator("article")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("ranker", [ranker.name for ranker in RANKERS])
def test_every_ranker_tells_its_stages_with_numbers(page: Page, site: str, ranker: str) -> None:
    page.goto(f"{site}/#/why/1?q=connection+pool&ranker={ranker}")
    expect(page.get_by_role("heading", level=1)).to_have_text(POOL)
    expect(page.locator("main")).to_contain_text(f"ranked by {ranker}")
    stages = page.locator(".stages")
    expect(stages.locator("li", has_text="candidates").locator("b").first).to_have_text("1")
    expect(stages.locator("li", has_text="candidates").locator("meter").first).to_be_visible()
    expect(stages.locator(".number", has_text=" ms").first).to_be_visible()
    expect(stages.locator(".decided")).to_contain_text("score")


def test_the_reasons_are_those_of_the_search_that_was_asked(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_label("Ranker").select_option("chatcrystal")
    page.get_by_label("Expand along relations").check()
    page.locator("#q").fill("connection pool exhausted")
    page.locator("ol.results li", has_text="Far away").get_by_role("link", name="Why this?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Far away")
    expect(page.locator(".verdict")).to_contain_text("Place")
    page.reload()
    expect(page.locator("main")).to_contain_text("ranked by chatcrystal")
    expect(page.locator(".verdict")).to_contain_text("Place")
    page.locator("#why-not input").fill(CHINESE)
    page.locator("#why-not button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(CHINESE)
    assert "expand=true" in page.url


def test_asking_about_a_note_that_is_not_there_is_answered(page: Page, site: str) -> None:
    page.goto(f"{site}/#/?q=pool")
    page.locator("#why-not input").fill("nobody")
    page.locator("#why-not button").click()
    expect(page.locator("#why-not").get_by_role("alert")).to_contain_text('No note is called "nob')


def test_the_graph_of_a_note_names_it_and_its_neighbours(page: Page, site: str) -> None:
    page.goto(f"{site}/#/note/1")
    page.get_by_role("link", name="Its graph").click()
    expect(page.locator(".graph .node.chosen")).to_have_attribute("aria-label", POOL)
    near = page.locator(".graph .node.near")
    expect(near).to_have_count(3)
    names = {node.get_attribute("aria-label") for node in near.all()}
    assert names == {CHINESE, LINKED, "Far away"}
    expect(near.first.locator("text")).to_have_css("opacity", "1")


def test_the_graph_is_moved_by_mouse_and_keys_and_titles_keep_their_size(
    page: Page, site: str
) -> None:
    page.goto(f"{site}/#/graph")
    drawing = page.locator(".graph svg")
    page.get_by_role("button", name="Titles").click()
    title = page.locator(".graph .node text").first
    height = title.bounding_box()
    seen = [drawing.get_attribute("viewBox")]
    frame = drawing.bounding_box()
    assert height is not None and frame is not None
    page.mouse.move(frame["x"] + 8, frame["y"] + 8)
    page.mouse.wheel(0, -100)
    expect(drawing).not_to_have_attribute("viewBox", seen[0] or "")
    seen.append(drawing.get_attribute("viewBox"))
    page.mouse.down()
    page.mouse.move(frame["x"] + 60, frame["y"] + 40)
    page.mouse.up()
    seen.append(drawing.get_attribute("viewBox"))
    drawing.focus()
    page.keyboard.press("ArrowRight")
    seen.append(drawing.get_attribute("viewBox"))
    page.keyboard.press("+")
    seen.append(drawing.get_attribute("viewBox"))
    assert len(set(seen)) == len(seen)
    now = title.bounding_box()
    assert now is not None
    assert now["height"] == pytest.approx(height["height"], abs=1.5)


@pytest.fixture
def gate() -> Iterator[Event]:
    """What the provider waits for before it embeds a text that is held back."""
    opened_gate = Event()
    yield opened_gate
    opened_gate.set()


@pytest.fixture
def own(tmp_path: Path, gate: Event) -> Iterator[Application]:
    def vector(text: str) -> list[float]:
        if HELD in text:
            gate.wait(PATIENCE_SECONDS)
        return planted_vector(text)

    with (
        StubProvider(vector=vector) as stub,
        opened(tmp_path, stub_values(stub)) as application,
    ):
        fill(application)
        yield application


def test_progress_is_followed_from_the_first_note_to_the_last(
    page: Page, own: Application, gate: Event
) -> None:
    own.writer.create_note(NoteDraft("Waiting", HELD))
    with serving(own.flask()) as url:
        page.goto(f"{url}/#/status")
        expect(page.locator("main")).to_contain_text("5 of 6 notes embedded")
        page.get_by_role("button", name="Embed what waits").click()
        with page.expect_response("**/api/status"):
            gate.set()
        expect(page.locator("main")).to_contain_text("Every note is embedded.")
        expect(page.locator("progress")).to_have_attribute("value", "6")
        expect(page.get_by_role("button", name="Embed what waits")).to_be_hidden()
        page.get_by_role("link", name="Tags").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tags")
        page.get_by_role("link", name="Status").click()
        page.wait_for_timeout(300)
        expect(page.locator("main")).to_contain_text("Every note is embedded.")
        page.goto("about:blank")
        # The server waits for its streams, which end with the queue.
        own.queue.close()

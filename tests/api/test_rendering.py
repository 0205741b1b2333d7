"""Markdown as HTML that can do nothing but be read."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from app.api.rendering import LONGEST_TEXT, code_to_html, to_html
from tests.api.answers import data_of
from tests.browser.library import ATTACKS

TAGS = re.compile(r"<\s*/?\s*([a-zA-Z][a-zA-Z0-9]*)")
HARMLESS = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
PIECES = [
    "<script>", "</script>", "[a](", "javascript:", ")", "`", "```", "[[", "]]", "|", "\n",
    "<img src=x onerror=1>", "&lt;", "\x00", "中文", "*", "#", ">", "- ", "<!--", "]]>",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**粗体**", "<p><strong>粗体</strong></p>\n"),
        ("[[A b#c|标题]]", '<p><a href="#/ref/A%20b" rel="noopener noreferrer">标题</a></p>\n'),
        ("`[[no link]]`", "<p><code>[[no link]]</code></p>\n"),
        ("[[ ]]", "<p>[[ ]]</p>\n"),
        ("![pic](https://x.example/a.png)",
         '<p>!<a href="https://x.example/a.png" rel="noopener noreferrer">pic</a></p>\n'),
        ("<b>raw</b>", "<p>&lt;b&gt;raw&lt;/b&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
    ],
    ids=["chinese", "wiki-link", "code", "blank-link", "image", "raw-html", "javascript"],
)  # fmt: skip
def test_markdown_becomes_html(text: str, expected: str) -> None:
    assert to_html(text) == expected


def test_code_is_highlighted_by_classes() -> None:
    shown = code_to_html("def f():\n    return '<b>'\n", "python")
    assert '<span class="k-k">def</span>' in shown
    assert "style=" not in shown
    assert "<b>" not in shown


def test_code_of_an_unknown_language_is_shown_as_it_is() -> None:
    assert code_to_html("a < b", "klingon") == '<pre><code class="highlight">a &lt; b</code></pre>'


def test_a_very_long_text_is_not_parsed() -> None:
    text = "[" * (LONGEST_TEXT + 1)
    assert to_html(text) == f"<pre>{text}</pre>"


def assert_harmless(shown: str) -> None:
    assert {name.lower() for name in TAGS.findall(shown)} <= HARMLESS
    assert not re.search(r"<[^<>]*\son[a-z]+\s*=", shown, re.IGNORECASE)
    assert not re.search(r"<[^<>]*href=[\"']?\s*(javascript|data|vbscript):", shown, re.IGNORECASE)


def test_attacks_come_out_as_text() -> None:
    assert_harmless(to_html(ATTACKS))


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=25).map("".join))
def test_whatever_is_written_nothing_in_it_can_run(text: str) -> None:
    assert_harmless(to_html(text))
    assert_harmless(code_to_html(text, text[:10]))


def test_a_note_is_rendered_when_asked(reader: FlaskClient) -> None:
    assert "html" not in data_of(reader.get("/api/notes/7"))
    assert "<h1>Lengths</h1>" in data_of(reader.get("/api/notes/7?render=true"))["html"]

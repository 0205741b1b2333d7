"""Markdown of notes and messages as HTML that can do nothing but be read.

Owns the one way from text to HTML: no raw HTML is taken over, code is highlighted by classes, and
what comes out is cleaned once more. Must not be given anything but text.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LONGEST_TEXT = 200_000
"""Characters; a longer text is shown as it is, since parsing it would hold a thread."""

LONGEST_CODE = 50_000
"""Characters of one block of code that are highlighted."""

CODE_CLASS = "highlight"
LINK_RULE = "wiki_link"

_TAGS = frozenset(
    {"a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
     "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr",
     "ul"}
)  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "div": {"class"},
    "span": {"class"},
    "code": {"class"},
}
_SCHEMES = frozenset({"http", "https", "mailto"})
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="k-")


def to_html(text: str) -> str:
    """Return Markdown as HTML, without scripts, styles, images or addresses that run anything."""
    if len(text) > LONGEST_TEXT:
        return f"<pre>{html.escape(text)}</pre>"
    return _cleaned(_MARKDOWN.render(text))


def code_to_html(code: str, language: str) -> str:
    """Return a piece of code as HTML, highlighted when the language is known."""
    return _cleaned(_highlighted(code, language))


def _cleaned(markup: str) -> str:
    return nh3.clean(
        markup,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer",
    )


def _highlighted(code: str, language: str, _attributes: str = "") -> str:
    inner = html.escape(code)
    if len(code) <= LONGEST_CODE:
        with suppress(ClassNotFound):
            inner = highlight(code, get_lexer_by_name(language, stripnl=False), _FORMATTER)
    return f'<pre><code class="{CODE_CLASS}">{inner}</code></pre>'


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read ``[[target#heading|label]]`` as a link to the page's view of a reference."""
    if not state.src.startswith("[[", state.pos):
        return False
    end = state.src.find("]]", state.pos + 2, state.posMax)
    inside = state.src[state.pos + 2 : end]
    if end < 0 or not inside.strip() or "\n" in inside or "[[" in inside:
        return False
    if not silent:
        target, _, label = inside.partition("|")
        name = target.partition("#")[0].strip()
        link = state.push("link_open", "a", 1)
        link.attrs = {"href": f"#/ref/{quote(name, safe='')}"}
        state.push("text", "", 0).content = (label or target).strip()
        state.push("link_close", "a", -1)
    state.pos = end + 2
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image"])
    parser.inline.ruler.before("link", LINK_RULE, _wiki_link)
    return parser


_MARKDOWN = _parser()


def note_html(note: dict[str, Any]) -> str:
    """Return what a note says, all but its title, as one piece of HTML."""
    return "".join(_note_parts(note))


def _note_parts(note: dict[str, Any]) -> Iterator[str]:
    for text in (note["summary"], note["body"]):
        if text:
            yield to_html(text)
    conclusions = note["key_conclusions"]
    if isinstance(conclusions, list) and conclusions:
        yield "<ul>"
        for conclusion in conclusions:
            yield f"<li>{to_html(str(conclusion))}</li>"
        yield "</ul>"
    snippets = note["code_snippets"]
    for snippet in snippets if isinstance(snippets, list) else ():
        if isinstance(snippet, dict):
            yield to_html(str(snippet.get("description") or ""))
            yield code_to_html(str(snippet.get("code") or ""), str(snippet.get("language") or ""))

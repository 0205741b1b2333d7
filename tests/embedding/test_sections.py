"""The chunks of a Markdown body, their properties, and what they are good for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chunks import KIND_CHUNK, Chunk
from app.embedding.builtin import BuiltinEmbedder
from app.embedding.sections import MOST_SECTIONS, body_chunks
from app.markdown.sections import Section, sections

MAX_CHARS = 2_000


def visible(text: str) -> str:
    return re.sub(r"[\s\ufeff]", "", text)


def texts(title: str, body: str, max_chars: int = MAX_CHARS) -> list[str]:
    return [chunk.text for chunk in body_chunks(title, body, max_chars, 0)]


def test_each_section_is_a_chunk_with_the_headings_around_it() -> None:
    body = "intro\n\n# A\n\none\r\ntwo\r\n## B\n\nthree\n### C #\n    four\n## D\nfive\n"
    assert body_chunks("The note", body, MAX_CHARS, 3) == (
        Chunk(3, "Note: The note\n\nintro", KIND_CHUNK, None, 0, 7),
        Chunk(4, "Note: The note\nA\n\none\ntwo", KIND_CHUNK, "A", 7, 22),
        Chunk(5, "Note: The note\nA > B\n\nthree", KIND_CHUNK, "A > B", 22, 34),
        Chunk(6, "Note: The note\nA > B > C\n\nfour", KIND_CHUNK, "A > B > C", 34, 51),
        Chunk(7, "Note: The note\nA > D\n\nfive", KIND_CHUNK, "A > D", 51, 61),
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", []),
        (" \n\ufeff", []),
        ("---\na: b\n---\n", []),
        ("text", ["Note: T\n\ntext"]),
        ("---\na: b\n---\ntext", ["Note: T\n\ntext"]),
        ("# A", ["Note: T\nA"]),
        ("# A\n\n## B\n\n", ["Note: T\nA > B"]),
        ("# A\n## B\nb\n# C\n", ["Note: T\nA > B\n\nb", "Note: T\nC"]),
        ("# A\n# B\nb", ["Note: T\nA", "Note: T\nB\n\nb"]),
        ("#\n", []),
        ("#\ntext", ["Note: T\n\ntext"]),
        ("# A\n##\n### B\ntext", ["Note: T\nA > B\n\ntext"]),
        ("# A\n##\n", ["Note: T\nA"]),
        ("A  b\n\tc\n===\ntext", ["Note: T\nA b c\n\ntext"]),
        ("```\n# A\n```", ["Note: T\n\n```\n# A\n```"]),
    ],
    ids=[
        "empty",
        "blank",
        "front-matter-alone",
        "no-heading",
        "front-matter",
        "heading-alone",
        "context-of-a-heading-alone",
        "context-only",
        "leaf-before-a-sibling",
        "nameless-and-empty",
        "nameless",
        "nameless-between",
        "nameless-and-empty-below",
        "heading-of-two-lines",
        "fence",
    ],
)
def test_which_sections_make_chunks(body: str, expected: list[str]) -> None:
    assert texts("T", body) == expected


@pytest.mark.parametrize(
    ("title", "label"),
    [("", ""), (" \n", ""), ("two\nlines  of it ", "Note: two lines of it\n")],
    ids=["empty", "blank", "lines"],
)
def test_the_title_is_a_line_or_nothing(title: str, label: str) -> None:
    assert texts(title, "# A\ntext") == [f"{label}A\n\ntext"]


def test_no_prefix_at_all() -> None:
    assert texts("", "text\n# \nmore") == ["text", "more"]


def test_a_long_section_is_split_at_paragraphs() -> None:
    paragraphs = [letter * 30 for letter in "abcde"]
    body = "# A\n" + "\r\n \r\n".join(paragraphs) + "\n\n# B\nb\n"
    chunks = body_chunks("T", body, 80, 0)
    prefix = "Note: T\nA\n\n"
    first, second, third, last = chunks
    assert [first.text, second.text, third.text] == [
        f"{prefix}{'a' * 30}\n \n{'b' * 30}",
        f"{prefix}{'c' * 30}\n \n{'d' * 30}",
        f"{prefix}{'e' * 30}",
    ]
    assert (first.start, last.end) == (0, len(body))
    assert [first.end, second.end, third.end] == [second.start, third.start, last.start]
    assert [body[second.start or 0], body[third.start or 0]] == ["c", "e"]
    assert {chunk.heading_path for chunk in chunks[:3]} == {"A"}


@pytest.mark.parametrize(
    ("sentence", "joined"),
    [("An English sentence ends here.", " "), ("这是一个很长的中文句子。", "")],
    ids=["english", "chinese"],
)
def test_a_long_paragraph_is_split_at_sentences(sentence: str, joined: str) -> None:
    found = texts("T", "# A\n" + joined.join([sentence] * 40), 200)
    assert len(found) > 1
    for text in found:
        prefix, content = text.split("\n\n")
        assert prefix == "Note: T\nA"
        assert 100 < len(text) <= 200
        assert not content.replace(sentence, "").strip()


def test_a_title_too_long_is_cut_and_the_outermost_headings_give_way() -> None:
    body = f"# {'a' * 40}\n## {'b' * 20}\ntext\n### {'c' * 60}\nmore\n"
    chunks = body_chunks("t" * 100, body, 100, 0)
    label = "Note: " + "t" * 18
    assert [chunk.text for chunk in chunks] == [
        f"{label}\n\n# {'a' * 40}",
        f"{label}\n{'b' * 20}\n\ntext",
        f"{label}\n\n### {'c' * 60}\nmore",
    ]
    assert chunks[2].heading_path == f"{'a' * 40} > {'b' * 20} > {'c' * 60}"


body_pieces = st.sampled_from(
    [
        *("# a", "## b #", "### " + "c" * 30, "#", "\n", "\n", "\n\n", "\r\n\r\n", " ", "\n===\n"),
        *(
            "```\n",
            "word ",
            "End. ",
            "锁。",
            "数据库",
            "👩\u200d💻",
            "e\u0301",
            "\ufeff",
            "\x85",
            "x" * 40,
        ),
        "---\n",
    ]
)
bodies = st.lists(body_pieces | st.text(max_size=2), max_size=40).map("".join)
titles = st.sampled_from(["", "T", "A longer title of a note", "标题" * 60])
limits = st.integers(1, 120) | st.just(MAX_CHARS)


@given(titles, bodies, limits, st.integers(0, 5))
def test_chunks_keep_the_limit_and_follow_one_another(
    title: str, body: str, max_chars: int, first_index: int
) -> None:
    chunks = body_chunks(title, body, max_chars, first_index)
    assert [chunk.index for chunk in chunks] == list(range(first_index, first_index + len(chunks)))
    assert all(visible(chunk.text) and len(chunk.text) <= max_chars for chunk in chunks)
    borders = [border for chunk in chunks for border in (chunk.start, chunk.end)]
    assert borders == sorted(border for border in borders if border is not None)


def held_by(section: Section, chunks: tuple[Chunk, ...]) -> list[Chunk]:
    """The chunks of a section, which must cover it without a gap."""
    found = [
        chunk
        for chunk in chunks
        if chunk.start is not None and section.start <= chunk.start < section.end
    ]
    if found:
        assert found[0].start == section.start
        assert [chunk.end for chunk in found[:-1]] == [chunk.start for chunk in found[1:]]
        assert found[-1].end == section.end
    return found


@given(titles, bodies, limits)
def test_nothing_that_can_be_read_is_lost(title: str, body: str, max_chars: int) -> None:
    chunks = body_chunks(title, body, max_chars, 0)
    for section in sections(body):
        own = held_by(section, chunks)
        heading = visible(section.heading_path[-1]) if section.heading_path else ""
        below = [chunk for chunk in chunks if (chunk.start or 0) >= section.end][:1]
        assert own or not visible(body[section.content_start : section.end])
        for chunk in own:
            content = body[max(chunk.start or 0, section.content_start) : chunk.end]
            assert visible(chunk.text).endswith(visible(content))
        is_prefix = any(heading in visible(each.text) for each in own or below)
        spelled = [visible(body[chunk.start : chunk.end]) for chunk in own]
        is_text = [
            visible(each.text)[-len(part) :] for each, part in zip(own, spelled, strict=True)
        ] == spelled
        assert not heading or is_prefix or (own and is_text)


@given(bodies, st.integers(1, 120))
def test_parts_hold_the_whole_text_in_order(body: str, max_chars: int) -> None:
    """Without a title or a heading a chunk has no prefix."""
    plain = body.replace("#", "").replace("=", "").replace("-", "")
    found = texts("", plain, max_chars)
    assert visible("".join(found)) == visible(plain)


TITLE = "Notes of the week"
TOPICS = {
    "Database": (
        'Two writers share one SQLite file. A transaction that reads before it writes fails with "'
        'database is locked" at once, because its snapshot is stale; BEGIN IMMEDIATE takes the '
        "lock first.",
        "Why is the database locked?",
    ),
    "Coffee machine": (
        "The descaling programme starts when both buttons are held for five seconds. Use citric "
        "acid, not vinegar, and rinse twice before the next cup.",
        "How do I descale the coffee machine?",
    ),
    "Travel": (
        "The night train to Vienna leaves at 22:10 from platform seven. Seats in the sleeping car "
        "have to be reserved a month ahead; bicycles travel in the last carriage.",
        "When does the train to Vienna leave?",
    ),
    "Garden": (
        "Tomatoes want a deep watering twice a week and no water on the leaves, or the blight "
        "comes back. Pinch out the side shoots in June.",
        "How often should tomatoes be watered?",
    ),
}


@pytest.mark.parametrize("topic", TOPICS)
def test_one_section_of_four_is_found_by_its_own_question(
    builtin: BuiltinEmbedder, topic: str
) -> None:
    """The published failure that sections mend: whole note 0.200, section 0.492."""
    body = "\n\n".join(f"# {name}\n\n{text}" for name, (text, _) in TOPICS.items())
    chunks = body_chunks(TITLE, body, builtin.max_chars, 0)
    assert [chunk.heading_path for chunk in chunks] == list(TOPICS)
    vectors = builtin.embed_passages([f"{TITLE}\n\n{body}", *(chunk.text for chunk in chunks)])
    whole, *scores = vectors @ builtin.embed_query(TOPICS[topic][1]).vector
    own = scores.pop(list(TOPICS).index(topic))
    assert own > whole + 0.08
    assert own > max(scores) + 0.15


def test_a_body_of_headings_alone_makes_few_chunks() -> None:
    """A hundred thousand characters can be twenty-five thousand sections."""
    body = "---\na: b\n---\n" + "# a\n" * (MOST_SECTIONS + 1)
    chunks = body_chunks("T", body, MAX_CHARS, 0)
    assert len(chunks) < 10
    assert {chunk.heading_path for chunk in chunks} == {None}
    assert sum(chunk.text.count("# a") for chunk in chunks) == MOST_SECTIONS + 1
    assert chunks[0].text.startswith("Note: T\n\n# a")
    assert len(body_chunks("T", "# a\n" * MOST_SECTIONS, MAX_CHARS, 0)) == MOST_SECTIONS

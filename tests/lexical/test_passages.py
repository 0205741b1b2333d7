"""Which part of a text is shown for a query, and which words of it are marked."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.alignment import Alignment, is_attached
from app.lexical.bm25 import inverse_frequency
from app.lexical.occurrences import occurrences
from app.lexical.passages import Passage, best_passage
from app.lexical.query import LexicalQuery
from app.lexical.scripts import is_unspaced, normalised
from app.lexical.segmentation import tokens, without_accents
from app.text import is_blank


def passage(text: str, query: str, width: int = 240) -> Passage:
    found = best_passage(text, query, width)
    assert found is not None
    return found


def marked(text: str, query: str, width: int = 240) -> str:
    """The passage with its extents in square brackets."""
    found = passage(text, query, width)
    shown = found.text
    for start, end in reversed(found.extents):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    return shown


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Locked by WAL", "wal locked", "[Locked] by [WAL]"),
        ("the writer is locked", "the locked", "the writer is [locked]"),
        ("lock locked", "lock", "[lock] locked"),
        ("ｓｑｌ 模式", "SQL", "[ｓｑｌ] 模式"),
        ("ﬁle ﬁ x", "file", "[ﬁle] ﬁ x"),
        ("open ﬁles: ﬁle", "file", "open ﬁles: [ﬁle]"),
        ("café Cafe cafe\u0301s", "cafe", "[café] [Cafe] cafe\u0301s"),
        ("cafe\u0301.", "café", "[cafe\u0301]."),
        ("Straße", "strasse", "[Straße]"),
        ("data\u00adbase x", "database", "[data\u00adbase] x"),
        ("㍿設立 x", "株式会社", "[㍿]設立 x"),
        ("ﾃﾞｰﾀ移行", "データ", "[ﾃﾞｰﾀ]移行"),
        ("\u1103\u1166\u110b\u1175터 x", "데이터", "[\u1103\u1166\u110b\u1175터] x"),
        ("数据库连接池耗尽", "连接池", "数据库[连接池]耗尽"),
        ("数据库，连接", "数据连接", "[数据]库，[连接]"),
        ("数据库连接", "数据连接", "[数据]库[连接]"),
        ("数据连接", "数据 连接", "[数据连接]"),
        ("死锁了，锁", "锁", "死[锁]了，[锁]"),
        ("重跑gen-itgc后", "gen-itgc", "重跑[gen-itgc]后"),
        ("重跑gen-itgc后", "itgc", "重跑gen-[itgc]后"),
        ("重跑gen-itgc后", "重跑 gen", "[重跑gen]-itgc后"),
        ("useEffect use", "effect", "use[Effect] use"),
        ("see app/db.py", "db.py", "see app/[db.py]"),
        ("busy_timeout", "busy-timeout", "[busy]_[timeout]"),
        ("C, C++ and C#", "c++", "C, [C++] and C#"),
        ("İstanbul_x", "istanbul", "[İstanbul]_x"),
        ("👩‍💻 and 👩", "👩", "[👩‍💻] and [👩]"),
        ("ok👍🏽, ❤️!", "👍 ❤", "ok[👍🏽], [❤️]!"),
        ("🇩🇪🇫🇷", "🇫🇷", "🇩🇪[🇫🇷]"),
        ("😀 wal 😀😀 wal", "wal", "😀 [wal] 😀😀 [wal]"),
    ],
)
def test_words_are_marked_where_they_stand(text: str, query: str, expected: str) -> None:
    assert marked(text, query) == expected


@pytest.mark.parametrize("query", ["", " ", "?!", "the of", "的 了", "absent", "不在"])
@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("  short text\n", 240, Passage("short text", 2, ())),
        ("\n\nOne. Two three four.", 12, Passage("One. Two", 2, ())),
        ("x" * 50, 20, Passage("x" * 20, 0, ())),
        ("一" * 50, 20, Passage("一" * 20, 0, ())),
    ],
    ids=["short", "words", "no-border", "han"],
)
def test_without_a_match_it_is_the_beginning(
    query: str, text: str, width: int, expected: Passage
) -> None:
    assert best_passage(text, query, width) == expected


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff\u3000"])
def test_a_blank_text_has_no_passage(text: str) -> None:
    assert best_passage(text, "wal") is None


FILLER = "Nothing to be seen in this one. "


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        (
            f"A lock. {FILLER * 8}The lock of a writer. {FILLER * 8}A writer.",
            "lock writer",
            "The [lock] of a [writer].",
        ),
        (
            f"{'lock writer. ' * 9}{FILLER * 8}The journal. {FILLER * 8}lock writer",
            "lock journal",
            "The [journal].",
        ),
        (f"A first lock. {FILLER * 8}A second lock.", "lock", "A first [lock]."),
        (f"{'甲。' * 99}数据库锁了。{'乙。' * 99}数据库。", "数据库锁", "[数据库锁]了。"),
        (f"lock {'x ' * 99}writer", "lock writer", "[lock] x x"),
        (f"{'x ' * 99}lock writer", "lock writer", "x x [lock] [writer]"),
    ],
    ids=["together", "rare", "earliest", "han", "apart", "end"],
)
def test_the_best_part_is_shown(text: str, query: str, expected: str) -> None:
    assert expected in marked(text, query, 28)


@pytest.mark.parametrize(
    ("text", "query", "width", "expected"),
    [
        ("One two. Three four lock five. Six seven.", "lock", 25, "Three four [lock] five."),
        ("一二三。四五锁六。七八九。", "锁", 7, "四五[锁]六。"),
        ("first line\na lock\nlast line of it", "lock", 18, "a [lock]\nlast line"),
        ("aa bb cc dd lock ee ff gg hh", "lock", 16, "cc dd [lock] ee ff"),
        ("一二三四五六锁七八九十百千", "锁", 7, "四五六[锁]七八九"),
        ("x" * 40 + " lock " + "y" * 40, "lock", 12, "[lock] yyyyyyy"),
        ("aa bb lock", "lock", 8, "bb [lock]"),
        ("aaaa bbbb cccc lock", "lock", 14, "bbbb cccc [lock]"),
        ("a word that ends the text, lock.", "lock", 18, "the text, [lock]."),
        ("lock" + "e\u0301" * 40, "lock" + "é" * 40, 9, "[lock" + "e\u0301" * 2 + "e]"),
        ("lock " + "e\u0301" * 40, "lock", 12, "[lock] " + "e\u0301" * 3),
    ],
    ids=[
        "sentence",
        "han-sentence",
        "line",
        "words",
        "han",
        "long-words",
        "end",
        "end-in-full",
        "end-cut",
        "word-too-long",
        "marks",
    ],
)
def test_a_passage_is_cut_at_borders(text: str, query: str, width: int, expected: str) -> None:
    assert marked(text, query, width) == expected


text_pieces = st.sampled_from(
    [
        *("lock ", "the ", "Writer", "busy_timeout", "useEffect", "C++", "app/db.py", " ", "\n"),
        *(". ", "。", "，", "数据库", "锁", "连接池", "ﬁle", "ｓｑｌ", "café", "e\u0301", "ß", "İ"),
        *("👩\u200d💻", "👍🏽", "🇩🇪", "❤️", "\u00ad", "\ufeff", "㍿", "ﾃﾞｰﾀ", "\u1100\u1161", "한글"),
        *("\u0301", "\u3099", "\u200d", "…", "½", "ﷺ", "x" * 30),
    ]
)
texts = st.lists(text_pieces | st.text(max_size=2), max_size=30).map("".join)


@given(texts, texts, st.integers(1, 60))
def test_a_passage_is_a_part_of_the_text_and_its_extents_lie_inside(
    text: str, query: str, width: int
) -> None:
    found = best_passage(text, query, width)
    if found is None:
        assert is_blank(text)
        return
    assert found.text == text[found.start : found.start + len(found.text)]
    assert 0 < len(found.text) <= width
    assert not is_blank(found.text[0] + found.text[-1])
    place = -1
    for start, end in found.extents:
        assert place < start < end <= len(found.text)
        place = end


@given(texts, texts)
def test_words_are_marked_just_when_text_and_query_share_a_token(text: str, query: str) -> None:
    asked = {term.token for term in LexicalQuery.of(query).terms}
    inside = {token for token in asked if len(token) == 1 and is_unspaced(token)}
    shared = asked & set(tokens(text)) or inside & set(normalised(text))
    found = best_passage(text, query, len(text) + 1)
    assert bool(found and found.extents) == bool(shared)


words = st.lists(
    st.sampled_from([*("lock", "writer", "数据库", "journal"), *"xyz" * 5]), max_size=40
)


@given(words.map(" ".join), st.integers(7, 60))
def test_no_other_part_holds_more_of_the_query(text: str, width: int) -> None:
    places = occurrences(text, set(tokens("lock writer journal 数据库")))
    counts = Counter(place.token for place in places)

    def worth(start: int, end: int) -> float:
        held = {each.token for each in places if start <= each.start and each.end <= end}
        return sum(inverse_frequency(counts[token], len(places)) for token in sorted(held))

    found = best_passage(text, "lock writer journal 数据库", width)
    shown = worth(found.start, found.start + len(found.text)) if found else 0
    assert (
        shown >= max((worth(each.start, each.start + width) for each in places), default=0) - 1e-5
    )


@given(texts)
def test_each_token_of_a_text_is_found_in_order(text: str) -> None:
    """A single character of a run is no token but is found, so only longer ones are compared."""
    every = set(tokens(text))
    found = occurrences(text, every)
    assert {each.token for each in found} == every
    assert [each.start for each in found] == sorted(each.start for each in found)
    for each in found:
        assert 0 <= each.start < each.end <= len(text)
        shown = normalised(text[each.start : each.end]).lower()
        assert each.token in shown or each.token in without_accents(shown)


@given(st.lists(text_pieces | st.characters(), max_size=12).map("".join))
def test_an_alignment_normalises_and_never_goes_back(text: str) -> None:
    alignment = Alignment.of(text)
    assert alignment.text == normalised(text)
    extents = [alignment.extent(place, place + 1) for place in range(len(alignment.text))]
    assert extents == sorted(extents)
    for start, end in extents:
        assert 0 <= start < end <= len(text)
        assert end == len(text) or unicodedata.category(text[end])[0] != "M"


@pytest.mark.parametrize("between", ["", "a", "\u1100", "か"], ids=ascii)
def test_every_character_that_may_change_normalises_as_in_the_whole(between: str) -> None:
    every = map(chr, range(0x30000))
    changing = [
        each
        for each in every
        if unicodedata.normalize("NFKC", each) != each
        or unicodedata.category(each)[0] == "M"
        or is_attached(f"a{each}", 1)
    ]
    text = between.join(changing)
    assert Alignment.of(text).text == normalised(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("锁" * 50_000, "锁锁 锁"),
        ("a_b." * 12_000, "a b"),
        ("." * 200_000 + " lock", "lock"),
        (" " * 200_000 + "lock", "lock"),
        ("x" * 200_000, "x" * 1_000),
        ("lock e" + "\u0301" * 200_000, "lock"),
        ("👩\u200d" * 50_000 + " lock", "lock"),
        ("lock writer " * 20_000, "lock writer the"),
    ],
    ids=["han", "parts", "dots", "blanks", "word", "marks", "joiners", "matches"],
)
def test_long_texts_take_linear_time(text: str, query: str) -> None:
    found = passage(text, query)
    assert found.extents
    assert len(found.text) <= 240

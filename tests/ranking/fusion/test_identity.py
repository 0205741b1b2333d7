"""Boosts for queries that name a note, beyond the recorded cases."""

import unicodedata

import pytest

from app.ranking.fusion.identity import alias_match, title_match, words
from tests.ranking.fusion.sets import facts, ranked, row_of


@pytest.mark.parametrize(
    ("query", "title", "kind"),
    [
        ("3", "30 days", "leading"),
        ("3 mice", "3 Blind Mice", "all-terms"),
        ("x y", "y and x", None),
        ("wal and locks", "WAL locks", None),
        ("ocke", "Rocket", "contains"),
        ("#todo", "#todo list", "leading"),
        ("todo", "#todo list", "contains"),
        ("!?", "!?", None),
        ("rocket science and more", "Rocket Science", None),
        (unicodedata.normalize("NFD", "がcafé"), unicodedata.normalize("NFC", "がcafé"), "exact"),
    ],
    ids=[
        "number-begins-a-number",
        "gap",
        "no-significant-token",
        "a-token-missing",
        "part-of-a-word",
        "hash-sign",
        "after-a-hash-sign",
        "no-tokens",
        "longer-than-the-title",
        "decomposed-characters",
    ],
)
def test_kind_of_match_with_a_title(query: str, title: str, kind: str | None) -> None:
    assert title_match(words(query), words(title)).kind == kind


@pytest.mark.parametrize(
    ("query", "aliases", "kind"),
    [
        ("lock", ("database lock-file", "the lock"), "token"),
        ("lock", ("deadlock", "lock-file"), "prefix"),
        ("lock the door", ("lock",), None),
        ("", (), None),
    ],
    ids=["best-of-two", "prefix-over-part", "longer-than-the-alias", "nothing"],
)
def test_kind_of_match_with_the_best_alias(
    query: str, aliases: tuple[str, ...], kind: str | None
) -> None:
    assert alias_match(words(query), map(words, aliases)).kind == kind


@pytest.mark.parametrize(
    ("semantic", "lexical", "boosts"),
    [
        ([(1, 0.5)], [], (0.30, 0.30)),
        ([], [(1, 5.0)], (0.18, 0.17)),
        ([(1, 0.5)], [(1, 5.0)], (0.18, 0.17)),
        ([(1, 0.5)], [(2, 5.0)], (0.18, 0.17)),
    ],
    ids=["meaning-alone", "words-alone", "both", "words-found-another"],
)
def test_most_boost_depends_on_the_sources(
    semantic: list[tuple[int, float]],
    lexical: list[tuple[int, float]],
    boosts: tuple[float, float],
) -> None:
    named = facts(1, "EKX", "ekx")
    row = row_of(ranked(semantic, lexical, query="ekx", notes=[named]), 1)
    assert (row.identity.title_boost, row.identity.alias_boost) == boosts
    assert row.base == row.blend.fused + boosts[0] + boosts[1]


@pytest.mark.parametrize(
    "query", ["", "  ", "\u3000", "!?"], ids=["empty", "blank", "wide", "signs"]
)
def test_a_query_without_words_boosts_nothing(query: str) -> None:
    rows = ranked([(1, 0.5), (2, 0.4)], query=query, notes=[facts(1, ""), facts(2, "!?", " ")])
    assert [(row.identity.title.share, row.identity.alias.share) for row in rows] == [(0, 0)] * 2

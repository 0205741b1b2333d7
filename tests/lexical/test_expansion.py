"""Which terms of the index may stand for a word of a query."""

from __future__ import annotations

import sys
import threading
from itertools import product

import numpy as np
import pytest

from app.lexical.expansion import EXPANDED_WORDS, MOST_EXPANSIONS
from app.lexical.index import LexicalIndex
from app.lexical.vocabulary import Vocabulary
from tests.lexical import reference
from tests.lexical.library import contents, document, fresh


def terms_for(index: LexicalIndex, text: str) -> list[tuple[str, str]]:
    """The terms and kinds that count for the tokens of a text."""
    return [term[:2] for token in index.run(text).record() for term in token.terms]


CASES = {
    "longer words": ("lock", "lock locks locker unlock", ["lock", "locks", "locker"]),
    "prefix of two": ("da", "data date d", ["data", "date"]),
    "one letter": ("d", "data da d", ["d"]),
    "an edit": ("sqlite", "sqllite sqlte zqlite sqlitx", ["sqllite", "sqlitx", "zqlite", "sqlte"]),
    "a swap": ("python", "pyhton", ["pyhton"]),
    "two edits in a short word": ("python", "pytohm", []),
    "two edits in a long word": ("concurrent", "conccurent", ["conccurent"]),
    "three letters": ("wal", "wall val", ["wall", "val"]),
    "two letters": ("db", "dc", []),
    "accents": ("naive", "naïve", ["naive", "naïve"]),
    "Cyrillic": ("индекс", "индекси индэкс", ["индэкс", "индекси"]),
    "numbers": ("1234567", "1234568", []),
    "names with digits": ("version2", "version3", ["version"]),
    "longer names with digits": ("utf8", "utf8mb4", ["utf8mb4", "utf", "8"]),
    "Han": ("数据库", "数据车", ["数据"]),
    "Kana": ("サーバー", "サーバル", ["サー", "ーバ"]),
    "parts are not expanded": ("wal_mode", "walk modes", []),
    "the whole is": ("useEff", "useEffect", ["useeffect", "use"]),
    "another word of the query": ("lock locks", "locks", ["locks"]),
    "its own part": ("modes-mode", "mode", ["mode"]),
}


@pytest.mark.parametrize(("query", "text", "expected"), CASES.values(), ids=CASES.keys())
def test_terms_that_count(query: str, text: str, expected: list[str]) -> None:
    assert [term for term, _ in terms_for(contents(text), query)] == expected


def test_weights_fall_with_the_distance_and_stay_below_the_word_itself() -> None:
    index = contents("lock locks locker lockable look")
    [record] = index.run("lock").record()
    weights = {term: weight for term, _, weight, _, _ in record.terms}
    assert weights["lock"] == 1 > weights["locks"] > weights["locker"] > weights["lockable"] > 0
    assert weights["locks"] == pytest.approx(0.375 * 5 / (5 + 0.3))
    assert weights["look"] == pytest.approx(0.45 * 4 / (4 + 1))


def test_a_variant_is_never_rarer_than_the_word() -> None:
    index = contents(*["lock"] * 5, "locks", "cache", "mode")
    lock, locks = index.run("lock").record()[0].terms
    assert lock[3] == locks[3]
    misspelt = {term: idf for term, _, _, idf, _ in index.run("locke").record()[0].terms}
    assert misspelt["lock"] == lock[3] < misspelt["locks"]


def test_expansions_are_bounded_and_the_dead_take_no_place() -> None:
    words = sorted(f"lock{first}{second}" for first, second in product("abcdefg", repeat=2))
    index = fresh(document(number, content=word) for number, word in enumerate(words, start=1))
    assert [term for term, _ in terms_for(index, "lock")] == words[:MOST_EXPANSIONS]
    less = index.changed(np.arange(1, 11), [])
    assert [term for term, _ in terms_for(less, "lock")] == words[10 : 10 + MOST_EXPANSIONS]
    near = [term for term, kind in terms_for(less, "lockaz") if kind == "fuzzy"]
    assert near == [word for word in words[10:] if reference.edits("lockaz", word) == 1]


def test_a_long_query_is_expanded_at_its_beginning_only() -> None:
    index = contents("zebras")
    words = [f"word{chr(97 + number)}" for number in range(EXPANDED_WORDS)]
    assert terms_for(index, " ".join([*words[:-1], "zebra"])) == [("zebras", "prefix")]
    assert terms_for(index, " ".join([*words, "zebra"])) == []


def test_one_character_stands_for_all_words_that_hold_it() -> None:
    index = contents("死锁", "锁表了", "锁", "密码", "数据库")
    assert terms_for(index, "锁") == [("锁", "exact"), ("锁", "inside")]
    hits = index.search("锁", 10)
    assert [hit.id for hit in hits] == [3, 1, 2]
    assert hits[0].score > hits[1].score


def test_neighbours_are_those_of_brute_force() -> None:
    letters = np.random.default_rng(1)
    words = {"".join(letters.choice(list("abcdeé"), letters.integers(1, 12))) for _ in range(600)}
    vocabulary = Vocabulary(tuple(sorted(words | {"数据", "v2", "🚀"})))
    for word in sorted(words)[::7]:
        for distance in (1, 2, 3):
            found = {
                vocabulary.terms[place]: far for place, far in vocabulary.neighbours(word, distance)
            }
            edits = {other: reference.edits(word, other) for other in words}
            assert found == {term: far for term, far in edits.items() if 0 < far <= distance}


def test_threads_that_search_first_together_agree() -> None:
    """The arrays behind a vocabulary are made at the first search."""
    texts = [f"lock{number:x} 死锁{chr(0x4E00 + number)} wal" for number in range(300)]
    expected = contents(*texts).search("loc 锁 wla", 20)
    index = contents(*texts)
    wrong: list[object] = []
    start = threading.Barrier(4)

    def search() -> None:
        start.wait()
        for _ in range(3):
            hits = index.search("loc 锁 wla", 20)
            if hits != expected:
                wrong.append(hits)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert expected
    assert not wrong

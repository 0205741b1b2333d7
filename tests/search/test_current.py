"""Values of one moment: found at that moment alone, and bounded by their size."""

from __future__ import annotations

from app.db.versions import Version
from app.search.current import Current

ONE, TWO = ("epoch", Version(1, 1)), ("epoch", Version(1, 2))


def current(most: int = 100) -> Current[str, str]:
    return Current(lambda _: None, most, len)


def test_a_moment_finds_its_own_values_alone() -> None:
    values = current()
    for moment in (ONE, TWO, ONE):
        assert values.find(moment, ["a", "b"]) == {}
        values.keep(moment, {"a": str(moment)})
        assert values.find(moment, ["a", "b"]) == {"a": str(moment)}
    # Whoever is late keeps nothing.
    values.keep(TWO, {"b": "late"})
    assert values.find(ONE, ["b"]) == {}
    assert values.find(("another", ONE[1]), ["a"]) == {}


def test_a_moment_that_is_not_known_has_none() -> None:
    values = current()
    values.keep(None, {"a": "x"})
    assert values.find(None, ["a"]) == {}


def test_the_oldest_make_room_and_what_is_replaced_counts_once() -> None:
    values = current(most=6)
    values.find(ONE, [])
    values.keep(ONE, {"a": "xx", "b": "xx"})
    values.keep(ONE, {"a": "yyyy"})
    assert values.size == 6
    values.keep(ONE, {"c": "z"})
    assert values.find(ONE, ["a", "b", "c"]) == {"a": "yyyy", "c": "z"}
    assert values.size == 5
    values.keep(ONE, {"d": "longer than all"})
    assert values.find(ONE, ["a", "c", "d"]) == {}
    assert values.size == 0

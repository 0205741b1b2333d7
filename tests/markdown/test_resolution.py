"""Which note a link means: the order of names, and ties."""

from __future__ import annotations

import itertools

import pytest

from app.domain.links import KIND_EMBED, KIND_MARKDOWN, Link, Named
from app.markdown.resolution import Candidates, keys


def note(number: int, title: str = "", path: str | None = None, **more: str) -> Named:
    aliases = tuple(filter(None, more.get("aliases", "").split(",")))
    slug = more.get("slug")
    return Named(number, title, aliases, path, slug, more.get("folder", "v"), "2026-01-01")


HERE = note(100, "Here", "a/here.md")

CASES = {
    "whole path": ("b/Foo", [note(1, "", "b/Foo.md"), note(2, "", "c/b/Foo.md")], 1),
    "end of a path": ("b/foo.md", [note(1, "", "c/b/Foo.md"), note(2, "", "b/x/Foo.md")], 1),
    "path before title": ("Foo", [note(1, "Foo"), note(2, "", "z/Foo.md")], 2),
    "title before alias": ("Foo", [note(1, "x", aliases="Foo"), note(2, "foo")], 2),
    "alias before slug": ("my note", [note(1, "My Note!"), note(2, "x", aliases="MY NOTE")], 2),
    "slug": ("my-note", [note(1, "My Note!")], 1),
    "root before folder": ("Foo", [note(1, "", "a/Foo.md"), note(2, "", "Foo.md")], 2),
    "own folder": ("Foo", [note(1, "", "b/Foo.md"), note(2, "", "a/Foo.md")], 2),
    "shortest path": ("Foo", [note(1, "", "b/c/Foo.md"), note(2, "", "z/Foo.md")], 2),
    "order of paths": ("Foo", [note(1, "", "c/Foo.md"), note(2, "", "b/Foo.md")], 2),
    "own vault": ("Foo", [note(1, "", "Foo.md", folder="w"), note(2, "x", aliases="foo")], 2),
    "another vault": ("Foo", [note(1, "", "Foo.md", folder="w")], 1),
    "relative": ("../Foo", [note(1, "", "b/Foo.md"), note(2, "", "Foo.md")], 2),
    "no part of a name": ("Foo", [note(1, "Foo bar", "a/xFoo.md")], None),
    "not by key alone": ("foo!", [note(1, "?foo", "a/foo!!.md")], 1),
}


@pytest.mark.parametrize(("target", "candidates", "expected"), CASES.values(), ids=CASES)
def test_a_wiki_link_means_one_note_whatever_the_order(
    target: str, candidates: list[Named], expected: int | None
) -> None:
    for shuffled in itertools.permutations(candidates):
        assert Candidates(shuffled).choose(Link(target), HERE) == expected


FILES = {
    "beside": ("foo.md", [note(1, "", "foo.md"), note(2, "", "a/foo.md")], 2),
    "above": ("../b/foo.md", [note(1, "", "b/foo.md"), note(2, "", "a/b/foo.md")], 1),
    "from the top": ("b/foo.md", [note(1, "", "b/foo.md")], 1),
    "absolute": ("/foo.md", [note(1, "", "a/foo.md"), note(2, "", "foo.md")], 2),
    "by its name alone": ("foo.md", [note(1, "", "x/y/foo.md")], 1),
    "not by title": ("foo", [note(1, "foo")], None),
    "not of another vault": ("foo.md", [note(1, "", "a/foo.md", folder="w")], None),
    "never above the top": ("../../../foo.md", [note(1, "", "foo.md")], 1),
}


@pytest.mark.parametrize(("target", "candidates", "expected"), FILES.values(), ids=FILES)
def test_a_link_to_a_file_means_the_file(
    target: str, candidates: list[Named], expected: int | None
) -> None:
    link = Link(target, KIND_MARKDOWN)
    for shuffled in itertools.permutations(candidates):
        assert Candidates(shuffled).choose(link, HERE) == expected


def test_an_embedded_picture_is_looked_for_beside_first() -> None:
    candidates = [note(1, "", "pic.png"), note(2, "", "a/pic.png")]
    assert Candidates(candidates).choose(Link("pic.png", KIND_EMBED), HERE) == 2


def test_many_notes_of_one_name_are_told_apart_by_their_paths() -> None:
    candidates = Candidates([note(n, "README", f"p{n}/README.md") for n in range(3_000)])
    for number in range(0, 3_000, 7):
        link = Link(f"../p{number}/README.md", KIND_MARKDOWN)
        assert candidates.choose(link, HERE) == number


def test_a_note_is_looked_up_by_all_that_it_is_called() -> None:
    found = keys(note(1, "The Title", "folder/File Name.md", aliases="One,二", slug="a-slug"))
    assert found == {"the-title", "file-name", "one", "二", "a-slug"}


def test_a_note_without_a_name_has_a_key_all_the_same() -> None:
    assert keys(note(1)) == {""}

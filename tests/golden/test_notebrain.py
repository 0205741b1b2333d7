"""The rules of `notebrain` and of the graph questions, on recorded inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from app.graph.near import near_names
from app.graph.tags import TagUse, by_use
from app.graph.traverse import backlinks, by_title, connections, shared_tags
from app.markdown.names import slug, tag
from app.markdown.references import Referable, resolve
from app.ranking.notebrain.boosted import boosted
from app.ranking.notebrain.matches import Match, best_matches, caps_of, distinct_topics
from app.ranking.notebrain.merging import merge
from app.ranking.notebrain.sections import hidden_behind
from app.ranking.notebrain.thresholds import is_kept
from tests.support.golden import case_id, read_cases

pytestmark = pytest.mark.golden

CASES: list[dict[str, Any]] = (read_cases("notebrain.json") or {"cases": []})["cases"]

Input = dict[str, Any]


class Names:
    """Numbers for the names of notes, in the order of the names, since ids break ties."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._numbers = {name: number for number, name in enumerate(self._names)}

    def number(self, name: str) -> int:
        return self._numbers[name]

    def name(self, number: int) -> str:
        return self._names[number]

    def titles(self, titles: Mapping[str, str]) -> dict[int, str]:
        return {self.number(name): title for name, title in titles.items()}

    def edges(self, edges: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
        return [(self.number(source), self.number(target)) for source, target in edges]


def near(value: Any) -> Any:
    """Recorded scores agree to nine decimals, everything else as it is."""
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-9, rel=0)
    if isinstance(value, list):
        return [near(each) for each in value]
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    return value


def matches_of(cosines: Mapping[str, float], names: Names, left_out: Iterable[str] = ()) -> Any:
    """The matches of one query or section; keys are ``note:chunk``."""
    parts = ((key.rpartition(":"), score) for key, score in cosines.items())
    excluded = set(left_out)
    return [
        Match(names.number(name), int(chunk), score)
        for (name, _, chunk), score in parts
        if name not in excluded
    ]


def names_in(groups: Iterable[tuple[str, Mapping[str, float]]]) -> Names:
    return Names(key.rpartition(":")[0] for _, cosines in groups for key in cosines)


def kept(given: Input) -> Any:
    return [name for name, score in given["scores"].items() if is_kept(score, given["best"])]


def searched(given: Input) -> Any:
    names, per_note = names_in(given["queries"]), given["top_k"]
    caps = caps_of(given["limit"], per_note)
    topics = [best_matches(matches_of(each, names), caps) for _, each in given["queries"]]
    return [
        {
            "note": names.name(note.note_id),
            "score": note.score,
            "matched_queries": note.matched_queries,
            "chunks": [
                {
                    "chunk": chunk.chunk,
                    "score": chunk.score,
                    "matched": [given["queries"][each.topic][0] for each in chunk.matched],
                }
                for chunk in note.chunks
            ],
        }
        for note in merge(topics, per_note).notes[: given["limit"]]
    ]


def deep(given: Input) -> Any:
    names, caps = names_in(given["sections"]), caps_of(given["limit"], given["top_k"])
    sections = [
        best_matches(matches_of(each, names, given["excluded"]), caps)
        for _, each in given["sections"]
    ]
    return [
        {
            "note": names.name(note.note_id),
            "score": note.score,
            "sections": len(note.matched),
            "shown": len(note.shown),
            "shown_sections": [given["sections"][each.section][0] for each in note.shown],
        }
        for note in hidden_behind(sections, given["limit"])
    ]


def connected(given: Input) -> Any:
    names = Names(given["titles"])
    rows = connections(
        names.number(given["seed"]),
        names.edges(given["edges"]),
        names.titles(given["titles"]),
        given["hops"],
        given["direction"],
    )
    return [[names.name(row.note_id), row.hops] for row in rows]


def linked_back(given: Input) -> Any:
    names = Names(given["titles"])
    edges, titles = names.edges(given["edges"]), names.titles(given["titles"])
    return [names.name(each) for each in backlinks(names.number(given["seed"]), edges, titles)]


def shared(given: Input) -> Any:
    names = Names(given["titles"])
    tags = {names.number(name): each for name, each in given["tags"].items()}
    titles = names.titles(given["titles"])
    rows = shared_tags(names.number(given["seed"]), tags, titles, given["minimum"])
    return [[names.name(row.note_id), len(row.names)] for row in rows]


def lifted(given: Input) -> Any:
    names = Names(given["titles"])
    cosines = {names.number(name): cosine for name, cosine in given["sims"].items()}
    linked = {names.number(name) for name in given["linked"]}
    titles = names.titles(given["titles"])
    rows = boosted([cosines], linked, titles, given["limit"], given["boost"])
    return [[names.name(row.note_id), row.score, row.is_linked] for row in rows]


def resolved(given: Input) -> Any:
    notes = sorted(given["notes"], key=lambda note: str(note["slug"]))
    found = resolve(
        given["s"],
        [
            Referable(number, note["title"], note["path"], note["slug"])
            for number, note in enumerate(notes)
        ],
    )
    slugs = [str(each.slug) for each in found.candidates]
    if len(slugs) == 1:
        return slugs[0]
    return {"error": "ambiguous" if slugs else "not_found", "matches": slugs}


def nearest_tags(given: Input) -> Any:
    uses = {each["tag"]: each["count"] for each in given["all"]}
    return near_names(given["s"], uses, given["limit"])


def listed_tags(given: Input) -> Any:
    uses = Counter(name for note in given["notes"] for name in set(note["tags"]))
    rows = by_use(TagUse(*each) for each in uses.items())
    return [{"tag": row.name, "count": row.notes} for row in rows[: given["limit"]]]


def tagged(given: Input) -> Any:
    names = Names(note["slug"] for note in given["notes"])
    titles = {names.number(note["slug"]): note["title"] for note in given["notes"]}
    found = [
        names.number(note["slug"])
        for note in given["notes"]
        if tag(given["tag"]) in map(tag, note["tags"])
    ]
    rows = [names.name(note_id) for note_id in by_title(found, titles)]
    return {"rows": [{"note": name, "chunk": 0, "score": 1.0} for name in rows]}


ANSWER: dict[str, Callable[[Input], Any]] = {
    "keep": kept,
    "search": searched,
    "deep": deep,
    "connections": connected,
    "backlinks": linked_back,
    "shared": shared,
    "boosted": lifted,
    "resolve": resolved,
    "closest_tags": nearest_tags,
    "list_tags": listed_tags,
    "tag_search": tagged,
    "slugify": lambda given: slug(given["s"]),
    "normalize_tag": lambda given: tag(given["s"]),
    "resolve_queries": lambda given: list(distinct_topics(given["queries"])),
}


@pytest.mark.parametrize("kind", ANSWER)
def test_there_are_cases(kind: str) -> None:
    assert [case for case in CASES if case["fn"] == kind]


def test_every_kind_of_case_is_asked() -> None:
    assert {case["fn"] for case in CASES} <= set(ANSWER)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_answer_is_the_recorded_one(case: dict[str, Any]) -> None:
    assert ANSWER[case["fn"]](case["input"]) == near(case["expected"])

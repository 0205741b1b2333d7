"""Which note a link means, among the notes that may be called so.

Owns the order in which names are tried, and how a name that several notes have is settled, the
same at every run. Pure; what is looked up where is in ``app.sync.links``.

A name is tried as a path, as the end of a path, as a title, as an alias and as a slug; that of a
link to a file only as a path. Embeds and links to files are first read from the folder of the note
that they stand in, as are names that begin with a dot. All without case, paths with or without
``.md``. Notes of the same vault come first whatever they are called; then what is tried first; then
those beside the linking note, the shortest path, and the order of paths and titles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from app.domain.links import KIND_MARKDOWN, KIND_WIKI, Link, Named
from app.markdown import names

_Rank = tuple[bool, int, bool, int, str, str, str, int]

_NEAR, _PATH, _END_OF_PATH, _TITLE, _ALIAS, _SLUG = range(6)


def keys(note: Named) -> frozenset[str]:
    """Return what a note is looked up by, one key at least."""
    called = (note.title, *note.aliases, note.path, note.slug)
    return frozenset(names.key(name) for name in called if name) | {names.key(note.title)}


class Candidates:
    """The notes that links of one key may mean; the same question is answered once."""

    def __init__(self, notes: Iterable[Named]) -> None:
        self._notes = tuple(notes)
        self._by_path: defaultdict[str, list[Named]] = defaultdict(list)
        for note in self._notes:
            if note.path:
                self._by_path[_comparable_path(note.path)].append(note)
        self._answers: dict[tuple[str, str, str, str], int | None] = {}

    def choose(self, link: Link, source: Named) -> int | None:
        """Return the id of the note that a link means, None when none of them is called so."""
        if not self._notes:
            return None
        question = (link.target, link.kind, source.folder, _parent(source.path or ""))
        if question not in self._answers:
            self._answers[question] = self._answer(_Wanted(link, source), source)
        return self._answers[question]

    def _answer(self, wanted: _Wanted, source: Named) -> int | None:
        # A path that is given in full needs no look at the others of the same name.
        for path in wanted.paths:
            found = [note for note in self._by_path.get(path, ()) if note.folder == source.folder]
            if found:
                return _best(wanted, found)
        return _best(wanted, self._notes)


def choose(link: Link, source: Named, candidates: Iterable[Named]) -> int | None:
    """Return the id of the note that a link means, None when none of them is called so."""
    return Candidates(candidates).choose(link, source)


def _best(wanted: _Wanted, notes: Iterable[Named]) -> int | None:
    ranked = [rank for note in notes if (rank := wanted.rank(note)) is not None]
    return min(ranked)[-1] if ranked else None


class _Wanted:
    """What a link says, made comparable once for all candidates."""

    def __init__(self, link: Link, source: Named) -> None:
        self._source = source
        self._folder = _parent(source.path or "")
        self._is_file = link.kind == KIND_MARKDOWN
        self._is_near = link.kind != KIND_WIKI
        self._name = names.comparable(link.target)
        self._slug = names.slug(link.target)
        written = names.without_suffix(link.target.strip())
        self._here = names.comparable(_joined(self._folder, written))
        is_relative = written.startswith(("./", "../"))
        self._path = self._here if is_relative else names.comparable(_joined("", written))

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that settle the question, the first one first."""
        return (self._here, self._path) if self._is_near else (self._path,)

    def rank(self, note: Named) -> _Rank | None:
        """Return where a note stands among those that are meant, None if it is not."""
        is_elsewhere = note.folder != self._source.folder
        if self._is_file and is_elsewhere:
            return None
        step = self._step(note)
        if step is None:
            return None
        path = note.path or ""
        is_apart = _parent(path) != self._folder
        return (
            is_elsewhere, step, is_apart, path.count("/"), path, note.title, note.created_at,
            note.id,
        )  # fmt: skip

    def _step(self, note: Named) -> int | None:
        if note.path:
            path = _comparable_path(note.path)
            if self._is_near and path == self._here:
                return _NEAR
            if path == self._path:
                return _PATH
            if self._path and path.endswith(f"/{self._path}"):
                return _END_OF_PATH
        return None if self._is_file else self._step_of_name(note)

    def _step_of_name(self, note: Named) -> int | None:
        if names.comparable(note.title) == self._name:
            return _TITLE
        if any(names.comparable(alias) == self._name for alias in note.aliases):
            return _ALIAS
        if self._slug and self._slug in (note.slug, names.slug(note.title)):
            return _SLUG
        return None


@lru_cache(maxsize=4096)
def _comparable_path(path: str) -> str:
    return names.comparable(names.without_suffix(path))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, path: str) -> str:
    """Return a path seen from a folder, without dots; what leads out of all folders is cut off."""
    parts: list[str] = [] if path.startswith("/") else [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)

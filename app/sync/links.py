"""Keeps links in step with the notes that they stand in and lead to.

Owns when a link is read, resolved and let go. Whatever door a note comes through, its names and the
links of its body are settled here, in the transaction that writes it:

- Links of a body replace those that were found in it before. Links that an import told of stay,
  unless the body holds them as well.
- A link leads to the note that answers to its name (``app.markdown.resolution``). When none does,
  it stays with the note that it led to, so that a renamed note keeps its links; when that is gone,
  it waits by its name. A note that arrives takes over the links that mean it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection

from app.db import links
from app.db import names as note_keys
from app.domain.links import Link, Named, StoredLink, named
from app.domain.notes import Note
from app.markdown import names, resolution
from app.markdown.links import links_of


def settle(
    connection: Connection,
    note_ids: Iterable[int],
    loose: Iterable[int],
    new: Collection[int],
    read: Iterable[Note],
) -> None:
    """Settle the links of notes that are written, and those that may lead to them.

    Args:
        note_ids: Notes that are new, or whose text or names changed.
        loose: Links, by id, whose note is deleted.
        new: Those of the notes that this transaction stored: they have no names and links yet.
        read: Notes that are known already, as they are stored now.
    """
    ids = sorted(set(note_ids))
    known = [note_id for note_id in ids if note_id not in new]
    notes = {note.id: note for note in read}
    unread = [note_id for note_id in ids if note_id not in notes]
    written = {each: named(notes[each]) for each in ids if each in notes}
    written |= links.named(connection, unread)
    touched = _settle_names(connection, written, known)
    bodies = {each: notes[each].body for each in written if each in notes}
    bodies |= links.bodies(connection, [each for each in written if each not in notes])
    linked = _settle_bodies(connection, dict(sorted(bodies.items())), known)
    affected = {
        each.id: each
        for each in (
            *links.with_keys(connection, sorted(touched)),
            *links.leading_to(connection, known),
            *links.leaving(connection, sorted({*known, *linked})),
            *links.by_ids(connection, loose),
        )
    }
    links.point(connection, _changed_targets(connection, affected.values()))


def unsettled(connection: Connection, note_ids: Iterable[int]) -> set[int]:
    """Return the notes whose stored names or links are not those of their texts."""
    written = links.named(connection, sorted(note_ids))
    had = note_keys.of_notes(connection, written)
    stored = links.in_bodies(connection, list(written))
    leaving = links.leaving(connection, list(written))
    misled = _changed_targets(connection, leaving)
    return {
        *(each for each, note in written.items() if had.get(each) != resolution.keys(note)),
        *(
            note_id
            for note_id, body in links.bodies(connection, list(written)).items()
            if tuple(each.link for each in stored.get(note_id, ())) != links_of(body or "")
        ),
        *(each.source_note_id for each in leaving if each.id in misled),
    }


def _settle_names(
    connection: Connection, written: Mapping[int, Named], known: Iterable[int]
) -> set[str]:
    """Store what notes are called; return the keys that they had or have."""
    before = note_keys.of_notes(connection, known)
    after = {note_id: resolution.keys(note) for note_id, note in written.items()}
    changed = {note_id: keys for note_id, keys in after.items() if before.get(note_id) != keys}
    note_keys.forget(connection, before.keys() & changed.keys())
    note_keys.give(connection, changed)
    return {key for found in (before, after) for keys in found.values() for key in keys}


def _settle_bodies(
    connection: Connection, bodies: Mapping[int, str | None], known: Sequence[int]
) -> set[int]:
    """Store the links of the bodies of notes; return the notes that have fresh ones."""
    stored = links.in_bodies(connection, known)
    told = links.told(connection, known)
    outdated: list[int] = []
    fresh: list[tuple[int, str, Link, int | None]] = []
    for note_id, body in bodies.items():
        found = links_of(body or "")
        before = stored.get(note_id, ())
        doubled = [each for each in told.get(note_id, ()) if each.link in found]
        outdated += [each.id for each in doubled]
        if tuple(each.link for each in before) == found and not doubled:
            continue
        outdated += [each.id for each in before]
        led_to = _targets((*before, *doubled))
        fresh += [
            (note_id, names.key(link.target), link, led_to.get((link.kind, link.target)))
            for link in found
        ]
    links.remove(connection, outdated)
    links.add(connection, fresh)
    return {row[0] for row in fresh}


def _targets(stored: Iterable[StoredLink]) -> dict[tuple[str, str], int | None]:
    return {(each.link.kind, each.link.target): each.target_note_id for each in stored}


def _changed_targets(
    connection: Connection, affected: Iterable[StoredLink]
) -> dict[int, int | None]:
    """Resolve links; return the notes of those that lead elsewhere than is stored."""
    by_key: defaultdict[str, list[StoredLink]] = defaultdict(list)
    for each in affected:
        by_key[names.key(each.link.target)].append(each)
    called = note_keys.called(connection, sorted(by_key))
    sources = {each.source_note_id for found in by_key.values() for each in found}
    known = links.named(connection, sources.union(*called.values()))
    changed: dict[int, int | None] = {}
    for key, found in by_key.items():
        candidates = resolution.Candidates(known[note_id] for note_id in called.get(key, ()))
        for each in found:
            chosen = candidates.choose(each.link, known[each.source_note_id])
            if chosen is not None and chosen != each.target_note_id:
                changed[each.id] = chosen
    return changed

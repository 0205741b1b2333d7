"""Distilling of many conversations, in groups: read, judge, embed, write.

Owns the loop. Embedding calls and those to a language model are made outside any transaction;
a conversation that changed meanwhile is left for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from app.db import distilling as rows
from app.db import notes, relating, tags
from app.db.engine import Database
from app.distill.note import Distilled, distilled
from app.distill.selection import candidates_of
from app.distill.transcript import INSTRUCTIONS, NAME, SCHEMA, answered, tokens_of, transcript_of
from app.domain.distilling import (
    ERROR,
    FILTERED,
    SUMMARIZED,
    Estimate,
    Standing,
)
from app.domain.notes import Note
from app.embedding.active import Active, ActiveEmbedder
from app.errors import CrystalError
from app.llm import registry
from app.llm.base import LanguageModel, Task
from app.sync import derived, texts
from app.sync.distil_jobs import (
    Job,
    digest_of,
    draft_of,
    is_settled,
    job_of,
    note_columns,
    settled_columns,
)
from app.sync.transaction import Transaction, transaction

GROUP = 16
"""Conversations that are read, embedded and written together."""


@dataclass(slots=True)
class Report:
    """What distilling came to: ids of notes written, of conversations left out, why some failed.

    ``unchanged`` counts what is as it was when it was last distilled, or was edited or dropped.
    """

    noted: dict[str, int] = field(default_factory=dict)
    filtered: list[str] = field(default_factory=list)
    unchanged: int = 0
    reasons: dict[str, str] = field(default_factory=dict)


class Distiller:
    """Makes notes of conversations, offline or with the configured language model."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active

    def awaiting(self) -> dict[str, str]:
        """Return id and title of the conversations that wait to be distilled, oldest first."""
        with self._database.read() as connection:
            return rows.awaiting(connection)

    def title(self, conversation_id: str) -> str:
        """Return what a list of work calls a conversation.

        Raises:
            ConversationNotFound: there is no such conversation, or it only stands for a note.
        """
        with self._database.read() as connection:
            standing = rows.existing(connection, conversation_id)
        return rows.title_of(standing.id, standing.slug, standing.project_name)

    def estimate(self, ids: Iterable[str], *, with_model: bool) -> Estimate:
        """Return what distilling would ask of a language model, changing nothing.

        Raises:
            ConfigurationError: a model is wanted and none is set.
        """
        listed = list(ids)
        if not with_model:
            return Estimate(len(listed), 0, 0, None)
        model = self._model()
        characters = count = 0
        try:
            for start in range(0, len(listed), GROUP):
                jobs, _ = self._read(listed[start : start + GROUP], model)
                shown = [_shown(job, model) for job in jobs if job.makes_a_note]
                count += len(shown)
                characters += sum(len(INSTRUCTIONS) + len(text) for text in shown)
        finally:
            model.close()
        return Estimate(count, characters, tokens_of(characters), _name(model))

    def distil(
        self,
        ids: Sequence[str],
        *,
        with_model: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> Report:
        """Distil conversations; what is unknown, or as it was, is left alone.

        A conversation that cannot be distilled gets the status ``error``, and its reason is told.

        Raises:
            ConfigurationError: a model is wanted and none is set.
        """
        report = Report()
        model = self._model() if with_model else None
        group = GROUP if model is None else 1
        try:
            for start in range(0, len(ids), group):
                self._distil_group(ids[start : start + group], model, report)
                if on_progress is not None:
                    on_progress(min(start + group, len(ids)))
        finally:
            if model is not None:
                model.close()
        return report

    def _model(self) -> LanguageModel:
        return registry.create(self._active.current.settings.llm)

    def _read(
        self, ids: Sequence[str], model: LanguageModel | None
    ) -> tuple[list[Job], list[Standing]]:
        """Read a group: what is to be done, and what is settled already."""
        with self._database.read() as connection:
            standings = rows.standings(connection, ids)
            messages = rows.messages_of(connection, standings)
            before = _notes_of(connection, standings)
        by = _name(model) if model else ""
        jobs, settled = [], []
        for id_ in ids:
            if id_ not in standings:
                continue
            standing, note, said = standings[id_], before.get(id_), messages.get(id_, [])
            found = digest_of(standing, said, by)
            if is_settled(standing, note, found):
                settled.append(standing)
            else:
                jobs.append(job_of(standing, note, said, found))
        return jobs, settled

    def _distil_group(
        self, ids: Sequence[str], model: LanguageModel | None, report: Report
    ) -> None:
        active = self._active.current
        jobs, settled = self._read(ids, model)
        report.unchanged += len(settled)
        wanted = [job for job in jobs if job.makes_a_note]
        try:
            found = _asked(wanted, model) if model else _extracted(wanted, active)
        except CrystalError as error:
            report.reasons |= {job.standing.id: error.message for job in wanted}
            found = []
        drafts = self._drafts(active, wanted, found)
        with transaction(self._database) as unit:
            _close_settled(unit, settled)
            current = rows.standings(unit.connection, ids)
            for job in jobs:
                if current.get(job.standing.id) == job.standing:
                    _write(unit, active, job, drafts.get(job.standing.id), report)

    def _drafts(
        self, active: Active, jobs: Sequence[Job], found: Sequence[Distilled]
    ) -> dict[str, derived.Draft]:
        """Embed the texts of notes that are to be written."""
        if not found:
            return {}
        # A tag that is new gets its id with the first note of the group that has it.
        names = [name for each in found for name in each.tags]
        with self._database.read() as connection:
            places = {name: place for place, name in enumerate(tags.in_id_order(connection, names))}
        orders = [tuple(sorted(set(each.tags), key=places.__getitem__)) for each in found]
        pairs = list(zip(jobs, found, orders, strict=True))
        prepared = [
            texts.of_draft(draft_of(job, each), ordered, active.embedder.max_chars)
            for job, each, ordered in pairs
        ]
        outcomes = derived.embedded(active, prepared)
        return {
            job.standing.id: derived.Draft(note_columns(job, each), ordered, outcome)
            for (job, each, ordered), outcome in zip(pairs, outcomes, strict=True)
        }


def _name(model: LanguageModel) -> str:
    return f"{model.provider}/{model.model}"


def _notes_of(connection: Connection, ids: Iterable[str]) -> Mapping[str, Note]:
    found = notes.get_many(connection, notes.ids_of_conversations(connection, ids).values())
    return {note.conversation_id: note for note in found}


def _extracted(jobs: Sequence[Job], active: Active) -> list[Distilled]:
    """Distil offline: one embedding call for the sentences of all."""
    candidates = [candidates_of(job.reading) for job in jobs]
    sentences = [each.sentence.text for some in candidates for each in some]
    vectors = active.embedder.embed_passages(sentences)
    ends = np.cumsum([len(some) for some in candidates])
    return [
        distilled(job.reading, some, vectors[end - len(some) : end])
        for job, some, end in zip(jobs, candidates, ends, strict=True)
    ]


def _asked(jobs: Sequence[Job], model: LanguageModel) -> list[Distilled]:
    """Distil with a language model, one call a conversation."""
    return [
        answered(
            model.answer(Task(NAME, INSTRUCTIONS, _shown(job, model), SCHEMA)),
            job.reading,
        )
        for job in jobs
    ]


def _shown(job: Job, model: LanguageModel) -> str:
    return transcript_of(job.reading, job.standing.project_name, model.max_input_chars)


def _write(
    unit: Transaction, active: Active, job: Job, draft: derived.Draft | None, report: Report
) -> None:
    """Write what came of a conversation, with its status."""
    id_ = job.standing.id
    if job.makes_a_note and draft is None:
        reason = report.reasons.get(id_, "it could not be distilled")
        rows.change(unit.connection, id_, {"status": ERROR, "experience_gate_reason": reason})
        return
    if draft is not None:
        if _notes_of(unit.connection, [id_]).get(id_) != job.before:
            return
        report.noted[id_] = derived.write(unit, active, job.before, draft)
        relating.await_relations(unit.connection, report.noted[id_])
    else:
        report.filtered.append(id_)
    rows.change(unit.connection, id_, settled_columns(job))


def _close_settled(unit: Transaction, settled: Sequence[Standing]) -> None:
    """Give what is settled its status back, which an import of new messages took away."""
    noted = notes.ids_of_conversations(unit.connection, [standing.id for standing in settled])
    for standing in settled:
        status = SUMMARIZED if standing.id in noted else FILTERED
        if standing.status != status:
            rows.change(unit.connection, standing.id, {"status": status})

"""Under which stage of a search the meeting of a need is timed.

Owns the table. Must not meet any need.
"""

from __future__ import annotations

from app.ranking.run import (
    ChunkRows,
    Coverage,
    EdgesOf,
    EntityNames,
    FragmentTexts,
    Headings,
    LexicalHits,
    Likeness,
    NearestChunks,
    NearestFragments,
    NearestNotes,
    Need,
    NoteCards,
    NoteCosines,
    RecentOpens,
    RelationsOf,
    SourceCards,
    Together,
    WordedFragments,
)

STAGE_OF_NEED: dict[type[Need], str] = {
    NearestChunks: "candidates",
    NearestNotes: "candidates",
    Together: "candidates",
    LexicalHits: "words",
    Coverage: "words",
    ChunkRows: "rows",
    NoteCards: "rows",
    NoteCosines: "rows",
    Likeness: "rows",
    RecentOpens: "rows",
    Headings: "rows",
    EdgesOf: "relations",
    NearestFragments: "candidates",
    WordedFragments: "words",
    RelationsOf: "graph",
    SourceCards: "rows",
    FragmentTexts: "rows",
    EntityNames: "rows",
}

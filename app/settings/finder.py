"""The options of the ranker ``finder``: rows of the table of settings, and what a request may say.

Owns their defaults and ranges. All of them act at query time: changing one never re-indexes.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "finder."
WEIGHTS = "weights."
OTHER = "other"
"""The weight of every kind of relation that has none of its own."""

LARGEST_WEIGHT = 100.0


@dataclass(frozen=True, slots=True)
class FinderOption:
    """One option; ``name`` is that of its setting without the prefix."""

    name: str
    default: str
    help: str
    minimum: float
    maximum: float
    is_whole: bool = False

    @property
    def environment(self) -> str:
        """The environment variable of its setting."""
        return f"CRYSTAL_FINDER_{self.name}".upper().replace(".", "_").replace("-", "_")


def _weight(kind: str, default: str, help: str) -> FinderOption:
    return FinderOption(f"{WEIGHTS}{kind}", default, help, 0, LARGEST_WEIGHT)


# fmt: off
FINDER_OPTIONS: tuple[FinderOption, ...] = (
    FinderOption("seed_k", "60", "Best fragments that each of the two seed lists gives.",
                 1, 1_000, is_whole=True),
    FinderOption("rrf_k", "60", "Constant of the fusion by rank: a seed is worth 1/(k + rank).",
                 1, 10_000),
    FinderOption("damping", "0.5", "Share of the relevance that flows on along relations.",
                 0, 0.99),
    FinderOption("iterations", "12", "Most rounds of the PageRank.", 0, 100, is_whole=True),
    FinderOption("epsilon", "1e-6", "The PageRank ends when a round changes less than this.",
                 0, 1),
    FinderOption("max_hints", "3", "Hints shown of each note.", 0, 20, is_whole=True),
    FinderOption("max_vector_distance", "0.75",
                 "Fragments with a greater cosine distance (1 - cosine) are no seeds.", 0, 2),
    FinderOption("min_full_text_share", "0.25",
                 "Fragments with a smaller share of the best score by words are no seeds.",
                 0, 1),
    FinderOption("graph_hops", "2", "How many relations away from a seed the graph reaches.",
                 0, 4, is_whole=True),
    FinderOption("graph_relation_limit", "20000", "Most relations looked at, nearest first.",
                 0, 200_000, is_whole=True),
    FinderOption("max_entity_degree", "200", "Most relations taken of one tag, file or error.",
                 1, 10_000, is_whole=True),
    _weight("contains", "1.0", "Weight of a note's relations to its chunks."),
    _weight("derives", "0.9", "Weight of relations from a text to one made of it."),
    _weight("mentions", "0.8", "Weight of relations to tags, files touched and errors."),
    _weight("links-to", "0.4", "Weight of links in Markdown."),
    _weight("transcribes", "1.0", "Weight of relations from a text to its recording."),
    _weight(OTHER, "0.5", "Weight of every other kind, times the relation's confidence."),
)
# fmt: on

BY_NAME: dict[str, FinderOption] = {option.name: option for option in FINDER_OPTIONS}

"""What searching by words costs: ``python -m benchmarks.lexical --json``.

Half of the generated notes are English, half Chinese; words follow Zipf's law, so the common ones
stand in most notes. The index that is searched is made of counts at once; the time of indexing is
taken on texts, segmentation and storing included.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

import app  # noqa: F401 - limits native threads before numpy is imported
from app.lexical import segmentation
from app.lexical.documents import (
    CONTENT,
    KIND_ROOT,
    TITLE,
    LexicalDocument,
    count_terms,
    decode,
    postings_of,
)
from app.lexical.index import LexicalIndex

TITLE_WORDS = 6
CONTENT_WORDS = 54
WORDS = 100_000
"""Words of each language; Zipf's law leaves many of them unused."""

EXPONENT = 1.05
QUERIES = 60
LIMIT_MS = 15.0
INDEX_LIMIT_SECONDS = 60.0
COMMON_RANKS = 20
MIDDLE_RANKS = 2_000

_CONSONANTS = "bcdfghklmnprstvz"
_VOWELS = "aeiou"
_FIRST_HAN = 0x4E00
_HAN = 1_200


@dataclass(frozen=True, slots=True)
class Language:
    """A vocabulary by rank, and what stands between two words."""

    words: tuple[str, ...]
    gap: str


def languages(random: np.random.Generator) -> tuple[Language, Language]:
    """Return English and Chinese of a sort: invented words, real characters."""
    syllables = ["".join(pair) for pair in product(_CONSONANTS, _VOWELS)]
    stems = ["".join(parts) for parts in product(syllables, syllables[::7], syllables[::3])]
    characters = [chr(_FIRST_HAN + number * 3) for number in range(_HAN)]
    pairs = ["".join(pair) for pair in product(characters, characters[::4])]
    english = [stem + ending for stem in stems for ending in ("", "s", "ing")]
    chosen = [
        tuple(words[place] for place in random.permutation(len(words))[:WORDS].tolist())
        for words in (english, pairs)
    ]
    return Language(chosen[0], " "), Language(chosen[1], "")


def texts(notes: int, seed: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield title and content of notes by id, the two languages in turn."""
    random = np.random.default_rng(seed)
    both = languages(np.random.default_rng(0))
    shares = [np.cumsum(1 / np.arange(2, len(each.words) + 2) ** EXPONENT) for each in both]
    for note_id in range(1, notes + 1):
        language, share = both[note_id % 2], shares[note_id % 2]
        drawn = np.searchsorted(share, random.random(TITLE_WORDS + CONTENT_WORDS) * share[-1])
        words = [language.words[rank] for rank in drawn.tolist()]
        title, content = words[:TITLE_WORDS], words[TITLE_WORDS:]
        yield note_id, {TITLE: language.gap.join(title), CONTENT: language.gap.join(content)}


def counted(text: str) -> Counter[str]:
    """Count the tokens of a generated text without segmenting it."""
    if " " in text:
        return Counter(text.split(" "))
    return Counter(map("".join, pairwise(text)))


def generated(notes: int) -> Iterator[LexicalDocument]:
    """Yield one document for each note."""
    for note_id, fields in texts(notes, seed=1):
        counts = {field: counted(text) for field, text in fields.items()}
        yield LexicalDocument(note_id, KIND_ROOT, note_id, counts)


def queries() -> dict[str, list[str]]:
    """Return queries of two words by language and by how common these are, and misspelt ones."""
    random = np.random.default_rng(2)
    english, chinese = languages(np.random.default_rng(0))
    bands = {
        "common": (0, COMMON_RANKS),
        "middle": (COMMON_RANKS, MIDDLE_RANKS),
        "rare": (MIDDLE_RANKS, 10 * MIDDLE_RANKS),
    }
    found = {}
    for (name, language), (band, (low, high)) in product(
        {"english": english, "chinese": chinese}.items(), bands.items()
    ):
        drawn = random.integers(low, high, (QUERIES, 2)).tolist()
        pairs = [[language.words[rank] for rank in pair] for pair in drawn]
        found[f"{name}_{band}"] = [" ".join(pair) for pair in pairs]
    found["english_misspelt"] = [
        " ".join(word[:2] + word[3:] for word in query.split()) for query in found["english_middle"]
    ]
    return found


def measure_search(notes: int) -> dict[str, float]:
    """Return the median times of searches, of a change, and what the index takes."""
    before = peak_mb()
    start = time.perf_counter()
    index = LexicalIndex.loaded(generated(notes))
    loaded = time.perf_counter() - start
    figures: dict[str, float] = {"notes": notes, "load_seconds": loaded}
    figures["index_mb"] = memory_mb(index)
    figures["peak_mb"] = peak_mb() - before
    figures["terms"] = sum(len(each.core.vocabulary.terms) for each in index.segments)
    index.search("warm", 1)
    every: list[float] = []
    for name, group in queries().items():
        taken = [milliseconds(index, query) for query in group]
        figures[f"{name}_ms"] = statistics.median(taken)
        every += taken
    figures["all_ms"] = statistics.median(every)
    figures["all_over_limit"] = figures["all_ms"] / LIMIT_MS
    figures |= measure_change(index, notes)
    return figures


def milliseconds(index: LexicalIndex, query: str) -> float:
    """Return how long a search takes, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        index.search(query, 10)
        best = min(best, time.perf_counter() - start)
    return best * 1000


def measure_change(index: LexicalIndex, notes: int) -> dict[str, float]:
    """Return what adding a note takes, and the first search after it, at the median."""
    changes, firsts = [], []
    for note_id, fields in texts(40, seed=3):
        document = LexicalDocument(notes + note_id, KIND_ROOT, notes + note_id, count_terms(fields))
        start = time.perf_counter()
        index = index.changed(np.empty(0, np.int64), [document])
        changes.append(time.perf_counter() - start)
        start = time.perf_counter()
        index.search(fields[TITLE].split(" ")[0][:2], 10)
        firsts.append(time.perf_counter() - start)
    return {
        "change_ms": statistics.median(changes) * 1000,
        "first_search_after_ms": statistics.median(firsts) * 1000,
    }


def measure_indexing(notes: int) -> dict[str, float]:
    """Return the seconds from texts to a searchable index, by step."""
    given = list(texts(notes, seed=4))
    segmentation.tokens("预热分词")
    start = time.perf_counter()
    stored = [(note_id, postings_of(fields)) for note_id, fields in given]
    segmented = time.perf_counter()
    index = LexicalIndex.loaded(
        LexicalDocument(note_id, KIND_ROOT, note_id, decode(text)) for note_id, text in stored
    )
    loaded = time.perf_counter()
    return {
        "indexed_notes": index.count(),
        "segment_seconds": segmented - start,
        "decode_and_load_seconds": loaded - segmented,
        "index_seconds": loaded - start,
        "index_over_limit": (loaded - start) / INDEX_LIMIT_SECONDS,
        "stored_bytes_per_note": sum(len(text.encode()) for _, text in stored) / notes,
    }


def memory_mb(index: LexicalIndex) -> float:
    """Return what arrays and terms take."""
    size = 0
    for segment in index.segments:
        core = segment.core
        arrays = (*core.entries, core.starts, core.documents.ids, core.documents.lengths)
        size += sum(array.nbytes for array in arrays)
        size += sum(map(sys.getsizeof, core.vocabulary.terms))
        size += sys.getsizeof(core.vocabulary.terms)
    return size / 2**20


def peak_mb() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--indexed", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure_search(arguments.notes) | measure_indexing(arguments.indexed)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"  {name:24} {value:12.3f}")


if __name__ == "__main__":
    main()

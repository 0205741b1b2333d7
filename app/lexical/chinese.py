"""Chinese words by jieba's dictionary.

Owns the loaded dictionary and its cache file; the one place that imports jieba. Must not know
tokens or queries.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

Span = tuple[int, int]

SHORTEST_LONG_WORD = 3
"""Words of two characters are pairs, which are tokens in any case."""


class Dictionary:
    """jieba's dictionary, loaded at the first use or by ``warm``: about a second and 70 MB.

    With a folder the parsed dictionary is kept there as ``jieba-<version>.cache``, readable by
    this user only; without one nothing is written.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._lock = Lock()
        self._tokenizer: Any = None

    def configure(self, folder: Path) -> None:
        """Keep the cache in this folder; what is already loaded stays."""
        self._folder = folder

    def warm(self) -> None:
        """Load the dictionary now."""
        self._loaded()

    def long_words(self, run: str) -> list[Span]:
        """Return where words of three or more characters lie in a run of Han.

        Every such word of the dictionary, wherever it stands: a segmentation would choose by the
        text around it, so that a query would miss what a note holds. Linear in the run's length.
        """
        if len(run) < SHORTEST_LONG_WORD:
            return []
        ends_by_start: dict[int, list[int]] = self._loaded().get_DAG(run)
        return [
            (start, last + 1)
            for start, lasts in ends_by_start.items()
            for last in lasts
            if last + 1 - start >= SHORTEST_LONG_WORD
        ]

    def begins_word(self, beginning: str) -> bool:
        """Tell whether a word of the dictionary begins so, or is that."""
        return beginning in self._loaded().FREQ

    def _loaded(self) -> Any:
        if self._tokenizer is None:
            with self._lock:
                if self._tokenizer is None:
                    self._tokenizer = _load(self._folder)
        return self._tokenizer


def _load(folder: Path | None) -> Any:
    jieba = _import_jieba()
    tokenizer = jieba.Tokenizer()
    if folder is None:
        # jieba's own loading would write to a guessable file in the shared temporary folder.
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
        return tokenizer
    tokenizer.tmp_dir = str(folder)
    tokenizer.cache_file = f"jieba-{jieba.__version__}.cache"
    tokenizer.initialize()
    return tokenizer


def _import_jieba() -> ModuleType:
    with warnings.catch_warnings():
        # Its patterns have invalid escapes, and it imports the deprecated pkg_resources.
        warnings.simplefilter("ignore")
        module = importlib.import_module("jieba")
    logger = logging.getLogger("jieba")
    # It logs every load to stderr. A cache that cannot be written only costs time.
    logger.handlers.clear()
    logger.setLevel(logging.CRITICAL)
    return module


DICTIONARY = Dictionary()
"""The dictionary of this process."""

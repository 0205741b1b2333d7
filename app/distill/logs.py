"""Lines that machines wrote: logs, traces, listings.

Owns what tells them from prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MOST_ALIKE = 5
"""Lines of one shape; so many do not occur in what people write."""

_NUMBERS = re.compile(r"[0-9][0-9a-fx.,:]*")
_LOG_LINE = re.compile(
    r"""^\s*(?:
        \[?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d            # a time stamp
      | \[?\d\d:\d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|NOTICE)\]?[\s:\[]
      | [A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d           # syslog
      | at\s+[\w$.<>\[\]\ /@-]+\(.*\)                     # a frame of JavaScript or Java
      | at\s+[\w./@-]+:\d+:\d+
      | File\s"[^"]+",\sline\s\d+
      | Traceback\ \(most\ recent
      | goroutine\ \d+
      | \s*\d+:\s+0x[0-9a-f]+
      | (?:npm|yarn|pnpm)\ (?:ERR!|WARN|error|warn)
      | \d{1,3}(?:\.\d{1,3}){3}\s-\s                      # an access log
      | (?:PASS|FAIL|ok|PASSED|FAILED)\s+[\w./:-]+
      | [-+]{3}\s[ab]/ | @@\s-\d | diff\ --git
      | [drwx-]{10}\s
      | [\w./-]+:\d+(?::\d+)?:?\s+(?:error|warning|note)\b
      | \$\s\S | >>>\s | \|\s*\d+\s\|
      | [=.\-_*~#]{6,}
    )""",
    re.VERBOSE,
)
_WORDS = re.compile(r"[^\W\d_]{2,}")
_SYMBOLS = re.compile(r"[{}()\[\];=<>|&\\$]")
_HEX = re.compile(r"\b[0-9a-f]{8,}\b")


def is_log_line(line: str) -> bool:
    """Tell whether a line is a machine's and not a person's."""
    if _LOG_LINE.match(line):
        return True
    stripped = line.strip()
    if len(stripped) < 40:
        return False
    symbols = len(_SYMBOLS.findall(stripped)) + 4 * len(_HEX.findall(stripped))
    return symbols * 10 > len(stripped) and stripped[-1] not in ".?!。？！"


def repeated_shapes(lines: Sequence[str]) -> frozenset[str]:
    """Return the shapes that so many lines have, numbers apart, that only a machine wrote them."""
    counts = Counter(shape_of(line) for line in lines if len(line.strip()) > 3)
    return frozenset(shape for shape, count in counts.items() if count >= MOST_ALIKE)


def shape_of(line: str) -> str:
    """Return a line without its numbers."""
    return _NUMBERS.sub("0", line.strip())


def is_wordless(text: str) -> bool:
    """Tell whether a text has no word."""
    return _WORDS.search(text) is None

"""Error signatures: what of an error message stays the same at its next occurrence.

Owns how messages are found and what in them is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.distill.cues import PROBLEM
from app.text import HAN_RANGES, HAN_RUN

MOST_SIGNATURES = 6
LONGEST_SIGNATURE = 160
LEAST_SIGNATURE = 5
_EMPTY = ("error", "errors", "warning", "exception", "failed")

_MESSAGE = r"(?:\s*:\s*[^\n]{1,160})?"
_ENDINGS = (
    "Error|Exception|Panic|Fault|Warning|Interrupt|Timeout|Violation|Failure|Refused|Denied|"
    "NotFound|Exceeded"
)
_NAMED = re.compile(
    rf"\b(?:[a-zA-Z_][\w$]*[.:]{{1,2}})*[A-Z]\w*(?:{_ENDINGS})\b(?:\s*\[[\w-]+\])?{_MESSAGE}"
)
"""An error by its class, as in ``redis.exceptions.ConnectionError: Too many connections``."""

_ERRNO = (
    "E(?:CONN[A-Z]+|ADDR[A-Z]+|ACCES|PERM|NOENT|EXIST|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOSPC|"
    "MFILE|NFILE|AI_AGAIN|NOTFOUND|RESOLVE|INTEGRITY|BUSY|INVAL|ISDIR|NOTDIR|NOTEMPTY|AGAIN|PROTO|"
    "OTP|USAGE|LOCKED|MSGSIZE|NOMEM|ROFS|XDEV)"
)
_PHRASE = r"(?:\s[A-Z][\w ]{3,40})?"
_CODED = re.compile(
    "|".join(
        (
            rf"\b(?:error|warning|err)\[\w+\]{_MESSAGE}",
            rf"\berror:?\s(?:TS|CS|C|LNK|MSB|NU|AL)\d{{3,5}}\b{_MESSAGE}",
            rf"\b(?:TS|CS|ORA-|LNK|MSB|PLS-|SQL)\d{{3,5}}\b{_MESSAGE}",
            rf"\b(?:{_ERRNO})\b{_MESSAGE}",
            rf"\bERR_[A-Z0-9_]{{3,40}}\b{_MESSAGE}",
            rf"\bSQLSTATE\W{{0,2}}\w{{5}}\b{_MESSAGE}",
            r"\bSIG(?:KILL|SEGV|ABRT|TERM|BUS|ILL|PIPE)\b",
            r"\b(?:errno|exit(?:ed with)?(?: code| status)|exit_code|status code|"
            r"退出码|状态码|错误码)"
            rf"\W{{0,3}}\d{{1,5}}\b{_PHRASE}",
            rf"\bHTTP(?:/\d(?:\.\d)?)?(?: status)?\W{{1,3}}[45]\d\d\b{_PHRASE}",
            r"\b[45]\d\d (?:Bad Gateway|Gateway Time-?out|Internal Server Error|Not Found|"
            r"Forbidden|"
            r"Service Unavailable|Unauthorized|Request Entity Too Large|Payload Too Large|Conflict|"
            r"Too Many Requests|Bad Request|Unprocessable(?: Entity| Content)?|Method Not Allowed|"
            r"Request Timeout)\b",
            r"\b(?:OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|core dumped)\b",
        )
    )
)
"""An error by its code."""

_PREFIXES = (
    r"panic|fatal(?: error)?|FATAL(?: ERROR)?|ERROR|error|Uncaught|Unhandled\w*|E/\w+|npm ERR!|"
    r"nginx: \[emerg\]"
)
_PREFIXED = re.compile(
    rf"(?:^|[`'\"\s(（：:，,])((?:[\w.-]+: )?(?:{_PREFIXES})\s*:\s*[^\n`]{{4,160}})"
)
"""A message after the word that announces it."""

_PHRASES = re.compile(
    "|".join(
        (
            r"(?:fatal error: )?all goroutines are asleep[^\n`]{0,20}",
            "concurrent map (?:writes|read and map write|iteration and map write)",
            "segmentation fault|stack overflow|out of memory|java heap space|database is locked",
            "deadlock detected|too many (?:connections|open files|clients already)",
            "permission denied|no such file or directory|address already in use|broken pipe",
            "connection (?:refused|reset by peer|timed out)|no space left on device",
            "certificate (?:has expired|verify failed)|(?:context )?deadline exceeded",
            "lock wait timeout exceeded|is not a function|is not defined|heap out of memory",
            r"cannot find module [^\n`]{1,60}|module not found[^\n`]{0,60}",
            r"is not assignable to [^\n`]{1,60}|unexpected token [^\n`]{1,40}",
            "maximum call stack size exceeded|maximum update depth exceeded",
            "blocked by CORS policy|client intended to send too large body|upstream timed out",
            "request entity too large|duplicate key value violates unique constraint",
            r"violates foreign key constraint|relation \"?\w+\"? does not exist",
            r"[\w./-]+: command not found|undefined reference to [^\n`]{1,60}|data race",
            "use of moved value|borrowed value does not live long enough",
        )
    ),
    re.IGNORECASE,
)
"""Messages that programs give without any form of their own."""

_QUOTED = re.compile(r"`([^`\n]{4,300})`")
_STOP = re.compile(
    rf"[。；！？]|(?<=[\w)'\"\]])\.(?=\s+[A-Z{HAN_RANGES}])|\s+\(?at [\w./$<>]+[:(]|[`|]"
)
_SENTENCE_END = re.compile(r"\.(?=\s+[A-Z]|$)|[;!?](?=\s|$)")
_HAN_END = re.compile(rf"[，、]?\s*[{HAN_RANGES}]{{2,}}")

_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[a-z][\w+.-]*://[^\s'\"`,)]+", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<address>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"(?:\[[0-9a-f:]{3,}\]|\blocalhost)(?::\d+)", re.IGNORECASE), "<address>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?)?"), "<time>"),
    (re.compile(r"(?:\b[A-Za-z]:\\|(?<![\w<./])\.{0,2}/)[\w.@+~\\/-]*[\w@+~]"), "<path>"),
    (re.compile(r"(?<![\w<./])[\w@.-]+(?:/[\w@.-]+)+\.\w{1,6}\b"), "<path>"),
    (re.compile(r"(?<![\w.#$-])#?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "<id>"),
)
_NUMBER = re.compile(
    r"(?<![\w.$<-])[-+]?\d[\d,]*(?:\.\d+)*(?:ms|s|m|h|kb|mb|gb|kib|mib|gib|b|%)?(?![\w>])",
    re.IGNORECASE,
)
_CODE_BEFORE = re.compile(
    r"(?:code|status|errno|exit|http(?:/<n>)?|error|sqlstate|signal|退出码|状态码|错误码)\W{0,3}$",
    re.IGNORECASE,
)
_STATUS_TEXT = re.compile(r"\s[A-Z][a-z]")


def normalised(message: str) -> str:
    """Replace what changes from one occurrence to the next; codes that name a fault stay.

    Paths become ``<path>``, addresses ``<address>``, numbers ``<n>``, ids ``<id>``, times
    ``<time>`` and URLs ``<url>``.
    """
    text = re.sub(r"\s+", " ", message).strip()
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    text = _NUMBER.sub(lambda match: _number(match, text), text)
    text = _balanced(text[:LONGEST_SIGNATURE].rstrip(" ,;:.-–，。：；"))
    return text


def _number(match: re.Match[str], text: str) -> str:
    digits = match.group()
    before, after = text[: match.start()], text[match.end() :]
    if _CODE_BEFORE.search(before) and len(digits) <= 5:
        return digits
    is_status = len(digits) == 3 and digits[0] in "45" and _STATUS_TEXT.match(after)
    return digits if is_status else "<n>"


def _balanced(text: str) -> str:
    for opening, closing in (("(", ")"), ("[", "]"), ("（", "）")):
        if text.count(closing) > text.count(opening) and text.endswith(closing):
            text = text[:-1]
    if text.count('"') % 2 and text.endswith('"'):
        text = text[:-1]
    return text.strip()


_REPORTED = re.compile(
    r"(?:\b(?:says?|said|saying|with|errors?|message|is|raises?|throws?|gives?|gets?|got|getting|shows?|see|"
    r"sees|prints?|reports?|returns?|logs?|ends with|complains)(?: that)?|:)[:,]?\s+[\"“']?"
    r"([A-Z][^\n\"”`]{10,170})"
)
_QUOTATION = re.compile(r"[\"“]([A-Za-z][^\"”\n]{10,170})[\"”]")
_ASCII_RUN = re.compile(r"[A-Za-z_(\[][\x20-\x7e]{8,200}")
_ANNOUNCED = re.compile(
    r"(?:报错?|提示|抛出?|错误|日志|显示|返回|输出|失败|里?[是有]|说|出现|看到|[：:])[了是有]?"
    r"[：:，, ]*[\"“`']?$"
)
_FAULT_WORDS = PROBLEM | {
    "not",
    "no",
    "closed",
    "called",
    "reached",
    "must",
    "expected",
    "exceed",
    "too",
}


def told_in(line: str) -> Iterator[str]:
    """Yield what a user's line quotes as the words of a program, by no form of its own."""
    if HAN_RUN.search(line):
        for match in _ASCII_RUN.finditer(line):
            is_announced = _ANNOUNCED.search(line[: match.start()]) and ": " in match.group()
            if is_announced or _speaks_of_fault(match.group()):
                yield match.group()
        return
    for pattern in (_QUOTATION, _REPORTED):
        for match in pattern.finditer(line):
            message = _SENTENCE_END.split(match[1], maxsplit=1)[0]
            if _speaks_of_fault(message):
                yield message


def _speaks_of_fault(text: str) -> bool:
    words = re.findall(r"[A-Za-z']+", text)
    return len(words) >= 3 and any(word.lower() in _FAULT_WORDS for word in words)


def signatures_of(texts: Iterable[str], asked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the error signatures that texts name, in their order.

    One that another contains is left out: the longer says more.

    Args:
        asked: What users wrote, in which unusual messages are sought as well.
    """
    spelled: dict[str, str] = {}
    told = (message for text in asked for line in text.split("\n") for message in told_in(line))
    for message in (*told, *(message for text in texts for message in _messages(text))):
        signature = normalised(message)
        if _is_telling(signature):
            spelled.setdefault(signature.lower(), signature)
    whole = [
        signature
        for key, signature in spelled.items()
        if not any(key != other and key in other for other in spelled)
    ]
    return tuple(whole[:MOST_SIGNATURES])


def _is_telling(signature: str) -> bool:
    bare = re.sub(r"<\w+>", "", signature).strip(" :,.-")
    return len(bare) >= LEAST_SIGNATURE and bare.lower() not in _EMPTY


def _messages(text: str) -> Iterator[str]:
    rest = text
    for match in _QUOTED.finditer(text):
        if found := _whole(match[1]):
            yield found
            rest = rest.replace(match.group(), " ")
    for line in rest.split("\n"):
        yield from _of_line(line)


def _whole(quoted: str) -> str | None:
    """Return a text in backticks if it is an error message as a whole."""
    for pattern in (_NAMED, _CODED):
        match = pattern.search(quoted)
        if match:
            return quoted[match.start() :] if match.start() < 40 else match.group()
    match = _PREFIXED.search(quoted)
    if match:
        return match[1]
    return quoted if _PHRASES.search(quoted) and len(quoted) < 140 else None


def _of_line(line: str) -> Iterator[str]:
    taken: list[tuple[int, int]] = []
    for pattern, group in ((_NAMED, 0), (_CODED, 0), (_PREFIXED, 1), (_PHRASES, 0)):
        for match in pattern.finditer(line):
            start, end = match.span(group)
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            yield _ended(match.group(group))


def _ended(message: str) -> str:
    """Cut a message where the sentence around it goes on."""
    head, colon, rest = message.partition(":")
    if not colon:
        return message
    stop = _STOP.search(rest)
    rest = rest[: stop.start()] if stop else rest
    han = _HAN_END.search(rest)
    if han and re.search(r"[A-Za-z]{3}", rest[: han.start()]):
        rest = rest[: han.start()]
    return f"{head}:{rest}" if rest.strip() else head

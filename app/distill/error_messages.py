"""Where the words of programs stand in a text: messages of errors, as they were written.

Owns the forms in which errors come, and where a message ends in the sentence around it. Must not
change a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.distill.cues import PROBLEM
from app.text import HAN_RANGES, HAN_RUN

_LONGEST = 160
MOST_FENCED = 6
"""Lines of a fenced block that is taken for a message as a whole."""

_MESSAGE = r"(?:\s*:\s*[^\n]{1,160})?"
_ENDINGS = (
    "Error|Exception|Panic|Fault|Warning|Interrupt|Timeout|Violation|Failure|Refused|Denied|"
    "NotFound|Exceeded"
)
_WHOLE_LINES = re.compile(
    "|".join(
        (
            r"\bthread '[^'\n]{1,60}' panicked at [^\n]{1,160}",
            r"\bERROR \d{4} \(\w{5}\)[^\n:]{0,20}: [^\n]{1,160}",
            r"\bnginx: \[(?:emerg|alert|crit)\] [^\n`]{4,160}",
            r"\bundefined (?:local variable or )?method [`'][^\n`']{1,60}'[^\n`]{0,100}",
        )
    )
)
"""Errors of a form of their own, to the end of the line."""

_NAMED = re.compile(
    rf"\b(?:[a-zA-Z_][\w$]*[.:]{{1,2}})*[A-Z]\w*(?:{_ENDINGS})\b(?:\s*\[[\w-]+\])?{_MESSAGE}"
)
"""An error by its class, as in ``redis.exceptions.ConnectionError: Too many connections``."""

_ERRNO = (
    "E(?:CONN[A-Z]+|ADDR[A-Z]+|ACCES|PERM|NOENT|EXIST|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOSPC|"
    "MFILE|NFILE|AI_AGAIN|NOTFOUND|RESOLVE|INTEGRITY|BUSY|INVAL|ISDIR|NOTDIR|NOTEMPTY|AGAIN|PROTO|"
    "OTP|USAGE|LOCKED|MSGSIZE|NOMEM|ROFS|XDEV)"
)
_PEER = r"(?:\s(?:[\w.-]{1,80}|\[?::[\w:]{0,40}\]?):\d{2,5})?"
_PHRASE = r"(?:\s[A-Z][\w ]{3,40})?"
_CODED = re.compile(
    "|".join(
        (
            rf"\b(?:error|warning|err)\[\w+\]{_MESSAGE}",
            rf"\berror:?\s(?:TS|CS|C|LNK|MSB|NU|AL)\d{{3,5}}\b{_MESSAGE}",
            rf"\b(?:TS|CS|ORA-|LNK|MSB|PLS-|SQL)\d{{3,5}}\b{_MESSAGE}",
            rf"\b(?:{_ERRNO})\b{_PEER}{_MESSAGE}",
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
            r"\b(?:OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull)\b",
        )
    )
)
"""An error by its code."""

_PREFIXES = (
    r"panic|PANIC|fatal(?: error)?|FATAL(?: ERROR)?|ERROR|error|Uncaught|Unhandled\w*|E/\w+|"
    r"npm ERR!"
)
_PREFIXED = re.compile(
    rf"(?:^|[`'\"\s(（：:，,])((?:[\w.-]+: )?(?:{_PREFIXES})\s*:\s*[^\n`]{{4,160}})"
)
"""A message after the word that announces it."""

_PHRASES = re.compile(
    "(?:"
    + "|".join(
        (
            r"(?:fatal error: )?all goroutines are asleep[^\n`]{0,20}",
            "concurrent map (?:writes|read and map write|iteration and map write)",
            "segmentation fault|stack overflow|java heap space|database is locked|core dumped",
            r"(?:cuda )?out of memory(?:\. tried to allocate [\d.]{1,10} \w{1,4})?",
            "deadlock detected|too many (?:connections|open files|clients already)",
            "(?:deadlock found when trying to get lock|lock wait timeout exceeded)"
            "(?:; try restarting transaction)?",
            "permission denied|no such file or directory|address already in use|broken pipe",
            "connection (?:refused|reset by peer|timed out)|no space left on device",
            "certificate (?:has expired|verify failed)|(?:context )?deadline exceeded",
            "(?:[a-z_$][\\w$.]{0,60} )?is not (?:a function|defined)|heap out of memory",
            r"(?:\w{1,60} )?is not (?:an object|iterable)|has no attribute '\w{1,60}'",
            r"cannot find module [^\n`]{1,60}|module not found[^\n`]{0,60}",
            r"is not assignable to [^\n`]{1,60}|unexpected token [^\n`]{1,40}",
            "maximum call stack size exceeded|maximum update depth exceeded",
            r"(?:access to \w+ at '[^'\n]{1,120}' from origin '[^'\n]{1,120}' has been )?"
            "blocked by CORS policy",
            "client intended to send too large body|upstream timed out",
            "upstream prematurely closed connection(?: while reading [a-z ]{1,50}upstream)?",
            "(?:mysql )?server has gone away|could not resolve host(?:: [\\w.-]{1,80})?",
            "request entity too large|duplicate key value violates unique constraint",
            r"violates foreign key constraint|relation \"?\w+\"? does not exist",
            r"(?:[\w./-]+: )?command not found(?:: [\w.-]{1,40})?",
            r"undefined reference to [^\n`]{1,60}|data race|symbol\(s\) not found",
            r"assertion failed: [^\n`]{1,100}|(?:jwt|token|signature) (?:has )?expired",
            "use of moved value|borrowed value does not live long enough",
        )
    )
    + r")(?: \([^()\n]{1,60}\))?",
    re.IGNORECASE,
)
"""Messages that programs give without any form of their own."""

_BEFORE = re.compile(
    r"(?:(?:\b(?:Uncaught|Unhandled|connect|listen|code)\s|\b(?:[Ee]rror|ERROR|Warning|fatal|FATAL|"
    r"dyld|ld|terraform|npm ERR!)(?: |: ?)|\bnet::|npm ERR! |\(in promise\) ))+$"
)
"""What stands before an error and belongs to it."""

_QUOTED = re.compile(r"`((?:(?<= )`[^`'\s]{1,80}'|[^`\n]){4,300})`")
_STOP = re.compile(
    rf"`[^`\s]{{1,80}}[`']"
    rf"|(?P<stop>[。；！？]|(?<=[\w)'\"\]])\.(?=\s+(?!Tried to)[A-Z{HAN_RANGES}])"
    r"|\s+\(?at [\w./$<>]+[:(]|[`|])"
)
"""Where a message ends, and short quotations in it, in which it does not."""

_SENTENCE_END = re.compile(r"\.(?=\s+[A-Z]|$)|[;!?](?=\s|$)")
_HAN_END = re.compile(rf"[，、]?\s*[{HAN_RANGES}]{{2,}}")
_TELLING = (
    r"says?|saying|with|errors?|message|raises?|throws?|gives?|gets?|got|getting|shows?|sees?|"
    r"prints?|reports?|returns?|logs?|complains"
)
_REPORTED = re.compile(
    rf"(?:\b(?:{_TELLING}|said|is|ends with)(?: that)?|:)[:,]?\s+[\"“']?"
    r"([A-Z][^\n\"”`]{10,170})"
)
_QUOTATION = re.compile(r"[\"“]([A-Za-z][^\"”\n]{10,170})[\"”]")
_ASCII_RUN = re.compile(r"[A-Za-z_(\[][\x20-\x7e]{8,200}")
_ANNOUNCED = re.compile(
    r"(?:报错?|提示|抛出?|错误|日志|显示|返回|输出|失败|里?[是有]|说|出现|看到|[：:])[了是有]?"
    r"[：:，, ]*[\"“`']?$"
)
_ANNOUNCED_BEFORE_QUOTE = re.compile(
    rf"(?:\b(?:{_TELLING})(?: that)?:?|报错?|提示|抛出?|错误|显示|返回|[：:])"
    r"\s{0,3}$"
)
_FAULT_WORDS = PROBLEM | frozenset(
    ["not", "no", "closed", "called", "reached", "must", "expected", "exceed", "too", "unbound"]
)
_FENCE = re.compile(
    r"^ {0,12}(?:`{3,}|~{3,}) ?(\w*)[^\n]*\n(.*?)^ {0,12}(?:`{3,}|~{3,})", re.M | re.S
)
_LABELS_OF_OUTPUT = ("", "text", "txt", "log", "logs", "console", "output", "plaintext")


def told_in(text: str) -> Iterator[str]:
    """Yield what a user quotes as the words of a program, by no form of its own."""
    for line in text.split("\n"):
        yield from _told_in_line(line)
    for label, body in _FENCE.findall(text):
        lines = [line.strip() for line in body.split("\n") if line.strip()]
        if label.lower() in _LABELS_OF_OUTPUT and len(lines) <= MOST_FENCED:
            yield from (line for line in lines if len(line) <= _LONGEST and _speaks_of_fault(line))


def _told_in_line(line: str) -> Iterator[str]:
    for match in _QUOTED.finditer(line):
        is_announced = _ANNOUNCED_BEFORE_QUOTE.search(line[: match.start()])
        if is_announced and _speaks_of_fault(match[1], least=2):
            yield match[1]
    if HAN_RUN.search(line):
        for match in _ASCII_RUN.finditer(line):
            is_announced = _ANNOUNCED.search(line[: match.start()])
            if (is_announced and ": " in match.group()) or _speaks_of_fault(match.group()):
                yield match.group()
        return
    for pattern in (_QUOTATION, _REPORTED):
        for match in pattern.finditer(line):
            message = _SENTENCE_END.split(match[1], maxsplit=1)[0]
            if _speaks_of_fault(message):
                yield message


def _speaks_of_fault(text: str, least: int = 3) -> bool:
    words = re.findall(r"[A-Za-z']+", text)
    return len(words) >= least and any(word.lower() in _FAULT_WORDS for word in words)


def messages_in(text: str) -> Iterator[str]:
    """Yield the error messages of a text, those in backticks as a whole."""
    rest = text
    for match in _QUOTED.finditer(text):
        if found := _whole(match[1]):
            yield found
            rest = rest.replace(match.group(), " ")
    for line in rest.split("\n"):
        yield from _of_line(line)


def _whole(quoted: str) -> str | None:
    """Return a text in backticks if it is an error message as a whole."""
    for pattern in (_WHOLE_LINES, _NAMED, _CODED):
        match = pattern.search(quoted)
        if match:
            start = _start(quoted, match.start())
            return quoted[start:] if start < 40 else match.group()
    match = _PREFIXED.search(quoted)
    if match:
        return match[1]
    return quoted if _PHRASES.search(quoted) and len(quoted) < 140 else None


def _of_line(line: str) -> Iterator[str]:
    taken: list[tuple[int, int]] = []
    patterns = (
        (_WHOLE_LINES, 0), (_NAMED, 0), (_CODED, 0), (_PREFIXED, 1), (_PHRASES, 0),
    )  # fmt: skip
    for pattern, group in patterns:
        for match in pattern.finditer(line):
            start, end = match.span(group)
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            start = _start(line, start)
            taken.append((start, end))
            yield _ended(line[start:end])


def _start(line: str, start: int) -> int:
    before = _BEFORE.search(line[max(0, start - 40) : start])
    return start - len(before.group()) if before else start


def _ended(message: str) -> str:
    """Cut a message where the sentence around it goes on."""
    colon = message.find(":")
    if colon < 0:
        return message
    stops = (match.start() for match in _STOP.finditer(message) if match["stop"])
    end = next((place for place in stops if place > colon), len(message))
    head, rest = message[:colon], message[colon + 1 : end]
    han = _HAN_END.search(rest)
    if han and re.search(r"[A-Za-z]{3}", rest[: han.start()]):
        rest = rest[: han.start()]
    return f"{head}:{rest}" if rest.strip() else head

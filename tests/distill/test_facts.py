"""Error signatures, files and tags: what is the same at the next occurrence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.distill.files import files_of, is_file, paths_in
from app.distill.signatures import LONGEST_SIGNATURE, normalised, signatures_of
from app.distill.tags import tags_of
from app.distill.turns import Turn
from app.domain.conversations import ToolUse
from tests.distill.talks import POOL, reading


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("KeyError at /srv/app/models/user.py", "KeyError at <path>"),
        ("dial tcp 10.0.0.7:5432: i/o timeout", "dial tcp <address>: i/o timeout"),
        ("task 550e8400-e29b-41d4-a716-446655440000 lost", "task <id> lost"),
        ("allocated 4096 bytes at 0x7ffd2a", "allocated <n> bytes at <address>"),
        ("GET https://api.example.com/v1/users failed", "GET <url> failed"),
        ("process exited with code 137", "process exited with code 137"),
        ("upstream answered 502 Bad Gateway", "upstream answered 502 Bad Gateway"),
        ("error TS2345: Argument of type 'string'", "error TS2345: Argument of type 'string'"),
        ("failed after 3 retries in 5.2s", "failed after <n> retries in <n>"),
    ],
)
def test_what_changes_is_replaced_and_codes_stay(message: str, expected: str) -> None:
    assert normalised(message) == expected


def test_two_occurrences_have_one_signature() -> None:
    first = "ConnectionError: host 10.1.2.3:6379 refused after 12 tries (/var/log/a.log)"
    second = "ConnectionError: host 10.9.9.9:6380 refused after 3 tries (/var/log/b/c.log)"
    assert normalised(first) == normalised(second)


@given(st.text(max_size=400))
def test_a_signature_is_short_and_final(text: str) -> None:
    once = normalised(text)
    assert len(once) <= LONGEST_SIGNATURE
    for signature in signatures_of([text], [text]):
        assert len(signature) <= LONGEST_SIGNATURE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It dies with `ValueError: bad literal 'x'`. Help!", "ValueError: bad literal 'x'"),
        (
            "we see java.lang.IllegalStateException: closed",
            "java.lang.IllegalStateException: closed",
        ),
        ("npm stops: Error: connect ECONNREFUSED 127.0.0.1:80", "connect ECONNREFUSED <address>"),
        ("线上报错 Data too long for column 'name' at row 1，怎么办", "Data too long for column"),
        ('git says "cannot lock ref refs/heads/main" again', "cannot lock ref refs/heads/main"),
        ("psql: FATAL: role does not exist", "FATAL: role does not exist"),
        ("error[E0382]: use of moved value: `x`", "error[E0382]: use of moved value: `x`"),
        (
            "It logs `undefined method `url' for nil:NilClass` twice",
            "method `url' for nil:NilClass",
        ),
        ("core: Segmentation fault (core dumped)", "Segmentation fault (core dumped)"),
        ("Uncaught TypeError: a is null", "Uncaught TypeError: a is null"),
        ("nginx: [emerg] bind() to 0.0.0.0:80 failed", "nginx: [emerg] bind() to <address> failed"),
        ("ssh answers `Permission denied (publickey)` now", "Permission denied (publickey)"),
        (
            "thread 'main' panicked at 'called `unwrap()` on `None`'",
            "thread 'main' panicked at 'called `unwrap()` on `None`'",
        ),
        ("ERROR 2006 (HY000): MySQL server has gone away", "ERROR 2006 (HY000): MySQL server has"),
        ("Then:\n```\npod has unbound volume claims\n```", "pod has unbound volume claims"),
        ("The client says `token expired`.", "token expired"),
    ],
)
def test_errors_are_found_in_what_users_write(text: str, expected: str) -> None:
    found = signatures_of([text], [text])
    assert any(expected in signature for signature in found), found


@pytest.mark.parametrize(
    "text",
    [
        "All tests pass.",
        "ENGINE=InnoDB DEFAULT CHARSET=utf8",
        "HTTP/2 is on",
        "请看 Vue 3 + pinia",
        "Run `npm run slow-test` and set `retry_timeout`",
        "```python\nif not closed: too_slow()\n```",
    ],
)
def test_no_error_is_made_up(text: str) -> None:
    assert signatures_of([text], [text]) == ()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("app/main.py", True),
        ("Dockerfile", True),
        (".gitignore", True),
        ("src/app.log", True),
        ("app.log", False),
        ("Node.js", False),
        ("e.g", False),
        ("v1.2", False),
        ("user.service", False),
    ],
)
def test_files_are_told_from_words(word: str, expected: bool) -> None:
    assert is_file(word) is expected


def test_addresses_are_no_files() -> None:
    assert paths_in("see https://example.com/a/b.html and src/c.ts:14") == ["src/c.ts"]


def test_edited_files_come_first_and_are_relative() -> None:
    turns = (
        Turn("user", "Look at README.md and README.md and app/api.py, also /usr/lib/x.py"),
        Turn("assistant", "", (ToolUse("Edit", "/home/dev/shop/app/deep/core.py", ""),)),
        Turn("assistant", "core.py is done"),
    )
    assert files_of(turns, "/home/dev/shop") == ("app/deep/core.py", "README.md", "app/api.py")


def test_a_folder_that_is_called_as_its_project_stays_in_a_path() -> None:
    turns = (Turn("user", "look at billing/jobs.py"),)
    assert files_of(turns, "billing") == ("billing/jobs.py",)


def test_names_are_known_by_the_words_that_they_join() -> None:
    assert "elasticsearch" in tags_of("mapper_parsing_exception: failed", "", [], [])
    assert "react" in tags_of("", "", [], ["src/List.tsx"])


def test_tags_are_languages_frameworks_and_recurring_names() -> None:
    told = "In FastAPI the Redis client; `get_session` leaks, call `get_session` once. Redis!"
    found = tags_of(told, "", ["python"], ["app/db.py"])
    assert found[0] == "python"
    assert {"redis", "fastapi", "get_session"} <= set(found)


def test_everyday_words_are_no_tags() -> None:
    assert tags_of("Let it go, we will see what comes next and express it", "", [], []) == ()


def test_a_reading_has_all_facts() -> None:
    found = reading(*POOL)
    assert found.files[0] == "export/writer.py"
    assert "python" in found.tags
    assert found.error_signatures == ("OSError: [Errno 24] Too many open files",)

"""Texts and files that nobody would send but somebody does: strategies and known bombs.

Owns what they are. What becomes of them is for the tests of each part, and for ``benchmarks.soak``,
which draws more of them.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from hypothesis import strategies as st

LONG = 100_000

ANY_CHARACTER = st.characters(exclude_categories=())
"""Controls, unassigned ones and halves of pairs included."""

ODD_CHARACTERS = st.sampled_from(
    "\x00\x01\x1b\x7f\x85\u00ad\u0300\u0489\u061c\u180e\u200b\u200d\u202a\u202e\u2028\u2029\u2066"
    "\u2069\u3000\ufeff\ufff9\ufffd\uffff\U0001f469\U0001f3fd\U000e0041\U0010ffff\ud800\udfff"
    "ßİıŉǰΐﬁ㌔㍿𠮷中文字 \t\r\n[](){}<>*_`~#|\\/-=+.:;!?&%$@\"'"
)


def _lengthened(piece: str) -> str:
    return (piece * (LONG // len(piece) + 1))[:LONG]


SHORT_TEXTS = st.one_of(
    st.text(ANY_CHARACTER, max_size=60), st.text(ODD_CHARACTERS, min_size=1, max_size=200)
)
LONG_TEXTS = st.one_of(
    st.text(ODD_CHARACTERS, min_size=1, max_size=12), st.text(ANY_CHARACTER, min_size=1, max_size=4)
).map(_lengthened)

BOMBS: dict[str, str] = {
    name: _lengthened(piece)
    for name, piece in {
        "letters": "a",
        "words": "ab ",
        "different words": "".join(f"w{number} " for number in range(20_000)),
        "digits": "1",
        "han": "数据库连接池",
        "one han": "龘",
        "kana": "データベース",
        "hangul": "데이터베이스",
        "thai": "ฐานข้อมูล",
        "marks": "a\u0300\u0301\u0489",
        "marks alone": "\u0489",
        "bidi": "\u202e\u2066a\u2069",
        "joined emoji": "\U0001f469\u200d",
        "flags": "\U0001f1e9\U0001f1ea",
        "identifiers": "fooBar_baz-9.",
        "paths": "/a/b.py:1",
        "errors": 'TypeError: x\n  File "a", line 1\n',
        "wiki links": "[[a|b#c]]",
        "open wiki links": "[[",
        "open brackets": "[",
        "open images": "![",
        "links": "[a](b)",
        "open links": "[a](",
        "nested brackets": "[](",
        "backticks": "`",
        "uneven backticks": "`` ` ",
        "fences": "```\n",
        "tildes": "~~~~ a\n",
        "stars": "*",
        "uneven stars": "**a *",
        "underscores": "_a__",
        "angles": "<",
        "comments": "<!--",
        "tags": "<a b='c'>",
        "entities": "&amp",
        "addresses": "https://a.b/",
        "quotes": "> ",
        "quoted lines": "> a\n",
        "lists": "- ",
        "numbered": "1. a\n",
        "tables": "|a|b\n|-|-\n",
        "headings": "# a\n",
        "deep headings": "#",
        "hashes": "#a/b ",
        "rules": "---\n",
        "lines": "\n",
        "returns": "\r",
        "blanks": " ",
        "tabs": "\t",
        "backslashes": "\\",
        "percents": "%",
        "references": "[a]: b\n",
        "footnotes": "[^1]",
        "nul": "\x00",
        "halves of pairs": "\ud800",
        "unassigned": "\U0010ffff",
        "capitals": "İSTANBUL ",
        "ligatures": "ﷺ",
    }.items()
}

FRONT_MATTERS: dict[str, bytes] = {
    "laughs": b"---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (new, new, b",".join([b"*%c" % old] * 9))
        for old, new in zip(b"abcdefgh", b"bcdefghi", strict=True)
    )
    + b"tags: *i\n---\ntext",
    "a cycle": b"---\ntags: &a [x, *a]\naliases: &b {b: *b}\ntitle: *a\n---\ntext",
    "a list without end": b"---\ntags: " + b"[" * 20_000 + b"\n---\ntext",
    "a mapping without end": b"---\n" + b"{a: " * 20_000 + b"\n---\ntext",
    "deep by indentation": b"---\n"
    + b"".join(b" " * depth + b"a:\n" for depth in range(1_500))
    + b"---\n",
    "merges": b"---\na: &a {x: 1}\n" + b"<<: *a\n" * 2_000 + b"---\ntext",
    "a merge of itself": b"---\na: &a\n  <<: *a\n  title: x\n---\ntext",
    "many keys": b"---\n" + b"".join(b"k%d: v\n" % n for n in range(20_000)) + b"---\ntext",
    "python objects": b"---\ntitle: !!python/object/apply:os.system ['true']\n---\ntext",
    "odd types": b"---\ntitle: [1]\ntags: {a: 1}\naliases: 2026-01-01\ndate: .nan\n---\ntext",
    "huge number": b"---\ntitle: " + b"9" * 20_000 + b"\n---\ntext",
    "sexagesimal": b"---\ntitle: " + b"1:" * 20_000 + b"1\n---\ntext",
    "odd dates": b"---\ncreated: 9999-99-99\ndate: 0000-00-00 99:99:99\n---\ntext",
    "never closed": b"---\ntitle: x\n" + b"a: b\n" * 20_000,
    "binary": b"---\ntitle: !!binary AAAA\n---\n\x00\xff",
    "only markers": b"---\n---\n---\n---\n",
    "a bom": b"\xef\xbb\xbf---\ntitle: x\n---\ntext",
    "documents": b"---\ntitle: x\n--- \ntitle: y\n...\n---\ntext",
    "tabs": b"---\n\ttitle:\tx\n---\ntext",
}

INDEXES: dict[str, bytes] = {
    "empty": b"",
    "cut": b'{"version":1,"items":[{"id":"a","vector":[0.1,',
    "no list": b'{"version":1,"items":{"a":1}}',
    "nesting": b'{"items":' + b"[" * 20_000,
    "deep objects": b'{"items":' + b'{"a":' * 20_000,
    "numbers": b'{"items":[{"id":1,"metadata":{"noteId":1,"chunkIndex":0},"vector":['
    + b"9" * 50_000
    + b"]}]}",
    "exponents": b'{"items":[{"id":"a","metadata":{"noteId":1,"chunkIndex":0},'
    b'"vector":[1e999,-1e999]}]}',
    "texts": b'{"items":[{"id":"a","metadata":{"noteId":"1","chunkIndex":"x"},"vector":"no"}]}',
    "nulls": b'{"items":[null,1,"a",[],{},{"vector":null},{"metadata":null,"vector":[]}]}',
    "other encoding": '{"items":[]}'.encode("utf-16"),
    "bytes": b"\xff\xfe\x00\x01" * 1_000,
    "twice": b'{"items":[]}{"items":[]}',
    "a long key": b'{"' + b"k" * 200_000 + b'":1,"items":[]}',
    "huge ids": b'{"items":[{"id":"a","metadata":{"noteId":99999999999999999999999,'
    b'"chunkIndex":-5},"vector":[1,2]}]}',
}

Damage = Callable[[Path, random.Random], None]


def cut(path: Path, chance: random.Random) -> None:
    """Cut a file off."""
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])


def flip(path: Path, chance: random.Random) -> None:
    """Change some bytes of a file."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 40)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    path.write_bytes(content)


def blot(path: Path, chance: random.Random) -> None:
    """Write over a piece of a file."""
    content = bytearray(path.read_bytes())
    start = chance.randrange(len(content))
    content[start : start + 3_000] = chance.randbytes(3_000)
    path.write_bytes(content)


DAMAGES: dict[str, Damage] = {"cut": cut, "flip": flip, "blot": blot}

ODD_CELLS: tuple[object, ...] = (
    None, -1, 2**63 - 1, 1e308, "", "\x00", "[", "[[", json.dumps([[["x"]]]), "{}", "null", "NaN",
    "[" * 50_000, b"\xff\xfe", "x" * 200_000, "2026-99-99", "\ud7ff中", "[1,null,{}]",
)  # fmt: skip


def spoil_cells(database: Path, chance: random.Random) -> None:
    """Put odd values into cells of a SQLite file, wherever they are taken."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        listed = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        tables = [row[0] for row in listed]
        for _ in range(30):
            table = chance.choice(tables)
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            column, value = chance.choice(columns), chance.choice(ODD_CELLS)
            # An id that is no number is not taken.
            with suppress(sqlite3.IntegrityError):
                connection.execute(
                    f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid IN"
                    f" (SELECT rowid FROM {table} LIMIT 3 OFFSET {chance.randrange(40)})",
                    (value,),
                )
        connection.commit()

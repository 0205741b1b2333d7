"""Files as notes: encodings, other kinds of files, chat logs and PDFs, and what is refused."""

from __future__ import annotations

import gzip
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.importers.markdown.chat import LARGEST_UNPACKED, read_chat
from app.importers.markdown.decoding import decode
from app.importers.markdown.reading import LONGEST_TEXT, RefusedFile, read_note

ZH = "数据库连接池在高峰期被耗尽，大量请求超时。"
TEXTS = {
    "utf-8": ZH,
    "utf-8-sig": ZH,
    "utf-16": ZH,
    "utf-16-le": "plain text without a mark",
    "utf-32": ZH,
    "gbk": ZH,
    "gb18030": "笔记",
    "big5": "資料庫連線池在尖峰時段被耗盡，大量請求逾時。",
    "shift_jis": "データベースの接続プールが枯渇しました。",
    "euc_jp": "データベースの接続プールが枯渇しました。",
    "euc_kr": "데이터베이스 연결 풀이 고갈되었습니다",
    "cp1252": "Café déjà vu — naïve “quotes”",
    "cp1251": "Пул соединений с базой данных исчерпан",
    "ascii": "",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_the_encoding_is_found(encoding: str) -> None:
    assert decode(TEXTS[encoding].encode(encoding)) == TEXTS[encoding]


NO_TEXTS = {
    "zeros": b"\x00" * 100,
    "noise": bytes((n * 7919 + n * n * 31) % 256 for n in range(5_000)),
    "controls": b"\x01\x02\x03\x04" * 50,
    "cut utf-16": b"\xff\xfea",
    "cut utf-8 mark": b"\xef\xbb\xbf\xff\xff",
}


@pytest.mark.parametrize("data", NO_TEXTS.values(), ids=NO_TEXTS)
def test_bytes_that_are_no_text(data: bytes) -> None:
    assert decode(data) is None
    with pytest.raises(RefusedFile, match="encoding"):
        read_note("a/note.md", data)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    text = decode(data)
    assert text is None or isinstance(text, str)
    assert read_note("data.bin", data).title == "data.bin"


def test_a_markdown_file() -> None:
    data = "---\ntitle: 标题\naliases: [A]\ntags: [x]\ncreated: 2024-01-02\n---\nProse #y".encode()
    note = read_note("a/file.md", data)
    assert (note.title, note.aliases, note.tags) == ("标题", ("A",), ("x", "y"))
    assert (note.body, note.summary, note.created_at) == (
        "Prose #y", "Prose #y", "2024-01-02 00:00:00",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/My note.md", "My note"),
        ("a/b.markdown", "b"),
        ("todo.txt", "todo"),
        ("README", "README"),
        ("main.py", "main.py"),
        ("pic.png", "pic.png"),
    ],
)
def test_a_file_without_a_title_is_called_by_its_name(path: str, title: str) -> None:
    assert read_note(path, b"text").title == title


def test_other_text_is_taken_as_code_so_that_nothing_in_it_is_a_mark() -> None:
    note = read_note("src/main.PY", b"# [[no link]] #no-tag\r\n```\nx\n")
    assert note.body == "````py\n# [[no link]] #no-tag\n```\nx\n````"
    assert note.tags == ()


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.bin", "a.zip"])
def test_a_file_without_readable_text_is_found_by_its_name_alone(name: str) -> None:
    data = b"<svg>text</svg>" if name.endswith("svg") else b"\x89PNG\x00\x00\xff"
    note = read_note(f"folder/{name}", data)
    assert (note.title, note.body, note.has_text) == (name, "", False)


def test_a_long_text_that_is_no_markdown_is_cut_and_it_is_said() -> None:
    note = read_note("a.csv", b"1,2\n" * LONGEST_TEXT)
    assert len(note.body) < LONGEST_TEXT + 20
    assert note.warning == "only the first 1000000 characters are taken"


def test_one_long_line_is_read() -> None:
    line = "word " * 500_000
    assert read_note("a.md", line.encode()).body == line


def log(value: Any) -> bytes:
    return gzip.compress(json.dumps(value).encode())


MESSAGES: list[dict[str, Any]] = [
    {"id": "1", "role": "user", "content": "ask"},
    {"id": "2", "role": "assistant", "content": [{"type": "text", "text": "answer"}]},
]
CHATS: dict[str, Any] = {
    "list": MESSAGES,
    "messages": {"title": "T", "messages": MESSAGES},
    "checkpoints": {"checkpoints": [{"messages": MESSAGES[:1]}, {"messages": MESSAGES}]},
    "tree": {"root": {**MESSAGES[0], "children": [{**MESSAGES[1], "children": []}]}},
    "nested message": [{"uuid": "1", "message": MESSAGES[0]}, MESSAGES[1]],
    "parts": [
        {"id": 1, "author": {"role": "user"}, "content": {"parts": ["ask"]}},
        {"id": 2, "author": {"role": "assistant"}, "content": {"parts": ["answer"]}},
    ],
}


@pytest.mark.parametrize("value", CHATS.values(), ids=CHATS)
@pytest.mark.parametrize("is_packed", [True, False], ids=["packed", "plain"])
def test_a_chat_log_has_each_message_once(value: Any, is_packed: bool) -> None:
    data = log(value) if is_packed else json.dumps(value).encode()
    note = read_note("logs/talk.chat", data)
    assert note.body == "## user\n\nask\n\n## assistant\n\nanswer"
    assert note.title == ("T" if "title" in value else "talk")


def test_lines_are_a_log_as_well() -> None:
    text = "\n".join(json.dumps(message) for message in [*MESSAGES, {"broken": True}, *MESSAGES])
    assert [each.text for each in read_chat(text + "\n{").messages] == ["ask", "answer"]


def test_a_message_that_is_repeated_stands_first_and_reads_last() -> None:
    later = [{"id": "1", "role": "user", "content": "asked better"}]
    chat = read_chat(json.dumps([*MESSAGES, *later]))
    assert [each.text for each in chat.messages] == ["asked better", "answer"]


def test_messages_without_ids_all_stay() -> None:
    said = [{"role": "user", "content": "yes"}] * 3
    assert len(read_chat(json.dumps(said)).messages) == 3


def test_a_log_of_no_known_form_is_taken_as_it_stands() -> None:
    assert "hello" in read_note("a.chat", gzip.compress(b"hello there")).body


def test_a_log_in_several_packed_parts_is_one() -> None:
    data = gzip.compress(b'[{"id":"1","role":"user",') + gzip.compress(b'"content":"ask"}]')
    assert read_note("a.chat", data).body == "## user\n\nask"


REFUSED_LOGS = {
    "bomb": (gzip.compress(b"0" * (LARGEST_UNPACKED + 1)), "unpacks to more than 10 MB"),
    "many bombs": (gzip.compress(b"0" * 6_000_000) * 2, "unpacks to more than 10 MB"),
    "cut off": (log(MESSAGES)[:-9], "cut off"),
    "damaged": (b"\x1f\x8b" + b"\xff" * 40, "damaged"),
}


@pytest.mark.parametrize(("data", "reason"), REFUSED_LOGS.values(), ids=REFUSED_LOGS)
def test_a_log_that_cannot_be_unpacked_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(RefusedFile, match=reason):
        read_note("a.chat", data)


def test_a_log_that_is_nested_without_end_is_taken_as_it_stands() -> None:
    note = read_note("a.chat", gzip.compress(b"[" * 100_000))
    assert note.body.startswith("```\n[[[")


def document(*pages: str) -> bytes:
    """A PDF with one line of text a page, written by hand."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        drawn = f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode() if text else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        len(data),
    )
    return data + head + table + tail


def test_a_pdf_is_read_by_its_text_layer() -> None:
    note = read_note("papers/paper.pdf", document("First page", "Second page"))
    assert (note.title, note.body, note.has_text) == (
        "paper.pdf", "First page\n\nSecond page", True,
    )  # fmt: skip


def test_a_pdf_without_text_is_found_by_its_name() -> None:
    note = read_note("scan.pdf", document(""))
    assert (note.title, note.has_text, note.warning) == ("scan.pdf", False, None)


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 broken", document("x")[:200]], ids=len)
def test_a_damaged_pdf_is_found_by_its_name_and_it_is_said(data: bytes) -> None:
    note = read_note("bad.pdf", data)
    assert (note.title, note.has_text) == ("bad.pdf", False)
    assert note.warning == "only its name is found: it is damaged or encrypted"


def test_without_the_extra_a_pdf_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    note = read_note("paper.pdf", document("text"))
    assert (note.title, note.body, note.has_text) == ("paper.pdf", "", False)

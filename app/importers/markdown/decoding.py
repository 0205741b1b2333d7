"""Turns bytes of unknown encoding into text.

Owns which encodings are tried in which order. UTF-8 and what a byte order mark names come first;
then those of Chinese, Japanese, Korean and Western texts, told apart by the characters that they
are mostly made of, for which a short note is enough; then a guess over all others.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from charset_normalizer import from_bytes

from app.text import HAN_RANGES

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 20_000
"""Bytes that are looked at to tell encodings apart."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile(f"[{HAN_RANGES}]")
_LETTER = re.compile(r"[^\W\d_]")
_WESTERN = set(
    "àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØŒÙÚÛÜŸ“”‘’„–—…€£§©®°«»·•¡¿ªº\xa0"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_MOST_CONTROLS = 0.01


def decode(data: bytes) -> str | None:
    """Return the text that the bytes stand for, None when they are no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text(_decoded(data, encoding))
    if b"\x00" not in data[:_SAMPLE] and (text := _decoded(data, "utf-8")) is not None:
        return _text(text)
    return _text(_recognised(data) or _guessed(data))


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _text(text: str | None) -> str | None:
    if text is None:
        return None
    sample = text[:_SAMPLE]
    if len(_CONTROLS.findall(sample)) > _MOST_CONTROLS * len(sample):
        return None
    return text.removeprefix("\ufeff")


def _recognised(data: bytes) -> str | None:
    if b"\x00" in data[:_SAMPLE]:
        return None
    for encoding, is_likely in _TESTS:
        text = _decoded(data, encoding)
        if text is not None and is_likely(text[:_SAMPLE]):
            return text
    return None


def _is_korean(text: str) -> bool:
    # Two or three characters read well in either; they are rather Chinese here.
    return len(_letters(text)) > 3 and _share(_HANGUL, text) >= 0.95


def _is_japanese(text: str) -> bool:
    return _share(_KANA, text) >= 0.2 and _share(_KANA, text) + _share(_HAN, text) >= 0.8


def _is_simplified(text: str) -> bool:
    return _share_of_common(text, "gb2312", (0xB0A1, 0xD7FE)) >= 0.9


def _is_traditional(text: str) -> bool:
    return _share_of_common(text, "big5", (0xA440, 0xC67E)) >= 0.9


def _is_western(text: str) -> bool:
    beyond = _NOT_ASCII.findall(text)
    is_rare = 3 * len(_letters(text)) <= len(_LETTER.findall(text))
    return is_rare and all(each in _WESTERN for each in beyond)


def _share(wanted: re.Pattern[str], text: str) -> float:
    return len(wanted.findall(text)) / max(1, len(_letters(text)))


def _letters(text: str) -> list[str]:
    """Return what decides: characters beyond ASCII, full-width punctuation excepted."""
    return [each for each in _NOT_ASCII.findall(text) if each.isalpha()]


def _share_of_common(text: str, encoding: str, common: tuple[int, int]) -> float:
    """Return the share of characters in the part of an encoding that has the frequent ones."""
    letters = _letters(text)
    codes = (int.from_bytes(each.encode(encoding, "ignore")) for each in letters)
    first, last = common
    return sum(first <= code <= last for code in codes) / max(1, len(letters))


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("euc_kr", _is_korean),
    ("shift_jis", _is_japanese),
    ("euc_jp", _is_japanese),
    ("gb18030", _is_simplified),
    ("big5", _is_traditional),
    ("cp1252", _is_western),
)


def _guessed(data: bytes) -> str | None:
    best = from_bytes(data).best()
    return None if best is None else _decoded(data, best.encoding)

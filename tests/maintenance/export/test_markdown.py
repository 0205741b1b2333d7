"""A folder of Markdown: pages, names, links."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.factory import Application
from app.maintenance.export.names import file_stem, project_folders, wiki_link
from app.maintenance.export.pages import page
from tests.maintenance.export.library import export, rows_of

PAGE = """---
title: "手写的笔记 🎉 [a|b]"
aliases: ["别名", "a, b"]
tags: ["c,c++", "zeta", "alpha", "数据库"]
created: "2026-03-01 10:00:00"
updated: null
project: "知识库"
source: "manual"
external_id: "note:note:1"
---

# 手写的笔记 🎉 [a|b]

第一段

第二段

## Conclusions

- 一
- two
  lines

  and a paragraph
- {"a": [1.5, null]}

## Snippets

说明

````c++
```python
print('`')
```
````

```
plain
```

```json
"bare"
```

# 标题

body

## Relations

- EXTENDS [[edited-memory-2|Edited (memory/)]] (0.25): 说明 of two lines
- SIMILAR_TO [[of-its-own-3]]
"""

NOTE: dict[str, Any] = {
    "id": 1,
    "title": "手写的笔记 🎉 [a|b]",
    "aliases": '["别名", "a, b"]',
    "tags": ("c,c++", "zeta", "alpha", "数据库"),
    "created_at": "2026-03-01 10:00:00",
    "updated_at": None,
    "project_name": "知识库",
    "source": "manual",
    "external_id": None,
    "conversation_id": "note:1",
    "summary": "第一段\n\n第二段",
    "body": "# 标题\n\nbody\n",
    "key_conclusions": json.dumps(["一", "two\nlines\n\nand a paragraph", {"a": [1.5, None]}]),
    "code_snippets": json.dumps(
        [
            {"language": "c++ `x`", "code": "```python\nprint('`')\n```", "description": "说明"},
            {"language": "", "code": "plain\n", "description": 5},
            "bare",
        ]
    ),
}
RELATION: dict[str, Any] = {
    "relation_type": "EXTENDS",
    "title": "Edited [memory|]",
    "slug": None,
    "target_note_id": 2,
    "confidence": 0.25,
    "description": "说明\nof two lines",
}
OTHER: dict[str, Any] = {
    "relation_type": "SIMILAR_TO",
    "title": "",
    "slug": "Of its own",
    "target_note_id": 3,
    "confidence": None,
    "description": None,
}


def test_a_page_holds_everything_of_a_note() -> None:
    assert page(NOTE, [RELATION, OTHER]) == PAGE


def test_a_page_of_nothing_has_no_empty_sections() -> None:
    columns = ("title", "summary", "created_at", "project_name", "source")
    note = dict.fromkeys(NOTE, None) | dict.fromkeys(columns, "") | {"id": 1, "tags": ()}
    assert page(note, []).partition("\n---\n")[2] == "\n#\n"


def test_what_yaml_does_not_print_is_escaped() -> None:
    written = page(NOTE | {"title": 'a"b\\c\x7f\x85\u2028\ufeff\nd'}, [])
    title = written.splitlines()[1].removeprefix("title: ")
    assert title == r'"a\"b\\c\u007f\u0085\u2028\ufeff\nd"'
    assert json.loads(title) == 'a"b\\c\x7f\x85\u2028\ufeff\nd'


@pytest.mark.parametrize(
    ("project", "folder"),
    [
        ("atlas-api", "atlas-api"),
        ("知识库 🎉", "知识库 🎉"),
        ("group/repo", "group-repo"),
        (r"C:\Users\me", "C--Users-me"),
        ('a<b>c"d|e?f*g#h^i[j]', "a-b-c-d-e-f-g-h-i-j-"),
        ("", ""),
        (" . ", ""),
        ("..", ""),
        ("../../etc", "-..-etc"),
        (".git", "git"),
        ("ends. .", "ends"),
        ("a\n\tb\x00\u202ec", "a bc"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("COM\u00b9 .x", "_COM\u00b9 .x"),
        ("console", "console"),
        ("Cafe\u0301", "Caf\u00e9"),
        ("x" * 300, "x" * 80),
        ("库" * 300, "库" * 60),
        ("🎉" * 300, "🎉" * 45),
    ],
)
def test_a_project_has_a_folder_that_every_system_can_hold(project: str, folder: str) -> None:
    assert project_folders([project]) == {project: folder}


def test_projects_that_differ_by_case_alone_share_a_folder() -> None:
    found = project_folders(["Atlas", "ATLAS", "atlas", "a/b", "a:b", "Straße", "STRASSE"])
    assert list(found.values()) == ["Atlas"] * 3 + ["a-b"] * 2 + ["Straße"] * 2


@pytest.mark.parametrize(
    ("title", "slug", "stem"),
    [
        ("Fix: 'a/b' & C++", None, "fix-a-b-c-7"),
        ("数据库 连接池", None, "数据库-连接池-7"),
        ("Über Café", None, "über-café-7"),
        ("Cafe\u0301", None, "café-7"),
        ("हिन्दी", None, "हिन्दी-7"),
        ("🎉 …", None, "note-7"),
        ("", None, "note-7"),
        ("con", None, "con-7"),
        ("title", "../My Slug.md", "my-slug-md-7"),
        ("title", " ", "title-7"),
        ("x" * 300, None, "x" * 80 + "-7"),
        ("库" * 79 + " x", None, "库" * 60 + "-7"),
    ],
)
def test_a_note_has_a_name_that_every_system_can_hold(
    title: str, slug: str | None, stem: str
) -> None:
    assert file_stem(title, slug, 7) == stem


def test_a_link_shows_the_title_without_the_signs_of_links() -> None:
    assert wiki_link("a-1", "a [[b]]|c\nd") == "[[a-1|a ((b))/c d]]"


def test_every_note_is_a_page_and_every_link_leads_to_one(
    filled: Application, tmp_path: Path
) -> None:
    report = export(filled, "markdown", tmp_path / "vault")
    pages = list((tmp_path / "vault").rglob("*.md"))
    stems = [path.stem for path in pages]
    links = [
        link
        for path in pages
        for link in re.findall(r"^- [A-Z_]+ \[\[([^]|]+)", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert report.counts == {
        "notes": len(rows_of(filled, "notes")),
        "relations": len(rows_of(filled, "note_relations")),
    }
    assert len(pages) == len(set(stems)) == report.counts["notes"]
    assert len(links) == report.counts["relations"]
    assert set(links) <= set(stems)


def test_front_matter_says_what_is_stored(awkward: Application, tmp_path: Path) -> None:
    export(awkward, "markdown", tmp_path / "vault")
    found = {}
    for path in (tmp_path / "vault").rglob("*.md"):
        head = path.read_text("utf-8").split("\n---\n")[0].split("\n")[1:]
        facts = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in head}
        found[int(path.stem.rpartition("-")[2])] = facts
    for note in rows_of(awkward, "notes"):
        facts = found[note["id"]]
        assert facts["title"] == note["title"]
        assert facts["updated"] == note["updated_at"]
        assert facts["aliases"] == note["aliases"]


def test_a_note_without_a_project_lies_beside_the_folders(
    awkward: Application, tmp_path: Path
) -> None:
    export(awkward, "markdown", tmp_path / "vault")
    assert [path.name for path in (tmp_path / "vault").glob("*.md")] == ["note-3.md"]

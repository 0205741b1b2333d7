"""No graph answer depends on the order in which rows came into the database."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, insert, select

from app.db.models import note_links, note_relations
from app.domain.relations import RELATION_TYPES
from app.factory import Application
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

NOTES = 20
WORDS = ("redis", "pool", "连接池", "缓存", "vacuum", "deploy")


def records() -> list[dict[str, object]]:
    """Notes that link to one another, half of them with titles that others have as well."""
    chance = random.Random(7)
    found: list[dict[str, object]] = []
    for number in range(NOTES):
        links = [f"[[folder{n % 3}/note {n}]]" for n in chance.sample(range(NOTES + 3), 3)]
        text = " ".join(chance.choices(WORDS, k=3))
        found += [
            {"type": "conversation", "external_id": f"c{number}", "project_name": "p"},
            {
                "type": "note",
                "external_id": f"n{number}",
                "conversation": f"c{number}",
                "title": f"Title {number % 10}",
                "summary": text,
                "path": f"folder{number % 3}/note {number}.md",
                "tags": sorted(chance.sample(WORDS, 2)),
                "body": f"# {text}\n\n{links[0]} {text}\n\n## More\n\n{links[1]} {links[2]}\n",
            },
        ]
    return found


def relations() -> list[dict[str, object]]:
    chance = random.Random(8)
    ends = [chance.sample(range(1, NOTES + 1), 2) for _ in range(20)]
    return [
        {
            "id": number,
            "source_note_id": source,
            "target_note_id": target,
            "relation_type": RELATION_TYPES[number % 8],
            "confidence": number % 3 / 2,
            "created_by": "manual",
            "created_at": "",
        }
        for number, (source, target) in enumerate(ends, start=1)
    ]


def fill(application: Application, seed: int) -> None:
    """Store the notes under the same ids, and all that hangs on them in another order."""
    chance = random.Random(seed)
    assert not application.importer.import_records(records()).refused
    ids = list(application.batches.everything())
    chance.shuffle(ids)
    for note_id in ids:
        assert not application.batches.embed_many([note_id]).reasons
        application.companions.fill()
    with application.database.write() as connection:
        rows = [dict(row._mapping) for row in connection.execute(select(note_links))]
        connection.execute(delete(note_links))
        chance.shuffle(rows)
        for row in rows:
            del row["id"]
            connection.execute(insert(note_links).values(**row))
        related = relations()
        chance.shuffle(related)
        for row in related:
            connection.execute(insert(note_relations).values(**row))


PATHS = [
    *(f"notes/{{}}/{question}" for question in (
        "connections?hops=3&direction=out",
        "connections?hops=2&direction=in",
        "connections?hops=20&direction=both",
        "backlinks",
        "shared-tags",
        "hidden?limit=7",
        "hidden?deep=true&limit=7",
        "hidden?deep=true&include_linked=true&per_note=1",
        "boosted?q=redis+pool&limit=5",
        "boosted?q=redis&q=vacuum&boost=3",
    )),
    "tags?like=e",
    "tags/notes?tag=redis",
    "notes/resolve?ref=title+{}",
    "notes/resolve?ref=note+{}",
    "notes/resolve?ref=nota+{}",
    "relations/graph?include=links,tags&layout=true",
    "search?ranker=notebrain&q=redis+pool&q=%E7%BC%93%E5%AD%98&limit=20",
]  # fmt: skip


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[FlaskClient]]:
    """Clients of two databases with the same notes, filled in different orders."""
    with ExitStack() as stack:
        provider = stack.enter_context(StubProvider())
        made = []
        for seed in range(2):
            folder: Path = tmp_path_factory.mktemp(f"order{seed}")
            application = stack.enter_context(opened(folder, stub_values(provider)))
            fill(application, seed)
            made.append(application.flask().test_client())
        yield made


@pytest.mark.parametrize("path", PATHS)
def test_every_order_gives_the_same_bytes(clients: list[FlaskClient], path: str) -> None:
    seeds = range(1, NOTES + 1) if "{}" in path else [0]
    for seed in seeds:
        asked = f"/api/{path.format(seed)}"
        first, *others = [client.get(asked) for client in clients]
        assert first.status_code in (200, 404, 409)
        assert {other.get_data() for other in others} == {first.get_data()}, asked

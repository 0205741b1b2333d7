"""`crystal backup` and `crystal restore`: there and back, and what is refused."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import here
from tests.support.application import opened, plant, stub_values
from tests.support.provider import StubProvider


def test_there_and_back(own_data: Path, provider: StubProvider, tmp_path: Path) -> None:
    with opened(own_data, stub_values(provider)) as application:
        plant(application, (0.9, 0.8))
    target = tmp_path / "notes.backup"
    made = here("backup", str(target))
    assert (made.code, made.data["path"], made.data["rows"]["notes"]) == (0, str(target), 2)

    refused = here("restore", str(target))
    assert refused.code == 1
    assert "--force" in refused.error
    back = here("restore", str(target), "--force")
    assert (back.code, back.data["rows"]["notes"]) == (0, 2)
    assert Path(back.data["kept"]).is_file()
    assert here("doctor").code == 0
    again = here("backup", str(target))
    assert (again.code, "exists already" in again.error) == (1, True)


def test_spaces_in_no_use_are_dropped_on_request(own_data: Path, provider: StubProvider) -> None:
    with opened(own_data, stub_values(provider, model="former")) as application:
        plant(application, (0.9, 0.8))
    assert here("reindex", "--prune-spaces").data == {"dropped": {}}
    assert here("reindex").data["embedded"] == 2
    dropped = here("reindex", "--prune-spaces").data["dropped"]
    assert list(dropped) == ["openai/former"]
    assert here("reindex", "--prune-spaces").data == {"dropped": {}}

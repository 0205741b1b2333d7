"""The settings file: what is written is read, in one step, for its owner alone."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ConfigurationError
from app.settings import store
from app.settings.environment import current
from app.settings.store import FILE_NAME
from app.settings.table import SETTINGS

STORABLE = [setting.name for setting in SETTINGS if setting.name != "data_dir"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("settings")


@given(
    values=st.dictionaries(
        st.sampled_from(STORABLE), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_what_is_written_is_read(folder: Path, values: dict[str, str]) -> None:
    store.write(folder, values)
    assert store.read(folder) == values


def test_the_file_is_nested_by_group(tmp_path: Path) -> None:
    store.write(tmp_path, {"embedding.model": "模型", "log.level": "DEBUG", "database_url": "x"})
    assert json.loads((tmp_path / FILE_NAME).read_text("utf-8")) == {
        "database_url": "x", "embedding": {"model": "模型"}, "log": {"level": "DEBUG"},
    }  # fmt: skip
    assert "模型" in (tmp_path / FILE_NAME).read_text("utf-8")


def test_a_file_of_hand_may_hold_numbers_lists_and_nothing(tmp_path: Path) -> None:
    content = {"server": {"port": 80, "allowed_hosts": ["a", "b"]}, "embedding": {"model": None}}
    (tmp_path / FILE_NAME).write_text(json.dumps(content))
    settings = store.load({"data_dir": str(tmp_path)}, {})
    assert settings.server.port == 80
    assert settings.server.allowed_hosts == ("a", "b")
    assert settings.embedding.model == ""


def test_no_file_means_defaults(tmp_path: Path) -> None:
    assert store.read(tmp_path / "nowhere") == {}


@pytest.mark.parametrize("mode", [None, 0o644], ids=["new", "was open to all"])
def test_the_file_is_for_its_owner_alone(tmp_path: Path, mode: int | None) -> None:
    path = tmp_path / FILE_NAME
    if mode is not None:
        path.write_text("{}")
        path.chmod(mode)
    store.write(tmp_path, {"embedding.api_key": "hush"})
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [FILE_NAME]


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    versions = [{"embedding.model": letter * 50_000} for letter in "ab"]
    store.write(tmp_path, versions[0])
    seen: list[dict[str, str]] = []
    finished = threading.Event()

    def read() -> None:
        while not finished.is_set():
            seen.append(store.read(tmp_path))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(100):
        store.write(tmp_path, versions[turn % 2])
    finished.set()
    reader.join()
    assert seen
    assert all(each in versions for each in seen)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        store.write(tmp_path, {"log.level": "DEBUG"})
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        store.write(tmp_path / "file" / "deeper", {"log.level": "DEBUG"})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"embedding": {"modle": "x"}}', "unknown setting: embedding.modle"),
        (b'{"embedding": "x"}', "unknown setting: embedding"),
        (b'{"colour": 1}', "unknown setting: colour"),
        (b'{"data_dir": "/elsewhere"}', "cannot set data_dir"),
        (b"[]", "must hold one JSON object"),
        (b"{", "cannot be read as JSON"),
        (b"", "cannot be read as JSON"),
        (b'{"log": "\xff"}', "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
    ],
    ids=["leaf", "group", "name", "data_dir", "list", "cut", "empty", "no utf-8", "deep"],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(ConfigurationError, match=problem) as caught:
        store.load({"data_dir": str(tmp_path)}, {})
    assert str(tmp_path / FILE_NAME) in caught.value.message


def test_a_bad_value_in_the_file_is_named(tmp_path: Path) -> None:
    store.write(tmp_path, {"server.port": "many"})
    with pytest.raises(ConfigurationError, match=r"Setting server\.port"):
        store.load({"data_dir": str(tmp_path)}, {})


def test_the_order_of_precedence(tmp_path: Path) -> None:
    """What the command line says, then the environment, then the file, then the default."""
    where = {"CRYSTAL_DATA_DIR": str(tmp_path)}
    assert store.load({}, where).server.port == 3721
    store.write(tmp_path, {"server.port": "1"})
    assert store.load({}, where).server.port == 1
    assert store.load({}, where | {"PORT": "2"}).server.port == 2
    assert store.load({}, where | {"PORT": "2", "CRYSTAL_PORT": "3"}).server.port == 3
    assert store.load({"server.port": "4"}, where | {"CRYSTAL_PORT": "3"}).server.port == 4


def test_the_folder_decides_which_file_is_read(tmp_path: Path) -> None:
    for port in ("1", "2", "3"):
        store.write(tmp_path / port, {"server.port": port})
    theirs = {"DATA_DIR": str(tmp_path / "1")}
    assert store.load({}, theirs).server.port == 1
    ours = theirs | {"CRYSTAL_DATA_DIR": str(tmp_path / "2")}
    assert store.load({}, ours).server.port == 2
    loaded = store.load({"data_dir": str(tmp_path / "3")}, ours)
    assert (loaded.server.port, loaded.data_dir) == (3, tmp_path / "3")


def test_the_process_environment_is_read_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CRYSTAL_PORT", "99")
    before = current()
    assert store.load().server.port == 99
    monkeypatch.setenv("CRYSTAL_PORT", "100")
    assert before["CRYSTAL_PORT"] == "99"

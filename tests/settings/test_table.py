"""The table of settings: every row is read, told of, and finds its place in the parsed values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ConfigurationError
from app.settings.kinds import Kind, Setting
from app.settings.table import BY_NAME, SETTINGS
from app.settings.values import (
    EmbeddingSettings,
    Secret,
    ServerSettings,
    Settings,
    SourceSettings,
    parse,
)

NAMES = [setting.name for setting in SETTINGS]
GROUPS = {
    "server": ServerSettings,
    "embedding": EmbeddingSettings,
    "sources": SourceSettings,
}


def value_of(settings: Settings, name: str) -> object:
    """The parsed value of a dotted name."""
    group, _, leaf = name.partition(".")
    held = getattr(settings, group, None) if leaf else None
    if held is None:
        return getattr(settings, name.replace(".", "_"))
    return held[leaf] if isinstance(held, Mapping) else getattr(held, leaf)


def chosen(setting: Setting) -> tuple[str, object]:
    """The last choice that is not the default, and what it is read as."""
    text = next(each for each in reversed(setting.choices) if each != setting.default)
    return text, text == "true" if setting.choices == ("true", "false") else text


SAMPLES: dict[Kind, Callable[[Setting], tuple[str, object]]] = {
    Kind.TEXT: lambda _: ("some text", "some text"),
    Kind.SECRET: lambda _: ("hush", Secret("hush")),
    Kind.INTEGER: lambda setting: (f"{setting.maximum:.0f}", int(setting.maximum)),
    Kind.NUMBER: lambda setting: (f"{setting.maximum}", setting.maximum),
    Kind.LIST: lambda _: (" one , two,,", ("one", "two")),
    Kind.CHOICE: chosen,
}


def sample(setting: Setting) -> tuple[str, object]:
    """A text that is not the default, and what it must be read as."""
    text, expected = SAMPLES[setting.kind](setting)
    return text, Path(text) if setting.name == "data_dir" else expected


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_text_reaches_the_parsed_value_and_no_other(name: str) -> None:
    text, expected = sample(BY_NAME[name])
    default, changed = parse({}, {}), parse({name: text}, {})
    assert value_of(changed, name) == expected
    assert value_of(default, name) != expected
    for other in NAMES:
        if other != name:
            assert value_of(changed, other) == value_of(default, other)


@pytest.mark.parametrize("name", NAMES)
def test_every_variable_of_a_setting_is_read_and_beats_the_file(name: str) -> None:
    setting = BY_NAME[name]
    text, expected = sample(setting)
    for variable in setting.environment:
        assert value_of(parse({}, {variable: text}), name) == expected
        assert value_of(parse({name: setting.default}, {variable: text}), name) == expected
        assert value_of(parse({name: text}, {variable: ""}), name) == expected


@pytest.mark.parametrize(
    "name", [setting.name for setting in SETTINGS if len(setting.environment) > 1]
)
def test_our_own_variable_beats_that_of_the_original(name: str) -> None:
    setting = BY_NAME[name]
    text, expected = sample(setting)
    ours, *theirs = setting.environment
    both = {ours: text} | dict.fromkeys(theirs, setting.default)
    assert value_of(parse({}, both), name) == expected


def test_rows_are_complete() -> None:
    variables = Counter(variable for setting in SETTINGS for variable in setting.environment)
    assert set(variables.values()) == {1}
    assert len(BY_NAME) == len(SETTINGS)
    for setting in SETTINGS:
        assert setting.environment[0].startswith("CRYSTAL_")
        assert setting.help.endswith(".")
        assert (setting.kind is Kind.CHOICE) == bool(setting.choices)
    leaves = {group: {field.name for field in fields(kind)} for group, kind in GROUPS.items()}
    assert leaves == {
        group: {name.removeprefix(f"{group}.") for name in NAMES if name.startswith(f"{group}.")}
        for group in GROUPS
    }


def test_paths_addresses_and_access_cannot_be_set_over_http() -> None:
    """A page that gets through to the API must not reach files, other listeners or tokens."""
    allowed = {setting.name for setting in SETTINGS if setting.over_http}
    assert allowed <= {name for name in NAMES if name.startswith(("embedding.", "llm.", "search."))}


BAD_VALUES = [
    ("server.port", "-1"),
    ("server.port", "65536"),
    ("server.port", "80.0"),
    ("server.port", "http"),
    ("server.port", "9" * 5_000),
    ("server.threads", "0"),
    ("embedding.timeout", "0"),
    ("embedding.timeout", "nan"),
    ("embedding.timeout", "inf"),
    ("embedding.timeout", "soon"),
    ("embedding.provider", "OpenAI"),
    ("embedding.provider", ""),
    ("log.level", "info"),
]


@pytest.mark.parametrize(
    ("name", "text"), BAD_VALUES, ids=[f"{name}-{text[:8]}" for name, text in BAD_VALUES]
)
def test_a_bad_value_is_named_with_what_would_do(name: str, text: str) -> None:
    setting = BY_NAME[name]
    with pytest.raises(ConfigurationError) as caught:
        parse({name: text}, {})
    message = caught.value.message
    assert message.startswith(f"Setting {name} must be ")
    assert repr(text) in message
    if setting.choices:
        assert ", ".join(setting.choices) in message
    else:
        assert f"from {setting.minimum:g} to {setting.maximum:g}" in message


@pytest.mark.parametrize(
    "name",
    [setting.name for setting in SETTINGS if setting.kind in (Kind.INTEGER, Kind.NUMBER)],
)
def test_both_ends_of_a_range_belong_to_it(name: str) -> None:
    setting = BY_NAME[name]
    for bound in (setting.minimum, setting.maximum):
        assert value_of(parse({name: f"{bound:.10g}"}, {}), name) == bound


@given(text=st.text(min_size=1))
def test_a_secret_shows_itself_nowhere(text: str) -> None:
    marked = f"<{text}>"
    settings = parse(
        {
            "server.api_token": marked,
            "embedding.api_key": marked,
            "database_url": f"postgresql://user:{marked}@host/name",
        },
        {},
    )
    secret = settings.embedding.api_key
    shown = [
        repr(settings),
        str(settings),
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>30}",
    ]
    assert not any(marked in each for each in shown)
    assert secret.reveal() == marked
    assert bool(secret)


def test_a_secret_that_is_not_set_is_false() -> None:
    settings = parse({}, {})
    assert not settings.server.api_token
    assert repr(settings.server.api_token) == "Secret('')"


def test_parsed_settings_cannot_be_changed() -> None:
    settings = parse({}, {})
    for target, name in ((settings, "log_level"), (settings.server, "port")):
        with pytest.raises(AttributeError):
            setattr(target, name, "other")


def test_a_home_folder_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert parse({}, {}).data_dir == Path("/home/me/.chatcrystal-search")
    with pytest.raises(ConfigurationError, match="data_dir"):
        parse({"data_dir": "~nobody-of-this-name/x"}, {})

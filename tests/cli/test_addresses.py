"""Base URLs: what is made of what people write, and what is refused."""

import httpx
import pytest

from cli.addresses import is_of_this_machine, normalise
from cli.session import Wiring
from tests.cli.conftest import run_with

GOOD = {
    "localhost": "http://localhost:3721",
    "  localhost  ": "http://localhost:3721",
    "LOCALHOST": "http://localhost:3721",
    "localhost:4000": "http://localhost:4000",
    "localhost:80": "http://localhost:80",
    "http://localhost": "http://localhost:3721",
    "HTTP://localhost/": "http://localhost:3721",
    "http://localhost:3721///": "http://localhost:3721",
    "127.0.0.1": "http://127.0.0.1:3721",
    "0.0.0.0": "http://127.0.0.1:3721",
    "http://0.0.0.0:4000": "http://127.0.0.1:4000",
    "[::1]": "http://[::1]:3721",
    "http://[::1]:4000": "http://[::1]:4000",
    "https://localhost": "https://localhost",
    "example.org": "http://example.org",
    "http://10.0.0.0": "http://10.0.0.0",
    "https://example.org/crystal/": "https://example.org/crystal",
    "http://例子.测试": "http://例子.测试",
}

BAD = {
    "": "valid URL",
    "   ": "valid URL",
    "ftp://localhost": "http or https",
    "file:///etc/passwd": "http or https",
    "http://": "valid URL",
    "http:///path": "valid URL",
    "http://a b": "valid URL",
    "http://[::1": "valid URL",
    "localhost:port": "valid URL",
    "localhost:99999": "valid URL",
    "localhost:0": "valid URL",
    "mailto:me": "valid URL",
    "http://local\x1bhost": "valid URL",
    "http://localhost?q=1": "query or fragment",
    "http://localhost/#top": "query or fragment",
    "http://me:hush@localhost": "name or password",
}


@pytest.mark.parametrize(("text", "url"), GOOD.items(), ids=[repr(text) for text in GOOD])
def test_an_address_becomes_a_base_url(text: str, url: str) -> None:
    assert normalise(text) == url


@pytest.mark.parametrize("url", GOOD.values())
def test_a_base_url_stays_as_it_is(url: str) -> None:
    assert normalise(url) == url


@pytest.mark.parametrize(("text", "problem"), BAD.items(), ids=[repr(text) for text in BAD])
def test_what_is_no_address_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        normalise(text)


@pytest.mark.parametrize("place", ["option-before", "option-after", "environment"])
@pytest.mark.parametrize("text", ["ftp://localhost", "http://me:hush@localhost", "http://a b"])
def test_a_bad_address_is_a_usage_error_in_one_line(text: str, place: str) -> None:
    arguments = {
        "option-before": ("-b", text, "tags"),
        "option-after": ("tags", "--base-url", text),
        "environment": ("tags",),
    }[place]
    env = {"CRYSTAL_BASE_URL": text} if place == "environment" else None
    ran = run_with(Wiring(), arguments, env=env)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.error.startswith("Error: Invalid value for '-b' / '--base-url'")
    assert "hush" not in ran.err


def test_a_bad_address_in_the_environment_does_not_keep_help_from_working() -> None:
    ran = run_with(Wiring(), ("tags", "--help"), env={"CRYSTAL_BASE_URL": "ftp://localhost"})
    assert ran.code == 0
    assert "List tags" in ran.out


@pytest.mark.parametrize(
    ("arguments", "url"),
    [
        ((), "http://localhost:3721"),
        (("-b", "one.test"), "http://one.test"),
        (("-b", "one.test", "tags", "-b", "two.test"), "http://two.test"),
    ],
    ids=["default", "before", "the-later-wins"],
)
def test_requests_go_to_the_address_given(arguments: tuple[str, ...], url: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={"success": True, "data": []})

    given = arguments if "tags" in arguments else (*arguments, "tags")
    assert run_with(Wiring(transport=httpx.MockTransport(answer)), given).code == 0
    assert asked == [f"{url}/api/tags"]


def test_the_option_wins_over_the_environment() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(200, json={"success": True, "data": []})

    wiring = Wiring(transport=httpx.MockTransport(answer))
    env = {"CRYSTAL_BASE_URL": "one.test"}
    run_with(wiring, ("tags",), env=env)
    run_with(wiring, ("-b", "two.test", "tags"), env=env)
    run_with(wiring, ("tags", "-b", "three.test"), env=env)
    assert asked == ["one.test", "two.test", "three.test"]


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://localhost:3721", True),
        ("http://127.0.0.1:3721", True),
        ("http://[::1]:3721", True),
        ("http://example.org", False),
        ("http://localhost.example.org", False),
    ],
)
def test_this_machine_is_known(url: str, is_local: bool) -> None:
    assert is_of_this_machine(url) is is_local

"""The command itself: its table, its help, its edge where errors become lines and exit codes."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys

import click
import httpx
import pytest

from cli.main import BY_NAME, COMMANDS, crystal, main
from cli.session import Wiring
from tests.cli.conftest import run_on_terminal, run_with


def all_commands() -> dict[str, click.Command]:
    """Every command by the words that call it."""
    found: dict[str, click.Command] = {}

    def collect(words: str, group: click.Group) -> None:
        with click.Context(group) as context:
            for name in group.list_commands(context):
                command = group.get_command(context, name)
                assert command is not None, name
                found[f"{words} {name}".strip()] = command
                if isinstance(command, click.Group):
                    collect(f"{words} {name}".strip(), command)

    collect("", crystal)
    return found


def test_the_table_names_commands_and_repeats_their_help() -> None:
    commands = all_commands()
    for name, row in BY_NAME.items():
        assert commands[name].name == name
        assert commands[name].get_short_help_str(limit=200) == row.help


def test_every_command_and_option_has_help() -> None:
    for words, command in all_commands().items():
        assert command.help, words
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{words} {parameter.opts}"


def test_every_command_takes_the_options_that_hold_everywhere() -> None:
    for words, command in all_commands().items():
        names = {name for parameter in command.params for name in parameter.opts}
        assert {"-b", "--base-url", "--json", "--no-interactive"} <= names, words


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_an_overview(flag: str) -> None:
    ran = run_with(Wiring(), (flag,))
    assert (ran.code, ran.err) == (0, "")
    for section, rows in COMMANDS.items():
        assert f"{section}:\n" in ran.out
        for row in rows:
            assert row.name in ran.out
    assert "CRYSTAL_BASE_URL" in ran.out
    assert "CRYSTAL_API_TOKEN" in ran.out


def test_without_a_command_help_is_an_error() -> None:
    ran = run_with(Wiring(), ())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ")


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_distribution(flag: str) -> None:
    ran = run_with(Wiring(), (flag,))
    version = importlib.metadata.version("chatcrystal-search")
    assert (ran.code, ran.out) == (0, f"chatcrystal-search {version}\n")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("serch",), "No such command 'serch'. Did you mean 'search'?"),
        (("qqqqq",), "No such command 'qqqqq'."),
        (("--frob",), "No such option '--frob'."),
        (("-b",), "Option '-b' requires an argument."),
    ],
    ids=["near", "far", "option", "argument"],
)
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], shown: str) -> None:
    ran = run_with(Wiring(), arguments)
    assert (ran.code, ran.out, ran.error) == (2, "", f"Error: {shown}")


@pytest.mark.parametrize("arguments", [("--json", "serch"), ("tags", "--frob", "--json")], ids=str)
def test_wrong_usage_is_one_object_where_json_is_asked_for(arguments: tuple[str, ...]) -> None:
    ran = run_with(Wiring(), arguments)
    shown = json.loads(ran.error)
    assert (ran.code, list(shown)) == (2, ["success", "error", "code"])
    assert (shown["success"], shown["code"]) == (False, "usage")


def failing(request: httpx.Request) -> httpx.Response:
    raise ZeroDivisionError("somewhere\ndeep")


def test_a_fault_of_ours_is_one_line_without_a_trace() -> None:
    wiring = Wiring(transport=httpx.MockTransport(failing))
    ran = run_with(wiring, ("tags",))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error == "Error: Unexpected ZeroDivisionError: somewhere deep"
    assert json.loads(run_with(wiring, ("tags", "--json")).error)["code"] == "unexpected"


def test_an_answer_of_another_shape_is_one_line_too() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"success": True}))
    ran = run_on_terminal(transport, "notes", "list")
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith("Error: Unexpected ")


def test_json_keeps_what_utf8_cannot_hold() -> None:
    content = b'{"success":true,"data":["\\ud800 \xe9\x94\x81"]}'
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=content))
    ran = run_with(Wiring(transport=transport), ("tags",))
    assert ran.out == '[\n  "\\ud800 锁"\n]\n'
    assert ran.data == ["\ud800 锁"]


def original(request: httpx.Request) -> httpx.Response:
    """The original's server, as far as these commands see it."""
    data = {"server": True, "stats": {}} if request.url.path == "/api/status" else []
    return httpx.Response(200, json={"success": True, "data": data})


def test_the_original_is_named_once_on_a_terminal() -> None:
    ran = run_on_terminal(httpx.MockTransport(original), "tags")
    assert (ran.code, ran.out) == (0, "\n  No tags found.\n\n")
    assert ran.error.startswith("The original ChatCrystal answers at http://localhost:3721")


def test_the_original_is_not_named_in_a_pipe() -> None:
    ran = run_with(Wiring(transport=httpx.MockTransport(original)), ("tags",))
    assert (ran.code, ran.out, ran.err) == (0, "[]\n", "")


def test_our_own_server_is_not_named(library: httpx.WSGITransport) -> None:
    assert run_on_terminal(library, "tags").err == ""


@pytest.mark.parametrize("code", [401, 404, 500])
def test_a_server_without_a_status_is_worked_with(code: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/status":
            return httpx.Response(code, json={"success": False, "error": "no"})
        return httpx.Response(200, json={"success": True, "data": []})

    ran = run_on_terminal(httpx.MockTransport(answer), "tags")
    assert (ran.code, ran.err) == (0, "")


def test_commands_over_http_do_not_load_the_application() -> None:
    """It takes over a second to load."""
    script = (
        "import sys\n"
        "from cli.main import BY_NAME, crystal\n"
        "import importlib\n"
        "for row in BY_NAME.values():\n"
        "    if row.target.startswith('cli.commands'):\n"
        "        importlib.import_module(row.target.partition(':')[0])\n"
        "crystal.main(['--help'], standalone_mode=False)\n"
        "heavy = {'app.factory', 'flask', 'numpy', 'sqlalchemy', 'faiss'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("crystal se", ["search", "serve"]),
        ("crystal notes re", ["relations"]),
        ("crystal search --ex", ["--expand", "--explain"]),
        ("crystal search --cut o", ["on", "off"]),
    ],
    ids=["command", "subcommand", "option", "choice"],
)
def test_the_shell_completes_words(words: str, found: list[str]) -> None:
    """As bash asks for it."""
    environment = os.environ | {
        "_CRYSTAL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    script = "import sys; sys.argv[0] = 'crystal'; from cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment, check=False
    )
    assert done.stdout.decode().split() == [f"plain,{word}" for word in found]


@pytest.mark.parametrize(
    ("shell", "asked", "told"),
    [
        ("zsh", {"COMP_WORDS": "crystal sear", "COMP_CWORD": "1"}, ["plain", "search"]),
        ("fish", {"COMP_WORDS": "crystal sear", "COMP_CWORD": "sear"}, ["plain", "search"]),
    ],
    ids=["zsh", "fish"],
)
def test_zsh_and_fish_are_told_what_a_command_does(
    shell: str, asked: dict[str, str], told: list[str]
) -> None:
    """Each shell has its own way to ask, and shows the help beside the word."""
    script = "import sys; sys.argv[0] = 'crystal'; from cli.main import main; main()"
    said = {}
    for mode in ("complete", "source"):
        environment = os.environ | asked | {"_CRYSTAL_COMPLETE": f"{shell}_{mode}"}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, env=environment, check=True
        )
        said[mode] = done.stdout.decode()
    assert re.split(r"[,\n\t]", said["complete"])[:2] == told
    assert "Search notes by meaning." in said["complete"]
    assert f"_CRYSTAL_COMPLETE={shell}_complete" in said["source"]


def test_main_ends_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("chatcrystal-search ")

"""Secrets are masked, and nothing around them.

The secrets are put together here, so that no scanner of repositories takes them for real ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.importers.conversations.secrets import MASK, masked
from app.importers.conversations.texts import LONGEST_TOOL_TEXT, kept
from app.importers.conversations.values import Losses
from tests.support.conversations import read_all, said, write_lines

LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
KEY_BODY = "\n".join(["MIIEpAIBAAKCAQEA" + LETTERS + str(number) for number in range(8)])
BEGIN, END = ("-----" + kind + " RSA PRIVATE KEY-----" for kind in ("BEGIN", "END"))

TOKENS = {
    "github": "ghp_" + (LETTERS * 2)[:36],
    "github-fine": "github_pat_" + (LETTERS * 3)[:82],
    "gitlab": "glpat-" + LETTERS[:20],
    "aws": "AKIA" + "ABCDEFGH01234567",
    "slack": "xoxb-" + "123456789012-123456789012-" + LETTERS.lower()[:24],
    "stripe": "sk_" + "live_" + LETTERS[:24],
    "anthropic": "sk-" + "ant-api03-" + LETTERS,
    "openai": "sk-" + "proj-" + LETTERS,
    "google": "AIza" + (LETTERS * 2)[:35],
    "sendgrid": "SG." + LETTERS[:22] + "." + (LETTERS * 2)[:43],
    "npm": "//registry.example/:_authToken=" + "npm_" + LETTERS,
    "jwt": "eyJ" + LETTERS[:20] + ".eyJ" + LETTERS[:20] + "." + LETTERS,
    "azure": "AccountKey=" + (LETTERS * 3)[:86] + "==",
    "twilio": "SK" + "0123456789abcdef" * 2,
    "telegram": "1234567890:" + (LETTERS * 2)[:35],
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("around", ["use {} here", "密钥是「{}」。", 'x="{}"\ny=1', "{}"])
def test_a_token_is_masked_and_nothing_around_it(token: str, around: str) -> None:
    text, count = masked(around.format(token))
    secret = token.rpartition("=")[2] if "authToken" in token else token
    assert secret not in text
    assert count == 1
    before, after = around.split("{}")
    assert text.startswith(before)
    assert text.endswith(after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:hunter2!x@db:5432/app", f"postgres://app:{MASK}@db:5432/app"),
        ("amqp://guest:客人@mq/", f"amqp://guest:{MASK}@mq/"),
        ('password = "hunter2abc"  # 密码', f'password = "{MASK}"  # 密码'),
        ("DB_PASSWORD=hunter2abc make", f"DB_PASSWORD={MASK} make"),
        ("Authorization: Bearer " + LETTERS, f"Authorization: Bearer {MASK}"),
        ('{"api_key": "' + LETTERS + '", "n": 1}', f'{{"api_key": "{MASK}", "n": 1}}'),
    ],
)
def test_passwords_are_masked_where_they_stand(text: str, expected: str) -> None:
    assert masked(text) == (expected, 1)


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 123e4567-e89b-12d3-a456-426614174000 at 8.8.8.8:53",
        'password = "密码不能为空"',
        '{"password": "Please enter your password"}',
        'password = os.environ["DB_PASSWORD"]',
        'api_key: "${API_KEY}"',
        'api_key = "<your api key>"',
        '{"password": "password"}',
        "https://x-access-token:${TOKEN}@github.com/",
        "if (token == null) return;",
        "put it between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----.",
        "git@github.com: Permission denied (publickey).",
        "http://localhost:3000/@scope/package",
        "这里没有任何秘密，只有一句关于 token 和密码的话。",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a\n{BEGIN}\n{KEY_BODY}\n{END}\nb", f"a\n{BEGIN}\n{MASK}\n{END}\nb"),
        (f"{BEGIN}\n{KEY_BODY}\n and more", f"{BEGIN}\n{MASK}\n and more"),
        (f"{KEY_BODY}\n{END} after", f"{MASK}\n{END} after"),
        (
            (f"{BEGIN}\n{KEY_BODY}\n{END}").replace("\n", "\\n"),
            f"{BEGIN}\\n{MASK}\\n{END}",
        ),
    ],
    ids=["whole", "without-end", "without-beginning", "escaped"],
)
def test_private_keys_are_masked_even_cut_off(text: str, expected: str) -> None:
    assert masked(text) == (expected, 1)


def test_several_secrets_are_counted() -> None:
    text = " ".join(TOKENS.values())
    assert masked(text)[1] == len(TOKENS)


def test_a_secret_at_the_cut_of_a_long_text_is_not_missed() -> None:
    token = TOKENS["github"]
    for place in range(LONGEST_TOOL_TEXT // 2 - 60, LONGEST_TOOL_TEXT // 2 + 60, 7):
        text = ("w " * LONGEST_TOOL_TEXT)[:place] + f" {token} " + "w " * LONGEST_TOOL_TEXT
        assert token[:12] not in kept(text, LONGEST_TOOL_TEXT, Losses())


def test_secrets_are_masked_wherever_they_are_said(tmp_path: Path) -> None:
    token = TOKENS["github"]
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": f"echo {token}"}}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": f"printed {token}"}
    write_lines(
        tmp_path / "p" / "s.jsonl",
        [
            {"type": "summary", "summary": f"About {token}"},
            said(f"my token {token}"),
            said([{"type": "thinking", "thinking": token}, call], number=1, role="assistant"),
            said([answer], number=2),
        ],
    )
    losses = Losses()
    [each] = read_all("claude-code", tmp_path, losses).values()
    assert token not in repr(each)
    assert losses == Losses(masked_secrets=5)

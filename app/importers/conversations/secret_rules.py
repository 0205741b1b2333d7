"""The rules by which secrets are known: those of detect-secrets, and a few that it lacks.

Owns which rules apply, and the cheap tests that say whether one could. Must not change a text.

Left out on purpose: addresses of machines, and texts of high entropy, which would make commits,
digests and identifiers unreadable. Loading detect-secrets takes half a second; it is done at the
first text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_LEFT_OUT = frozenset(
    {"IPPublicDetector", "PrivateKeyDetector", "BasicAuthDetector", "JwtTokenDetector"}
)
"""All but the first have wider rules here."""

_NEEDED: dict[str, tuple[str, ...]] = {
    "ArtifactoryDetector": ("AKC", "AP"),
    "AzureStorageKeyDetector": ("AccountKey=",),
    "GitHubTokenDetector": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "GitLabTokenDetector": (
        "glpat-",
        "gldt-",
        "glft-",
        "glsoat-",
        "glrt-",
        "glcbt-",
        "glimt-",
        "glptt-",
        "glagent-",
        "gloas-",
        "GR1348941",
    ),
    "MailchimpDetector": ("-us",),
    "NpmDetector": ("_authToken",),
    "OpenAIDetector": ("T3BlbkFJ",),
    "PypiTokenDetector": ("pypi-Ag",),
    "SendGridDetector": ("SG.",),
    "SquareOAuthDetector": ("sq0csp",),
    "StripeDetector": ("k_live_",),
}
"""Of what one must be in a text that a rule finds something in; other rules are always tried."""

_NEEDED_IN_LOWER_CASE: dict[str, tuple[str, ...]] = {
    "AWSKeyDetector": ("akia", "asia", "abia", "acca", "a3t", "aws"),
    "SlackDetector": ("xox", "hooks.slack"),
}

_ASSIGNING = frozenset(
    {"CloudantDetector", "IbmCloudIamDetector", "IbmCosHmacDetector", "SoftlayerDetector"}
)
"""Slow rules for long values of keys and passwords."""

_ASSIGNED = re.compile(
    r"(?:key|pwd|pw|password|pass|token|soap/v3(?:\.1)?/|://[\w-]+)"
    r"['\"\]]{0,2} *[=:> ]{0,3} *['\"/]?[a-z0-9_-]{24}"
)

_OWN = (
    (("github_pat_",), r"github_pat_[A-Za-z0-9_]{50,}"),
    (("sk-",), r"(?<![A-Za-z0-9])sk-(?:ant|proj|svcacct|or)-[A-Za-z0-9_-]{20,}"),
    (("eyJ",), r"eyJ[A-Za-z0-9_=-]{6,}\.[A-Za-z0-9_=-]{6,}(?:\.[A-Za-z0-9_.+/=-]*)?"),
    (("AIza",), r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    (("hf_",), r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    (("://",), r"://[^\s/:@'\"<>]{0,100}:(?P<secret>(?![$<{])[^\s/@'\"<>]{1,200})@"),
    (("earer",), r"\b[Bb]earer +(?P<secret>[A-Za-z0-9._~+/-]{20,}=*)"),
    (
        ("PASS", "SECRET", "TOKEN", "KEY"),
        r"(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]{0,40}"
        r"=(?P<secret>[A-Za-z0-9+/_.!@%^&*=-]{6,})",
    ),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and texts of which one must be there for it to find anything.

    ``in_lower_case`` says that these are looked for in the text in lower case; ``is_assigning``
    that a long value must be assigned somewhere (``assigns``).
    """

    pattern: re.Pattern[str]
    needed: tuple[str, ...] = ()
    in_lower_case: bool = False
    is_assigning: bool = False


def assigns(lower: str) -> bool:
    """Tell whether a text in lower case gives a key or password a long value."""
    return _ASSIGNED.search(lower) is not None


def applicable(text: str) -> Iterator[Rule]:
    """Yield the rules that could find something in a text; it is asked for every text."""
    lower = text.lower()
    always, wanted, wanted_in_lower_case = _by_need()
    has_assignment = assigns(lower)
    yield from (rule for rule in always if has_assignment or not rule.is_assigning)
    found = {place for needed, place in wanted if needed in text}
    found.update(place for needed, place in wanted_in_lower_case if needed in lower)
    yield from (rules()[place] for place in sorted(found))


@cache
def _by_need() -> tuple[tuple[Rule, ...], list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the rules that need nothing, and what the others need with their places."""
    pairs = [(rule, place) for place, rule in enumerate(rules()) if rule.needed]
    return (
        tuple(rule for rule in rules() if not rule.needed),
        [(each, place) for rule, place in pairs for each in rule.needed if not rule.in_lower_case],
        [(each, place) for rule, place in pairs for each in rule.needed if rule.in_lower_case],
    )


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of tokens."""
    own = [Rule(re.compile(pattern), needed) for needed, pattern in _OWN]
    return (*own, *_rules_of_the_library())


def _rules_of_the_library() -> Iterator[Rule]:
    base: Any = import_module("detect_secrets.plugins.base").RegexBasedDetector
    plugins = import_module("detect_secrets.core.plugins.util")
    for plugin in plugins.get_mapping_from_secret_type_to_class().values():
        name = plugin.__name__
        if not issubclass(plugin, base) or name in _LEFT_OUT:
            continue
        lower = _NEEDED_IN_LOWER_CASE.get(name, ())
        for pattern in plugin.denylist:
            yield Rule(pattern, lower or _NEEDED.get(name, ()), bool(lower), name in _ASSIGNING)


@cache
def keyword_module() -> ModuleType:
    """Return the library's rules for names such as ``password`` that are given a value."""
    return import_module("detect_secrets.plugins.keyword")


@cache
def likeness_module() -> ModuleType:
    """Return the library's tests of what only looks like a secret."""
    return import_module("detect_secrets.filters.heuristic")

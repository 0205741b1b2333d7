"""Files that a conversation touches or names.

Owns what counts as the name of a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from app.distill.turns import Turn
from app.domain.conversations import ToolUse

MOST_FILES = 12

_EXTENSIONS_TEXT = """
    py pyi ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro go rs java kt kts scala groovy rb
    php cs fs vb swift m mm c h cc cpp cxx hpp hh zig nim ex exs erl hrl hs ml lua pl pm r jl dart
    sh bash zsh fish ps1 bat cmd sql prisma graphql gql proto thrift html htm css scss sass less
    json jsonc json5 yaml yml toml ini cfg conf env properties xml plist csv tsv md mdx rst txt
    lock mod sum gradle sbt cabal tf tfvars hcl nix cmake mk dockerfile tmpl tpl j2 jinja ejs hbs
    service timer socket pro patch diff log wasm sol v sv vhd s asm
"""
EXTENSIONS = frozenset(_EXTENSIONS_TEXT.split())
_BARE_TEXT = """
    Dockerfile Makefile Procfile Jenkinsfile Vagrantfile Rakefile Gemfile Pipfile Brewfile
    Justfile CMakeLists.txt Containerfile Caddyfile Earthfile .gitignore .dockerignore .env .npmrc
    .babelrc .eslintrc .prettierrc .editorconfig .gitattributes .gitmodules .bashrc .zshrc
"""
_BARE = frozenset(_BARE_TEXT.split())
_WORDS = frozenset(
    ("service", "log", "timer", "socket", "env", "v", "s", "m", "r", "lock", "mod", "sum", "pro")
)
"""Extensions that are words in code as well."""

_NO_FILES = frozenset(
    ("node.js", "vue.js", "next.js", "nuxt.js", "three.js", "d3.js", "express.js", "react.js")
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|\.cargo|\.m2|vendor/bundle)/"
    r"|^/(?:usr|lib|proc|sys|dev)/|^<"
)
_PATH = re.compile(
    r"(?<![\w@:/.\\-])((?:[A-Za-z]:)?(?:~?/|\.{1,2}/)?(?:[\w@.+\[\]()-]+[/\\])*"
    r"[\w@.+\[\]-]*\.?[A-Za-z][\w+-]*)(?=$|[^\w/\\-]|:\d)"
)
_URL = re.compile(r"\b[a-z][\w+.-]*://\S+", re.IGNORECASE)
_EDITS = re.compile(r"edit|write|patch|create_?file|replace|insert|apply_", re.IGNORECASE)
EDITED = 20
"""What an edit of a file weighs beside a mention of it."""

LONGEST_INPUT = 2_000
"""Characters of a tool's input that are looked through; the file's name stands in front."""


def is_file(name: str) -> bool:
    """Tell whether a word is the name of a file."""
    last = re.split(r"[/\\]", name)[-1]
    if last in _BARE or last.split(".", 1)[0] in ("Dockerfile", "Makefile"):
        return True
    stem, dot, extension = last.rpartition(".")
    if not dot or extension.lower() not in EXTENSIONS or last.lower() in _NO_FILES:
        return False
    # `user.service` and `app.log` are names in code unless a folder stands before them.
    is_word = extension.lower() in _WORDS
    return bool(stem or last.startswith(".")) and (not is_word or "/" in name)


def relative(path: str, folder: str) -> str:
    """Return a path as the project would name it."""
    path = path.strip().replace("\\", "/")
    base = folder.replace("\\", "/").rstrip("/")
    # A project that is only a name may be called as a folder in it is.
    if "/" in base and path.startswith(f"{base}/"):
        path = path[len(base) + 1 :]
    return path[2:] if path.startswith("./") else path


def is_edit(use: ToolUse) -> bool:
    """Tell whether a tool changed a file."""
    return _EDITS.search(use.name) is not None or use.input.lstrip().startswith("*** Begin Patch")


def paths_in(text: str) -> list[str]:
    """Return the names of files in a text, in order, as often as they occur."""
    found = []
    for match in _PATH.finditer(_URL.sub(" ", text)):
        name = match[1].rstrip(".")
        if is_file(name) and len(name) <= 200:
            found.append(name)
    return found


def files_of(turns: Iterable[Turn], folder: str) -> tuple[str, ...]:
    """Return the files of a conversation: edited ones first, then those named most.

    A bare name counts for the path that ends with it.
    """
    weights: Counter[str] = Counter()
    for turn in turns:
        for name in paths_in(turn.text):
            weights[relative(name, folder)] += 2
        for use in turn.uses:
            weight = EDITED if is_edit(use) else 1
            for name in dict.fromkeys(paths_in(use.input[:LONGEST_INPUT])):
                weights[relative(name, folder)] += weight
                weight = 1
    own = {name: weight for name, weight in weights.items() if not _FOREIGN.search(name)}
    return _ranked(own)


def _ranked(weights: dict[str, int]) -> tuple[str, ...]:
    by_last: dict[str, str] = {}
    for name in sorted(weights, key=len):
        if "/" in name:
            by_last.setdefault(name.rpartition("/")[2], name)
    total: dict[str, int] = {}
    for name, weight in weights.items():
        whole = by_last.get(name, name) if "/" not in name else name
        total[whole] = total.get(whole, 0) + weight
    ranked = sorted(total, key=lambda name: -total[name])
    return tuple(ranked[:MOST_FILES])

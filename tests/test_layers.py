"""The layers and house rules of app/ and cli/, read off their syntax trees."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# From the ground up: a layer imports those of earlier rows, never its neighbours in a row.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("app.errors",),
    ("app.domain", "app.settings", "app.sqlite", "app.text", "app.threads"),
    ("app.graph", "app.markdown"),
    ("app.ranking", "app.distill", "app.remote"),
    ("app.db", "app.embedding", "app.index", "app.lexical", "app.importers", "app.llm"),
    ("app.mirror",),
    ("app.search", "app.sync"),
    ("app.maintenance",),
    ("app.api",),
    ("app.factory",),
    ("app.wsgi",),
)
FLOOR_OF = {layer: floor for floor, layers in enumerate(FLOORS) for layer in layers}

# The pure layers use the standard library and these; the other layers use what they need.
LIBRARIES_OF_PURE_LAYERS: dict[str, set[str]] = {
    "app.errors": set(),
    "app.domain": set(),
    "app.settings": set(),
    "app.sqlite": set(),
    "app.text": set(),
    "app.threads": set(),
    "app.graph": {"numpy", "scipy"},
    "app.markdown": {"yaml"},
    "app.ranking": {"numpy"},
    "app.distill": {"numpy"},
}

# The only importable part of the application for the package itself, and for the command line.
APP_FOR_ITSELF = ("app.settings.environment",)
APP_FOR_ADMIN = ("app.factory", "app.maintenance", "app.errors", "app.domain", "app.settings")
ADMIN_IS_SEEN_BY = ("cli.admin", "cli.main")

OWN_PACKAGES = ("app", "cli", "benchmarks", "tests")
READS_THE_ENVIRONMENT = "app.settings.environment"
ENVIRONMENT_NAMES = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
BROAD_EXCEPTIONS = {"Exception", "BaseException"}
EDGE_COMMENT = re.compile(r"# edge: \S")
LONGEST_MODULE = 300
LONGEST_FUNCTION = 40

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Finding = tuple[int, str]
Rule = Callable[["Module"], Iterator[Finding]]


@dataclass(frozen=True)
class Module:
    """A module's dotted name and text; a package is its `__init__.py`."""

    name: str
    source: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


@dataclass(frozen=True)
class Import:
    """One imported module, or one name taken from a module."""

    line: int
    target: str
    inside_function: bool


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def layer_of(name: str) -> str:
    return ".".join(name.split(".")[:2])


def top_of(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def functions_of(tree: ast.Module) -> list[FunctionNode]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def imports_of(module: Module) -> list[Import]:
    """Every import, those for type checking included: a type is a dependency as well."""
    tree = module.tree
    inside = {id(node) for function in functions_of(tree) for node in ast.walk(function)}
    found: list[Import] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = base_of(node, module)
            targets = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [Import(node.lineno, target, id(node) in inside) for target in targets]
    return found


def base_of(node: ast.ImportFrom, module: Module) -> str:
    """The absolute name of the module that `from … import` takes from."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    kept = len(parts) - node.level + module.is_package
    return ".".join([*parts[:kept], *([node.module] if node.module else [])])


def imports_downwards(module: Module) -> Iterator[Finding]:
    if top_of(module.name) != "app" or module.name == "app":
        return
    layer = layer_of(module.name)
    if layer not in FLOOR_OF:
        yield 1, f"{layer} is no layer: move the module into one, or add a row to FLOORS"
        return
    for line, target in ((found.line, found.target) for found in imports_of(module)):
        other = layer_of(target)
        # Names of `app` itself, such as its version, are for all.
        if other not in FLOOR_OF or other == layer:
            continue
        if FLOOR_OF[other] >= FLOOR_OF[layer]:
            where = "beside" if FLOOR_OF[other] == FLOOR_OF[layer] else "above"
            yield line, f"{layer} imports {target}, which lies {where} it"


def keeps_the_package_root_bare(module: Module) -> Iterator[Finding]:
    if module.name != "app":
        return
    for found in imports_of(module):
        if top_of(found.target) == "app" and not is_within(found.target, APP_FOR_ITSELF):
            yield found.line, f"app/__init__.py imports {found.target}, and so would every import"


def keeps_pure_layers_pure(module: Module) -> Iterator[Finding]:
    layer = layer_of(module.name)
    if layer not in LIBRARIES_OF_PURE_LAYERS:
        return
    allowed = sys.stdlib_module_names | LIBRARIES_OF_PURE_LAYERS[layer] | {"app"}
    for found in imports_of(module):
        if top_of(found.target) not in allowed:
            yield found.line, f"{layer} is pure and imports {found.target}"


def reaches_the_application_only_from_admin(module: Module) -> Iterator[Finding]:
    if top_of(module.name) != "cli":
        return
    in_admin = is_within(module.name, ("cli.admin",))
    for found in imports_of(module):
        if top_of(found.target) == "app" and not in_admin:
            yield found.line, f"{module.name} imports {found.target}: only cli.admin may; use HTTP"
        elif top_of(found.target) == "app" and not is_within(found.target, APP_FOR_ADMIN):
            yield found.line, f"cli.admin imports {found.target}; it may import {APP_FOR_ADMIN}"
        elif is_within(found.target, ("cli.admin",)) and not is_within(
            module.name, ADMIN_IS_SEEN_BY
        ):
            yield found.line, f"{module.name} imports {found.target}, and so the application"


def is_imported_from_outside_only(module: Module) -> Iterator[Finding]:
    strangers = {"app": ("cli", "benchmarks", "tests"), "cli": ("benchmarks", "tests")}
    for found in imports_of(module):
        if is_within(found.target, strangers[top_of(module.name)]):
            yield found.line, f"{module.name} imports {found.target}, which is built on it"


def imports_own_modules_at_the_top(module: Module) -> Iterator[Finding]:
    for found in imports_of(module):
        if found.inside_function and is_within(found.target, OWN_PACKAGES):
            yield found.line, f"{found.target} is imported inside a function: move it to the top"


def reads_the_environment_in_one_place(module: Module) -> Iterator[Finding]:
    if module.name == READS_THE_ENVIRONMENT:
        return
    nodes = list(ast.walk(module.tree))
    aliases = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names_of_os = {alias.asname or alias.name for alias in aliases if alias.name == "os"}
    for node in nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in ENVIRONMENT_NAMES:
            continue
        if isinstance(node.value, ast.Name) and node.value.id in names_of_os:
            yield node.lineno, f"os.{node.attr} is used outside {READS_THE_ENVIRONMENT}"
    for found in imports_of(module):
        package, _, name = found.target.partition(".")
        if package == "os" and name in ENVIRONMENT_NAMES:
            yield found.line, f"{found.target} is imported outside {READS_THE_ENVIRONMENT}"


def keeps_modules_short(module: Module) -> Iterator[Finding]:
    length = len(module.source.splitlines())
    if length > LONGEST_MODULE:
        yield 1, f"{module.name} has {length} lines, more than {LONGEST_MODULE}: split by concept"


def keeps_functions_short(module: Module) -> Iterator[Finding]:
    """Counts from `def`, without decorators: a command's options are not its length."""
    for function in functions_of(module.tree):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        if length > LONGEST_FUNCTION:
            yield function.lineno, f"{function.name} has {length} lines, over {LONGEST_FUNCTION}"


def has_a_docstring(module: Module) -> Iterator[Finding]:
    if not (ast.get_docstring(module.tree) or "").strip():
        yield 1, f"{module.name} does not say what it owns: begin it with a docstring"


def catches_broadly_only_at_edges(module: Module) -> Iterator[Finding]:
    lines = ["", *module.source.splitlines(), ""]
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ExceptHandler) or not is_broad(node.type):
            continue
        before, same = lines[node.lineno - 1].strip(), lines[node.lineno]
        if not EDGE_COMMENT.match(before) and not EDGE_COMMENT.search(same):
            yield (
                node.lineno,
                "a broad except without '# edge: <reason>' on its line or the one above",
            )


def is_broad(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(name, ast.Name) and name.id in BROAD_EXCEPTIONS for name in names)


RULES: dict[str, Rule] = {
    "layers": imports_downwards,
    "package-root": keeps_the_package_root_bare,
    "purity": keeps_pure_layers_pure,
    "command-line": reaches_the_application_only_from_admin,
    "outsiders": is_imported_from_outside_only,
    "late-imports": imports_own_modules_at_the_top,
    "environment": reads_the_environment_in_one_place,
    "module-length": keeps_modules_short,
    "function-length": keeps_functions_short,
    "docstring": has_a_docstring,
    "broad-except": catches_broadly_only_at_edges,
}


def modules_on_disk() -> Iterator[tuple[Path, Module]]:
    for package in ("app", "cli"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            yield path.relative_to(ROOT), Module(name, path.read_text("utf-8"), is_package)


@pytest.mark.parametrize("rule", RULES)
def test_the_code_keeps_the_rule(rule: str) -> None:
    findings = [
        f"{path}:{line}: {message}"
        for path, module in modules_on_disk()
        for line, message in RULES[rule](module)
    ]
    assert not findings, "\n".join([f"rule {rule!r} is broken:", *findings])


LONG_FUNCTION = "def long():\n" + "    x = 1\n" * LONGEST_FUNCTION
JUST_SHORT_ENOUGH = "@decorated\ndef long():\n" + "    x = 1\n" * (LONGEST_FUNCTION - 1)

VIOLATIONS = [
    ("layers", "app.ranking.hybrid", "from app.db import notes", "above"),
    ("layers", "app.ranking.hybrid", "import app.search.pipeline", "above"),
    ("layers", "app.db.notes", "from app import index", "beside"),
    ("layers", "app.db.notes", "from ..lexical import postings", "beside"),
    ("layers", "app.graph.pagerank", "from app.markdown.links import links_of", "beside"),
    ("layers", "app.search.pipeline", "from app.sync.writer import write", "beside"),
    ("layers", "app.settings.table", "from app.domain import Note", "beside"),
    ("layers", "app.errors", "from app.text import fold", "above"),
    ("layers", "app.api.notes", "def f():\n    from app.factory import create_app", "above"),
    ("layers", "app.db.notes", "if TYPE_CHECKING:\n    from app.api import notes", "above"),
    ("layers", "app.utils", "", "no layer"),
    ("package-root", "app", "from app.factory import create_app", "app.factory"),
    ("package-root", "app", "from .db import models", "app.db"),
    ("purity", "app.text", "import numpy", "pure"),
    ("purity", "app.errors", "from sqlalchemy.exc import DBAPIError", "pure"),
    ("purity", "app.ranking.signals", "import flask", "pure"),
    ("command-line", "cli.commands.search", "from app.domain import Note", "use HTTP"),
    ("command-line", "cli.client", "import app", "use HTTP"),
    ("command-line", "cli.admin.doctor", "from app.db import session", "it may import"),
    ("command-line", "cli.admin.doctor", "from app import search", "it may import"),
    ("command-line", "cli.commands.demo", "from cli.admin import demo", "so the application"),
    ("outsiders", "app.text", "from cli.output import table", "built on it"),
    ("outsiders", "app.search.pipeline", "import benchmarks.scan", "built on it"),
    ("outsiders", "cli.commands.notes", "from benchmarks import scan", "built on it"),
    ("outsiders", "cli.main", "from tests.support import server", "built on it"),
    ("late-imports", "app.api.notes", "def f():\n    from app.db import notes", "inside"),
    ("late-imports", "app.api.notes", "async def f():\n    from . import tags", "inside"),
    ("late-imports", "cli.main", "class A:\n    def f(self):\n        import cli.client", "inside"),
    ("environment", "app.db.session", "import os\nx = os.environ['X']", "os.environ"),
    ("environment", "app.settings.table", "import os as o\nx = o.getenv('X')", "os.getenv"),
    ("environment", "cli.options", "from os import environ", "os.environ"),
    ("module-length", "app.text", "x = 1\n" * (LONGEST_MODULE + 1), "301 lines"),
    ("function-length", "app.text", LONG_FUNCTION, "41 lines"),
    ("function-length", "app.text", LONG_FUNCTION.replace("def", "async def"), "41 lines"),
    ("docstring", "app.text", "x = 1", "docstring"),
    ("docstring", "app.text", '"""   """', "docstring"),
    ("broad-except", "app.text", "try: x\nexcept: y", "broad"),
    ("broad-except", "app.text", "try: x\nexcept Exception: y", "broad"),
    ("broad-except", "app.text", "try: x\nexcept (OSError, BaseException) as e: y", "broad"),
    ("broad-except", "app.text", "try: x\nexcept Exception:  # edge:\n    y", "broad"),
    ("broad-except", "app.text", "try: x\n# some reason\nexcept Exception: y", "broad"),
]

PERMITTED = [
    ("layers", "app.wsgi", "from app.factory import create_app"),
    ("layers", "app.api.notes", "from app.db import notes\nimport app.errors"),
    ("layers", "app.ranking.hybrid", "from app.ranking.fusion import rrf\nfrom . import signals"),
    ("layers", "app.settings.table", "from app.errors import SettingError"),
    ("layers", "app.api.status", "from app import __version__"),
    ("layers", "cli.admin.serve", "from app.factory import create_app"),
    ("package-root", "app", "from app.settings.environment import limit_threads"),
    ("purity", "app.text", "import unicodedata\nfrom app.errors import BadText"),
    ("purity", "app.ranking.hybrid", "import numpy as np"),
    ("purity", "app.db.notes", "import sqlalchemy"),
    ("command-line", "cli.admin.doctor", "from app.maintenance.doctor import examine"),
    ("command-line", "cli.admin.serve", "from app import factory"),
    ("command-line", "cli.main", "from cli.admin import serve"),
    ("command-line", "app.factory", "import app.db"),
    ("outsiders", "cli.admin.serve", "import app.factory"),
    ("late-imports", "app.lexical.words", "def f():\n    import jieba"),
    ("environment", READS_THE_ENVIRONMENT, "import os\nx = os.environ"),
    ("environment", "cli.options", "import os\nx = os.sep"),
    ("environment", "app.api.requests", "import os\nx = request.environ"),
    ("module-length", "app.text", "x = 1\n" * LONGEST_MODULE),
    ("function-length", "app.text", JUST_SHORT_ENOUGH),
    ("docstring", "app.text", '"""Owns texts."""'),
    ("broad-except", "app.text", "try: x\nexcept Exception:  # edge: any fault is a 500\n    y"),
    ("broad-except", "app.text", "try: x\n# edge: any fault is a 500\nexcept Exception: y"),
    ("broad-except", "app.text", "try: x\nexcept (OSError, ValueError): y"),
]


@pytest.mark.parametrize(
    ("rule", "name", "source", "message"),
    VIOLATIONS,
    ids=[f"{rule}-{name}-{message}" for rule, name, _, message in VIOLATIONS],
)
def test_the_rule_reports_a_violation(rule: str, name: str, source: str, message: str) -> None:
    messages = [text for _, text in RULES[rule](Module(name, source, is_package=name == "app"))]
    assert len(messages) == 1
    assert message in messages[0]


@pytest.mark.parametrize(
    ("rule", "name", "source"), PERMITTED, ids=[f"{rule}-{name}" for rule, name, _ in PERMITTED]
)
def test_the_rule_lets_pass_what_is_meant(rule: str, name: str, source: str) -> None:
    assert list(RULES[rule](Module(name, source, is_package=name == "app"))) == []


def test_every_rule_is_proved_both_ways() -> None:
    assert {rule for rule, *_ in VIOLATIONS} == set(RULES)
    assert {rule for rule, *_ in PERMITTED} == set(RULES)


def test_the_folder_of_migrations_does_not_hide_the_library() -> None:
    assert not (ROOT / "alembic" / "__init__.py").exists()
    library = find_spec("alembic")
    assert library is not None
    assert library.origin is not None
    assert ROOT / "alembic" not in Path(library.origin).parents

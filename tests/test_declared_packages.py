"""What the source imports is declared in pyproject.toml, in the extra of the package that imports it, and pinned."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "evolabel"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DISTRIBUTIONS = packages_distributions()
EXTRA_OF = {
    "cli": "cli",
    "server": "server",
    "client": "client",
    "label_studio": "label-studio",
}  # other packages are imported without any extra
PINNED = "check", "docs"  # extras whose packages have a version in constraints.txt


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def declared(extra):
    """Distributions that `evolabel[extra]` installs by itself, with their lower bounds."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    found = {}
    for line in lines:
        name, parts, bound = re.fullmatch(r"([\w-]+)(?:\[([\w,-]+)\])?(?:>=([\d.]+))?(?:,<[\d.]+)?", line).groups()
        if name == "evolabel":
            for part in parts.split(","):
                found |= declared(part)
        else:
            found[normal(name)] = bound
    return found if extra is None else declared(None) | found


def distribution(module):
    """The distribution that `module` belongs to, None for the standard library and evolabel itself."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "evolabel":
        return None
    return normal(DISTRIBUTIONS.get(top, [top])[0])


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(nodes):
    """Names of the modules that `nodes` import, with whether they do so on first use, in a function."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, False
        elif not is_for_types(node):
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from ((name, later or inner) for name, inner in imports(ast.iter_child_nodes(node)))


def loaded(tree):
    """Arguments module and extra of the calls of `optional.load` in `tree`, where they are written as texts."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    for call in calls:
        arguments = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
        if ast.unparse(call.func) in ("load", "optional.load") and len(arguments) == 3:
            yield arguments[0], arguments[1]


def undeclared(file):
    """What `file` imports, and the extra of its package, or that given to `optional.load`, does not install."""
    tree = ast.parse(file.read_text("utf-8"))
    own = EXTRA_OF.get(file.relative_to(SOURCE).parts[0])
    wanted = [(module, "all" if later else own) for module, later in imports([tree])] + list(loaded(tree))
    return [(module, extra) for module, extra in wanted if distribution(module) not in {None, *declared(extra)}]


def test_what_is_imported_is_declared_for_the_package_that_imports_it():
    found = {file.relative_to(SOURCE).as_posix(): undeclared(file) for file in SOURCE.rglob("*.py")}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_the_imports_of_a_file_are_found():
    tree = ast.parse(
        "import numpy as np\n"
        "from h11 import Connection\n"
        "if TYPE_CHECKING:\n    import rich\n"
        "def f():\n    import httpx\n"
        "optional.load('pyarrow', 'parquet', 'a file')\n"
    )
    assert list(imports([tree])) == [("numpy", False), ("h11", False), ("httpx", True)]
    assert list(loaded(tree)) == [("pyarrow", "parquet")]
    assert distribution("sklearn.base") == "scikit-learn"


@pytest.mark.parametrize("extra", PINNED)
def test_every_declared_package_has_a_pinned_version_that_is_new_enough(extra):
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    pins = {normal(name): version for name, _, version in (line.partition("==") for line in lines)}
    for name, bound in declared(extra).items():
        assert numbers(pins[name]) >= numbers(bound), f"{name}=={pins[name]} is older than {bound}"


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]

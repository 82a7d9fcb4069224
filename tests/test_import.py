"""Importing evolabel stays cheap: names of packages are imported on first use, and stubs list the same names."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HEAVY = ("numba", "sklearn", "matplotlib", "pandas", "scipy.stats")
SOURCE = Path(__file__).resolve().parent.parent / "src"
LAZY = [".".join(stub.relative_to(SOURCE).parent.parts) for stub in sorted(SOURCE.rglob("__init__.pyi"))]


def test_import_loads_nothing_heavy():
    code = f"import sys, evolabel; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names_raise_attribute_error():
    import evolabel

    with pytest.raises(AttributeError, match="no attribute 'Classifier'"):
        _ = evolabel.Classifier
    assert "EvolvingFuzzyClassifier" in dir(evolabel)


@pytest.mark.parametrize("package", LAZY)
def test_stubs_list_the_names_of_the_package(package):
    module = import_module(package)
    tree = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = {
        alias.asname: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported.keys() == set(module.__all__) - {"__version__"}
    for name, home in imported.items():
        assert getattr(module, name) is getattr(import_module(home), name), f"{package}.{name} is not that of {home}"


@pytest.mark.parametrize("package", LAZY)
def test_no_module_has_the_name_of_a_public_name(package):
    """Importing the module would set an attribute of the package that hides the name."""
    module = import_module(package)
    folder = Path(module.__file__).parent
    assert not set(module.__all__) & {path.stem for path in folder.iterdir()}

"""Importing evolabel stays cheap: names of packages are imported on first use, and stubs list the same names."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evolabel._utils.lazy import deferred

HEAVY = ("numba", "sklearn", "matplotlib", "pandas", "scipy.stats")
SOURCE = Path(__file__).resolve().parent.parent / "src"
LAZY = [".".join(stub.relative_to(SOURCE).parent.parts) for stub in sorted(SOURCE.rglob("__init__.pyi"))]


def test_import_loads_nothing_heavy():
    code = f"import sys, evolabel; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_commands_load_no_search_of_scikit_learn():
    code = "import sys, evolabel.cli.app; assert 'sklearn.model_selection' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_classifier_loads_no_pandas_and_scikit_learn_finds_it_later():
    pytest.importorskip("pandas")
    code = """
import sys
from evolabel import EvolvingFuzzyClassifier
assert not {"pandas", "scipy.stats"} & sys.modules.keys()
from sklearn.utils import fixes
assert fixes.pd.DataFrame.__name__ == "DataFrame"
import pandas, scipy.stats
assert fixes.pd.DataFrame is pandas.DataFrame
assert pandas.__spec__ is not None
assert fixes.scipy.stats.mode([1, 1, 2]).mode == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_is_not_installed_stays_so():
    with deferred("evolabel_of_nobody"), pytest.raises(ImportError):
        import_module("evolabel_of_nobody")
    assert "evolabel_of_nobody" not in sys.modules


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

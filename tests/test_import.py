"""Importing evolabel must stay cheap."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "sklearn", "matplotlib", "pandas", "scipy.stats")


def test_import_loads_nothing_heavy():
    code = f"import sys, evolabel; print([m for m in {HEAVY!r} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_unknown_names_are_told():
    import evolabel

    with pytest.raises(AttributeError, match="no attribute 'Classifier'"):
        _ = evolabel.Classifier
    assert "EvolvingFuzzyClassifier" in dir(evolabel)

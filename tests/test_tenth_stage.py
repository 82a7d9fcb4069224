"""A further built-in stage is its folder and one line of the pipeline, and one of the docs: tried in a copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "tenth_stage"

CALLS = """
import sys
import numpy as np
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.checks import check_stage
from evolabel.stages.recent_errors.stage import RecentErrors
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=2, n_labels=2, drift_every=0, seed=0).take(90)
clf = EvolvingFuzzyClassifier(max_rules=2).fit(X[:40], Y[:40])
clf.partial_fit(X[40:60], Y[40:60])
assert list(clf.explain(X[0]).own) == ["recent_errors"], clf.explain(X[0]).own
np.testing.assert_allclose(clf.explain(X[0]).total, clf.decision_function(X[:1])[0], atol=1e-12)
clf.save("model")
loaded = EvolvingFuzzyClassifier.load("model")
wider = np.column_stack([Y, Y[:, 0]])
for each in (clf, loaded):
    each.partial_fit(X[60:80], wider[60:80])
np.testing.assert_array_equal(clf.decision_function(X), loaded.decision_function(X))
clf.merge(clf.sibling().partial_fit(X[80:], wider[80:]))
older = EvolvingFuzzyClassifier.load(sys.argv[1])  # of a version without the stage: it starts anew
assert not older.inner.any_model.own_stages[0].arrays.e.any()
older.partial_fit(X[60:80], Y[60:80])
assert older.inner.any_model.own_stages[0].arrays.e.any()
learner = ActiveLearner(clf, budget=1.0)
learner.update(learner.query(X[0]), wider[0])
own = clf.inner.any_model.own_stages[0]
assert own.arrays.e.shape == (3,) and own.arrays.e.any()
check_stage(type("Other", (RecentErrors,), {"name": "other"})(), n_features=2, n_labels=2)
"""


def lines_to_add():
    """The line of the pipeline and the line of the docs, as the example has them."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    return re.search(r'"evolabel\.stages.*",', text)[0], re.search(r"\| `stages/recent_errors`.*\|", text)[0]


def test_the_lines_have_their_places():
    of_pipeline, of_docs = lines_to_add()
    docs = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert docs.count("| `stages/") >= 9
    assert of_docs.count("|") == docs.split("| `stages/sensors`")[1].splitlines()[0].count("|") + 1
    assert of_pipeline.startswith('"evolabel.stages.')


def test_a_folder_and_a_line_of_the_pipeline_are_a_stage(tmp_path):
    package, skipped = tmp_path / "src" / "evolabel", shutil.ignore_patterns("__pycache__", "server", "static")
    shutil.copytree(ROOT / "src" / "evolabel", package, ignore=skipped)
    shutil.copytree(EXAMPLE / "recent_errors", package / "stages" / "recent_errors")
    pipeline = package / "model" / "pipeline.py"
    start = "FURTHER: tuple[str, ...] = (\n"
    text = pipeline.read_text(encoding="utf-8")
    assert text.count(start) == 1
    pipeline.write_text(text.replace(start, f"{start}    {lines_to_add()[0]}\n"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "NUMBA_DISABLE_JIT": "1"}
    X, Y = DriftingStream(n_features=2, n_labels=2, drift_every=0, seed=0).take(40)
    EvolvingFuzzyClassifier(max_rules=2).fit(X, Y).save(tmp_path / "older")
    command = [sys.executable, "-c", CALLS, str(tmp_path / "older")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

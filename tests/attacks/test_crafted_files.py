"""A crafted model file ends in a working model or in ModelFileError: never in another error, never in a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from attacks import crafted_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import ModelFileError
from evolabel.persistence.model_file import read_model_file, write_model_file

CASES = 50 if numba.config.DISABLE_JIT else 1000  # of each group
SCRIPT = Path(__file__).with_name("crafted_files.py")


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited as Linux does it")
@pytest.mark.parametrize(  # the file of a learner holds a classifier
    ("group", "cases"),
    [
        ("learners", CASES // 32),
        *(pytest.param(group, CASES, marks=pytest.mark.slow) for group in crafted_files.GROUPS),
    ],
)
def test_crafted_files_work_or_are_refused(group, cases, tmp_path):
    """In a process of its own: a crash is then a failure that names its case."""
    ran = subprocess.run(
        [sys.executable, SCRIPT, group, "0", str(cases), tmp_path],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    lines = ran.stdout.splitlines()
    failed = [line for line in lines[:-1] if not line.startswith("case ")]
    assert not failed, "\n".join(failed)
    assert ran.returncode == 0, f"ended by {ran.returncode} in {lines[-1:]}: {ran.stderr[-2000:]}"
    counts = json.loads(lines[-1])
    assert counts["works"] + counts["refused"] == cases
    assert min(counts["works"], counts["refused"]) > cases // 20  # neither side is empty


@pytest.fixture
def rewritten(trained, tmp_path):
    """Path of a file whose arrays and facts were changed, sealed again."""

    def write(change, model=trained):
        model.save(tmp_path / "model")
        arrays, manifest = read_model_file(tmp_path / "model")
        change(arrays, manifest)
        write_model_file(tmp_path / "model", arrays, manifest)
        return tmp_path / "model"

    return write


def set_array(name, place, value):
    def change(arrays, manifest):
        arrays[name][place] = value

    return change


def set_fact(value, *path):
    def change(arrays, manifest):
        for step in path[:-1]:
            manifest = manifest[step]
        manifest[path[-1]] = value

    return change


NAMED = {
    "rules that wait beyond their block": (set_array("rules.n_pending", 1, 500), "rules: array n_pending"),
    "fewer than no rows wait": (set_array("rules.n_pending", 1, -3), "rules: array n_pending"),
    "more knots than there are": (set_array("scaler.used", 0, 1000), "scaler: array used"),
    "scores of other knots": (lambda a, m: a.update({"scaler.z": a["scaler.z"][:, :3]}), "scaler: array z"),
    "knots that fall": (lambda a, m: a.update({"scaler.x": -a["scaler.x"]}), "scaler: array x"),
    "more rules than slots": (set_array("rules.counters", 0, 1000), "rules: array counters"),
    "an identity twice": (set_array("rules.identity", slice(None), 1), "rules: array identity"),
    "an identity of the future": (set_array("rules.counters", 2, 0), "rules: array identity"),
    "born in the future": (set_array("rules.born", 1, 10**6), "rules: array born"),
    "half locked": (set_array("rules.locked", 1, 2), "rules: array locked"),
    "no spread": (set_array("rules.inv", (1, 0), 0.0), "rules: array inv"),
    "an indefinite H": (set_array("rules.H", (1, 1, 0), 1e6), "rules: array H"),
    "an indefinite P": (set_array("rules.P", (1, 1, 0), 1e6), "rules: array P"),
    "NaN in G": (set_array("rules.G", (1, 0, 0), float("nan")), "rules: array G holds NaN"),
    "another dtype": (lambda a, m: a.update({"rules.k": a["rules.k"].astype("float32")}), "holds float32"),
    "negative answers": (set_array("n_answers", 0, -1.0), "array n_answers"),
    "more positive answers than answers": (
        set_array("feedback.n_initial_positive", 0, 1e9),
        "array n_initial_positive",
    ),
    "an array too many": (lambda a, m: a.update({"rules.luck": a["rules.k"]}), "array luck"),
    "huge number of labels": (set_fact(10**12, "model", "n_labels"), "n_labels"),
    "many labels": (set_fact(10**6, "model", "n_labels"), "array n_answers"),
    "huge number of features": (set_fact(10**12, "model", "n_features"), "n_features"),
    "features in words": (set_fact("four", "model", "n_features"), "n_features"),
    "a ridge below 0": (set_fact("-0x1p+0", "model", "ridge"), "ridge"),
    "a ridge that is no number": (set_fact("nan", "model", "ridge"), "ridge"),
    "names of other labels": (set_fact(["one"], "targets", "labels"), "labels"),
    "names of other features": (set_fact({"names": ["one"], "categories": [None]}, "columns"), "columns"),
    "an event of the wrong kind": (set_fact([[1, "miracle", 1, None, ""]], "model", "events"), "events"),
    "rules merged in a circle": (
        set_fact([[n, "merge", n, 3 - n, "", None, None, 0.0, 0.0, 0.0, 0] for n in (1, 2)], "model", "events"),
        "merges into rules that are there",
    ),
    "acts without arrays": (
        set_fact([{"rule_names": {}, "appended": 1, "dropped": [], "written": False}], "model", "changes"),
        r"change: array 0\.",
    ),
    "a parameter out of range": (set_fact(0, "parameters", "max_rules"), "max_rules"),
}


@pytest.mark.parametrize("case", NAMED)
def test_the_error_names_file_and_culprit(rewritten, case):
    change, told = NAMED[case]
    path = rewritten(change)
    with pytest.raises(ModelFileError, match=told) as error:
        EvolvingFuzzyClassifier.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


OF_LEARNERS = {
    "rows beyond the window": (set_array("active.selector.counters", 0, 10**6), "active.selector: array counters"),
    "a filter of negative scores": (set_array("active.selector.ring", (0, 0), -1.0), "active.selector: array ring"),
    "moments that wait beyond their block": (
        set_array("active.unlabelled.moments.n_pending", 0, 99),
        "active.unlabelled: moments: array n_pending",
    ),
    "evidence without bounds": (
        set_array("active.context.feedback.evidence", (0, 0, 0), float("inf")),
        "active.context: feedback: array evidence",
    ),
    "labels of another question": (
        lambda a, m: a.update({name: a[name][:1] for name in a if name.endswith(".labels")}),
        "active.pending",
    ),
    "asked beyond the budget": (set_fact(10**6, "counts", "asked"), "counts.asked"),
    "more earned than seen": (set_fact(10**6, "counts", "earning"), "counts.earning"),
    "a budget of nothing": (set_fact(0, "parameters", "budget"), "budget"),
    "an unknown criterion": (set_fact([{"name": "luck", "parameters": {}}], "criteria"), "luck"),
    "an unknown filter": (set_fact({"name": "luck", "parameters": {}}, "selection"), "selection.name"),
    "refused in words": (set_fact("often", "ledger", "questions_refused"), "ledger.questions_refused"),
    "more errors than answers": (
        set_fact({"answered": 2, "wrong": 3, "drawn": 0, "drawn_wrong": 0}, "ledger", "met"),
        "ledger.met",
    ),
    "annotators that agree too often": (set_fact({"anna": 3}, "annotators", "agreed"), "annotators.agreed"),
    "a window of everything": (
        set_fact({"name": "tokens", "parameters": {"generosity": 2.0, "window": 10**12}}, "selection"),
        "window",
    ),
}


@pytest.fixture
def learner(trained, stream):
    learner = ActiveLearner(trained, 0.5)
    for x in stream[0][:30]:
        query = learner.query(x)
        learner.mark_pending(query) if query.asked else learner.update(query)
    assert learner.pending
    return learner


@pytest.mark.parametrize("case", OF_LEARNERS)
def test_the_error_about_a_learner_names_file_and_culprit(rewritten, learner, case):
    change, told = OF_LEARNERS[case]
    path = rewritten(change, learner)
    with pytest.raises(ModelFileError, match=told) as error:
        ActiveLearner.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)

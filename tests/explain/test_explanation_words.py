"""Explanations without riddles: start values, probabilities beside outputs, thresholds."""

import re

import numpy as np
import pandas as pd
import pytest
from choices import first_quick
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.explain import figures

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore:X does not have valid feature names")]

_HEAD = re.compile(
    r"^(\w+): (yes|no) \(probability (?:over |under )?([\d.]+); "
    r"output (-?[\d.]+), threshold ([\d.]+)(, too close to call)?\) = (.*)$"
)


@pytest.mark.parametrize("parameters", first_quick({}, {"threshold_rules": False}, {"optimise": "micro_f1"}))
def test_the_first_line_has_probability_output_threshold_and_parts_that_add_up(parameters):
    X, Y = pump_rows(1500, missing=0.05)
    clf = EvolvingFuzzyClassifier(**parameters).partial_fit(X, Y).name_columns(FEATURES, LABELS)
    for x in pump_rows(60, seed=5, missing=0.1)[0]:
        why = clf.explain(x)
        probabilities, outputs = clf.predict_proba(x[None])[0], clf.decision_function(x[None])[0]
        for text in (why.text, why.markdown(), why.html(), str(why.to_dict())):
            assert "base rate" not in text
        assert why.to_dict()["features"][-1] == "start value"
        heads = [found for line in why.text.splitlines() if (found := _HEAD.match(line))]
        assert [head[1] for head in heads] == LABELS
        for c, head in enumerate(heads):
            assert float(head[3]) == pytest.approx(probabilities[c], abs=1.1e-3)
            assert 0.0 < float(head[3]) < 1.0
            assert float(head[4]) == pytest.approx(outputs[c], abs=5.1e-4)
            assert float(head[5]) == pytest.approx(clf.thresholds_[c], abs=5.1e-4)
            parts = [float(part) for part in re.findall(r"(?:^|, )([+-]\d+\.\d{3}) ", head[7])]
            assert sum(parts) == pytest.approx(outputs[c], abs=0.005)
        for label, threshold in zip(why.to_dict()["labels"], clf.thresholds_, strict=True):
            assert label["threshold"] == threshold


def test_of_classes_the_largest_output_is_named(blobs):
    X, y = blobs
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, np.array(["ash", "birch", "cedar"])[y])
    why = clf.explain(X[0])
    for c, line in enumerate(line for line in why.text.splitlines() if re.match(r"\w+: (yes|no) \(", line)):
        end = "the largest" if why.predicted[c] else f"the largest is {why.total.max():.3f}"
        assert f"output {why.total[c]:.3f}, {end}" in line
    assert all(label["threshold"] is None for label in why.to_dict()["labels"])


@pytest.mark.parametrize(
    ("shift", "words"),
    [("late", "shift is late"), (None, "shift (missing)"), ("dawn", "shift is none of the texts seen")],
)
@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_a_column_of_texts_is_one_part_of_the_output(shift, words):
    rng = np.random.default_rng(1)
    shifts, machines = rng.choice(["early", "late", "night"], 200), rng.choice(["M-1", "M-2"], 200)
    X = pd.DataFrame({"heat": rng.normal(size=200), "shift": shifts, "machine": machines})
    leak = (X["shift"] == "late") & (X["machine"] == "M-1") | (X["heat"] > 1.0)
    clf = EvolvingFuzzyClassifier(max_rules=4, threshold_rules=False).fit(X, leak.to_frame("leak").astype(float))
    why = clf.explain(pd.DataFrame({"heat": [0.5], "shift": [shift], "machine": ["M-1"]}))
    texts = re.split(r" = |, (?=[+-]\d)", why.text.splitlines()[0])[1:]
    parts = {text.partition(" ")[2].partition(" (0.5")[0]: float(text.partition(" ")[0]) for text in texts}
    assert parts.keys() == {"start value", "heat", words, "machine is M-1"}
    features = [name.startswith("shift=") for name in why.feature_names]
    assert parts[words] == pytest.approx(why.by_feature[:-1][features, 0].sum(), abs=5.1e-4)


@pytest.mark.parametrize(("on", "words"), [([1.0, 1.0, 0.0], "M-01 and M-02"), ([0.5, 0.0, 1.0], "M-03")])
def test_columns_of_0_and_1_may_have_several_texts_or_other_numbers(pump, on, words):
    text = pump.explain(np.array([np.nan, np.nan, np.nan, *on])).text
    assert f"machine is {words}," in text
    assert ("machine=M-01 (0.5" in text) == (on[0] == 0.5)


def test_a_row_without_features_has_the_start_value_alone(pump):
    why = pump.explain(np.full(len(FEATURES), np.nan))
    for rate, line in zip(why.total, why.text.splitlines()[:-1], strict=True):
        assert line.endswith(f" = {rate:+.3f} start value")


def test_a_row_without_features_has_no_path(pump):
    empty = np.full(len(FEATURES), np.nan)
    with pytest.raises(DataError, match="has no feature at all"):
        figures.sample_path(pump, empty, "leak")
    assert "no feature at all" in str(pump.explain(empty))


def test_the_path_of_a_sample_answers_by_the_threshold_of_the_label(pump):
    x = pump_rows(100, seed=5)[0][0]
    title = figures.sample_path(pump, x, "leak").get_title(loc="left")
    assert f"output {pump.explain(x).total[0]:.2f}, threshold {pump.thresholds_[0]:.2g}" in title

"""Every change that an explanation offers turns the label, with the very number that is printed."""

import re

import numpy as np
import pandas as pd
import pytest
from choices import examples, only_quick
from hypothesis import example, given
from hypothesis import strategies as st
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.explain.change_search import rounded_away
from evolabel.explain.counterfactuals import change_texts
from evolabel.streams import DriftingStream

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore:X does not have valid feature names")]

_CHANGE = re.compile(
    r"would turn (on|off) if (.+?)(?: \(read [^)]*\))? (?:went from (\S+) to (\S+)|were (.+?))(?: \(across|$)"
)


def drifting():
    X, Y = DriftingStream(n_features=6, n_labels=4, seed=3).take(650)
    return EvolvingFuzzyClassifier(max_rules=12).partial_fit(X[:600], Y[:600]), X[600:]


def gaps_and_texts():
    X, Y = pump_rows(2500, missing=0.05)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
    return clf, pump_rows(60, seed=5, missing=0.1)[0]


def without_threshold_rules():
    X, Y = pump_rows(2500, missing=0.05)
    clf = EvolvingFuzzyClassifier(threshold_rules=False).partial_fit(X, Y).name_columns(FEATURES, LABELS)
    return clf, pump_rows(120, seed=5, missing=0.1)[0]


def moved_sensor():
    X, Y = pump_rows(3500)
    X[2500:, 2] += 8.0
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
    rows = pump_rows(50, seed=5)[0]
    rows[:, 2] += 8.0
    return clf, rows


def written_rules():
    clf, rows = gaps_and_texts()
    clf.rulebook.add("IF flow ABOVE 0.31415926 AND machine IS NOT M-02 THEN idle LIKELY")
    return clf, rows


def rules_that_end_at_0():
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(400)
    clf = EvolvingFuzzyClassifier(max_rules=8).fit(X, Y)
    clf.rulebook.add("IF x0 BELOW 0 THEN label0 UNLIKELY, label1 LIKELY")
    clf.rulebook.add("IF x1 ABOVE 0 THEN label0 LIKELY, label2 UNLIKELY")
    return clf, X[:80]


def nanoseconds_of_a_clock_that_moved():
    """One step of such a number is 256, so a reading of 0 and one of 1 are corrected to the same number."""
    X = np.random.default_rng(0).normal(size=(2680, 3))
    Y = (X + 0.3 * X[:, [1, 2, 0]] > 0.0).astype(float)
    X = 1.7e18 + 1e15 * X
    X[1500:, 0] += 1.2e16
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(X[:600], Y[:600]).partial_fit(X[600:2600], Y[600:2600])
    numbers = re.findall(r"1\.7[\d.]*e\+18", "".join(rule.text for rule in clf.rules_) + str(clf.explain(X[2600])))
    assert numbers
    assert all(abs(float(number) / 1.7e18 - 1.0) < 1e-5 or len(number) > len("1.712e+18") for number in numbers)
    assert any(" if x0 went" in str(clf.explain(x)) and "x0 (read 1." in str(clf.explain(x)) for x in X[2600:])
    return clf, X[2600:]


def large_numbers():
    """Values like times in seconds, of which four digits say nothing."""
    X, Y = pump_rows(2500)
    X[:, 0] = 1.7e9 + 1000.0 * X[:, 0]
    X[:, 2] = 1.7e9 + 1000.0 * X[:, 2]
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
    return clf, X[:80]


def chosen_thresholds():
    X, Y = pump_rows(1500, missing=0.05)
    clf = EvolvingFuzzyClassifier(optimise="micro_f1").partial_fit(X, Y).name_columns(FEATURES, LABELS)
    return clf, pump_rows(80, seed=6)[0]


def paper():
    X, Y = pump_rows(300)
    return EvolvingFuzzyClassifier.paper().fit(X, Y).name_columns(FEATURES, LABELS), pump_rows(60, seed=6)[0]


def asked():
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=3).take(500)
    learner = ActiveLearner(EvolvingFuzzyClassifier(max_rules=8).fit(X[:200], Y[:200]), 0.3)
    for x, y in zip(X[200:400], Y[200:400], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    return learner, X[400:460]


STREAMS = [
    *(drifting, gaps_and_texts, without_threshold_rules, moved_sensor, written_rules, large_numbers),
    *(rules_that_end_at_0, nanoseconds_of_a_clock_that_moved, chosen_thresholds, paper, asked),
]
MENDED = rules_that_end_at_0, nanoseconds_of_a_clock_that_moved


def offered(why):
    """Label, direction, feature or column, and the printed value or text of every change in the text of `why`."""
    label = None
    for line in why.text.splitlines():
        if not line.startswith(" "):
            label = line.partition(":")[0]
        elif found := _CHANGE.search(line):
            yield label, found[1] == "on", found[2], found[4] if found[5] is None else found[5]


@pytest.mark.parametrize("stream", only_quick(STREAMS, drifting, moved_sensor, written_rules, *MENDED, paper))
def test_the_printed_change_turns_the_label(stream):
    clf, rows = stream()
    rows = rows[: examples(150)]
    n_offered = 0
    for x in rows:
        why, now = clf.explain(x), clf.predict(x[None])[0]
        assert why.predicted.tolist() == now.tolist()
        changes = list(offered(why))
        assert len(changes) == sum(change is not None for change in why.counterfactuals)
        for label, turns_on, name, value in changes:
            changed, c = x.copy(), why.label_names.index(label)
            if name in why.feature_names:
                assert changed[why.feature_names.index(name)] != float(value)
                changed[why.feature_names.index(name)] = float(value)
            else:
                column = [j for j, feature in enumerate(why.feature_names) if feature.startswith(f"{name}=")]
                changed[column] = [why.feature_names[j] == f"{name}={value}" for j in column]
            assert (now[c], clf.predict(changed[None])[0, c]) == ((0, 1) if turns_on else (1, 0))
            n_offered += 1
    assert n_offered > len(rows) / 2


@pytest.mark.parametrize("classes", [2, 3])
def test_a_change_of_a_frame_with_texts_turns_the_class(classes):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"mode": rng.choice(["idle", "spin", "very slow"], 900), "heat": rng.normal(60, 10, 900)})
    frame.loc[rng.random(900) < 0.05, "heat"] = np.nan
    kinds = np.where(frame["mode"] == "spin", "leak", np.where((frame.heat > 65) & (classes == 3), "hot", "calm"))
    clf = EvolvingFuzzyClassifier().partial_fit(frame, kinds)
    n_offered = 0
    n = examples(150)
    for i in range(n):
        x = frame.iloc[[i]]
        now = clf.predict(x)[0]
        for label, turns_on, name, value in offered(clf.explain(x)):
            changed = x.assign(**{name: value if name == "mode" else float(value)})
            assert turns_on == (now != label) == (clf.predict(changed)[0] == label)
            n_offered += 1
    assert n_offered > n / 2


def test_both_values_are_printed_with_the_digits_that_tell_them_apart():
    assert change_texts(4.5874, 4.899) == ("4.587", "4.899")
    assert change_texts(1700000123.25, 1700000210.0) == ("1700000120", "1700000210")
    assert change_texts(0.0, 3.272) == ("0", "3.272")
    assert change_texts(12345.678, 1.25e-7) == ("12350", "1.25e-07")


values = st.floats(-1e100, 1e100)


@given(value=values, start=values)
@example(value=5e-324, start=-1.0)
@example(value=-5e-324, start=1e100)
@example(value=2.2e-313, start=-1e14)
@example(value=1e-320, start=3e-320)
@example(value=3e-308, start=3e-308 + 5e-324)
def test_a_rounded_change_is_finite_and_at_least_as_large(value, start):
    rounded = rounded_away(value, start)
    if abs(value - start) > 1e-9 * abs(value):  # nearer numbers may have no other one between them
        assert min(start, rounded) <= value <= max(start, rounded)
    assert np.isfinite(rounded)


@pytest.mark.parametrize("scale", [1e-320, 1e-308, 1e-160, 1e99])
def test_values_near_the_smallest_and_largest_numbers_are_explained(scale):
    X, Y = DriftingStream(n_features=3, n_labels=2, drift_every=0, seed=3).take(300)
    X = X / np.abs(X).max() * scale
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(X, Y)
    clf.rulebook.add("IF x0 BELOW 0 THEN label0 UNLIKELY")
    for x in X[: examples(100)]:
        why = clf.explain(x)
        assert all(np.isfinite(change.after) for change in why.counterfactuals if change)
        assert np.isfinite(why.total).all()

"""What is printed about thresholds holds: changes turn the label, intervals are not backwards, drifts end when calm."""

import warnings

import numpy as np
from choices import examples
from pump_stream import FEATURES, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.threshold_rules.words import NEVER_SEEN, ThresholdCondition


def test_a_change_across_a_threshold_turns_the_label_at_the_printed_value(pump):
    X, _ = pump_rows(examples(300), seed=5)
    tried = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays where names are known
        for x in X:
            change = pump.explain(x[None]).counterfactuals[0]
            if change is not None and change.across_threshold and "=" not in change.feature:
                other = x.copy()
                other[FEATURES.index(change.feature)] = float(f"{change.after:.4g}")
                tried += 1
                assert pump.predict(other[None])[0, 0] != pump.predict(x[None])[0, 0]
    assert tried > len(X) / 8


def test_an_interval_between_unsure_edges_is_not_printed_backwards():
    strip = ThresholdCondition("pressure", 5.303, 5.3065, 0.0005, 1.5, NEVER_SEEN)
    assert strip.words() == "pressure is between 5.303 and 5.3065"


def test_a_drift_that_a_tree_has_shown_ends_when_the_tree_is_calm_again():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(4000, 4))
    edge = np.where(np.arange(4000) < 2500, -0.3, 0.6)
    Y = ((X[:, 0] < edge) & (X[:, 1] > 0.0)).astype(float)[:, None]
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    shifts = [
        (event.kind, event.before, event.after) for event in clf.events_ if event.label == "label0" and not event.rule
    ]
    assert [kind for kind, _, _ in shifts] == ["drift", "recovered"]
    assert shifts[1][2] < shifts[0][2]

"""There is no limit to the number of labels without names."""

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.targets import LabelMatrix, are_generated, generated_names

MANY = 20_001


def test_names_never_run_out():
    coding = LabelMatrix().read(np.zeros((1, MANY)))[1]
    assert coding.size == MANY
    assert len(set(coding.names)) == MANY
    assert are_generated(coding.names)


def test_generated_names_avoid_the_known_ones():
    assert generated_names(3, ["label1", "rain"]) == ["label0", "label2", "label3"]
    assert not are_generated(["label1", "label0"])


@pytest.mark.parametrize("known", [1, 7])
def test_labels_that_appear_beyond_20_000_get_names_of_their_own(known):
    coding = LabelMatrix([f"label{MANY - i}" for i in range(known)]).read(np.zeros((1, MANY)))[1]
    assert coding.size == len(set(coding.names)) == MANY


@pytest.mark.compiled
@pytest.mark.slow
def test_more_than_20_000_labels_are_learned_answered_and_grow():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 2)), (rng.random((30, MANY)) < 0.3).astype(float)
    clf = EvolvingFuzzyClassifier(max_rules=2).fit(X[:20], Y[:20, : MANY - 1])
    clf.partial_fit(X[20:], Y[20:])
    assert clf.decision_function(X).shape == (30, MANY)
    assert len(clf.label_names_) == clf.inner.any_model.n_labels == MANY
    assert np.isfinite(clf.decision_function(X)).all()
    frame = pd.DataFrame(Y, columns=[f"name{i}" for i in range(MANY)])
    assert clf.partial_fit(X, frame).label_names_[-1] == f"name{MANY - 1}"

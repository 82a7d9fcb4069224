"""Integers beyond float64 in objects: every place that makes numbers of them refuses them in one line."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import EvolabelError
from evolabel.evaluate import prequential
from evolabel.streams import Dataset, from_frame

HUGE = [10**400, -(10**400), Fraction(10**400, 3), 10**5000]


def with_value(table, value):
    """The first rows of a table as objects, one of which is the value."""
    cells = np.array(table[:6], dtype=object)
    cells[(1,) * cells.ndim] = value
    return cells


@pytest.fixture(params=HUGE, ids=["positive", "negative", "fraction", "5000 digits"])
def huge(request):
    return request.param


def test_in_features_targets_weights_and_confidences(huge, trained, stream):
    X, Y = stream
    x, y, weights = with_value(X, huge), with_value(Y, huge), with_value(np.ones(6), huge)
    frame = pd.DataFrame(x, columns=list("abcd"))
    named = EvolvingFuzzyClassifier().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    for call in (
        lambda: trained.predict(x),
        lambda: trained.predict_proba(x.tolist()),
        lambda: trained.explain(x[1:2]),
        lambda: trained.partial_fit(x, Y[:6]),
        lambda: EvolvingFuzzyClassifier().fit(x, Y[:6]),
        lambda: EvolvingFuzzyClassifier().fit(X[:6], y),
        lambda: EvolvingFuzzyClassifier().fit(X[:6], y.tolist()),
        lambda: trained.partial_fit(X[:6], Y[:6], sample_weight=weights),
        lambda: trained.partial_fit(X[:6], Y[:6], sample_weight=huge),
        lambda: trained.partial_fit(X[:6], Y[:6], confidence=weights),
        lambda: named.predict(frame),
        lambda: EvolvingFuzzyClassifier().fit(frame, Y[:6]),
        lambda: EvolvingFuzzyClassifier(vigilance=huge).fit(X[:6], Y[:6]),
    ):
        with pytest.raises(EvolabelError) as refused:
            call()
        assert "\n" not in str(refused.value)


def test_in_questions_and_answers(huge, trained, stream):
    learner = ActiveLearner(trained, budget=1.0)
    query = learner.query(stream[0][:1])
    for call in (
        lambda: learner.query(with_value(stream[0], huge)[1:2]),
        lambda: learner.update(query, [huge, 1, 0]),
        lambda: learner.update(query, {trained.label_names_[0]: huge}),
    ):
        with pytest.raises(EvolabelError, match=r"beyond 1\.8e\+308, the largest of float64"):
            call()


def test_in_data_sets_and_streams(huge, stream):
    X, Y = stream
    x = with_value(X, huge)
    frame = pd.DataFrame(x, columns=list("abcd"))
    for call in (
        lambda: Dataset(x, Y[:6], tuple("abcd"), tuple("efg"), "plant"),
        lambda: Dataset(X[:6], with_value(Y, huge), tuple("abcd"), tuple("efg"), "plant"),
        lambda: from_frame(frame, ["d"]),
        lambda: prequential(EvolvingFuzzyClassifier(), (x, Y[:6])),
        lambda: prequential(EvolvingFuzzyClassifier(), zip(x.tolist(), Y[:6].tolist(), strict=True), samples=6),
    ):
        with pytest.raises(EvolabelError, match=r"beyond 1\.8e\+308, the largest of float64"):
            call()


def test_a_signalling_nan_is_missing(trained, stream):
    x = stream[0][:3].astype(object)
    x[1, 2] = Decimal("sNaN")
    expected = stream[0][:3].copy()
    expected[1, 2] = np.nan
    np.testing.assert_array_equal(trained.predict_proba(x), trained.predict_proba(expected))

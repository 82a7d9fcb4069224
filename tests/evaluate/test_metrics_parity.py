"""Without gaps, every metric that scikit-learn has is scikit-learn's, ties included."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_streams import streams
from sklearn import metrics as sklearn

from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.evaluate.metrics import (
    AveragePrecision,
    BalancedAccuracy,
    Coverage,
    ExampleF1,
    HammingLoss,
    MacroF1,
    MicroF1,
    OneError,
    PartialAccuracy,
    RankingLoss,
    SubsetAccuracy,
)

MANY = settings(max_examples=examples(60), deadline=None)
COMPLETE = streams(gaps=False, min_labels=2)


def f1_oracle(average):
    return lambda Y, P: sklearn.f1_score(Y, P, average=average, zero_division=0)


def balanced_oracle(Y, P):
    """Mean recall of the values that each label has, then the mean over the labels."""
    recalls = [sklearn.recall_score(y, p, labels=np.unique(y), average="macro") for y, p in zip(Y.T, P.T, strict=True)]
    return np.mean(recalls)


OF_SETS = {
    BalancedAccuracy: balanced_oracle,
    HammingLoss: sklearn.hamming_loss,
    PartialAccuracy: lambda Y, P: 1.0 - sklearn.hamming_loss(Y, P),
    SubsetAccuracy: sklearn.accuracy_score,
    ExampleF1: f1_oracle("samples"),
    MicroF1: f1_oracle("micro"),
    MacroF1: f1_oracle("macro"),
}
OF_RANKINGS = {
    "average precision": (AveragePrecision(count_empty=True), sklearn.label_ranking_average_precision_score),
    "ranking loss": (RankingLoss(), sklearn.label_ranking_loss),
    "coverage": (Coverage(), sklearn.coverage_error),
}


@pytest.mark.parametrize("kind", OF_SETS, ids=lambda kind: kind.__name__)
@MANY
@given(stream=COMPLETE, threshold=st.sampled_from([0.5, 0.3, 0.0]))
def test_metrics_of_label_sets_are_scikit_learns(kind, stream, threshold):
    Y, S = stream
    expected = OF_SETS[kind](Y.astype(int), (threshold <= S).astype(int))
    assert kind(threshold).update(Y, S).get() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("kind", OF_SETS, ids=lambda kind: kind.__name__)
@MANY
@given(stream=COMPLETE, data=st.data())
def test_every_label_may_have_its_own_threshold(kind, stream, data):
    Y, S = stream
    K = Y.shape[1]
    thresholds = data.draw(st.lists(st.sampled_from([0.2, 0.5, 1.0]), min_size=K, max_size=K))
    expected = OF_SETS[kind](Y.astype(int), (np.array(thresholds) <= S).astype(int))
    assert kind(thresholds).update(Y, S).get() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", OF_RANKINGS)
@MANY
@given(stream=COMPLETE)
def test_metrics_of_rankings_are_scikit_learns(name, stream):
    metric, oracle = OF_RANKINGS[name]
    Y, S = stream
    assert metric.fresh().update(Y, S).get() == pytest.approx(oracle(Y.astype(int), S), rel=1e-12, abs=1e-15)


@MANY
@given(stream=COMPLETE)
def test_average_precision_leaves_out_samples_without_labels(stream):
    Y, S = stream
    some = Y.any(axis=1)
    metric = AveragePrecision().update(Y, S)
    assert (metric.n_samples, metric.n_skipped) == (some.sum(), (~some).sum())
    if some.any():
        expected = sklearn.label_ranking_average_precision_score(Y[some].astype(int), S[some])
        assert metric.get() == pytest.approx(expected, rel=1e-12)
    else:
        assert np.isnan(metric.get())


@MANY
@given(stream=COMPLETE)
def test_the_top_label_decides_the_one_error(stream):
    Y, S = stream
    S = S + 1e-3 * np.arange(S.shape[1])  # no ties
    some = Y.any(axis=1)
    wrong = 1.0 - Y[np.arange(len(Y)), S.argmax(axis=1)]
    expected = wrong[some].mean() if some.any() else np.nan
    assert OneError().update(Y, S).get() == pytest.approx(expected, nan_ok=True)


@MANY
@given(stream=streams())
@pytest.mark.filterwarnings("ignore:AP is 1 here")
def test_the_scores_for_whole_arrays_are_the_metrics(stream):
    Y, S = stream
    known = ~np.isnan(Y)
    right = ((S >= 0.3) == (Y == 1.0))[known]
    assert partial_accuracy(Y, S, 0.3) == pytest.approx(right.mean() if known.any() else np.nan, nan_ok=True)
    assert average_precision(Y, S) == pytest.approx(AveragePrecision().update(Y, S).get(), nan_ok=True)


def test_a_perfect_score_is_perfect_and_a_constant_one_is_not():
    Y = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    perfect = {kind: kind().update(Y, Y).get() for kind in (*OF_SETS, AveragePrecision, RankingLoss, OneError)}
    constant = {kind: kind().update(Y, 0.0 * Y).get() for kind in perfect}
    for kind, value in perfect.items():
        assert value == (1.0 if kind.bigger_is_better else 0.0) or kind is MacroF1
        assert value != constant[kind]
    assert perfect[MacroF1] == pytest.approx(2.0 / 3.0)  # one label never occurs

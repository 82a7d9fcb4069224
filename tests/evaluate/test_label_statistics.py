"""The table of labels is that of scikit-learn, for known labels, in any cuts of the stream."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from evolabel.errors import DataError
from evolabel.evaluate import LabelStatistics, label_scores
from evolabel.evaluate.label_statistics import pooled_scores

NAMES = ["leak", "bearing", "rare"]


@pytest.fixture
def answers():
    """Labels with gaps, scores on a grid of 1/500 (so that bins lose nothing), and probabilities."""
    random = np.random.default_rng(3)
    Y = (random.random((400, 3)) < [0.5, 0.3, 0.05]).astype(float)
    scores = np.round(500 * (0.3 * Y + random.normal(0.3, 0.2, Y.shape))).clip(-200, 700) / 500 + 0.0005
    Y[random.random(Y.shape) < 0.2] = np.nan
    return Y, scores, np.clip(scores, 0.01, 0.99)


def test_every_column_is_that_of_scikit_learn(answers):
    Y, scores, chances = answers
    for k, row in enumerate(label_scores(Y, scores, probabilities=chances, labels=NAMES)):
        known = ~np.isnan(Y[:, k])
        y, s, p = Y[known, k], scores[known, k], chances[known, k]
        assert (row.label, row.known, row.support) == (NAMES[k], known.sum(), y.sum())
        assert row.predicted == (s >= 0.5).sum()
        assert row.precision == pytest.approx(precision_score(y, s >= 0.5))
        assert row.recall == pytest.approx(recall_score(y, s >= 0.5))
        assert row.f1 == pytest.approx(f1_score(y, s >= 0.5))
        assert row.pr_auc == pytest.approx(average_precision_score(y, s))
        assert row.roc_auc == pytest.approx(roc_auc_score(y, s))
        assert row.brier == pytest.approx(brier_score_loss(y, p))


def test_the_roc_curve_goes_through_the_points_of_scikit_learn(answers):
    Y, scores, _ = answers
    counts = LabelStatistics(NAMES).update(Y, scores)
    known = ~np.isnan(Y[:, 0])
    alarms, hits, _ = roc_curve(Y[known, 0], scores[known, 0], drop_intermediate=False)
    np.testing.assert_allclose(counts.roc_curve(0).x, alarms)
    np.testing.assert_allclose(counts.roc_curve(0).y, hits)


def test_decisions_replace_the_threshold(answers):
    Y, scores, _ = answers
    chosen = np.zeros(Y.shape, bool)
    chosen[:100] = True
    row = label_scores(Y, scores, decisions=chosen)[1]
    assert row.predicted == (~np.isnan(Y[:100, 1])).sum()
    assert row.recall == pytest.approx(np.nansum(Y[:100, 1]) / np.nansum(Y[:, 1]))


def test_pieces_and_sums_of_runs_are_the_whole(answers):
    Y, scores, chances = answers
    whole = LabelStatistics(NAMES).update(Y, scores, None, chances)
    pieces = LabelStatistics(NAMES)
    for part in np.array_split(np.arange(len(Y)), 7):
        pieces.update(Y[part], scores[part], None, chances[part])
    halves = [
        LabelStatistics(NAMES).update(Y[part], scores[part], None, chances[part])
        for part in (slice(150), slice(150, None))
    ]
    for other in (pieces, halves[0].add(halves[1])):
        for row, same in zip(whole.rows(), other.rows(), strict=True):
            assert vars(same) == pytest.approx(vars(row), nan_ok=True)


def test_what_is_not_defined_is_nan():
    never, always = label_scores([[0, 1], [0, 1]], [[0.1, 0.2], [0.3, 0.1]])
    assert (never.support, always.support, always.predicted) == (0, 2, 0)
    assert np.isnan([never.precision, never.recall, never.f1, never.pr_auc, never.roc_auc, never.brier]).all()
    assert np.isnan([always.precision, always.pr_auc, always.roc_auc]).all()
    assert (always.recall, always.f1) == (0.0, 0.0)


def test_the_calibration_compares_promised_with_found():
    Y = [[1.0], [1.0], [0.0], [np.nan], [0.0], [1.0]]
    p = [[0.71], [0.73], [0.72], [0.9], [0.2], [0.2]]
    counts = LabelStatistics(["leak"])
    assert counts.calibration() is None
    found = counts.update(Y, p, None, p).calibration()
    np.testing.assert_allclose(found.promised, [0.2, 0.72])
    np.testing.assert_allclose(found.found, [0.5, 2 / 3])
    np.testing.assert_allclose(found.pairs, [2, 3])
    assert found.error == pytest.approx((2 * 0.3 + 3 * (0.72 - 2 / 3)) / 5)


def test_runs_are_pooled_by_sums_and_means_of_what_is_defined():
    one = label_scores([[1], [0]], [[0.9], [0.1]])
    two = label_scores([[0], [0]], [[0.9], [0.1]])
    (row,) = pooled_scores([one, two])
    assert (row.known, row.support, row.predicted) == (4, 1, 2)
    assert (row.precision, row.recall) == (0.5, 1.0)


def test_other_widths_are_refused():
    with pytest.raises(DataError, match="got 2 labels, expected 1: leak"):
        LabelStatistics(["leak"]).update([[1, 0]], [[1, 0]])

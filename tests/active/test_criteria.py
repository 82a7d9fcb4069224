"""Criteria compute the scores of their equations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.active import Ambiguity, Instability, Leverage, Novelty, SoftCount, VarianceReduction
from evolabel.active.scoring.criteria import read_criteria
from evolabel.active.scoring.row_statistics import RowStatistics


class Seen:
    """Row statistics that have outputs only."""

    def __init__(self, outputs):
        self.outputs = np.atleast_2d(outputs)
        self.exploration = None


@given(outputs=st.lists(st.floats(-1, 2), min_size=1, max_size=6), threshold=st.floats(0.51, 0.99))
def test_ambiguity_fires_inside_the_band_of_eq_30(outputs, threshold):
    criterion, f = Ambiguity(threshold=threshold), np.array(outputs)
    fired = criterion.strength(criterion.score(Seen(f)))[0] > 1.0
    clear = np.abs(np.abs(f - 0.5) - (threshold - 0.5)) > 1e-9  # not just at the edge
    assert (fired == ((f < threshold) & (f > 1.0 - threshold)))[clear].all()


def test_soft_count_counts_ambiguous_labels():
    assert SoftCount().score(Seen([0.5, 0.5, -9.0]))[0] == pytest.approx(2.0)


def test_novelty_is_all_or_nothing():
    np.testing.assert_array_equal(Novelty().strength(np.array([0.5, 1.0, 1.1])), [0.0, 0.0, np.inf])


def test_thresholds_are_the_papers():
    assert [c.threshold for c in read_criteria(("novelty", "ambiguity", "instability"), "samples")] == [1.0, 0.6, 0.075]


def test_scores_are_attributes_of_the_row_statistics(classifier, stream):
    statistics = RowStatistics(classifier.inner.any_model, stream[0][60:])
    known = {Novelty: "novelty", Instability: "trace_drop", Leverage: "leverage"}
    for kind, name in {**known, VarianceReduction: "variance_reduction"}.items():
        np.testing.assert_array_equal(kind().score(statistics), getattr(statistics, name))

"""`set_coverage` and `set_size`, against counts written down naively."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.errors import DataError
from evolabel.evaluate import set_coverage, set_size


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), K=st.integers(1, 4))
def test_labels_are_counted_pair_by_pair(seed, n, K):
    rng = np.random.default_rng(seed)
    Y, sets = rng.choice([0.0, 1.0, np.nan], (n, K)), rng.random((n, K, 2)) < 0.6
    held = [sets[i, k, int(Y[i, k])] for i in range(n) for k in range(K) if not np.isnan(Y[i, k])]
    np.testing.assert_equal(set_coverage(Y, sets), np.mean(held) if held else np.nan)
    assert set_size(sets) == pytest.approx(sum(sets[i, k].sum() for i in range(n) for k in range(K)) / (n * K))


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), K=st.integers(1, 4))
def test_classes_are_counted_row_by_row(seed, n, K):
    rng = np.random.default_rng(seed)
    classes, sets = rng.integers(K, size=n), rng.random((n, K)) < 0.6
    Y = np.eye(K)[classes]
    Y[rng.random(n) < 0.2] = np.nan
    held = [sets[i, classes[i]] for i in range(n) if not np.isnan(Y[i, 0])]
    np.testing.assert_equal(set_coverage(Y, sets), np.mean(held) if held else np.nan)
    assert set_size(sets) == pytest.approx(sets.sum() / n)


@pytest.mark.parametrize("sets", [np.ones((2, 3)), np.ones((2, 3, 3), bool), np.ones(3, bool)])
def test_what_is_no_set_is_refused(sets):
    with pytest.raises(DataError, match="predict_set"):
        set_size(sets)
    with pytest.raises(DataError, match="predict_set"):
        set_coverage(np.zeros((2, 3)), sets)


def test_sets_of_other_rows_are_refused():
    with pytest.raises(DataError, match="shape"):
        set_coverage(np.zeros((3, 2)), np.ones((2, 2, 2), bool))

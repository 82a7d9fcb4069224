"""What one sample adds to H, P and G."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import statistics as naive
from small_rule_bases import assert_close

from evolabel.stages.rules.loops import consequents as statistics_module

statistics = CallableKernels(statistics_module)

NUMBERS = st.floats(-5.0, 5.0, allow_subnormal=False)
LABELS = st.sampled_from([0.0, 1.0, np.nan])


@st.composite
def slots(draw):
    """A = H + penalty, weights W, a regressor."""
    q, K = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rows = draw(hnp.arrays(np.float64, (q, q), elements=NUMBERS))
    W = draw(hnp.arrays(np.float64, (q, K), elements=NUMBERS))
    r = np.append(draw(hnp.arrays(np.float64, q - 1, elements=NUMBERS)), 1.0)
    return rows.T @ rows + np.eye(q), W, r


@settings(max_examples=examples(50), deadline=None)
@given(slots(), st.floats(0.0, 10.0))
def test_late_rows_are_the_change_of_a_matrix_and_of_its_inverse(slot, w):
    A, _, r = slot
    P = np.linalg.inv(A)
    row_H, row_P = np.empty(len(r)), np.empty(len(r))
    statistics.pending_rows(r, P @ r, w, row_H, row_P)
    for got, expected in zip((row_H, row_P), naive.pending_rows(r, P @ r, w), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)
    grown = A + np.outer(row_H, row_H)
    assert_close(grown, A + w * np.outer(r, r), 1e-13)
    assert_close(P - np.outer(row_P, row_P), np.linalg.inv(grown), 1e-9)


@settings(max_examples=examples(50), deadline=None)
@given(slots(), st.floats(0.0, 10.0), st.data())
def test_add_labels(slot, w, data):
    _, W, r = slot
    y = data.draw(hnp.arrays(np.float64, W.shape[1], elements=st.sampled_from([0.0, 1.0])))
    G = W.T.copy()
    statistics.add_labels(G, r, y, w)
    np.testing.assert_allclose(G.T, naive.add_labels(W, r, y, w), rtol=1e-13, atol=1e-13)


@settings(max_examples=examples(50), deadline=None)
@given(slots(), st.floats(1e-3, 10.0), st.booleans(), st.data())
def test_add_partial_labels_gives_the_weights_asked_for(slot, psi, related, data):
    A, W, r = slot
    K = W.shape[1]
    y = data.draw(hnp.arrays(np.float64, K, elements=LABELS))
    given_confidence = data.draw(hnp.arrays(np.float64, K, elements=st.floats(0.0, 1.0)))
    confidence = np.where(np.isnan(y), 0.0, given_confidence)
    w = psi * confidence.mean()
    errors = data.draw(hnp.arrays(np.float64, K, elements=st.floats(-1.0, 1.0))) if related else np.zeros(K)
    G = (A @ W).T.copy()
    expected = naive.add_partial_labels(G.T, A, W, r, y, confidence, psi, w, errors)
    statistics.add_partial_labels(G, r, W.T @ r, y, confidence, errors, r @ np.linalg.solve(A, r), psi, w)
    assert_close(G.T, expected, 1e-9)
    after = np.linalg.solve(A + w * np.outer(r, r), G.T)
    if not related:
        assert_close(after[:, confidence == 0.0], W[:, confidence == 0.0], 1e-9)

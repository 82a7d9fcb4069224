"""How far evidence is confidence, against whole arrays."""

import numpy as np
import pytest
from callable_kernels import callable_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import feedback as naive

from evolabel.stages.feedback.loops import MIN_DEVIATIONS, add_evidence, shrinkage, shrunk_slopes

shrunk_slopes, add_evidence, shrinkage = (
    callable_kernel(kernel) for kernel in (shrunk_slopes, add_evidence, shrinkage)
)


def gathered(errors, foretold, confidence=None):
    """Evidence and slopes of many samples."""
    n, K = errors.shape
    evidence, s = np.zeros((5, K)), np.zeros(K)
    trust = np.ones((n, K)) if confidence is None else confidence
    for i in range(n):
        add_evidence(errors[i], foretold[i], trust[i], evidence)
    shrunk_slopes(evidence, s)
    return evidence, s


@st.composite
def samples(draw):
    """Errors, NaN where nobody has answered, what might have foretold them, and how far answers are confidence."""
    n, K = draw(st.integers(0, 12)), draw(st.integers(1, 3))

    def table(values):
        return np.array(draw(st.lists(values, min_size=n * K, max_size=n * K)), np.float64).reshape(n, K)

    errors = st.one_of(st.floats(-1.0, 1.0), st.just(np.nan))
    return table(errors), table(st.floats(-1.0, 1.0)), table(st.floats(0.01, 1.0))


@settings(deadline=None)  # the first example compiles
@given(rows=samples())
def test_evidence_is_the_sums_over_all_answers(rows):
    e, x, u = rows
    evidence, s = gathered(e, x, u)
    np.testing.assert_allclose(evidence, naive.evidence(e, x, u), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(s, naive.slopes(evidence), rtol=1e-9, atol=1e-12)
    assert shrinkage(evidence) == pytest.approx(naive.shrinkage(evidence), rel=1e-9, abs=1e-12)
    assert 0.0 <= shrinkage(evidence) < 1.0
    assert (shrinkage(evidence) > 0.0) == bool(s.any())


@pytest.mark.parametrize(("deviations", "confidence"), [(-9.0, 0.0), (0.0, 0.0), (1.5, 0.0), (3.0, 0.75), (15.0, 0.99)])
def test_evidence_is_believed_by_its_deviations(deviations, confidence):
    evidence = np.array([[0.4], [1.0], [1.0], [1.0], [0.25]]) * np.ones(2)
    evidence[0] = deviations * np.sqrt(0.5) / 2
    assert shrinkage(evidence) == pytest.approx(confidence, abs=1e-12)


def test_labels_that_follow_have_the_larger_slope():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    e = np.array([0.9, 0.05]) * x + 0.3 * rng.normal(size=(300, 2))
    _, s = gathered(e, x)
    assert s[0] > 0.8
    assert s[1] < 0.2


def test_one_label_that_follows_by_chance_is_not_enough():
    evidence = np.array([[3.0, -8.0], [10.0, 10.0], [40.0, 40.0], [200.0, 200.0], [2.0, 2.0]])
    s = np.ones(2)
    shrunk_slopes(evidence, s)
    np.testing.assert_array_equal(s, 0.0)


@pytest.mark.parametrize("K", [1, 5])
def test_slopes_grow_from_nothing_without_a_leap(K):
    """Evidence that is just enough is worth next to nothing, for a single label as for many."""
    evidence, s = np.tile([[0.0], [4.0], [20.0], [100.0], [0.8]], K), np.zeros(K)
    enough = MIN_DEVIATIONS * np.sqrt(evidence[4].sum()) / K
    for more, most in ((-1e-6, 0.0), (1e-6, 1e-4)):
        evidence[0] = enough + more
        shrunk_slopes(evidence, s)
        assert s.max() <= most
    evidence[0] = 2.0 * enough
    shrunk_slopes(evidence, s)
    assert s.min() > 0.1


def test_labels_that_are_copies_of_each_other_are_no_further_evidence():
    """Counted one by one, 40 copies of a label would show by chance what they do not."""
    alarms = 0
    for seed in range(40):
        e, x = np.random.default_rng(seed).choice([-0.5, 0.5], size=(2, 150, 1))
        _, s = gathered(np.tile(e, 40), np.tile(x, 40))
        alarms += s.any()
    assert alarms <= 6

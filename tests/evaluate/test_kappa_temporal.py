"""Kappa temporal compares with the last answers, also across batches, files and gaps."""

from itertools import pairwise

import numpy as np
import pytest

from evolabel.evaluate.metrics import Fading, KappaTemporal, Sliding, metric_named


def by_definition(Y, S):
    """(accuracy - no change) / (1 - no change) over pairs with an answer before."""
    right = same = n = 0
    for y, s in zip(Y.T, S.T, strict=True):
        known = np.flatnonzero(~np.isnan(y))
        for last, now in pairwise(known):
            n, right, same = n + 1, right + ((s[now] >= 0.5) == y[now]), same + (y[last] == y[now])
    return (right / n - same / n) / (1.0 - same / n)


def stream(seed=0, gaps=0.3):
    rng = np.random.default_rng(seed)
    Y = np.repeat(rng.integers(0, 2, (20, 3)), 5, axis=0).astype(float)
    S = np.clip(Y + rng.normal(0.0, 0.6, Y.shape), 0.0, 1.0)
    Y[rng.random(Y.shape) < gaps] = np.nan
    return Y, S


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.9])
def test_it_is_its_definition(gaps):
    Y, S = stream(gaps=gaps)
    assert KappaTemporal().update(Y, S).get() == pytest.approx(by_definition(Y, S), rel=1e-12)


@pytest.mark.parametrize(
    "make", [KappaTemporal, lambda: Sliding(KappaTemporal(), 30), lambda: Fading(KappaTemporal(), 0.9)]
)
def test_rows_alone_and_a_stored_state_give_the_same_bits(make):
    Y, S = stream()
    whole, single = make().update(Y, S), make()
    for y, s in zip(Y[:60], S[:60], strict=True):
        single.update(y, s)
    single = make().restore(single.state()).update(Y[60:], S[60:])
    assert single.get() == whole.get()


def test_repeating_the_last_answer_is_worth_nothing_and_knowing_is_all():
    Y, S = stream(gaps=0.0)
    last = np.vstack([Y[:1], Y[:-1]])
    assert KappaTemporal().update(Y, last).get() == 0.0
    assert KappaTemporal().update(Y, Y).get() == 1.0
    assert KappaTemporal().update(Y, 1.0 - Y).get() < 0.0
    assert KappaTemporal().update(np.ones((5, 2)), np.zeros((5, 2))).get() == 0.0
    assert np.isnan(KappaTemporal().update(Y[:1], S[:1]).get())


def test_a_merged_part_has_no_answer_before_its_first_sample():
    Y, S = stream(gaps=0.0)
    parts = [KappaTemporal().update(Y[rows], S[rows]) for rows in (slice(0, 40), slice(40, None))]
    total = parts[0].fresh().merge(parts[0]).merge(parts[1])
    assert total.n_samples == len(Y) - 2


def test_later_samples_may_have_more_labels():
    metric = KappaTemporal().update([[1.0], [1.0]], [[0.9], [0.9]])
    metric.update([[0.0, 1.0], [0.0, 0.0]], [[0.1, 0.9], [0.1, 0.9]])
    assert metric.get() == 0.5  # of four pairs with an answer before, three are right and two unchanged
    assert isinstance(metric_named("kappa-temporal"), KappaTemporal)

"""The piecewise linear map against `np.interp`."""

import numpy as np
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import scaling as naive

from evolabel.engine.packed_state import pack
from evolabel.stages.scaling.loops import Knots, scale_rows

NUMBERS = st.floats(-100.0, 100.0, allow_subnormal=False)


@st.composite
def maps(draw):
    """Knots, scores and slopes; a feature without knots is constant."""
    p, m = draw(st.integers(1, 4)), 6
    x, z, used, slope = np.zeros((p, m)), np.zeros((p, m)), np.zeros(p, np.int64), np.ones(p)
    for j in range(p):
        used[j] = draw(st.sampled_from([0, 2, 3, 6]))
        steps = draw(hnp.arrays(np.float64, (2, int(used[j])), elements=st.floats(0.01, 10.0)))
        start = draw(NUMBERS)
        x[j, : used[j]], z[j, : used[j]] = start + np.cumsum(steps[0]), np.cumsum(steps[1]) - 10.0
        slope[j] = draw(st.floats(0.0, 10.0))
    return x, z, used, slope


@settings(max_examples=examples(50), deadline=None)
@given(maps(), st.sampled_from([(-3.0, 3.0), (-np.inf, np.inf)]), st.data())
def test_scale_rows(knots, limits, data):
    x, z, used, slope = knots
    scores, row = np.vstack([z[::-1], z]), np.arange(2 * len(used))[len(used) :]  # rows of others come first
    X = data.draw(hnp.arrays(np.float64, (5, len(used)), elements=NUMBERS | st.just(np.nan)))
    X = np.vstack([X, x.T])  # the knots themselves, too
    Z = np.full(X.shape, 77.0)
    scale_rows(pack(Knots(x, scores, row, used, slope, *limits)), X, Z)
    np.testing.assert_allclose(Z, naive.scale_rows(X, x, z, used, slope, *limits), rtol=1e-9, atol=1e-9)

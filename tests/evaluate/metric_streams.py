"""Small multi-label streams full of ties and gaps, and metrics to try on them."""

import numpy as np
from hypothesis import strategies as st

from evolabel.evaluate.metrics import (
    METRICS,
    AveragePrecision,
    Fading,
    KappaTemporal,
    MacroF1,
    PartialAccuracy,
    Sliding,
)

PLAIN = [*(kind() for kind in METRICS.values() if kind is not KappaTemporal), AveragePrecision(count_empty=True)]
"""Metrics whose samples may come in any order."""
FORMS = [
    form
    for metric in (PartialAccuracy(), AveragePrecision(), MacroF1())
    for form in (Sliding(metric, 4), Fading(metric, 0.7))
]


@st.composite
def streams(draw, gaps=True, min_rows=1, min_labels=1):
    """Labels and scores, (n, K) each; labels are rare or frequent, scores have ties or none."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = draw(st.integers(min_rows, 12)), draw(st.integers(min_labels, 6))
    Y = (rng.random(shape) < draw(st.sampled_from([0.1, 0.5, 0.9]))).astype(float)
    if gaps:
        Y[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.7]))] = np.nan
    tied = draw(st.booleans())
    return Y, rng.choice([0.0, 0.3, 0.5, 1.0], shape) if tied else rng.uniform(-1.0, 2.0, shape)


@st.composite
def growing_streams(draw):
    """A list of samples (y, s), each with its own number of labels."""
    parts = draw(st.lists(streams(), min_size=1, max_size=3))
    return [sample for Y, S in parts for sample in zip(Y, S, strict=True)]


def assert_same_state(one, other):
    """Two metrics have learned the same, bit for bit."""
    mine, theirs = one.state(), other.state()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name, strict=True)
    np.testing.assert_array_equal(one.get(), other.get())

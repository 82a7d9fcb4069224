"""Small multi-label streams full of ties and gaps, and every metric once more, written to be obviously right."""

import math

import numpy as np
from hypothesis import strategies as st

from evolabel.evaluate.metrics import METRICS, AveragePrecision, Fading, MacroF1, PartialAccuracy, Sliding

PLAIN = [*(kind() for kind in METRICS.values()), AveragePrecision(count_empty=True)]
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


def naive(metric, samples, weights=None):
    """The value of a plain metric over weighted samples, by the book."""
    weights = [1.0] * len(samples) if weights is None else weights
    if metric.name == "macro F1":
        return naive_macro_f1(samples, weights)
    counted = [(w, metric_of(metric, annotated(y, s))) for w, (y, s) in zip(weights, samples, strict=True)]
    counted = [(w, found) for w, found in counted if found is not None]
    if not counted:
        return math.nan
    part, whole = (sum(w * found[i] for w, found in counted) for i in (0, 1))
    return part / whole if whole else 0.0


def naive_skipped(metric, samples):
    """How many samples a plain metric skips."""
    return sum(metric_of(metric, annotated(y, s)) is None for y, s in samples)


def annotated(y, s):
    return [(bool(label), float(score)) for label, score in zip(y, s, strict=True) if not math.isnan(label)]


def metric_of(metric, pairs):
    """(part, whole) of one sample, or None where it is skipped."""
    if not pairs:
        return None
    if metric.name == "AP":
        return precision(pairs, metric.count_empty)
    return NAIVE[metric.name](pairs)


def precision(pairs, count_empty):
    on = [score for label, score in pairs if label]
    if not on:
        return (1, 1) if count_empty else None
    shares = [sum(other >= score for other in on) / sum(other >= score for _, other in pairs) for score in on]
    return sum(shares) / len(on), 1


def ranking_loss(pairs):
    wrong = [off >= on for is_on, on in pairs if is_on for is_off, off in pairs if not is_off]
    return (sum(wrong) / len(wrong) if wrong else 0), 1


def one_error(pairs):
    top = max(score for _, score in pairs)
    return (any(score == top and not label for label, score in pairs), 1) if any(label for label, _ in pairs) else None


def coverage(pairs):
    return max((sum(other >= score for _, other in pairs) for label, score in pairs if label), default=0), 1


def counts(pairs):
    """Twice the true positives, and true plus predicted labels."""
    return (
        2 * sum(label and score >= 0.5 for label, score in pairs),
        sum(label + (score >= 0.5) for label, score in pairs),
    )


def example_f1(pairs):
    hits, size = counts(pairs)
    return (hits / size if size else 0), 1


NAIVE = {
    "set coverage": lambda pairs: (sum(s == 0.5 or (s > 0.5) == label for label, s in pairs), len(pairs)),
    "set size": lambda pairs: (sum(1 + (s == 0.5) for _, s in pairs), len(pairs)),
    "PA": lambda pairs: (sum((score >= 0.5) == label for label, score in pairs), len(pairs)),
    "Hamming loss": lambda pairs: (sum((score >= 0.5) != label for label, score in pairs), len(pairs)),
    "subset accuracy": lambda pairs: (all((score >= 0.5) == label for label, score in pairs), 1),
    "example F1": example_f1,
    "micro F1": counts,
    "macro F1": counts,  # only to find which samples count
    "ranking loss": ranking_loss,
    "one-error": one_error,
    "coverage": coverage,
}


def naive_macro_f1(samples, weights):
    values = []
    for label in range(max(len(y) for y, _ in samples)):
        column = [
            (w, counts(annotated(y[label : label + 1], s[label : label + 1])))
            for w, (y, s) in zip(weights, samples, strict=True)
            if label < len(y) and not math.isnan(y[label])
        ]
        if column:
            hits, size = (sum(w * found[i] for w, found in column) for i in (0, 1))
            values.append(hits / size if size else 0.0)
    return sum(values) / len(values) if values else math.nan


def assert_same_state(one, other):
    """Two metrics have learned the same, bit for bit."""
    mine, theirs = one.state(), other.state()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name, strict=True)
    np.testing.assert_array_equal(one.get(), other.get())

"""Twins of `stages.decisions.loops`: sums over bins, row by row."""

import numpy as np

from evolabel.stages.decisions.loops import PRIOR_SAMPLES, UNDECIDED


def f1_by_bin(seen, on):
    """F1 if outputs from each bin upwards are predicted, with the shares of the bins drawn towards their middles."""
    bins = len(seen)
    share = (on + PRIOR_SAMPLES * (np.arange(bins) + 0.5) / bins) / (seen + PRIOR_SAMPLES)
    true = (seen * share).sum()
    return np.array([2.0 * (seen * share)[b:].sum() / max(seen[b:].sum() + true, 1e-300) for b in range(bins)])


def thresholds(seen, on):
    """Threshold of each label: the mean of its best bin and of half the F1 there; the middle before any output."""
    limits = []
    for s, o in zip(seen, on, strict=True):
        f1 = f1_by_bin(s, o)
        best = np.flatnonzero(f1 >= f1.max() - 1e-12)[0] / len(s)
        limits.append((best + f1.max() / 2.0) / 2.0 if s.any() else UNDECIDED)
    return np.array(limits)


def counted(out, Y, weights, shape):
    """Thresholds before each row, and the weights of all answers and of the positive ones by bin, of this `shape`.

    One row of bins is shared by all labels. `weights` has one number for each answer.
    """
    (rows, bins), labels, limits = shape, Y.shape[1], []
    seen, on = np.zeros(shape), np.zeros(shape)
    for i in range(len(Y)):
        limits.append(np.resize(thresholds(seen, on), labels))
        for k in np.flatnonzero(~np.isnan(Y[i])):
            if weights[i, k] > 0.0:
                row, b = k if rows > 1 else 0, min(max(int(np.floor(out[i, k] * bins)), 0), bins - 1)
                seen[row, b] += weights[i, k]
                on[row, b] += weights[i, k] * Y[i, k]
    return np.array(limits), seen, on

"""Merging the last answers of two models that were trained apart.

What answers have meant is averaged by the answers that each side has seen; counts add up, and fade where they are more
than one stream keeps. The answers of the last rows, and their numbers, are those of the first model.
"""

import numpy as np

from evolabel.stages.drift.arrays import LOSS_MEMORY, SCORE_MEMORY
from evolabel.stages.drift.merge_members import pooled_moments, pooled_weights
from evolabel.stages.last_answers.arrays import ANSWERS_KEPT, COUNT, LastAnswerArrays
from evolabel.typing import FloatArray


def merged_last_answers(a: LastAnswerArrays, b: LastAnswerArrays) -> LastAnswerArrays:
    """Return `a` with what both have learned; labels and features are in the same order in `b`."""
    mean, variance = pooled_moments(a, b)
    quick, of_age = _share(a.n_losses, b.n_losses), _share(a.n_evidence, b.n_evidence)
    by_label = of_age.T[:, :, None]
    shared = _share(a.n_evidence.sum(axis=1), b.n_evidence.sum(axis=1))[:, None]
    return a._replace(
        W=pooled_weights(a, b),
        mean=mean,
        variance=variance,
        n_read=np.minimum(a.n_read + b.n_read, SCORE_MEMORY),
        quick_losses=_between(a.quick_losses, b.quick_losses, quick),
        n_losses=np.minimum(a.n_losses + b.n_losses, LOSS_MEMORY),
        evidence=_between(a.evidence, b.evidence, by_label),
        shared_evidence=_between(a.shared_evidence, b.shared_evidence, shared),
        slopes=_between(a.slopes, b.slopes, by_label),
        counts=_added(a.counts, b.counts, ANSWERS_KEPT),
        shared_counts=_added(a.shared_counts, b.shared_counts, ANSWERS_KEPT * len(a.W)),
        losses=_between(a.losses, b.losses, of_age[:, None, :]),
        n_evidence=np.minimum(a.n_evidence + b.n_evidence, LOSS_MEMORY),
    )


def _share(mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return the share of `theirs` in both; 0 where both are 0."""
    return np.divide(theirs, mine + theirs, out=np.zeros(theirs.shape), where=mine + theirs > 0.0)


def _between(mine: FloatArray, theirs: FloatArray, share: FloatArray) -> FloatArray:
    """Return the mean of both, `share` of it by `theirs`."""
    return np.asarray((1.0 - share) * mine + share * theirs)


def _added(mine: FloatArray, theirs: FloatArray, most: float) -> FloatArray:
    """Return the sum of both counts, scaled down where there are more than `most` answers."""
    counts = mine + theirs
    return np.asarray(counts / np.maximum(counts[..., [COUNT]] / most, 1.0))

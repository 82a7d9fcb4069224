"""Merging the members of two models that were trained apart.

Slow sums add up exactly (`model.merge`). Fast sums are faded to the present of their own stream, then added. That
is not what one stream of both would have given, because the order of the rows of both is not known. The slopes of the
linear members, per unit of each raw feature, the losses of the mixer and the shares of the labels are averaged by the
answers that each remembers (losses: 200 at most). Changes between neighbouring answers, and those expected at random,
add up. Clock, time and alarms are those of the first model.
"""

from typing import Protocol

import numpy as np

from evolabel.core.pace import merged_persistence
from evolabel.stages.drift.arrays import LOSS_MEMORY, SCORE_MEMORY, MemberArrays
from evolabel.typing import FloatArray


class LinearArrays(Protocol):
    """The arrays of a linear member, and the weight of the answers of each label that it has learned."""

    @property
    def W(self) -> FloatArray:
        """Weights of the scores and the intercept."""

    @property
    def mean(self) -> FloatArray:
        """Mean of each raw feature."""

    @property
    def variance(self) -> FloatArray:
        """Variance of each raw feature about its mean."""

    @property
    def n_read(self) -> FloatArray:
        """Weight of the rows in both."""

    @property
    def n_losses(self) -> FloatArray:
        """Weight of the answers."""


def merged_members(a: MemberArrays, b: MemberArrays) -> MemberArrays:
    """Return `a` with linear member, losses and shares of both; labels and features are in the same order in `b`."""
    W, scores = pooled_weights(a, b), pooled_moments(a, b)
    loss_n = a.n_losses + b.n_losses
    parts = np.divide(b.n_losses, loss_n, out=np.zeros(len(loss_n)), where=loss_n > 0.0)
    share_n = a.share[1] + b.share[1]
    of_theirs = np.divide(b.share[1], share_n, out=np.zeros(len(share_n)), where=share_n > 0.0)
    return a._replace(
        W=W,
        mean=scores[0],
        variance=scores[1],
        n_read=np.minimum(a.n_read + b.n_read, SCORE_MEMORY),
        persistence=merged_persistence(a.persistence, b.persistence),
        losses=(1.0 - parts) * a.losses + parts * b.losses,
        n_losses=np.minimum(loss_n, LOSS_MEMORY),
        share=np.stack([(1.0 - of_theirs) * a.share[0] + of_theirs * b.share[0], np.maximum(a.share[1], b.share[1])]),
    )


def pooled_moments(a: LinearArrays, b: LinearArrays) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the rows in both, `a` and `b`."""
    n = a.n_read + b.n_read
    part = np.divide(b.n_read, n, out=np.zeros(len(n)), where=n > 0.0)
    apart = b.mean - a.mean
    variance = (1.0 - part) * a.variance + part * b.variance + part * (1.0 - part) * apart**2
    return a.mean + part * apart, variance


def pooled_weights(a: LinearArrays, b: LinearArrays) -> FloatArray:
    """Return weights for pooled scores, by which logits are the mean of those of `a` and `b`, where no score is cut."""
    mean, variance = pooled_moments(a, b)
    total = a.n_losses + b.n_losses
    part = np.divide(b.n_losses, total, out=np.zeros(len(total)), where=total > 0.0)[:, None]
    raw = (1.0 - part) * _raw_weights(a) + part * _raw_weights(b)
    W = raw.copy()
    W[:, :-1] *= np.sqrt(variance)
    W[:, -1] += raw[:, :-1] @ mean
    return np.asarray(W)


def _raw_weights(of: LinearArrays) -> FloatArray:
    """Return the weights of the linear member per unit of the raw features, and the intercept at 0."""
    spread = np.sqrt(of.variance)
    slopes = np.divide(of.W[:, :-1], spread, out=np.zeros(of.W[:, :-1].shape), where=spread > 0.0)
    return np.asarray(np.column_stack([slopes, of.W[:, -1] - slopes @ of.mean]))

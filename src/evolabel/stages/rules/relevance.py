"""Relevance of features for labels, at any moment of the stream and without any state of its own.

The Fisher ratio of two classes per feature and label is r^2 / (1 - r^2), with r the correlation of the feature with the
0/1 label; r follows from H and G of the global model, which are kept exactly. Relevance is r^2 itself: the share of a
label's variance that the feature explains alone, in [0, 1].

Relevance is for reading only, because features that matter for one label do not for another, and the rules serve all
labels.
"""

from dataclasses import dataclass

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.stages.rules.loops.antecedents import TINY
from evolabel.stages.rules.rule_state import regressor_sums
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Relevance:
    """Share of each label's variance that each feature explains alone: `by_label` (n_labels, n_features)."""

    by_label: FloatArray
    feature_names: list[str]
    label_names: list[str]

    @property
    def overall(self) -> FloatArray:
        """The largest share of each feature over all labels, relative to the best feature, in [0, 1]."""
        best = np.asarray(self.by_label.max(axis=0))
        return best / best.max() if best.max() > 0.0 else np.ones_like(best)

    def strongest(self, label: str, count: int = 5) -> list[tuple[str, float]]:
        """Return the `count` features that explain most of `label`, with their shares."""
        if label not in self.label_names:
            raise DataError(f"there is no label {label!r}; the labels are {first_names(self.label_names)}")
        shares = self.by_label[self.label_names.index(label)]
        return [(self.feature_names[j], float(shares[j])) for j in np.argsort(-shares, kind="stable")[:count]]


def feature_relevance(rules: RuleBase, feature_names: list[str], label_names: list[str]) -> Relevance:
    """Return the squared correlations of all features with all labels, over everything `rules` have learned.

    `feature_names` and `label_names` are the names of its columns.
    """
    sums, squares = regressor_sums(rules)
    by_label = squared_correlations(sums[:1], squares[:1], rules.arrays.G[:1])[0]
    return Relevance(by_label, feature_names, label_names)


def squared_correlations(sums: FloatArray, squares: FloatArray, G: FloatArray) -> FloatArray:
    """Return squared correlations (slots, K, p) from `sums` and `squares` of regressors and from `G`; 0 for constants.

    The variance of a 0/1 label of mean m is m (1 - m).
    """
    n = np.maximum(sums[:, -1:], TINY)
    mean, share = sums[:, :-1] / n, np.clip(G[:, :, -1] / n, 0.0, 1.0)
    second = squares[:, :-1] / n
    variance = second - mean**2
    varies = variance > 1e-9 * np.maximum(second, TINY)
    covariance = G[:, :, :-1] / n[:, :, None] - share[:, :, None] * mean[:, None]
    spread = (share * (1.0 - share))[:, :, None] * np.where(varies, variance, 1.0)[:, None]
    known = (spread > 1e-12) & varies[:, None]
    return np.where(known, np.clip(covariance**2 / np.where(known, spread, 1.0), 0.0, 1.0), 0.0)

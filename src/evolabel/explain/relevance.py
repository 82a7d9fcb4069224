"""Which features matter for which labels, at any moment of the stream and without any state of its own.

The Fisher ratio of two classes per feature and label is r^2 / (1 - r^2), with r the correlation of the
feature with the 0/1 label; r follows from H and G of the global model, which are kept exactly. Weights are r^2 itself:
the share of a label's variance that the feature explains alone, in [0, 1].

By default they are for reading only: features that matter for one label do not for another, and the rules serve all
labels. `feature_weights="relevance"` lets distances count the features by them (`core.feature_weights`).
"""

from dataclasses import dataclass

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rules.feature_weights import squared_correlations
from evolabel.errors import DataError
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Relevance:
    """`by_label` (n_labels, n_features): share of each label's variance that each feature explains alone."""

    by_label: FloatArray
    feature_names: list[str]
    label_names: list[str]

    @property
    def overall(self) -> FloatArray:
        """The best a feature does for any label, relative to the best feature, in [0, 1]."""
        best = np.asarray(self.by_label.max(axis=0))
        return best / best.max() if best.max() > 0.0 else np.ones_like(best)

    def strongest(self, label: str, count: int = 5) -> list[tuple[str, float]]:
        """The features that explain most of a label, with their shares."""
        if label not in self.label_names:
            raise DataError(f"there is no label {label!r}; the model knows {', '.join(self.label_names)}")
        shares = self.by_label[self.label_names.index(label)]
        return [(self.feature_names[j], float(shares[j])) for j in np.argsort(-shares, kind="stable")[:count]]


def feature_relevance(model: StreamModel, feature_names: list[str], label_names: list[str]) -> Relevance:
    """Squared correlations of all features with all labels, over everything learned so far."""
    rules = model.trained()
    sums, squares = rules.regressor_sums()
    by_label = squared_correlations(sums[:1], squares[:1], rules.arrays.G[:1])[0]
    return Relevance(by_label, feature_names, label_names)

"""Random queries of exactly a given number, as `RandomSelection` would make them, but faster.

The queried labels do not depend on the model, so consecutive rows with queries, and consecutive rows without, are
processed in one call each.
"""

from itertools import pairwise

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active.learner import DEFAULT_ANTECEDENT_RATE
from evolabel.active.selection.random import random_moments
from evolabel.model.pipeline import start_forest
from evolabel.stages.rules.stage import moving_antecedents_by


def matched_budget(units: int, questions: int) -> float:
    """The budget at which random selection makes exactly `questions` queries about `units` samples or labels."""
    return min(float(np.nextafter((questions + 1) / (units + 1), 2.0)), 1.0)


def drawn(shape: tuple[int, int], per: str, questions: int, draw: int) -> np.ndarray:
    """Mask, of this `shape`, of the queried labels: `questions` labels, or all labels of `questions` samples."""
    units = shape[0] * (shape[1] if per == "labels" else 1)
    chosen = np.zeros(units, bool)
    chosen[random_moments(matched_budget(units, questions), draw, 1, questions) - 1] = True
    return chosen.reshape(shape) if per == "labels" else np.repeat(chosen[:, None], shape[1], axis=1)


def learned(classifier: EvolvingFuzzyClassifier, X: np.ndarray, Y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Outputs for a stream of which only the labels in the mask are learned; other samples are not learned.

    The classifier answers with a forest of the answered rows, too, as that of a learner does.
    """
    start_forest(classifier.inner.any_model)
    touched, labels_given = asked.any(axis=1), np.where(asked, Y, np.nan)
    outputs = np.empty(Y.shape)
    borders = [0, *(np.flatnonzero(np.diff(touched)) + 1), len(X)]
    with moving_antecedents_by(classifier.inner.any_model.trained(), DEFAULT_ANTECEDENT_RATE):
        for start, stop in pairwise(borders):
            rows = slice(start, stop)
            learns = touched[start]
            outputs[rows] = (
                classifier.test_then_train(X[rows], labels_given[rows])
                if learns
                else classifier.decision_function(X[rows])
            )
    return outputs

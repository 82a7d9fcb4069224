"""Random questions of exactly a given number, as `RandomSelection` would ask them, only faster.

Which labels are asked for does not depend on the model, so runs of rows with questions, and of rows without, go through
the classifier in one call each.
"""

from itertools import pairwise

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active.learner import DEFAULT_ANTECEDENT_RATE
from evolabel.active.selection.random import random_moments


def matched_budget(units: int, questions: int) -> float:
    """The budget at which random selection asks exactly so many questions about so many samples, or labels."""
    return min(float(np.nextafter((questions + 1) / (units + 1), 2.0)), 1.0)


def drawn(shape: tuple[int, int], per: str, questions: int, draw: int) -> np.ndarray:
    """Which labels of a stream are asked for: so many, or all labels of so many samples."""
    units = shape[0] * (shape[1] if per == "labels" else 1)
    chosen = np.zeros(units, bool)
    chosen[random_moments(matched_budget(units, questions), draw, 1, questions) - 1] = True
    return chosen.reshape(shape) if per == "labels" else np.repeat(chosen[:, None], shape[1], axis=1)


def learned(classifier: EvolvingFuzzyClassifier, X: np.ndarray, Y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Outputs for a stream of which only the asked labels are learned; samples nobody asks about teach nothing."""
    touched, told = asked.any(axis=1), np.where(asked, Y, np.nan)
    outputs = np.empty(Y.shape)
    borders = [0, *(np.flatnonzero(np.diff(touched)) + 1), len(X)]
    with classifier._model.trained().moving_by(DEFAULT_ANTECEDENT_RATE):
        for start, stop in pairwise(borders):
            rows = slice(start, stop)
            learns = touched[start]
            outputs[rows] = (
                classifier.test_then_train(X[rows], told[rows]) if learns else classifier.decision_function(X[rows])
            )
    return outputs

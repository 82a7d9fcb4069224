"""The array by which stages count time in independent answers (`core.loops.pace`), declared once for all of them."""

import numpy as np

from evolabel.core.array_checks import MOST, require
from evolabel.core.loops.pace import (
    CHANGES,
    EXPECTED,
    LAST_ANSWER,
    MOST_EXPECTED,
    N_ANSWERS,
    N_PERSISTENCE,
    SHARE,
    SHARE_ANSWERS,
    independent,
    spread_of,
)
from evolabel.core.schema import array
from evolabel.engine.compile import interpreted
from evolabel.typing import FloatArray

PERSISTENCE = array("label", N_PERSISTENCE, low=0.0, high=float(MOST))
"""The counts of every label, (K, `N_PERSISTENCE`)."""

_independent, _spread_of = interpreted(independent), interpreted(spread_of)


def independent_answers(persistence: FloatArray) -> FloatArray:
    """Return how many independent answers one answer of each label counts for, by its counts `persistence`, (K,)."""
    return np.array([_independent(counts) for counts in persistence])


def mean_independent(persistence: FloatArray) -> float:
    """Return the mean of `independent_answers` over classes; each weighs as much as its answers vary."""
    spreads = np.array([_spread_of(counts) for counts in persistence])
    return float(spreads @ independent_answers(persistence) / spreads.sum())


def merged_persistence(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the counts of two models that were trained apart; the last answers are those of the first, if it has any.

    Changes add up, seen and expected ones; shares are averaged by answers.
    """
    merged, n = a + b, a[:, N_ANSWERS] + b[:, N_ANSWERS]
    merged[:, LAST_ANSWER] = np.where(a[:, N_ANSWERS] > 0.0, a[:, LAST_ANSWER], b[:, LAST_ANSWER])
    part = np.divide(b[:, N_ANSWERS], n, out=np.zeros(len(n)), where=n > 0.0)
    merged[:, SHARE] = (1.0 - part) * a[:, SHARE] + part * b[:, SHARE]
    merged[:, N_ANSWERS] = np.minimum(n, SHARE_ANSWERS)
    beyond = np.maximum(merged[:, EXPECTED] / MOST_EXPECTED, 1.0)
    merged[:, [CHANGES, EXPECTED]] /= beyond[:, None]
    return merged


def check_persistence(persistence: FloatArray) -> None:
    """Raise DataError unless `persistence`, whose values are in range, has answers and shares of labels."""
    require(np.isin(persistence[:, LAST_ANSWER], (0.0, 1.0)), "persistence", "0 or 1, the last answers")
    require(persistence[:, SHARE] <= 1.0, "persistence", "shares in [0, 1]")
    require(persistence[:, N_ANSWERS] <= SHARE_ANSWERS, "persistence", f"at most {SHARE_ANSWERS:g} answers")

"""State of the error feedback: what the initial batch has shown, and a ring of the last answered samples."""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import MOST
from evolabel.stages.feedback.loops import EMPTY, N_RECENT
from evolabel.typing import FloatArray, IntArray


class InitialErrors:
    """What the initial batch has shown of each label."""

    n_initial: Annotated[FloatArray, array("label", low=0.0, high=float(MOST))]
    """Answers in the initial batch."""
    n_initial_positive: Annotated[FloatArray, array("label", low=0.0, high=float(MOST))]
    """Those of them that were 1."""
    evidence: Annotated[FloatArray, array(2, 5, "label")]
    """Sums of both regressions; `loops.feedback` explains them."""


class RecentErrors(NamedTuple):
    """Ring of recent samples; `loops.feedback` explains how it is used."""

    Z: Annotated[FloatArray, array(N_RECENT, "feature", start=np.nan, missing=True)]
    """Standardised features."""
    at: Annotated[IntArray, array(N_RECENT, start=EMPTY, low=EMPTY)]
    """Numbers in the stream; below 0: the place is free."""
    r: Annotated[FloatArray, array(N_RECENT, "label")]
    """Residuals of the outputs."""
    c: Annotated[FloatArray, array(N_RECENT, "label", low=0.0, high=1.0)]
    """Confidences of the answers."""


INITIAL_ERRORS, RECENT_ERRORS = Schema(InitialErrors), Schema(RecentErrors)


def no_recent_errors(n_features: int, n_labels: int) -> RecentErrors:
    """Return an empty ring for samples of `n_features` features and `n_labels` labels."""
    return RECENT_ERRORS.allocate(stream_sizes(n_features, n_labels))

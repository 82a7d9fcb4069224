"""Threshold rules of other widths: labels and features that come, go, or change their places."""

import numpy as np

from evolabel.core.schema import of_features
from evolabel.stages.threshold_rules.arrays import (
    BIN_FEATURE,
    FIRST_TRIAL,
    LEARNED,
    NEXT_BINS,
    THRESHOLD_ARRAYS,
    ThresholdArrays,
)
from evolabel.typing import IntArray


def with_labels(old: ThresholdArrays, places: IntArray, n_labels: int) -> ThresholdArrays:
    """Return `old` for `n_labels` labels; its own ones stand in these `places`, the others have learned nothing."""
    source = np.full(n_labels, -1)
    source[places] = np.arange(len(places))
    new = THRESHOLD_ARRAYS.rearranged(old, {"label": source})
    new.complete[source < 0] = old.clock[LEARNED]  # rows before are not annotated with them and hold no negatives
    return new


def with_features(old: ThresholdArrays, kept: IntArray, n_features: int) -> ThresholdArrays:
    """Return `old` for `n_features` features; the first are its columns `kept`, the others are new.

    A tree that asks about a feature that is gone starts anew. New features are missing in the rows of the ring.
    """
    n_before, is_new = old.X.shape[1], np.arange(n_features) >= len(kept)
    place = np.full(n_before, -1, np.int64)
    place[kept] = np.arange(len(kept))
    asked = old.feature >= 0
    feature = np.where(asked, place[np.where(asked, old.feature, 0)], old.feature)
    is_reset = (asked & (feature < 0)).any(axis=1)
    source = np.where(is_reset, -1, np.arange(len(old.feature)))
    trees = THRESHOLD_ARRAYS.rearranged(old, {"label": source, **of_features(kept, n_before, n_features)})
    trees.feature[~is_reset] = feature[~is_reset]
    trees.known[is_new] = old.clock[LEARNED]
    trees.X[:, is_new] = np.nan
    clock = old.clock.copy()
    clock[BIN_FEATURE] = n_features if clock[BIN_FEATURE] == n_before else 0
    clock[NEXT_BINS] = min(clock[NEXT_BINS], clock[LEARNED] + int(FIRST_TRIAL))
    unchanged = {name: getattr(old, name) for name in ("since", "before", "complete", "Y", "F", "weights")}
    return trees._replace(**unchanged, clock=clock)

"""Threshold rules of other widths: labels and features that come, go, or change their places."""

import numpy as np

from evolabel.stages.threshold_rules.arrays import (
    BIN_FEATURE,
    FIRST_TRIAL,
    LEARNED,
    NEXT_BINS,
    ThresholdArrays,
    allocate_thresholds,
)
from evolabel.typing import IntArray

OF_LABELS = (
    *("feature", "child", "parent", "edge", "sums", "visits", "number", "logged"),
    *("gate", "alarms", "against", "since", "complete", "episode"),
)
OF_RING_LABELS = ("Y", "F", "weights")  # (R, K)
OF_FEATURES = ("known", "bins", "coarse")
OF_RING_FEATURES = ("X", "codes")  # (R, p)


def with_labels(old: ThresholdArrays, places: IntArray, n_labels: int) -> ThresholdArrays:
    """Return `old` for `n_labels` labels; its own ones stand in these `places`, the others have learned nothing."""
    new = allocate_thresholds(old.X.shape[1], n_labels)
    new.complete[:] = old.clock[LEARNED]  # rows before are not annotated with new labels and hold no negatives of them
    for name in OF_LABELS:
        getattr(new, name)[places] = getattr(old, name)
    for name in OF_RING_LABELS:
        getattr(new, name)[:, places] = getattr(old, name)
    return old._replace(**{name: getattr(new, name) for name in (*OF_LABELS, *OF_RING_LABELS)})


def with_features(old: ThresholdArrays, kept: IntArray, n_features: int) -> ThresholdArrays:
    """Return `old` for `n_features` features; the first are its columns `kept`, the others are new.

    A tree that asks about a feature that is gone starts anew. New features are missing in the rows of the ring.
    """
    K, first = len(old.feature), np.arange(len(kept))
    new = allocate_thresholds(n_features, K)
    place = np.full(old.X.shape[1], -1, np.int64)
    place[kept] = first
    asked = old.feature >= 0
    feature = np.where(asked, place[np.where(asked, old.feature, 0)], old.feature)
    stays = ~(asked & (feature < 0)).any(axis=1)
    for name in OF_LABELS:
        whole_array = slice(None) if name in ("since", "complete") else stays
        getattr(new, name)[whole_array] = getattr(old, name)[whole_array]
    new.feature[stays] = feature[stays]
    for name in OF_FEATURES:
        getattr(new, name)[first] = getattr(old, name)[kept]
    new.known[len(kept) :] = old.clock[LEARNED]
    new.X[:, len(kept) :] = np.nan
    for name in OF_RING_FEATURES:
        getattr(new, name)[:, first] = getattr(old, name)[:, kept]
    clock = old.clock.copy()
    clock[BIN_FEATURE] = n_features if clock[BIN_FEATURE] == old.X.shape[1] else 0
    clock[NEXT_BINS] = min(clock[NEXT_BINS], clock[LEARNED] + int(FIRST_TRIAL))
    whole = {name: getattr(old, name) for name in (*OF_RING_LABELS, "rows")}
    return new._replace(**whole, clock=clock)

"""Samples like those of the stream, drawn from what the rules remember of it: something to try a rule base on."""

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rules import inverses
from evolabel.typing import FloatArray

ROWS = 500
ROUNDING = 1e-9  # keeps the factor of a flat scatter matrix defined


def reference_rows(model: StreamModel, count: int = ROWS, seed: int = 0) -> FloatArray:
    """Scaled rows: rules drawn by support, and samples from the mean and spread of what each has seen.

    The same model and seed always give the same rows.
    """
    rules, p = model.trained(), model.n_features
    assert model.scaler is not None
    rng = np.random.default_rng(seed)
    support = rules.arrays.k[1 : rules.n_rules + 1]
    slots = 1 + rng.choice(rules.n_rules, count, p=support / support.sum())
    rows = rng.normal(size=(count, p))
    for slot in np.unique(slots):
        mine = slots == slot
        rows[mine] = rules.arrays.c[slot, :p] + rows[mine] @ _root(model, int(slot)).T
    return np.clip(rows, model.scaler.low, model.scaler.high)


def _root(model: StreamModel, slot: int) -> FloatArray:
    """A factor of the covariance of the samples a rule has seen, without prior."""
    rules, p = model.trained(), model.n_features
    a = rules.arrays
    if not rules.settings.rotated:
        return np.diag(np.sqrt(a.M[slot, :p] / np.maximum(a.n[slot, :p], 1e-300)))
    seen = inverses.scatter(slot, a, rules.settings)[:p, :p] / max(float(a.k[slot]), 1e-300)
    values, vectors = np.linalg.eigh(seen)
    return np.asarray(vectors * np.sqrt(np.maximum(values, ROUNDING)))

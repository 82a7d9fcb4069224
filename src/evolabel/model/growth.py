"""Features that come or go mid-stream: the model becomes wider or narrower, and loses nothing else.

A feature that comes is one that every sample so far has missed: its centres are at the mean score 0 without support,
its spreads are the prior, H and G hold nothing of it, its weights are 0. The wider model is the one that would have had
the column, always missing, from the start, except that settings which depend on the number of features are those of the
new width from now on. A feature that goes takes its rows and columns of the statistics with it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evolabel.core.schema import new_entries, of_features
from evolabel.model.pipeline import change_features
from evolabel.model.protocols import Model
from evolabel.model.seen_ranges import SEEN_ARRAYS, no_ranges
from evolabel.stages.rules.rule_state import derive_inverses
from evolabel.stages.scaling.arrays import SCALER_ARRAYS
from evolabel.stages.scaling.stage import Scaler, fit_scaler
from evolabel.typing import FloatArray, IntArray


def grow_features(model: Model, shown: Sequence[FloatArray]) -> None:
    """Add one feature to `model` per entry of `shown`: the values it has had so far, by which it is scaled.

    While the warm-up lasts they are not looked at: all features are scaled together at its end.
    """
    if model.warm_up is not None:
        model.n_features += len(shown)
        model.warm_up.grow_features(model.n_features)
        change_features(model, np.arange(model.n_features - len(shown)), model.n_features, None)
        model.ranges = no_ranges(model.n_features)
        return
    assert model.scaler is not None
    kind = model.options.scaling
    added = [fit_scaler(values.reshape(-1, 1), kind) for values in shown]
    _change_features(model, np.arange(model.n_features), joined([model.scaler, *added]))


def keep_features(model: Model, kept: IntArray) -> None:
    """Remove all features of `model` but the columns `kept` (rising); what was learned from these stays."""
    scaler = model.scaler
    assert scaler is not None
    columns: dict[str, Any] = SCALER_ARRAYS.moved(scaler, {"feature": kept})
    _change_features(model, kept, replace(scaler, **columns))
    rules = model.trained()
    for slot in range(rules.n_rules + 1):
        rules.contents.upkeep(slot)
    derive_inverses(model.drift.with_sums)


def joined(scalers: Sequence[Scaler]) -> Scaler:
    """Return one scaler with the features of all `scalers` side by side."""
    knots = max(scaler.x.shape[1] for scaler in scalers)
    parts = [SCALER_ARRAYS.moved(each, {"knot": new_entries(each.x.shape[1], knots)}) for each in scalers]
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return replace(scalers[0], **columns)


def _change_features(model: Model, kept: IntArray, scaler: Scaler) -> None:
    """Keep these features; those the scaler has beyond them are new."""
    rules, drift, p = model.trained(), model.drift, len(scaler.used)
    settings = model.settings_for(scaler)
    if settings.memory != rules.settings.memory:
        drift.fade_to_present()
    changed = model.start_rules(scaler, settings)
    changed.contents.take_features(rules, kept)
    model.drift.take_features(drift, kept)
    changed.events, changed.n_events, changed.rule_names = rules.events, rules.n_events, rules.rule_names
    model.n_features = p
    model.ranges = SEEN_ARRAYS.moved(model, of_features(kept, rules.n_features, p))["ranges"]
    change_features(model, kept, p, changed)
    model.journal.clear()

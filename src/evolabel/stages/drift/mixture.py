"""What all members of a rule base answer together. Of a rule base without members it is what the rules answer."""

from typing import Any

import numpy as np

from evolabel.core.sizes import check_rows, misfit
from evolabel.engine.compile import direct, interpreted
from evolabel.stages.drift.arrays import FACTOR, NEW_FACTOR, NEW_OFFSET, OFFSET
from evolabel.stages.drift.loops.mixer import mix_rows, standard_rows
from evolabel.stages.drift.stage import FollowingRules
from evolabel.stages.rules.label_rates import label_shares
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import (
    NO_MOMENTS,
    NO_VARIANCES,
    NO_WEIGHTS,
    Answers,
    Moments,
    VarianceTerms,
    answers,
    weights_of_all,
)
from evolabel.stages.sensors.loops.watch import correct_rows, uses_new_view
from evolabel.typing import FloatArray

_NO_OUTPUTS = np.empty((0, 0))

_mix_rows, _standard_rows, _correct_rows = direct(mix_rows), direct(standard_rows), direct(correct_rows)
_uses_new_view: Any = interpreted(uses_new_view)


def mixed_answers(
    rules: RuleBase,
    Z: FloatArray,
    X: FloatArray,
    W: FloatArray = NO_WEIGHTS,
    *,
    moments: Moments = NO_MOMENTS,
    terms: VarianceTerms = NO_VARIANCES,
) -> Answers:
    """Return the outputs of all members of `rules` for the scaled rows `Z`, whose raw rows are `X`.

    `W` are the `mixed_weights`, if they are formed; `moments` and `terms` as for `stages.rules.weights.answers`.
    """
    found = answers(rules, Z, W, moments, terms)
    if not isinstance(rules, FollowingRules):
        return found
    if X.shape != Z.shape:
        raise misfit({"raw": X}, f"scaled rows {Z.shape}")
    fast = answers(rules.fast, Z).outputs if rules.has_fast and not len(W) else _NO_OUTPUTS
    _mix_rows(rules.packed_members, corrected(rules, X), fast, len(W) > 0, found.outputs)
    return found


def mixed_weights(rules: RuleBase) -> FloatArray:
    """Return the consequents of slow and fast member of `rules`, mixed by their weights, (1 + C, K, q)."""
    slow = weights_of_all(rules)
    if not isinstance(rules, FollowingRules) or not rules.has_fast:
        return slow
    part = rules.part_of_fast[:, None]
    return (1.0 - part) * slow + part * weights_of_all(rules.fast)


def mixed_label_shares(rules: RuleBase) -> FloatArray:
    """Return how often each label was on in `rules`, (1 + C, K), mixed for slow and fast member by their weights."""
    slow = label_shares(rules)
    if not isinstance(rules, FollowingRules) or not rules.has_fast:
        return slow
    part = rules.part_of_fast
    return (1.0 - part) * slow + part * label_shares(rules.fast)


def corrected(rules: RuleBase, X: FloatArray) -> FloatArray:
    """Return the raw rows `X`, with the readings of sensors that moved as they would have been before."""
    if not isinstance(rules, FollowingRules):
        return X
    rows = np.ascontiguousarray(X)
    check_rows(rows, rules.n_features)
    out = np.empty(rows.shape)
    _correct_rows(rules.packed_members, rows, out)
    return out


def as_read(rules: RuleBase, X: FloatArray) -> FloatArray:
    """Return the corrected rows `X` as the sensors read them now: what `corrected` returns as `X`."""
    if not isinstance(rules, FollowingRules):
        return X
    views = rules.members.views
    offset, factor = views[[NEW_OFFSET, NEW_FACTOR] if _uses_new_view(rules.members.trial) else [OFFSET, FACTOR]]
    return np.asarray((X - offset) / factor)


def linear_scores(rules: FollowingRules, X: FloatArray) -> FloatArray:
    """Return the standard scores of the raw rows `X` as the linear member takes them, with ones, (rows, q)."""
    out = np.empty((len(X), rules.n_features + 1))
    _standard_rows(rules.packed_members, corrected(rules, X), out)
    return out

"""`LabelDrift`: how well one label is predicted now and in calm times, and which members answer for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, nan

import numpy as np

from evolabel.model.protocols import Model
from evolabel.stages.drift.loops.alarm import CALM_COUNT, CALM_MEAN, IS_RAISED, ODDS, SHORT_MEAN
from evolabel.stages.drift.stage import LABEL_EVENTS
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.typing import FloatArray, IntArray

MEMBERS = ("slow", "fast", "linear")  # as the rows of `Drift.mixer_weights`

# Odds of an alarm from which on its label is doubted; the n-th power counts as n contradictions. Nine drifting streams,
# 10 % of the labels, seeds 3 to 5: never .868 (a flipped label is noticed after 321 rows), 3: .871 (32 rows), 6: .875
# (32 rows).
_DOUBT = 6.0

_DOUBT_OF_TREE = 1.6  # the same of the odds against a tree, which one sure answer multiplies by up to 1.8

_OF_MIXTURE = 1  # index of the alarms of the outputs in `Drift.alarms`


def _slow_alone() -> Mapping[str, float]:
    return {"slow": 1.0, "fast": 0.0, "linear": 0.0}


@dataclass(frozen=True)
class LabelDrift:
    """State of one label in the stream.

    Attributes
    ----------
    state : {"calm", "drift", "recovered", "settled"}
        Whether the label has changed its meaning. "calm": not among the events that are kept. "drift": it has, and its
        error is still above that of calm times. "recovered": it is predicted as well as before. "settled": its error
        has stayed above that for 2,000 rows, and counts as usual now; or threshold rules alone had noticed the drift,
        and were dropped.
    since : int or None
        Row of the stream at which this state began; None while "calm".
    error : float
        Mean squared error of the outputs over the last answers, 50 or more; NaN before there are any. Where threshold
        rules are used for the label, it is the error of their own answers.
    calm_error : float
        The same in calm times.
    weights : dict of str to float
        Weights of the members in the outputs, which sum to 1: "slow" (the rules, from all rows), "fast" (the same
        rules, from recent rows) and "linear" (the linear part).
    """

    state: str = "calm"
    since: int | None = None
    error: float = nan
    calm_error: float = nan
    weights: Mapping[str, float] = field(default_factory=_slow_alone)

    def __str__(self) -> str:
        since = "" if self.since is None else f" since sample {self.since}"
        shares = ", ".join(f"{member} {weight:.0%}" for member, weight in self.weights.items())
        return f"{self.state}{since}, error {self.error:.3f} (calm {self.calm_error:.3f}); {shares}"


def label_drifts(model: Model) -> list[LabelDrift]:
    """Return the state of each label of `model`; errors are those of threshold rules where they are used.

    Without rules (before the first model) every label is calm. Where drift is not followed the slow member answers, and
    a label can be in a drift that threshold rules have noticed.
    """
    if model.rules is None:
        return [LabelDrift()] * model.n_labels
    last = {e.label: e for e in model.rules.events if e.kind in LABEL_EVENTS.values()}
    trees, drift, drifts = model.thresholds, model.drift, []
    weights, alarms = drift.mixer_weights.T.tolist(), drift.alarms[_OF_MIXTURE]
    for label, alarm in enumerate(alarms):
        kind, since = (last[label].kind, last[label].sample) if label in last else ("calm", None)
        answers = alarm[CALM_COUNT] > 0.0  # before, there was only the initial batch
        used = alarm
        if answers and trees is not None and trees.arrays.gate[label, IS_OPEN] > 0.0:
            used = trees.arrays.alarms[label]
        shares = dict(zip(MEMBERS, weights[label], strict=True))
        drifts.append(LabelDrift(kind, since, *_errors(used), shares))
    return drifts


def labels_in_drift(model: Model, names: Sequence[str]) -> dict[str, int]:
    """Return the labels of `model`, of these `names`, that are in a drift, with the row at which this was noticed."""
    drifts = zip(names, label_drifts(model), strict=True)
    return {name: drift.since for name, drift in drifts if drift.state == "drift" and drift.since is not None}


def doubts(model: Model) -> IntArray:
    """Return by how many answers sure outputs of each label of `model` are contradicted, (K,).

    This is the logarithm of the odds, rounded down: to the base `_DOUBT` of those of the alarms that are not raised,
    and to the base `_DOUBT_OF_TREE` of those against the threshold rules that answer.
    """
    if model.rules is None:
        return np.zeros(model.n_labels, np.int64)
    alarms, trees = model.drift.alarms, model.thresholds
    odds = np.where(alarms[..., IS_RAISED] == 0.0, alarms[..., ODDS], 0.0).max(axis=0)
    found = np.log(np.maximum(odds, 1.0)) // log(_DOUBT)
    if trees is not None:
        t = trees.arrays
        against = np.where(t.gate[:, IS_OPEN] > 0.0, t.against, 0.0)
        found = np.maximum(found, np.log(np.maximum(against, 1.0)) // log(_DOUBT_OF_TREE))
    return np.asarray(found, np.int64)


def restart_alarms(model: Model) -> None:
    """Reset the alarms of `model` that are not raised: the next answers are chosen in another way.

    Labels that are asked for are harder than those of all rows; their losses are compared with each other.
    """
    if model.rules is not None:
        model.drift.restart_alarms()
    if model.thresholds is not None:
        t = model.thresholds.arrays
        calm = t.alarms[:, IS_RAISED] == 0.0
        t.alarms[calm], t.against[calm] = 0.0, 0.0


def _errors(alarm: FloatArray) -> tuple[float, float]:
    """Return the recent and the calm mean loss of `alarm`; NaN before there was an answer."""
    return (float(alarm[SHORT_MEAN]), float(alarm[CALM_MEAN])) if alarm[CALM_COUNT] > 0.0 else (nan, nan)

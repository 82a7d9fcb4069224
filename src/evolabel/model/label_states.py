"""The state of each label in the stream, from members and threshold rules."""

from collections.abc import Sequence
from math import log

import numpy as np

from evolabel.core.pace import independent_answers, mean_independent
from evolabel.model.protocols import Model
from evolabel.stages.drift.label_drift import LabelDrift, drifts_of_members
from evolabel.stages.drift.loops.alarm import IS_RAISED, ODDS
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.typing import IntArray

# Odds of an alarm from which on its label is doubted; the n-th power counts as n contradictions. Nine drifting streams,
# 10 % of the labels, seeds 3 to 5: never .868 (a flipped label is noticed after 321 rows), 3: .871 (32 rows), 6: .875
# (32 rows).
_DOUBT = 6.0

_DOUBT_OF_TREE = 1.6  # the same of the odds against a tree, which one sure answer multiplies by up to 1.8


def label_drifts(model: Model) -> list[LabelDrift]:
    """Return the state of each label of `model`; errors are those of threshold rules where they are used.

    Without rules (before the first model) every label is calm. Where drift is not followed the slow member answers, and
    a label can be in a drift that threshold rules have noticed.
    """
    if model.rules is None:
        return [LabelDrift()] * model.n_labels
    trees, instead = model.trees, {}
    if trees is not None:
        instead = {int(k): trees.arrays.alarms[k] for k in np.flatnonzero(trees.arrays.gate[:, IS_OPEN] > 0.0)}
    return drifts_of_members(model.drift, model.rules.events, instead, independent_by_label(model))


def independent_by_label(model: Model) -> list[float]:
    """Return how many independent answers one answer of each label of `model` counts for; of classes, the mean.

    Where neither drift is followed nor threshold rules are learned, nothing counts answers: 1.
    """
    counts = model.drift.persistence
    if counts is None and model.trees is not None:
        counts = model.trees.arrays.persistence[model.trees.first_tree :]
    if counts is None:
        return [1.0] * model.n_labels
    return [mean_independent(counts)] * model.n_labels if model.exclusive else independent_answers(counts).tolist()


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
    alarms, trees = model.drift.alarms, model.trees
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
    if model.trees is not None:
        model.trees.restart_alarms()

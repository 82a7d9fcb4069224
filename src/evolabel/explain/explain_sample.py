"""`explain_sample`: the parts of one prediction, from all stages; `explain_empty`: those of a row without features."""

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np

from evolabel.core.rows import FOLLOWS_NOTHING
from evolabel.errors import StateError
from evolabel.explain.counterfactuals import find_counterfactuals
from evolabel.explain.prediction import NO_FEATURE, Explanation
from evolabel.explain.shortening import Threshold
from evolabel.explain.unfamiliar import NoveltyCheck, check_novelty
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.label_states import labels_in_drift
from evolabel.model.pipeline import locate, stage_parts
from evolabel.model.protocols import Model
from evolabel.stages.answered_forest.words import similar_samples
from evolabel.stages.drift.part import mixed_part
from evolabel.stages.feedback.stage import Correction
from evolabel.stages.last_answers.words import answers_last_known
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.stages.threshold_rules.path import threshold_paths
from evolabel.stages.threshold_rules.read_trees import tree_reader
from evolabel.stages.written_rules.words import deciding_rules, edges_to_cross
from evolabel.typing import FloatArray, IntArray

Correct = Callable[[FloatArray], Correction | None]
"""The correction of the outputs of raw rows by recent errors; None where there is none."""


def explain_sample(
    model: Model,
    x: FloatArray,
    feature_names: list[str],
    label_names: list[str],
    *,
    threshold: Threshold = 0.5,
    correct: Correct | None = None,
    follows: IntArray = FOLLOWS_NOTHING,
    unfamiliar: tuple[str, ...] = (),
    together: str = "",
    changes: int = 1,
) -> Explanation:
    """Return the explanation of one raw sample `x`, (1, n_features); a missing feature takes each rule's mean.

    The columns of `model` are called `feature_names` and `label_names`. Outputs of at least `threshold` are on, or the
    largest one is where it is None; `together` is `BY_SETS` or `BY_WEIGHTS` where labels are decided together.
    `correct` returns the correction of outputs by recent errors, which becomes the feedback of the explanation.
    `follows` has how many rows after the last learned one the sample comes; empty where the last answers are not used.
    `unfamiliar` are values that were never seen, in words. At most `changes` changes turn a label.
    """
    rules, rows = _rules_of(model), locate(model, x)
    active = np.flatnonzero(rows.psi[0])
    mixed = mixed_part(model, rows, active)
    rows.outputs, rows.follows = mixed.total[None].copy(), follows
    own = {name: part.added[0] for name, part in stage_parts(model, rows).items()}
    parts = "threshold_rules", "first_tree", "answered_forest", "last_answers", "written_rules"
    added, first, similar, by_answers, written = (own.pop(name, np.zeros(model.n_labels)) for name in parts)
    plain = sum(own.values(), mixed.total + added + first + similar) + by_answers + written
    outputs, slopes, feedback = _with_feedback(correct, x, plain, mixed.slopes)
    real, names = rows.read[0], (feature_names, label_names)
    deciding = deciding_rules(model, real, names)
    paths = threshold_paths(tree_reader(model, *names), real, deciding)
    edges, answer = edges_to_cross(model, paths), partial(_answers, model, correct, follows)
    found = find_counterfactuals(
        model, x[0], slopes, outputs, names=names, threshold=threshold, answer=answer, edges=edges, n_changes=changes
    )
    return Explanation(
        rules=rules.arrays.identity[active + 1].copy(),
        memberships=rows.psi[0, active],
        contributions=mixed.contributions,
        distances=rows.D[0, active],
        threshold_rules=added,
        first_tree=first,
        answered_forest=similar,
        similar=() if model.forest is None else similar_samples(model.forest, rows),
        written=written,
        own=own,
        last_answers=by_answers if len(follows) else None,
        answers=answers_last_known(model.memory, rows) if len(follows) and model.memory is not None else (),
        feature_names=feature_names,
        label_names=label_names,
        x=x[0].copy(),
        novelty=check_novelty(model, rows.D[0]),
        changes=tuple(found),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        linear=mixed.linear,
        feedback=feedback,
        n_seen=rules.n_seen,
        corrections=model.sensors.corrections(feature_names),
        paths=paths,
        deciding=deciding,
        probabilities=_probabilities(model, x, outputs[None], follows)[0],
        unfamiliar=unfamiliar,
        together=together,
        drifts=labels_in_drift(model, label_names),
    )


def explain_empty(
    model: Model,
    x: FloatArray,
    feature_names: list[str],
    label_names: list[str],
    *,
    threshold: Threshold,
    together: str = "",
) -> Explanation:
    """Return the explanation of the raw sample `x`, (p,), whose features are all missing, by `model`.

    `feature_names`, `label_names`, `threshold` and `together` are as in `explain_sample`. The base rates are the only
    contribution; the nearest rule has the number 0, which no rule has.
    """
    rates = model.base_rates()
    contributions = np.zeros((1, len(x) + 1, len(rates)))
    contributions[0, -1] = rates
    return Explanation(
        rules=np.empty(0, np.int64),
        memberships=np.empty(0),
        contributions=contributions,
        distances=np.empty(0),
        threshold_rules=np.zeros(len(rates)),
        first_tree=np.zeros(len(rates)),
        answered_forest=np.zeros(len(rates)),
        written=np.zeros(len(rates)),
        feature_names=feature_names,
        label_names=label_names,
        x=x.copy(),
        novelty=NoveltyCheck(0, 0.0, inf, novel=False),
        changes=((),) * len(rates),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        n_seen=model.n_seen,
        probabilities=base_probabilities(model),
        unfamiliar=(NO_FEATURE,),
        together=together,
    )


def _rules_of(model: Model) -> RuleBase:
    """Return the rule base of `model`; StateError if it has no rules."""
    rules = model.trained()
    if rules.n_rules == 0:
        raise StateError("there are no rules yet, so nothing can be explained; call fit or partial_fit first")
    return rules


def _with_feedback(
    correct: Correct | None, x: FloatArray, outputs: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return `outputs` and `slopes` of the raw sample `x` corrected by recent errors, and what that adds, if any."""
    correction = None if correct is None else correct(x)
    if correction is None:
        return outputs, slopes, None
    added = (correction.scale - 1.0) * outputs + correction.offset[0]
    return correction.of(outputs[None])[0], slopes * correction.scale, added


def _answers(model: Model, correct: Correct | None, follows: IntArray, rows: FloatArray) -> FloatArray:
    """Return the outputs of `model` for raw `rows`, corrected by recent errors if there is a function to `correct`.

    Each of them `follows` the last learned row as the sample does.
    """
    if len(follows):
        return model.answer_few(rows, follows=np.repeat(follows, len(rows))).outputs
    found = None if correct is None else correct(rows)
    return model.outputs(rows) if found is None else found.of(model.outputs(rows))


def _probabilities(model: Model, x: FloatArray, outputs: FloatArray, follows: IntArray) -> FloatArray:
    """Return the probabilities of the `outputs` for the raw sample `x`, which `follows` the last learned row or not."""
    if model.following is None or not len(follows):
        return model.calibration.probabilities(outputs)
    plain = model.outputs(x)
    return model.following.probabilities(outputs, plain, model.calibration.probabilities(plain))

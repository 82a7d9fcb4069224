"""The batch phase: from an initial batch to scaling, ridges, rules and consequents (Algorithm 1).

The first calibration takes rows of the initial batch and outputs that were made without their labels:

| label                                     | outputs                                                           |
|-------------------------------------------|-------------------------------------------------------------------|
| its rules answer for more than half of it | leave-one-out of the rules, of at most 2,000 rows at even steps   |
| any other                                 | made before each row was learned, in the second half of the batch |

Leave-one-out is exact for given memberships, and for rows of equal weights without gaps (`model.start.ridge`).
The other members and the threshold rules have no such formula: their outputs for rows that they have learned are too
good (water-quality, log loss of new rows .547 instead of .538). In the first half they have seen too few rows.
Classes are one: leave-one-out for all of them, or for none.
"""

import numpy as np
from numpy.linalg import LinAlgError

from evolabel.core.rows import Batch
from evolabel.engine.compile import direct
from evolabel.engine.values import count_answers
from evolabel.errors import DataError, StateError
from evolabel.model import pipeline
from evolabel.model.label_states import restart_alarms
from evolabel.model.protocols import Model
from evolabel.model.readers import Following
from evolabel.model.seen_ranges import batch_ranges
from evolabel.model.start.ridge import LeftOut, choose_local_ridge, ridge_strength
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.drift.arrays import SLOW
from evolabel.stages.first_tree.arrays import ROWS_ANSWERED
from evolabel.stages.rules.rule_state import derive_inverses, is_sound, is_well_posed
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import fit_scaler
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.typing import BoolArray, FloatArray

# A row of weight w puts about w |r|^2 beside a ridge. Beyond this ratio rank-one steps leave P too few digits: such
# rows are learned with a way back, and P is derived anew.
_HEAVY = 1e11

NOT_IN_FLOAT64 = (
    "the rows cannot be learned in double precision, as weights and features reach too far beyond the ridge; "
    "use a sample_weight around 1, scaled features, or a larger ridge"
)

_count_answers = direct(count_answers)


def fit(model: Model, batch: Batch, *, in_order: bool = True) -> None:
    """Train `model` on the initial `batch`: scaling, ridges, one pass for the rules, one for the consequents.

    The second pass sees the finished structure. It gives exactly the batch solution, because the recursions are exact.
    `in_order`: the rows follow each other in the stream.
    """
    try:
        rules = fit_statistics(model, batch, in_order=in_order)
        model.rule_kind.finish(rules)
    except (LinAlgError, StateError):  # a matrix that cannot be inverted
        raise DataError(NOT_IN_FLOAT64) from None
    if not is_sound(rules):
        raise DataError(NOT_IN_FLOAT64)
    if not in_order:
        restart_alarms(model)


def fit_statistics(model: Model, batch: Batch, *, in_order: bool = True) -> RuleBase:
    """Run the batch phase of `model` on `batch` up to the statistics, and return the rule base.

    `in_order`: the rows follow each other in the stream.
    """
    labelled = batch.labelled()
    if not labelled.any():
        raise DataError("every sample of the batch has zero weight or no annotated label; annotate some rows")
    initialise(model, batch.rows(labelled))
    rules, outputs = model.trained(), np.zeros(batch.Y.shape)
    scaled = Batch(model.scale(batch.X), batch.Y, batch.weights, batch.confidences, raw=batch.X)
    rules.learn(scaled, consequents=False)
    left_out = _choose_local_ridge(model, scaled.rows(labelled)) if model.options.chooses_local_ridge else None
    scaled = scaled._replace(outputs=outputs)
    model.rule_kind.fit_consequents(rules, scaled)
    _check_outputs(model, scaled)
    model.sensors.leave_out_steady(batch.X)
    pipeline.learn_initial(model, batch._replace(outputs=outputs), in_order=in_order)
    calibrated = start_calibration(model, scaled.rows(labelled), left_out)
    model.ranges = batch_ranges(batch.X)
    model.n_answers = np.zeros(model.n_labels)
    _count_answers(batch.Y, batch.weights, model.n_answers)
    if model.feedback is not None:
        standardised = scaled._replace(X=model.standardise(batch.X)).rows(labelled)
        model.feedback.fit(standardised, standardised.outputs, in_order=in_order)
    if model.decisions is not None:
        model.decisions.start(scaled, calibrated)
    elif model.plain_outputs is not None:
        model.plain_outputs.count(calibrated, initial=True)
    if model.following is not None:
        model.following = Following(model.calibration, model.decisions)
    return rules


def initialise(model: Model, batch: Batch) -> None:
    """Fit scaling and ridge of `model` on the initial `batch`, and start an empty rule base."""
    options = model.options
    model.scaler = fit_scaler(batch.X, options.scaling)
    model.ridge = ridge_strength(options.ridge, model.scaler.transform(batch.X), batch.Y, batch.weights)
    model.local_ridge = options.first_local_ridge
    model.start_rules(model.scaler, model.settings())
    pipeline.start_stages(model)
    if len(batch.X) >= ROWS_ANSWERED:
        model.first_tree = None
    model.warm_up = None
    model.journal.clear()


def is_heavy(rules: RuleBase, weights: FloatArray) -> bool:
    """Whether one of the `weights` is so large beside the ridges of `rules` that the arithmetic may fail."""
    settings = rules.settings
    return bool(weights.max(initial=0.0) * (1.0 + settings.prior.sum()) > _HEAVY * settings.penalty.min())


def _choose_local_ridge(model: Model, batch: Batch) -> LeftOut:
    """Choose the ridge of rules that have their places, before consequents have learned anything."""
    rules = model.trained()
    chosen = choose_local_ridge(rules, batch.X, batch.Y, model.ridge)
    if chosen.factor != model.local_ridge:
        model.local_ridge = chosen.factor
        rules.settings = model.settings()
        for slot in range(rules.n_rules + 1):
            rules.contents.start_inverse(slot)
    return chosen


def _check_outputs(model: Model, batch: Batch) -> None:
    """Raise DataError where float64 has too few digits for the rows of `batch`, which were learned."""
    rules = model.trained()
    if is_heavy(rules, batch.weights):
        derive_inverses(model.drift.with_sums)
        if not is_well_posed(rules):
            raise DataError(NOT_IN_FLOAT64)
    if not np.isfinite(batch.outputs).all():
        raise DataError(NOT_IN_FLOAT64)


def start_calibration(model: Model, batch: Batch, left_out: LeftOut | None) -> Batch:
    """Give `model` a calibration of its initial `batch`, whose outputs were made before each row was learned.

    `left_out` has the outputs of leave-one-out, if there are any. Returns the rows that were used, with their outputs,
    all their labels, and probabilities from before each row.
    """
    model.calibration = Calibration(model.n_labels, exclusive=model.exclusive)
    rows = np.arange(len(batch.X)) if left_out is None or not len(left_out.rows) else left_out.rows
    part = batch.rows(rows)._replace(probabilities=np.empty((len(rows), model.n_labels)))
    F, Y = part.outputs, part.Y.copy()
    by_rules = np.zeros(model.n_labels, np.bool_)
    if left_out is not None and len(left_out.rows):
        by_rules = _answered_by_rules(model)
        F[:, by_rules] = left_out.outputs[:, by_rules]
    early = rows < len(batch.X) // 2
    Y[np.ix_(early, ~by_rules)] = np.nan
    model.calibration.learn(part._replace(Y=Y), adapts=False)
    return part


def _answered_by_rules(model: Model) -> BoolArray:
    """Return for which labels the rules make more than half of the output, (K,); for classes all of them or none."""
    first_tree = 0.0 if model.first_tree is None else model.first_tree.weight
    found = (1.0 - first_tree) * model.drift.mixer_weights[SLOW] > 0.5
    if model.trees is not None:
        found = found & (model.trees.arrays.gate[:, IS_OPEN] == 0.0)
    return np.full(len(found), found.all()) if model.exclusive else found

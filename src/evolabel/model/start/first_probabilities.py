"""The first calibration, from rows of the initial batch and outputs that were made without their labels.

| label                                     | outputs                                                           |
|-------------------------------------------|-------------------------------------------------------------------|
| its rules answer for more than half of it | leave-one-out of the rules, of at most 2,000 rows at even steps   |
| any other                                 | made before each row was learned, in the second half of the batch |

Leave-one-out is exact for given memberships, and for rows of equal weights without gaps (`model.start.local_ridge`).
The other members and the threshold rules have no such formula: their outputs for rows that they have learned are too
good (water-quality, log loss of new rows .547 instead of .538). In the first half they have seen too few rows.
Classes are one: leave-one-out for all of them, or for none.
"""

import numpy as np

from evolabel.core.rows import Batch
from evolabel.model.protocols import Model
from evolabel.model.start.local_ridge import LeftOut
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.drift.arrays import SLOW
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.typing import BoolArray


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
    model.calibration.start(part._replace(Y=Y))
    return part


def _answered_by_rules(model: Model) -> BoolArray:
    """Return for which labels the rules make more than half of the output, (K,); for classes all of them or none."""
    first_tree = 0.0 if model.first_tree is None else model.first_tree.weight
    found = (1.0 - first_tree) * model.drift.mixer_weights[SLOW] > 0.5
    if model.trees is not None:
        found = found & (model.trees.arrays.gate[:, IS_OPEN] == 0.0)
    return np.full(len(found), found.all()) if model.exclusive else found

"""Learning with refiners: the members first, then threshold rules and written rules behind them."""

from typing import TYPE_CHECKING

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.rows import Batch
from evolabel.stages.drift.arrays import ROWS
from evolabel.stages.drift.stage import FollowingRules
from evolabel.stages.rules.stage import RuleBase

if TYPE_CHECKING:
    from evolabel.stages.protocols import Model


def learn_with_refiners(model: "Model", batch: Batch) -> None:
    """Learn the raw rows of `batch` with the members of `model`, then with threshold rules, then with written rules.

    All learn the rows up to the next turn of maintenance, so that what a turn finds does not depend on how a stream is
    cut into batches. Ctrl-C waits until all have learned them.
    """
    assert model.scaler is not None
    thresholds, written = model.thresholds, model.written
    batch = batch._replace(read=np.empty(batch.X.shape))
    done = 0
    while done < len(batch.X):
        # gates of written rules turn at any row
        end = done + (1 if thresholds is None or len(written) else thresholds.rows_to_turn)
        part = batch.rows(slice(done, end))
        with held():
            rules = model.trained()
            before = _n_rows(rules)
            rules.learn_raw(part, model.scaler)
            _refine(model, part._replace(X=part.read), rules, before)
        done = end


def _refine(model: "Model", batch: Batch, rules: RuleBase, before: int) -> None:
    """Learn the rows of `batch`, as the members of `rules` have read them, with the refiners of `model`.

    `before`: rows of the stream before `batch`. Rows in the ring are corrected where a sensor has moved.
    """
    start, thresholds = 0, model.thresholds
    if thresholds is not None and isinstance(rules, FollowingRules):
        for sensor in rules.moved_sensors:
            end = sensor.row - before
            _learn_piece(model, batch.rows(slice(start, end)), rules)
            thresholds.correct(sensor)
            start = end
    _learn_piece(model, batch.rows(slice(start, len(batch.X))), rules)


def _learn_piece(model: "Model", batch: Batch, rules: RuleBase) -> None:
    """Learn the rows of `batch`, if there are any, with the refiners of `model`; events are logged with `rules`."""
    if not len(batch.X):
        return
    if model.thresholds is None or len(model.written):
        model.written.learn_in_front(model.thresholds, batch, rules)
    else:
        model.thresholds.learn_some(batch, batch.outputs, rules)


def _n_rows(rules: RuleBase) -> int:
    """Return how many rows of the stream the members of `rules` have counted; 0 without members."""
    return int(rules.members.clock[ROWS]) if isinstance(rules, FollowingRules) else 0

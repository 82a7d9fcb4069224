"""The order of the stages, and the two ways through them: rows are answered, or answered and then learned.

| stage           | class            | what it does with a row                                        |
|-----------------|------------------|----------------------------------------------------------------|
| sensors         | `Sensors`        | corrects readings of sensors that have moved                   |
| scaling         | `Scaler`         | scales what was read                                           |
| rules           | `RuleBase`       | answers by the rules near the row                              |
| drift           | `Drift`          | mixes the answers of members that follow the stream with it    |
| threshold_rules | `ThresholdRules` | replaces outputs by those of a tree per label                  |
| written_rules   | `WrittenRules`   | replaces outputs where a rule of a person answers              |
| calibration     | `Calibration`    | makes probabilities of the outputs                             |
| decisions       | `Decisions`      | makes labels of both                                           |

A stage that is switched off is absent. The first four learn row by row in one compiled loop
(`stages.drift.loops.learn`); the refiners behind them learn pieces of rows from the outputs before each row; the last
two read final outputs and change none.
"""

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.rows import Batch, Rows
from evolabel.core.stage import LearningStage, Stage
from evolabel.model.protocols import Model
from evolabel.stages.rules.weights import MANY_ROWS, weights_of_all
from evolabel.typing import FloatArray


def first_stages(model: Model) -> tuple[Stage, ...]:
    """Return the stages of `model` up to the outputs of rules and members, in their order."""
    assert model.scaler is not None
    return model.sensors, model.scaler, model.trained(), model.drift


def refiners(model: Model) -> list[LearningStage]:
    """Return the stages of `model` that refine these outputs, in their order."""
    found: list[LearningStage] = [] if model.thresholds is None else [model.thresholds]
    return [*found, model.written] if model.written.is_used else found


def answer_stages(model: Model, rows: Rows) -> Rows:
    """Answer `rows` by the stages of `model`, and return them; outputs of many rows by weights formed once."""
    if len(rows.X) >= MANY_ROWS and not len(rows.W) and not len(rows.terms[0]):
        rows.W = model.drift.mixed(weights_of_all)
    for stage in first_stages(model):
        stage.answer(rows)
    for stage in refiners(model):
        stage.answer(rows)
    return rows


def refined_parts(model: Model, read: FloatArray, outputs: FloatArray) -> dict[str, FloatArray]:
    """Return what each refiner of `model` adds to the `outputs`, (K,), of a sample that was `read`, by its name."""
    rows, parts = Rows(read, outputs=outputs[None].copy()), {}
    for stage in refiners(model):
        before = rows.outputs.copy()
        stage.answer(rows)
        parts[stage.name] = (rows.outputs - before)[0]
    return parts


def learn_stages(model: Model, batch: Batch) -> None:
    """Learn the raw rows of `batch` by the stages of `model` up to the refiners.

    Its outputs, which must be given, receive those from before each row is learned. All stages learn the rows up to the
    next turn of maintenance of one of them, so that what a turn finds does not depend on how a stream is cut into
    batches. Ctrl-C waits until all have learned them.
    """
    assert model.scaler is not None
    stages = refiners(model)
    if not stages:
        model.trained().learn_raw(batch, model.scaler)
        return
    batch = batch._replace(read=np.empty(batch.X.shape))
    done, n = 0, len(batch.X)
    while done < n:
        end = min(done + min(stage.rows_at_once for stage in stages), n)
        part = batch if end - done == n else batch.rows(slice(done, end))
        with held():
            before = model.drift.n_rows or 0
            model.drift.moved_sensors.clear()
            model.trained().learn_raw(part, model.scaler)
            _refine(model, stages, part, before)
        done = end


def _refine(model: Model, stages: list[LearningStage], batch: Batch, before: int) -> None:
    """Learn the rows of `batch`, as they were read, by the refiners `stages` of `model`.

    `before`: rows of the stream before `batch`. What trees have kept of rows is corrected where a sensor has moved.
    """
    start = 0
    for sensor in model.drift.moved_sensors:
        end = sensor.row - before
        _learn_piece(model, stages, batch.rows(slice(start, end)))
        if model.thresholds is not None:
            model.thresholds.correct_sensor(sensor)
        start = end
    _learn_piece(model, stages, batch.rows(slice(start, None)) if start else batch)


def _learn_piece(model: Model, stages: list[LearningStage], batch: Batch) -> None:
    """Learn the rows of `batch`, if there are any, by the refiners `stages` of `model`.

    Those in front of written rules do not learn labels that these answer. Drifts that a stage has found are followed.
    """
    if not len(batch.X):
        return
    drift, log = model.drift, model.trained()
    rows = Rows(batch.read, batch.Y, batch.weights, batch.confidences, outputs=batch.outputs)
    rows.n_rows, rows.episode = drift.n_rows, drift.episode
    if model.written.is_used:
        rows.Y = model.written.unanswered(rows)
    for stage in stages:
        if stage is model.written:
            rows.Y = batch.Y
        n_events = log.n_events
        stage.learn(rows, log)
        if rows.drifts_ended is not None:
            new = log.n_events - n_events
            drift.follow([*log.events][-new:] if new else [], rows.drifts_ended)
            rows.drifts_ended = None

"""What the other stages have to do with sensors that move: two views of a row, the errors of both, scores to watch."""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.engine.values import MAX_VALUE
from evolabel.stages.drift.arrays import ROW_INDEPENDENT, ROWS, SLOW, Members
from evolabel.stages.drift.loops.mixer import clipped
from evolabel.stages.rules.arrays import State
from evolabel.stages.rules.loops.antecedents import rule_memberships
from evolabel.stages.rules.loops.consequents import answer, project
from evolabel.stages.scaling.loops.scale import clipped_score, score_of
from evolabel.stages.sensors.arrays import FACTOR, IS_ON, NEW_OFFSET, OFFSET, UNSETTLED, UNWATCHED
from evolabel.stages.sensors.loops.watch import (
    answering_view,
    compare_views,
    end_trial,
    is_over,
    is_unsettled,
    learn_calm_reading,
    read_row,
    watch_feature,
)
from evolabel.typing import FloatArray

FEWEST_KNOTS = 8  # distinct quantiles of a feature that is watched


@inner
def fill_row(x: FloatArray, offset: int, members: Members, z: FloatArray) -> None:
    """Fill z and the corrected row of the sensors with the raw row x, by the view whose row of `views` is `offset`."""
    sensors = members.sensors
    read_row(x, offset, sensors.arrays.views, sensors.x)
    for j in range(x.shape[0]):
        z[j] = clipped_score(members.knots, j, sensors.x[j])


@inner
def read_and_scale(x: FloatArray, state: State, members: Members, z: FloatArray) -> None:
    """Fill z and the corrected row of the sensors with the raw row x, by the view that answers.

    During a trial, `other` receives the outputs of the slow member by the other view.
    """
    trial = members.sensors.arrays.trial
    offset = answering_view(trial)
    if trial[IS_ON] > 0.0:
        work = state.work
        fill_row(x, OFFSET + NEW_OFFSET - offset, members, z)
        m = rule_memberships(z, state.rules, state.settings, work)
        project(z, m, state.rules, work)
        answer(m, state.rules, state.settings.penalty[1], work, members.other)
    fill_row(x, offset, members, z)


@inner
def compare_answers(y: FloatArray, confidence: FloatArray, members: Members) -> None:
    """Update the errors of both views on trial by the labels y of the present row."""
    slow, other, total = 0.0, 0.0, 0.0
    for b in range(y.shape[0]):
        if confidence[b] > 0.0:
            slow += confidence[b] * (clipped(members.F[SLOW, b]) - y[b]) ** 2
            other += confidence[b] * (clipped(members.other[b]) - y[b]) ** 2
            total += confidence[b]
    compare_views(slow, other, total, members.sensors.arrays.trial)


@inner
def learn_sensors(x: FloatArray, y: FloatArray, confidence: FloatArray, in_stream: bool, members: Members) -> bool:
    """Learn the raw row x with its labels y; return whether a trial has ended.

    In the initial batch, not `in_stream`, only the calm readings are learned.
    """
    sensors, knots, now = members.sensors, members.knots, members.arrays.clock[ROWS]
    arrays, ended, unsettled = sensors.arrays, False, False
    if arrays.trial[IS_ON] > 0.0:
        compare_answers(y, confidence, members)
        if is_over(arrays.trial, now):
            end_trial(now, members.arrays.time[ROW_INDEPENDENT] < 1.0, sensors)
            ended = True
    for j in range(x.shape[0]):
        if knots.used[j] >= FEWEST_KNOTS and arrays.phase[j] != UNWATCHED and not np.isnan(x[j]):
            if in_stream:
                score = score_of(knots, j, arrays.views[OFFSET, j] + arrays.views[FACTOR, j] * x[j])
                watch_feature(j, x[j], score, now, sensors)
                unsettled = unsettled or is_unsettled(j, arrays.phase[j], arrays.readings)
            else:
                learn_calm_reading(j, min(max(x[j], -MAX_VALUE), MAX_VALUE), arrays.readings)
    arrays.trial[UNSETTLED] = 1.0 if unsettled else 0.0
    return ended

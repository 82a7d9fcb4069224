"""Sensors that move: a feature that leaves its usual place is read in two views, and the labels decide between them.

From the features alone, a sensor that moved and inputs that moved look the same. So a feature that is suspect, because
the mean or the spread of its recent scores is not the usual one, is tried for `TRIAL_ROWS` rows: as it is read, and
moved back to the mean and the spread it had before. The rules answer both views (`stages.drift.loops.follow`); the
better one is used meanwhile. At the end the correction stays ("the sensor moved"), if its error is smaller by a
twentieth, or it is dropped and the new place is usual, beside the earlier ones ("the inputs moved"). So inputs that
come and go, as a load does in the course of a day, are tried until their range is known, and then do not share the
trial of a sensor.

Where answers persist (`core.pace`), all rows of a trial may have the same ones, and their errors prove little.
There the correction stays only if its mean gain over at least `FEWEST_RUNS` runs of rows with the same answers is
`SURE_RUNS` standard errors. A trial that has seen fewer goes on, for `LONGEST_TRIAL` rows at most, and then ends
without a verdict: the new place is usual, and no event names it.

A correction that was adopted is reviewed for as long: whenever the rows of a trial have passed, the view from before it
is compared like one on trial, but never answers. If it is better beyond doubt, the correction is dropped. A review ends
early where another trial begins.

All features that are suspect at a time share one trial; those that become suspect after its first `TRIAL_ROWS` rows
wait for its end. Where they are more than `MOST_MOVED` and more than
`SHARE_MOVED` of all, as by a replaced logger, inputs have moved more likely than all these sensors: there the mean gain
must be `SURE_OF_MANY` standard errors, however answers come. Features of few values are not watched, nor are those that
only rise or only fall, as elapsed time does: they leave every place.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.values import MAX_VALUE
from evolabel.stages.sensors.arrays import (
    ANSWERS,
    BEGUN,
    CALM_ROWS,
    COLLECTING,
    CORRECTED_AT,
    CORRECTION_DROPPED,
    FACTOR,
    HIGHEST_MEAN,
    INPUTS_MOVED,
    IS_ON,
    LEAST_VARIANCE,
    LOSS_AS_READ,
    LOSS_MOVED,
    LOWEST_MEAN,
    MOST_VARIANCE,
    NEW_FACTOR,
    NEW_MEAN,
    NEW_OFFSET,
    NEW_ROWS,
    NEW_SCATTER,
    NO_VERDICT,
    OFFSET,
    ON_TRIAL,
    PERSISTS,
    READ_MEAN,
    READ_VARIANCE,
    REVIEW,
    REVIEWED,
    RUN_ENDED,
    RUN_GAIN,
    RUN_ROWS,
    RUNS,
    RUNS_GAIN,
    RUNS_SCATTER,
    SCORE_MEAN,
    SCORE_VARIANCE,
    SENSOR_MOVED,
    SINCE_SUSPECT,
    STARTED,
    UNSETTLED,
    USUAL_MEAN,
    USUAL_VARIANCE,
    WATCHED,
    SensorState,
)
from evolabel.typing import FloatArray

WATCHED_UP_TO = 8.0  # standard deviations at which a watched score is cut
SCORE_WINDOW = 50.0  # rows
SUSPECT_MEAN = 1.5  # distance of the mean score from its usual places
CALM_UP_TO = 0.5  # the same: further away, readings may have moved already, and are not learned as calm ones
SUSPECT_RATIO = 9.0  # of the variances, either way
UNSETTLED_RATIO = 2.5  # the same, of a feature that may soon be suspect
LEAST_USUAL = 0.01  # variance of scores that is usual, at least: scores that are cut have none
READING_MEMORY = 2000.0  # rows
CALM_AFTER_TRIAL = 500.0  # rows that the calm mean counts for at most after a trial
COLLECTED_ROWS = 30.0  # rows from which the mean and the spread of a feature are known, calm or suspect
STUCK = 1e-6  # variance of a reading, in calm variances, up to which it does not change, and so shows no scale
PLAIN_SHIFT = 0.35  # logarithm of the factor up to which a sensor has only been shifted
TRIAL_ROWS = 200
TRIAL_ANSWERS = 50.0  # rows with labels that a trial has at least
LEAST_BETTER = 0.95  # of the error as it is read, which that of the view on trial must not exceed
LONGEST_TRIAL = 5000  # of a trial that has seen fewer runs, and of a review
FEWEST_RUNS = 6.0  # of rows with the same answers, where answers persist
LIKELY_RUNS = 2.0  # of which a view on trial that answers is better by one standard error, where answers persist
SURE_RUNS = 3.5  # standard errors of the mean gain of the runs
MOST_MOVED = 4.0  # sensors that are corrected at once, if these are not
SHARE_MOVED = 0.25  # of all: the same, where that is more
SURE_OF_MANY = 6.0  # standard errors of the mean gain of the runs
TRIAL_WINDOW = 50.0  # rows over which the errors of both views are averaged
FIRST_LOSS = 0.25  # of an output of 0.5, before there is an answer
_TINY = 1e-300


@inner
def error_of_runs(trial: FloatArray) -> float:
    """Return the standard error of the mean gain over the runs of `trial`."""
    return float(np.sqrt(trial[RUNS_SCATTER] / (max(trial[RUNS], 2.0) - 1.0) / max(trial[RUNS], 1.0)))


@inner
def is_likely(trial: FloatArray) -> bool:
    """Return whether the gain of the view on `trial` is above one standard error of its mean over two runs or more."""
    return bool(trial[RUNS] >= LIKELY_RUNS and trial[RUNS_GAIN] > error_of_runs(trial))


@inner
def uses_new_view(trial: FloatArray) -> bool:
    """Return whether the view on `trial` answers: there is a trial, no review, and its error is not larger.

    Where answers persist, recent errors are those of one run: the gain over runs has to be likely, too.
    """
    if trial[IS_ON] != 1.0 or trial[LOSS_MOVED] > trial[LOSS_AS_READ]:
        return False
    return bool(trial[PERSISTS] == 0.0 or is_likely(trial))


@inner
def answering_view(trial: FloatArray) -> int:
    """Return the row of `views` with the offsets of the view that answers, by the state of the `trial`."""
    return NEW_OFFSET if uses_new_view(trial) else OFFSET


@inner
def read_row(x: FloatArray, offset: int, views: FloatArray, corrected: FloatArray) -> None:
    """Fill `corrected` with the raw row x as the view reads it whose offsets are in row `offset` of `views`."""
    for j in range(x.shape[0]):
        corrected[j] = views[offset, j] + views[offset + 1, j] * x[j]


@kernel
def correct_rows(sensors: SensorState, X: FloatArray, out: FloatArray) -> None:
    """Fill `out` with the raw rows X as the view reads them that answers."""
    offset = answering_view(sensors.arrays.trial)
    for i in range(X.shape[0]):
        read_row(X[i], offset, sensors.arrays.views, out[i])


@inner
def compare_views(used: float, other: float, total: float, trial: FloatArray) -> None:
    """Update the errors of both views by those of the present row, by the view in use and by the `other` one.

    They are sums of squared errors over its answers, whose confidence is `total`.
    """
    as_read, moved = (other, used) if uses_new_view(trial) else (used, other)
    trial[LOSS_AS_READ] += (as_read / total - trial[LOSS_AS_READ]) / TRIAL_WINDOW
    trial[LOSS_MOVED] += (moved / total - trial[LOSS_MOVED]) / TRIAL_WINDOW
    trial[ANSWERS] += 1.0
    if trial[RUN_ENDED] > 0.0:
        end_run(trial)
    trial[RUN_GAIN] += (as_read - moved) / total
    trial[RUN_ROWS] += 1.0


@inner
def end_run(trial: FloatArray) -> None:
    """Add the mean gain of the present run of `trial`, if it has rows, to those of former runs, and begin another."""
    trial[RUN_ENDED] = 0.0
    if trial[RUN_ROWS] > 0.0:
        gain = trial[RUN_GAIN] / trial[RUN_ROWS]
        e = gain - trial[RUNS_GAIN]
        trial[RUNS] += 1.0
        trial[RUNS_GAIN] += e / trial[RUNS]
        trial[RUNS_SCATTER] += e * (gain - trial[RUNS_GAIN])
        trial[RUN_GAIN], trial[RUN_ROWS] = 0.0, 0.0


@inner
def is_sure(trial: FloatArray, deviations: float) -> bool:
    """Return whether the gain of the view on `trial` is above so many standard `deviations` of its mean over runs."""
    return bool(trial[RUNS] >= FEWEST_RUNS and trial[RUNS_GAIN] > deviations * error_of_runs(trial))


@inner
def are_many_tried(sensors: SensorState) -> bool:
    """Return whether more features are on trial than are likely to have moved at once."""
    n_tried = 0
    for j in range(sensors.arrays.phase.shape[0]):
        if sensors.arrays.phase[j] == ON_TRIAL:
            n_tried += 1
    return bool(n_tried > max(MOST_MOVED, SHARE_MOVED * sensors.arrays.phase.shape[0]))


@inner
def needs_runs(sensors: SensorState) -> bool:
    """Return whether a verdict needs `FEWEST_RUNS` runs: answers persist, or many features are on trial."""
    return bool(sensors.arrays.trial[PERSISTS] > 0.0 or are_many_tried(sensors))


@inner
def is_view_better(sensors: SensorState) -> bool:
    """Return whether the view on trial is better beyond doubt: of late, and over runs where a verdict needs them."""
    trial = sensors.arrays.trial
    better = trial[LOSS_MOVED] < LEAST_BETTER * trial[LOSS_AS_READ]
    if are_many_tried(sensors):
        return bool(better and is_sure(trial, SURE_OF_MANY))
    return bool(better and (trial[PERSISTS] == 0.0 or is_sure(trial, SURE_RUNS)))


@inner
def is_undecided(sensors: SensorState) -> bool:
    """Return whether the trial has no verdict yet: too few runs, or a gain over them that is likely and not sure."""
    trial = sensors.arrays.trial
    if not needs_runs(sensors):
        return False
    if trial[IS_ON] == REVIEW or trial[RUNS] < FEWEST_RUNS:
        return bool(trial[RUNS] < FEWEST_RUNS)
    return bool(is_likely(trial) and not is_view_better(sensors))


@inner
def is_over(now: int, sensors: SensorState) -> bool:
    """Return whether the trial or review that is on has seen enough rows, answers and runs at the row `now`."""
    trial = sensors.arrays.trial
    if now - trial[STARTED] < TRIAL_ROWS or trial[ANSWERS] < TRIAL_ANSWERS:
        return False
    return bool(now - trial[BEGUN] >= LONGEST_TRIAL or not is_undecided(sensors))


@inner
def note_change(trial: FloatArray) -> None:
    """Note in the `trial` that an answer has changed since its last row."""
    trial[RUN_ENDED] = 1.0


@inner
def restart(now: int, trial: FloatArray) -> None:
    """Start the `trial` at the row `now`, or start it anew: it has seen no answer."""
    trial[STARTED], trial[ANSWERS] = now, 0.0
    trial[RUN_ENDED:UNSETTLED] = 0.0


@inner
def widen(j: int, first: int, mean: float, variance: float, r: FloatArray) -> None:
    """Add a place of feature j, its mean and variance of scores, to four rows of its `readings` r, from `first` on."""
    r[first, j], r[first + 1, j] = min(r[first, j], mean), max(r[first + 1, j], mean)
    r[first + 2, j], r[first + 3, j] = min(r[first + 2, j], variance), max(r[first + 3, j], variance)


@inner
def settle(j: int, r: FloatArray) -> None:
    """Let the present place of feature j be usual, and those since it was suspect, in its `readings` r."""
    r[USUAL_MEAN, j], r[USUAL_VARIANCE, j] = r[SCORE_MEAN, j], r[SCORE_VARIANCE, j]
    widen(j, LOWEST_MEAN, r[SINCE_SUSPECT, j], r[SINCE_SUSPECT + 2, j], r)
    widen(j, LOWEST_MEAN, r[SINCE_SUSPECT + 1, j], r[SINCE_SUSPECT + 3, j], r)


@inner
def use_one_view(j: int, phase: int, sensors: SensorState) -> None:
    """Let feature j be in this `phase`, with no other view than the one in use."""
    views = sensors.arrays.views
    sensors.arrays.phase[j] = phase
    views[NEW_OFFSET, j], views[NEW_FACTOR, j] = views[OFFSET, j], views[FACTOR, j]


@inner
def adopt(j: int, now: int, sensors: SensorState) -> None:
    """Use the view on trial of feature j from the row `now` on, and review it: the other view is the one before."""
    r, views = sensors.arrays.readings, sensors.arrays.views
    for row in (OFFSET, FACTOR):
        views[row, j], views[NEW_OFFSET + row, j] = views[NEW_OFFSET + row, j], views[row, j]
    r[SCORE_MEAN, j], r[SCORE_VARIANCE, j] = r[USUAL_MEAN, j], r[USUAL_VARIANCE, j]
    r[CORRECTED_AT, j] = now
    sensors.arrays.phase[j] = REVIEWED
    sensors.verdict[j] = SENSOR_MOVED


@inner
def end_trial(now: int, sensors: SensorState) -> None:
    """Adopt the view on trial at the row `now` if it was better, else make the new place a usual one.

    Fills `verdict` and `moved`. Where a verdict needs runs of answers, and there were not
    enough, there is none; where answers come as if at random, each row proves something.
    """
    trial, views, r = sensors.arrays.trial, sensors.arrays.views, sensors.arrays.readings
    better, proved = is_view_better(sensors), not is_undecided(sensors)
    for j in range(r.shape[1]):
        if sensors.arrays.phase[j] == ON_TRIAL:
            sensors.moved[0, j], sensors.moved[1, j] = r[READ_MEAN, j], r[NEW_MEAN, j]
            sensors.moved[2, j] = (r[NEW_MEAN, j] - r[READ_MEAN, j]) / np.sqrt(r[READ_VARIANCE, j] + _TINY)
            sensors.moved[3, j] = r[READ_VARIANCE, j]
            sensors.moved[4, j], sensors.moved[5, j] = views[OFFSET, j], views[FACTOR, j]
            if better:
                adopt(j, now, sensors)
            else:
                settle(j, r)
                use_one_view(j, WATCHED, sensors)
                sensors.verdict[j] = INPUTS_MOVED if proved else NO_VERDICT
            r[READ_MEAN, j], r[READ_VARIANCE, j] = r[NEW_MEAN, j], r[NEW_SCATTER, j] / r[NEW_ROWS, j]
            r[CALM_ROWS, j] = min(r[CALM_ROWS, j], CALM_AFTER_TRIAL)
    trial[IS_ON] = 0.0
    if better:
        trial[IS_ON], trial[BEGUN] = REVIEW, now
        trial[LOSS_AS_READ], trial[LOSS_MOVED] = trial[LOSS_MOVED], trial[LOSS_AS_READ]
        restart(now, trial)


@inner
def drop_correction(j: int, now: int, sensors: SensorState) -> None:
    """Use the view of feature j from before its correction again, from the row `now` on; fills `verdict` and `moved`.

    Where its scores were while it was suspect is a usual place.
    """
    r, views = sensors.arrays.readings, sensors.arrays.views
    before = views[OFFSET, j] + views[FACTOR, j] * r[READ_MEAN, j]
    after = views[NEW_OFFSET, j] + views[NEW_FACTOR, j] * r[READ_MEAN, j]
    deviation = views[FACTOR, j] * np.sqrt(r[READ_VARIANCE, j] + _TINY)
    sensors.moved[0, j], sensors.moved[1, j], sensors.moved[2, j] = before, after, (after - before) / deviation
    sensors.moved[3, j], sensors.moved[6, j] = r[READ_VARIANCE, j], max(r[CORRECTED_AT, j] - TRIAL_ROWS, 0.0)
    sensors.moved[4, j], sensors.moved[5, j] = views[OFFSET, j], views[FACTOR, j]
    views[OFFSET, j], views[FACTOR, j] = views[NEW_OFFSET, j], views[NEW_FACTOR, j]
    low, high = r[SINCE_SUSPECT, j], r[SINCE_SUSPECT + 1, j]
    r[SCORE_MEAN, j] = high if high - r[USUAL_MEAN, j] > r[USUAL_MEAN, j] - low else low
    r[SCORE_VARIANCE, j] = r[SINCE_SUSPECT + 3, j]
    settle(j, r)
    r[CORRECTED_AT, j] = now
    sensors.verdict[j] = CORRECTION_DROPPED


@inner
def look_at_review(now: int, sensors: SensorState) -> bool:
    """Return whether the corrections under review are dropped at the row `now`: without them the error is smaller.

    Else the review goes on, up to `LONGEST_TRIAL` rows.
    """
    trial = sensors.arrays.trial
    worse = trial[LOSS_MOVED] < LEAST_BETTER * trial[LOSS_AS_READ] and is_sure(trial, SURE_RUNS)
    if not worse and now - trial[BEGUN] < LONGEST_TRIAL:
        restart(now, trial)
        return False
    for j in range(sensors.arrays.phase.shape[0]):
        if worse and sensors.arrays.phase[j] == REVIEWED:
            drop_correction(j, now, sensors)
    end_review(sensors)
    return bool(worse)


@inner
def end_review(sensors: SensorState) -> None:
    """End the review, if there is one: its features are watched like others."""
    for j in range(sensors.arrays.phase.shape[0]):
        if sensors.arrays.phase[j] == REVIEWED:
            use_one_view(j, WATCHED, sensors)
    if sensors.arrays.trial[IS_ON] == REVIEW:
        sensors.arrays.trial[IS_ON] = 0.0


@inner
def end_part(now: int, sensors: SensorState) -> bool:
    """End the trial at the row `now`, or look at the review; return whether there are verdicts. See `end_trial`."""
    if sensors.arrays.trial[IS_ON] == REVIEW:
        return look_at_review(now, sensors)
    end_trial(now, sensors)
    return True


@inner
def takes_suspects(now: int, trial: FloatArray) -> bool:
    """Return whether suspects may join the `trial` at the row `now`, or begin one: they start it anew."""
    if trial[IS_ON] != 1.0:
        return True
    return bool(now - trial[STARTED] < TRIAL_ROWS and now - trial[BEGUN] < LONGEST_TRIAL - TRIAL_ROWS)


@inner
def is_suspect(j: int, r: FloatArray) -> bool:
    """Return whether the recent scores of feature j are outside of its usual places, by its `readings` r.

    A small variance does not count where the scores are cut, at `WATCHED_UP_TO`: they lose it there.
    """
    mean, variance = r[SCORE_MEAN, j], r[SCORE_VARIANCE, j]
    apart = mean > r[HIGHEST_MEAN, j] + SUSPECT_MEAN or mean < r[LOWEST_MEAN, j] - SUSPECT_MEAN
    wider = variance > SUSPECT_RATIO * max(r[MOST_VARIANCE, j], LEAST_USUAL)
    narrower = variance < r[LEAST_VARIANCE, j] / SUSPECT_RATIO
    return bool(apart or wider or (abs(mean) < WATCHED_UP_TO - 1.0 and narrower))


@inner
def is_unsettled(j: int, phase: int, r: FloatArray) -> bool:
    """Return whether feature j, which is in this `phase`, is suspect or on trial, or may soon be, by its `readings` r.

    By chance, the mean of its recent scores is hardly ever so far from its usual places, nor their variance.
    """
    mean, variance = r[SCORE_MEAN, j], r[SCORE_VARIANCE, j]
    apart = mean > r[HIGHEST_MEAN, j] + CALM_UP_TO or mean < r[LOWEST_MEAN, j] - CALM_UP_TO
    wider = variance > UNSETTLED_RATIO * max(r[MOST_VARIANCE, j], LEAST_USUAL)
    tried = phase in (COLLECTING, ON_TRIAL)
    return bool(tried or apart or wider or variance < r[LEAST_VARIANCE, j] / UNSETTLED_RATIO)


@inner
def learn_calm_reading(j: int, x: float, r: FloatArray) -> None:
    """Update mean and variance of feature j in calm times, in its `readings` r, by the raw value x.

    A value further away than `WATCHED_UP_TO` deviations counts as one at that distance: the first readings of a sensor
    that has moved far would otherwise set the spread that it is moved back to.
    """
    e = x - r[READ_MEAN, j]
    if r[CALM_ROWS, j] >= COLLECTED_ROWS and r[READ_VARIANCE, j] > 0.0:
        furthest = WATCHED_UP_TO * np.sqrt(r[READ_VARIANCE, j])
        e = min(max(e, -furthest), furthest)
    r[CALM_ROWS, j] += 1.0
    step = max(1.0 / r[CALM_ROWS, j], 1.0 / READING_MEMORY)
    r[READ_MEAN, j] += step * e
    r[READ_VARIANCE, j] = (1.0 - step) * (r[READ_VARIANCE, j] + step * e * e)


@inner
def forget_new(j: int, r: FloatArray) -> None:
    """Forget the readings of feature j since it was suspect, in its `readings` r."""
    r[NEW_ROWS, j], r[NEW_MEAN, j], r[NEW_SCATTER, j] = 0.0, 0.0, 0.0


@inner
def move_back(j: int, sensors: SensorState) -> None:
    """Set the view on trial of feature j so that it has its calm mean and spread again."""
    r, views = sensors.arrays.readings, sensors.arrays.views
    spread = np.sqrt(r[NEW_SCATTER, j] / r[NEW_ROWS, j]) + _TINY
    factor = min(np.sqrt(r[READ_VARIANCE, j]) / spread, MAX_VALUE)
    if abs(np.log(factor + _TINY)) < PLAIN_SHIFT:
        factor = 1.0
    offset = r[READ_MEAN, j] - factor * r[NEW_MEAN, j]
    views[NEW_OFFSET, j] = views[OFFSET, j] + views[FACTOR, j] * offset
    views[NEW_FACTOR, j] = views[FACTOR, j] * factor


@inner
def collect(j: int, x: float, now: int, sensors: SensorState) -> None:
    """Learn the raw value x of the suspect feature j at the row `now`; start the trial when its new place is known.

    From then on a value further away than `WATCHED_UP_TO` deviations counts as one at that distance.
    """
    r, trial = sensors.arrays.readings, sensors.arrays.trial
    e = x - r[NEW_MEAN, j]
    if r[NEW_ROWS, j] >= COLLECTED_ROWS and r[NEW_SCATTER, j] > 0.0:
        furthest = WATCHED_UP_TO * np.sqrt(r[NEW_SCATTER, j] / r[NEW_ROWS, j])
        e = min(max(e, -furthest), furthest)
        x = r[NEW_MEAN, j] + e
    r[NEW_ROWS, j] += 1.0
    r[NEW_MEAN, j] += e / r[NEW_ROWS, j]
    r[NEW_SCATTER, j] += e * (x - r[NEW_MEAN, j])
    if r[NEW_ROWS, j] < COLLECTED_ROWS:
        return
    collecting = sensors.arrays.phase[j] == COLLECTING
    if collecting and r[NEW_SCATTER, j] <= STUCK * r[NEW_ROWS, j] * r[READ_VARIANCE, j]:
        forget_new(j, r)
        if not is_suspect(j, r):
            sensors.arrays.phase[j] = WATCHED
        return
    if collecting and not takes_suspects(now, trial):
        return
    move_back(j, sensors)
    if collecting:
        end_review(sensors)
        if trial[IS_ON] == 0.0:
            trial[IS_ON], trial[BEGUN] = 1.0, now
        sensors.arrays.phase[j] = ON_TRIAL
        trial[LOSS_AS_READ], trial[LOSS_MOVED] = FIRST_LOSS, FIRST_LOSS
        restart(now, trial)


@inner
def watch_feature(j: int, x: float, score: float, now: int, sensors: SensorState) -> None:
    """Watch the raw value x of feature j at the row `now`; `score` is that of its corrected value."""
    r, phase = sensors.arrays.readings, sensors.arrays.phase
    e = min(max(score, -WATCHED_UP_TO), WATCHED_UP_TO) - r[SCORE_MEAN, j]
    step = 1.0 / SCORE_WINDOW
    r[SCORE_MEAN, j] += step * e
    r[SCORE_VARIANCE, j] = (1.0 - step) * (r[SCORE_VARIANCE, j] + step * e * e)
    x = min(max(x, -MAX_VALUE), MAX_VALUE)
    if phase[j] == COLLECTING or phase[j] == ON_TRIAL:
        widen(j, SINCE_SUSPECT, r[SCORE_MEAN, j], r[SCORE_VARIANCE, j], r)
        collect(j, x, now, sensors)
    elif r[CALM_ROWS, j] >= COLLECTED_ROWS and is_suspect(j, r):
        use_one_view(j, COLLECTING, sensors)
        forget_new(j, r)
        r[SINCE_SUSPECT : SINCE_SUSPECT + 2, j] = r[SCORE_MEAN, j]
        r[SINCE_SUSPECT + 2 : SINCE_SUSPECT + 4, j] = r[SCORE_VARIANCE, j]
    elif r[CALM_ROWS, j] < COLLECTED_ROWS or abs(r[SCORE_MEAN, j] - r[USUAL_MEAN, j]) <= CALM_UP_TO:
        learn_calm_reading(j, x, r)

"""One row of all members: how it is read, their answers, what each learns from it, and whether the stream has shifted.

While a sensor is on trial, a row has two views, as it was read before and as it would be corrected; the errors of both
are compared. Alarms, odds and the comparison of slow and fast member count independent answers (`core.pace`). The
losses of the mixer, the steps of the linear member, the fading of the fast one, the bound on the counts of centres, and
what is counted from cuts and renewals on, take the pace of the answers. Shares of labels, sums of the slow member,
sensors, scores of the linear member, the longest and the shortest drift, and the rows of events count rows.
"""

import numpy as np

from evolabel.core.pace import LAST_ANSWER, N_ANSWERS, count_answer, independent, pace_of, spread_of
from evolabel.engine.compile import inner
from evolabel.engine.values import MAX_VALUE
from evolabel.stages.drift.arrays import (
    BORN,
    CALM,
    COMPARED_INDEPENDENT,
    CUT,
    CUT_DUE,
    DRIFT,
    FAST,
    FINAL,
    GAIN_VARIANCE,
    LAG,
    LINEAR,
    LOST,
    MEAN_GAIN,
    MOST_REVERSAL,
    N_REVERSED,
    NEVER,
    RECOVERED,
    RENEWAL_DUE,
    RENEWED,
    REVERSAL_DUE,
    ROW_INDEPENDENT,
    ROW_PACE,
    ROWS,
    ROWS_COMPARED,
    SETTLED,
    SHARE_MEMORY,
    SLOW,
    SLOW_START,
    Members,
)
from evolabel.stages.drift.loops.alarm import (
    AFTER_BATCH,
    CALM_MEAN,
    QUIET,
    RAISED,
    RECENT_LOSS,
    SHORT_MEAN,
    USUAL_LOSS,
    are_found,
    forget_usual,
    is_back,
    next_odds,
    recount,
    watch,
    watch_positives,
)
from evolabel.stages.drift.loops.members import (
    answer_linear,
    block_of,
    clipped,
    fade_active,
    fill_scores,
    learn_linear,
    learn_losses,
    learn_scores,
    mix,
    mixer_weights,
)
from evolabel.stages.rules.arrays import State
from evolabel.stages.rules.loops.antecedents import rule_memberships
from evolabel.stages.rules.loops.consequents import answer, fill_products, learn_consequents, project
from evolabel.stages.scaling.loops import clipped_score, score_of
from evolabel.stages.sensors.arrays import FACTOR, IS_ON, NEW_OFFSET, OFFSET, PERSISTS, UNSETTLED, UNWATCHED
from evolabel.stages.sensors.loops import (
    answering_view,
    compare_views,
    end_part,
    is_over,
    is_unsettled,
    learn_calm_reading,
    note_change,
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
    """Learn the raw row x with its labels y; return whether the sensors have verdicts.

    In the initial batch, not `in_stream`, only the calm readings are learned.
    """
    sensors, knots, now = members.sensors, members.knots, members.arrays.clock[ROWS]
    arrays, ended, unsettled = sensors.arrays, False, False
    if arrays.trial[IS_ON] > 0.0:
        compare_answers(y, confidence, members)
    arrays.trial[PERSISTS] = 1.0 if members.arrays.time[ROW_INDEPENDENT] < 1.0 else 0.0
    if arrays.trial[IS_ON] > 0.0 and is_over(now, sensors):
        ended = end_part(now, sensors)
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


SHORTEST_DRIFT = 50  # rows after which a label can have recovered
SENSOR_SHOWS = 50  # rows after a drift until a sensor that may be its cause leaves its usual places
LONGEST_HELD = 450  # rows for which a drift is no event while a sensor may be its cause
LONGEST_DRIFT = 2000  # rows after which the new error of a label counts as its usual one
REVERSAL_ODDS = 5e4  # odds beyond which a member is reversed
NEXT_REVERSAL_ODDS = 1e9  # the same if it was in this drift: wrong answers now and then do not turn it repeatedly
PAIRED_MEMORY = 250.0  # independent answers over which the losses of slow and fast member are compared
PAIRED_ROWS = 2.0 * PAIRED_MEMORY - 1.0  # of them that such a fading mean counts for
COMPARED_EVERY = 25  # rows between two looks at that comparison
RENEWAL_Z = 3.0  # standard errors by which the fast member must be better
RENEWAL_GAIN = 0.001  # and squared error per label


@inner
def answer_members(m: int, state: State, members: Members) -> None:
    """Fill F of `members` with the outputs of all members, and of their mixture, for the present row.

    `state` has the regressors of its m active rules, x of `members` the raw features, corrected.
    """
    F, fast = members.F, members.fast
    has_fast = members.arrays.clock[BORN] != NEVER
    answer(m, state.rules, state.settings.penalty[1], state.work, F[SLOW])
    F[FAST] = 0.0
    if has_fast:
        fill_products(m, fast.rules, fast.work)
        answer(m, fast.rules, fast.settings.penalty[1], fast.work, F[FAST])
    fill_scores(members.sensors.x, members.arrays.mean, members.arrays.variance, members.s)
    answer_linear(members.arrays.W, members.s, F[LINEAR])
    mixer_weights(members.arrays.losses, has_fast, members.one_weight, members.w)
    mix(members.w, F)


@inner
def reversal_limit(reversed_before: float) -> float:
    """Return the odds beyond which a member is reversed; `reversed_before` is 1 if it was in this drift, else 0."""
    return REVERSAL_ODDS + reversed_before * (NEXT_REVERSAL_ODDS - REVERSAL_ODDS)


@inner
def learn_reversal(b: int, y: float, g: float, usual: FloatArray, members: Members) -> None:
    """Update the odds that label b is the opposite of what the members answer by its answer y of weight g.

    `usual` is the alarm with the odds of calm times. A fast member that has not begun answers as the slow one.
    """
    fast = FAST if members.arrays.clock[BORN] != NEVER else SLOW
    for i, member in enumerate((fast, LINEAR)):
        odds = next_odds(members.arrays.reversal[i, b], (clipped(members.F[member, b]) - y) ** 2, usual, g, AFTER_BATCH)
        members.arrays.reversal[i, b] = min(odds, MOST_REVERSAL)
        if members.arrays.episode[b] != NEVER and odds > reversal_limit(members.arrays.reversal[N_REVERSED + i, b]):
            members.due[REVERSAL_DUE] = 1


@inner
def has_recovered(b: int, members: Members) -> bool:
    """Return whether label b, which is in a drift, is predicted as well as before."""
    arrays, share = members.arrays, members.arrays.share[0, b]
    back = is_back(arrays.alarms[1, b], share * (1.0 - share)) and are_found(arrays.positives[b])
    return bool(back and arrays.clock[ROWS] - arrays.episode[b] >= SHORTEST_DRIFT)


@inner
def watch_label(b: int, y: float, weight: float, n_eff: float, members: Members) -> bool:
    """Watch the errors of label b for its answer y of this weight; return whether the fast member should be cut.

    The answer counts for `n_eff` independent ones. `held` receives whether the label has drifted, `happened` whether it
    has recovered from a drift that was reported, or settled at its new error.
    """
    arrays, margin, g = members.arrays, members.margin, weight * n_eff
    now, since, share = arrays.clock[ROWS], arrays.episode[b], arrays.share[0, b]
    spread, depth = share * (1.0 - share), arrays.depth[:, b]
    of_slow, of_final, of_positives = arrays.alarms[0, b], arrays.alarms[1, b], arrays.positives[b]
    loss = (clipped(members.F[FINAL, b]) - y) ** 2
    lost = watch_positives(of_positives, loss, y, weight, n_eff, share, now, margin, since == NEVER)
    found = are_found(of_positives)
    slow = watch(of_slow, (clipped(members.F[SLOW, b]) - y) ** 2, spread, now, g, margin, AFTER_BATCH, True)
    final = watch(of_final, loss, spread, now, g, margin, AFTER_BATCH, found)
    if since == NEVER:
        if slow == RAISED or final == RAISED or lost:
            alarm = of_slow if slow == RAISED else of_final
            arrays.episode[b] = now
            depth[0], depth[1] = alarm[CALM_MEAN], alarm[SHORT_MEAN]
            arrays.held[b] = DRIFT
            if slow != RAISED and final != RAISED:
                depth[0], depth[1] = of_positives[USUAL_LOSS], of_positives[RECENT_LOSS]
                arrays.held[b] = LOST
            arrays.reversal[N_REVERSED:, b] = 0.0
    elif arrays.held[b] == CALM and now - since > LONGEST_DRIFT:
        members.happened[b], depth[1] = SETTLED, of_final[SHORT_MEAN]
        forget_usual(of_positives)
    elif arrays.held[b] == CALM and has_recovered(b, members):
        members.happened[b], depth[0], depth[1] = RECOVERED, of_final[CALM_MEAN], of_final[SHORT_MEAN]
    learn_reversal(b, y, g, of_final, members)
    return slow != QUIET or final == RAISED or lost


@inner
def release_held(members: Members) -> None:
    """Report drifts that are held once no sensor may be their cause, or after `LONGEST_HELD` rows.

    A label that has recovered by then is calm again, without an event.
    """
    arrays = members.arrays
    for b in range(arrays.held.shape[0]):
        if arrays.held[b] != CALM:
            too_long = arrays.clock[ROWS] - arrays.episode[b] > LONGEST_HELD
            if members.sensors.arrays.trial[UNSETTLED] == 0.0 or too_long:
                if too_long and has_recovered(b, members):
                    arrays.episode[b] = NEVER
                else:
                    members.happened[b] = arrays.held[b]
                arrays.held[b] = CALM


@inner
def learn_answers(y: FloatArray, weight: float, confidence: FloatArray, in_stream: bool, members: Members) -> bool:
    """Update persistence, losses, shares and alarms by the answers y of the present row.

    Return whether to cut the fast member. Alarms learn `in_stream` only: in the initial batch the rules have seen each
    row before. Alarms and odds weigh an answer by the independent answers that it counts for, losses by its pace, and
    shares count rows. Pace and independent answers of the row are means over its labels.
    """
    raised, spreads, n_row, pace_row = False, 0.0, 0.0, 0.0
    share, n_share = members.arrays.share[0], members.arrays.share[1]
    for b in range(y.shape[0]):
        g = weight * confidence[b]
        if g > 0.0:
            counts = members.arrays.persistence[b]
            if counts[LAST_ANSWER] != y[b]:
                note_change(members.sensors.arrays.trial)
            n_before = independent(counts)
            count_answer(counts, y[b])
            n_eff, spread = independent(counts), spread_of(counts)
            for alarm in members.arrays.alarms[:, b]:
                recount(alarm, n_before, n_eff, counts[N_ANSWERS])
            pace = pace_of(n_eff)
            spreads += spread
            n_row += spread * n_eff
            pace_row += spread * pace
            learn_losses(b, y[b], g * pace, members)
            g = min(g, 1.0)  # of alarms and shares: one row is one answer
            n_share[b] = min(n_share[b] + g, SHARE_MEMORY)
            share[b] += g / n_share[b] * (y[b] - share[b])
            if in_stream:
                raised = watch_label(b, y[b], g, n_eff, members) or raised
    if spreads > 0.0:
        members.arrays.time[ROW_PACE] = pace_row / spreads
        members.arrays.time[ROW_INDEPENDENT] = n_row / spreads
    return raised


@inner
def compare_losses(y: FloatArray, confidence: FloatArray, members: Members) -> None:
    """Update `paired` by the squared errors of slow and fast member, summed over the answers y of the present row.

    The row weighs as much as the independent answers that it counts for.
    """
    F, paired, n_eff = members.F, members.arrays.paired, members.arrays.time[ROW_INDEPENDENT]
    gain = 0.0
    for b in range(y.shape[0]):
        if confidence[b] > 0.0:
            gain += confidence[b] * ((clipped(F[SLOW, b]) - y[b]) ** 2 - (clipped(F[FAST, b]) - y[b]) ** 2)
    paired[ROWS_COMPARED] += 1.0
    paired[COMPARED_INDEPENDENT] += n_eff
    step = n_eff * max(1.0 / max(paired[COMPARED_INDEPENDENT], 1.0), 1.0 / PAIRED_MEMORY)
    e = gain - paired[MEAN_GAIN]
    paired[MEAN_GAIN] += step * e
    paired[GAIN_VARIANCE] = (1.0 - step) * (paired[GAIN_VARIANCE] + step * e * e)


@inner
def present_time(members: Members) -> int:
    """Return the time of the present row; it stands behind the rows of the stream where answers persist."""
    return int(members.arrays.clock[ROWS] - int(members.arrays.time[LAG]))


@inner
def count_present_row(members: Members) -> None:
    """Count the present row, answered or not; time passes with it as with the last answered row."""
    members.arrays.clock[ROWS] += 1
    members.arrays.time[LAG] += 1.0 - members.arrays.time[ROW_PACE]


@inner
def may_be_of_sensor(b: int, members: Members) -> bool:
    """Return whether a sensor may be the cause of the drift of label b, if there is one.

    The renewed member would have learned the sensor as it reads now, and could not show any more that it has moved.
    """
    since, unsettled = members.arrays.episode[b], members.sensors.arrays.trial[UNSETTLED] > 0.0
    waited = members.arrays.clock[ROWS] - since
    return bool(since != NEVER and (waited < SENSOR_SHOWS or (unsettled and waited <= LONGEST_HELD)))


@inner
def is_renewal_due(members: Members) -> bool:
    """Return whether the fast member is better beyond doubt than a slow one with a much longer memory."""
    clock, paired, memory = members.arrays.clock, members.arrays.paired, members.fast.settings.memory
    now = present_time(members)
    for b in range(members.arrays.held.shape[0]):
        if may_be_of_sensor(b, members):
            return False
    if paired[ROWS_COMPARED] % COMPARED_EVERY != 0.0 or now - clock[RENEWED] < memory // 2:
        return False
    error = np.sqrt(paired[GAIN_VARIANCE] / min(paired[COMPARED_INDEPENDENT], PAIRED_ROWS))
    sure = paired[MEAN_GAIN] > RENEWAL_Z * error + RENEWAL_GAIN * members.F.shape[1]
    return bool(sure and now - clock[SLOW_START] > 2 * memory)


@inner
def learn_members(
    m: int,
    z: FloatArray,
    y: FloatArray,
    share: float,
    weight: float,
    in_stream: bool,
    members: Members,
) -> bool:
    """Learn the present row with all members but the slow one; return whether to cut the fast one.

    z is the row, scaled, y its labels, `share` their mean confidence. The m active rules are those of the slow member,
    which has learned the row.
    """
    fast, confidence = members.fast, members.fast.work.confidence
    raised = learn_answers(y, weight, confidence, in_stream, members)
    if members.arrays.clock[BORN] != NEVER:
        compare_losses(y, confidence, members)
        if fade_active(m, block_of(present_time(members), fast.settings.memory), members):
            fill_products(m, fast.rules, fast.work)
        learn_consequents(m, z, y, share, weight, fast.rules, fast.settings, fast.work)
    pace = members.arrays.time[ROW_PACE]
    learn_linear(y, weight * pace, confidence, members.s, members.F[LINEAR], members.arrays.W)
    learn_scores(members.sensors.x, weight, members.arrays.mean, members.arrays.variance, members.arrays.n_read)
    return raised


@inner
def has_shifted(raised: bool, trial_ended: bool, members: Members) -> bool:
    """Return whether `happened` or `due` have entries after the present row, or the members have to change.

    `raised`: the fast member is to be cut. `trial_ended`: the sensors have verdicts.
    """
    clock, due, memory = members.arrays.clock, members.due, members.fast.settings.memory
    now, has_fast = present_time(members), clock[BORN] != NEVER
    if not trial_ended:
        release_held(members)
    if raised and (clock[CUT] == NEVER or now - clock[CUT] >= memory // 2):
        due[CUT_DUE] = 1  # until it is done: Ctrl-C may come first
    if has_fast and is_renewal_due(members):
        due[RENEWAL_DUE] = 1
    shifted = trial_ended or bool(due.any()) or (not has_fast and now >= memory)
    for b in range(members.happened.shape[0]):
        shifted = shifted or members.happened[b] != CALM
    return shifted

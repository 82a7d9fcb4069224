"""Rows in the order of the stages: few are answered by all that make outputs, or learned one by one by the first four.

`model.pipeline` has the order; this is where compiled code repeats it. A row that is learned is answered first.
`stages.rules.loops.consequents` has the outputs and statistics of the rules, `stages.drift.loops` those of the members
that follow drift beside them. Where drift is not followed, `stages.rules.loops.learn` has the loop.

| symbol | array  | meaning                                                                              |
|--------|--------|--------------------------------------------------------------------------------------|
| X      | (n, p) | raw rows                                                                             |
| read   | (n, p) | receives X with the readings of sensors that moved corrected; not without `members`  |
| f      | (n, K) | receives the outputs                                                                 |
| Z, fast, V |    | scratch: scaled rows, (n, p), outputs of the fast member, (n, K), and V of `answer_rows` |

The others are those of `stages.rules.loops.answer`.
"""

from evolabel.engine.compile import kernel
from evolabel.stages.drift.arrays import BORN, FINAL, NEVER, ROW_PACE, Members
from evolabel.stages.drift.loops.follow import answer_members, count_present_row, learn_members
from evolabel.stages.drift.loops.mixer import mix_rows
from evolabel.stages.drift.loops.views import read_and_scale
from evolabel.stages.rules.arrays import CHANGED, DONE, NOVEL, RULES, SEEN, State
from evolabel.stages.rules.loops.answer import answer_rows
from evolabel.stages.rules.loops.antecedents import is_novel, nearest, rule_memberships
from evolabel.stages.rules.loops.consequents import fill_products, learn_consequents, project
from evolabel.stages.rules.loops.learn import confidence_of_row, reason_after, update_winner
from evolabel.stages.scaling.loops.scale import Knots, scale_rows
from evolabel.stages.sensors.loops.watch import correct_rows
from evolabel.stages.threshold_rules.arrays import Thresholds
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.typing import FloatArray, IntArray


@kernel
def answer_few(
    state: State,
    members: Members | None,
    thresholds: Thresholds | None,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray],
    X: FloatArray,
    read: FloatArray,
    f: FloatArray,
    psi: FloatArray,
    D: FloatArray,
) -> None:
    """Fill f, psi and D for few raw rows X, scaled by `knots`, and the `terms` q, s and t unless they are empty.

    `moments` are M, pending_M and n_pending, `scratch` Z, fast and V.
    """
    M, pending_M, n_pending = moments
    q, s, t = terms
    Z, fast, V = scratch
    rows = X
    if members is not None:
        correct_rows(members.sensors, X, read)
        rows = read
    scale_rows(knots, rows, Z)
    formed = W.shape[0] > 0
    if members is not None and not formed and members.arrays.clock[BORN] != NEVER:
        answer_rows(members.fast, Z, W, (M, pending_M, n_pending), (fast, psi, D), (q[:0], s, t), V)
    answer_rows(state, Z, W, (M, pending_M, n_pending), (f, psi, D), (q, s, t), V)
    if members is not None:
        mix_rows(members, rows, fast, formed, f)
    if thresholds is not None:
        refine_rows(thresholds, rows, f)


@kernel
def learn_rows(
    state: State,
    members: Members,
    X: FloatArray,
    Z: FloatArray,
    read: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    antecedent_rate: float,
    structure: bool,
    consequents: bool,
    created_first: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """Learn the rows X by the rules and by the `members` beside them; return how many are done, and why it stopped.

    In a stream Z is filled from X, as sensors may be corrected; `read`, if it has rows, receives the rows with sensors
    corrected. Only a stream, where `structure` and `consequents` are learned, is watched for drift. CHANGED is returned
    after a row that has shown a drift, or after which the members have to change. All else is as in
    `stages.rules.loops.learn.learn_alone`.
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    p = Z.shape[1]
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        if consequents and not created:
            if structure:
                read_and_scale(X[i], state, members, Z[i])
                for j in range(read.shape[1]):
                    read[i, j] = members.sensors.x[j]
            else:
                for j in range(p):
                    members.sensors.x[j] = X[i, j]
        share = confidence_of_row(Y[i], given, work.confidence)
        m = rule_memberships(Z[i], rules, settings, work)
        if consequents or out.shape[0] > 0:
            project(Z[i], m, rules, work)
        if consequents and created:
            fill_products(m, members.fast.rules, members.fast.work)
        elif consequents:
            answer_members(m, state, members)
            if out.shape[0] > 0:
                for b in range(out.shape[1]):
                    out[i, b] = members.F[FINAL, b]
        labelled = weight > 0.0 and share > 0.0
        C = rules.counters[RULES]
        winner = nearest(work.D, C)
        if structure and not created:
            if labelled and (winner == 0 or is_novel(work.D[winner], rules.k[winner], C, rules.winner_stats, settings)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                pace = members.arrays.time[ROW_PACE]
                update_winner(winner, work.D[winner], Z[i], weight * share, antecedent_rate, rules, settings, pace)
        if consequents:
            count_present_row(members)
        if consequents and labelled:
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work)
            if learn_members(m, Z[i], X[i], Y[i], share, weight, structure, members):
                reason = CHANGED
            if reason != DONE:
                return i + 1, reason
        if structure:
            reason = reason_after(rules, settings)
            if reason != DONE:
                return i + 1, reason
    return Z.shape[0], DONE

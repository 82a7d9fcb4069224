"""The loop that learns one sample after the other; each is answered before it is learned.

`stages.rules.loops.consequents` has the outputs and statistics of the rules, `stages.drift.loops` those of the members
that follow drift beside them.
"""

import numpy as np

from evolabel.engine.compile import inlined, kernel
from evolabel.stages.drift.arrays import FINAL, ROWS, Members
from evolabel.stages.drift.loops.follow import answer_members, learn_members
from evolabel.stages.rules.arrays import (
    CHANGED,
    DONE,
    GROWN,
    INACTIVE,
    NOVEL,
    RULES,
    SEEN,
    PaperArrays,
    RuleArrays,
    Settings,
    State,
)
from evolabel.stages.rules.loops.consequents import answer, learn_consequents
from evolabel.stages.rules.loops.memberships import join, nearest, rule_memberships
from evolabel.stages.rules.loops.moments import update_moments
from evolabel.stages.rules.loops.regressors import fill_products, project
from evolabel.stages.rules.loops.structure import any_inactive, has_grown, is_novel, update_winner_stats
from evolabel.stages.sensors.loops.watch import read_row
from evolabel.typing import FloatArray


@inlined
def confidence_of_row(y: FloatArray, given: FloatArray, confidence: FloatArray) -> float:
    """Fill `confidence`: 0 where y is NaN, else `given`, 1 if that is empty. Return the mean over labels."""
    total = 0.0
    for b in range(y.shape[0]):
        confidence[b] = 0.0 if np.isnan(y[b]) else (given[b] if given.shape[0] > 0 else 1.0)
        total += confidence[b]
    return float(total / y.shape[0])


@inlined
def update_winner(
    w: int,
    d: float,
    s: FloatArray,
    weight: float,
    antecedent_rate: float,
    rules: RuleArrays,
    settings: Settings,
    paper: PaperArrays | None,
) -> None:
    """Update the moments of the winner w, at distance d from s, unless it is locked, and those of the whole stream."""
    update_winner_stats(d, rules.winner_stats)
    if not rules.locked[w]:
        rules.last_won[w] = rules.counters[SEEN]
        if antecedent_rate > 0.0:
            update_moments(w, s, weight * antecedent_rate, rules, settings, paper)
    update_moments(0, s, weight, rules, settings, paper)


@kernel
def learn_rows(
    state: State,
    paper: PaperArrays | None,
    members: Members | None,
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
    """Learn the scaled rows Z; return how many are done, and the reason to stop.

    `members`, if given, answer and learn beside the rules; X has the raw rows for them. In a stream Z is filled from X,
    as sensors may be corrected; `read`, if it has rows, receives the raw rows with sensors corrected. `out`, if it has
    rows, receives each row's output from before it is learned. `weights` and `confidences` may be empty.
    `antecedent_rate` multiplies the weight of a row in the moments of its winner. `structure` and `consequents` select
    what is learned; only a stream, where both are, is watched for drift. A row without answered labels, or of weight 0,
    only counts as seen (once: when the structure is learned).

    NOVEL is returned before the row has changed anything: the caller creates a rule and calls again from that row with
    `created_first`. INACTIVE, DUE, CHANGED and GROWN are returned after their row.
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    p = Z.shape[1]
    near = work.J if rules.c.shape[1] > p else work.D
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        if members is not None and consequents and not created:
            if structure:
                read_row(X[i], state, paper, members, Z[i])
                for j in range(read.shape[1]):
                    read[i, j] = members.x[j]
            else:
                for j in range(p):
                    members.x[j] = X[i, j]
        share = confidence_of_row(Y[i], given, work.confidence)
        join(Z[i], Y[i], settings.label_weight, work.s)
        m = rule_memberships(work.s, p, rules, settings, work, paper)
        if consequents or out.shape[0] > 0:
            project(Z[i], m, rules, settings, work, paper)
        if members is not None:
            if consequents and created:
                fill_products(m, members.fast.rules, members.fast.work)
            elif consequents:
                answer_members(m, state, paper, members)
                if out.shape[0] > 0:
                    for b in range(out.shape[1]):
                        out[i, b] = members.F[FINAL, b]
        elif out.shape[0] > 0 and not created:
            answer(m, rules, settings, work, paper, out[i])
        labelled = weight > 0.0 and share > 0.0
        C = rules.counters[RULES]
        winner = nearest(near, C)
        if structure and not created:
            if labelled and (winner == 0 or is_novel(near[winner], rules.k[winner], C, rules.winner_stats, settings)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                update_winner(winner, near[winner], work.s, weight * share, antecedent_rate, rules, settings, paper)
        if members is not None and consequents:
            members.arrays.clock[ROWS] += 1
        if consequents and labelled:
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work, paper)
            if members is not None and learn_members(m, Z[i], X[i], Y[i], share, weight, structure, paper, members):
                reason = CHANGED
            if reason != DONE:
                return i + 1, reason
        if structure and settings.prune_after > 0 and any_inactive(rules, settings):
            return i + 1, INACTIVE
        if structure and labelled and settings.merge_every > 0 and has_grown(winner, rules, settings):
            return i + 1, GROWN
    return Z.shape[0], DONE

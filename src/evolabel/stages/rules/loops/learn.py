"""The loop that learns one sample after the other by the rules alone; each is answered before it is learned.

`consequents` has the outputs and statistics of the rules. Where drift is followed, `stages.drift.loops.learn` is used.
"""

import numpy as np

from evolabel.engine.compile import inlined, kernel
from evolabel.stages.rules.arrays import DONE, INACTIVE, NOVEL, RULES, SEEN, RuleArrays, Settings, State
from evolabel.stages.rules.loops.antecedents import (
    any_inactive,
    is_novel,
    nearest,
    rule_memberships,
    update_moments,
    update_winner_stats,
)
from evolabel.stages.rules.loops.consequents import answer, learn_consequents, project
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
    z: FloatArray,
    weight: float,
    antecedent_rate: float,
    rules: RuleArrays,
    settings: Settings,
    pace: float,
) -> None:
    """Update the moments of the winner w, at distance d from z, unless it is locked, and those of the whole stream.

    `pace` is the time that passes with the row: where answers persist, centres remember more rows.
    """
    update_winner_stats(d, rules.winner_stats)
    if not rules.locked[w]:
        rules.last_won[w] = rules.counters[SEEN]
        if antecedent_rate > 0.0:
            update_moments(w, z, weight * antecedent_rate, rules, settings, pace)
    update_moments(0, z, weight, rules, settings)


@inlined
def reason_after(rules: RuleArrays, settings: Settings) -> int:
    """Return why the structure makes the loop stop after a row, or DONE."""
    return INACTIVE if settings.prune_after > 0 and any_inactive(rules, settings) else DONE


@kernel
def learn_alone(
    state: State,
    Z: FloatArray,
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

    `out`, if it has rows, receives each row's output from before it is learned. `weights` and `confidences` may be
    empty. `antecedent_rate` multiplies the weight of a row in the moments of its winner. `structure` and `consequents`
    select what is learned. A row without answered labels, or of weight 0, only counts as seen (once: when the structure
    is learned).

    NOVEL is returned before the row has changed anything: the caller creates a rule and calls again from that row with
    `created_first`. INACTIVE and DUE are returned after their row.
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, work.confidence)
        m = rule_memberships(Z[i], rules, settings, work)
        if consequents or out.shape[0] > 0:
            project(Z[i], m, rules, work)
        if out.shape[0] > 0 and not created:
            answer(m, rules, settings.penalty[1], work, out[i])
        labelled = weight > 0.0 and share > 0.0
        C = rules.counters[RULES]
        winner = nearest(work.D, C)
        if structure and not created:
            if labelled and (winner == 0 or is_novel(work.D[winner], rules.k[winner], C, rules.winner_stats, settings)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                update_winner(winner, work.D[winner], Z[i], weight * share, antecedent_rate, rules, settings, 1.0)
        if consequents and labelled:
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work)
            if reason != DONE:
                return i + 1, reason
        if structure:
            reason = reason_after(rules, settings)
            if reason != DONE:
                return i + 1, reason
    return Z.shape[0], DONE

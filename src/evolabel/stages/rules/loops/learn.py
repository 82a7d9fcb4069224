"""The loop that learns one sample after the other by the rules alone; each is answered before it is learned.

`consequents` has the outputs and statistics of the rules. Where drift is followed, `model.pipeline.learn_rows` is used.
"""

from evolabel.engine.compile import kernel
from evolabel.stages.rules.arrays import DONE, NOVEL, RULES, SEEN, State
from evolabel.stages.rules.loops.antecedents import is_novel, nearest, reason_after, rule_memberships, update_winner
from evolabel.stages.rules.loops.consequents import answer, confidence_of_row, learn_consequents, project
from evolabel.typing import FloatArray


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

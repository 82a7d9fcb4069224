"""The loop that learns one sample after the other by the paper's rules; each is answered before it is learned."""

from evolabel.engine.compile import inlined, inner, kernel
from evolabel.paper.rules.arrays import GROWN, PaperState
from evolabel.paper.rules.loops.consequents import answer_paper, learn_paper_consequents
from evolabel.paper.rules.loops.memberships import is_beyond, join, paper_memberships
from evolabel.paper.rules.loops.rotated import project_conditional, rotate
from evolabel.stages.rules.arrays import DONE, NOVEL, RULES, SEEN, RuleArrays, Settings, State
from evolabel.stages.rules.loops.antecedents import nearest, reason_after, update_moments, update_winner_stats
from evolabel.stages.rules.loops.consequents import confidence_of_row
from evolabel.typing import FloatArray


@inlined
def update_spread(
    slot: int, s: FloatArray, weight: float, rules: RuleArrays, settings: Settings, F: FloatArray
) -> None:
    """Update centre and spread of `slot` by the sample s; missing entries of s change nothing.

    F are the factors of all slots, without elements where rules are not rotated.
    """
    if F.shape[1] > 0 and slot > 0:
        rotate(s, weight, rules.k[slot], settings.prior_count, rules.c[slot], F[slot])
    update_moments(slot, s, weight, rules, settings)


@inlined
def update_paper_winner(
    w: int,
    d: float,
    weight: float,
    antecedent_rate: float,
    rules: RuleArrays,
    settings: Settings,
    paper: PaperState,
) -> None:
    """Update the moments of the winner w, at distance d, unless it is locked, and of the whole stream, by the row."""
    s, F = paper.work.s, paper.arrays.F
    update_winner_stats(d, rules.winner_stats)
    if not rules.locked[w]:
        rules.last_won[w] = rules.counters[SEEN]
        if antecedent_rate > 0.0:
            update_spread(w, s, weight * antecedent_rate, rules, settings, F)
    update_spread(0, s, weight, rules, settings, F)


@inner
def has_grown(slot: int, rules: RuleArrays, compared: FloatArray, merge_every: int) -> bool:
    """Return whether the support of `slot` has grown by `merge_every` since it was last compared with the others."""
    if merge_every == 0 or rules.counters[RULES] < 2:
        return False
    return bool(rules.k[slot] - compared[slot] >= merge_every)


@kernel
def learn_paper(
    state: State,
    paper: PaperState,
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

    Arguments are those of `stages.rules.loops.learn.learn_alone`. GROWN and DIVERGED are returned after their row.
    """
    rules, settings, work = state.rules, state.settings, state.work
    s, given = paper.work.s, work.confidence[:0]
    p = Z.shape[1]
    near = paper.work.J if s.shape[0] > p else work.D
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, work.confidence)
        join(Z[i], Y[i], paper.settings.label_weight, s)
        m = paper_memberships(s, p, rules, settings, work, paper)
        if consequents or out.shape[0] > 0:
            project_conditional(Z[i], m, rules, work, paper)
        if out.shape[0] > 0 and not created:
            answer_paper(m, rules, work, paper, out[i])
        labelled = weight > 0.0 and share > 0.0
        winner = nearest(near, rules.counters[RULES])
        if structure and not created:
            if labelled and (winner == 0 or is_beyond(near[winner], winner, rules, settings, paper)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                update_paper_winner(winner, near[winner], weight * share, antecedent_rate, rules, settings, paper)
        if consequents and labelled:
            reason = learn_paper_consequents(m, Z[i], Y[i], share, weight, rules, settings, work, paper)
            if reason != DONE:
                return i + 1, reason
        if structure:
            reason = reason_after(rules, settings)
            grown = labelled and has_grown(winner, rules, paper.arrays.compared, paper.settings.merge_every)
            if reason == DONE and grown:
                reason = GROWN
            if reason != DONE:
                return i + 1, reason
    return Z.shape[0], DONE

"""Consequents of one row: outputs by iterated weights or in closed form, and what the row changes.

Symbols are those of `stages.rules.loops.consequents`.
"""

from evolabel.engine.compile import inlined, inner
from evolabel.engine.symmetric import add_product, dot, mirror
from evolabel.paper.rules.arrays import DIVERGED, PaperState
from evolabel.paper.rules.loops.iteration import iterate, rls_step
from evolabel.stages.rules.arrays import DONE, DUE, RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.consequents import (
    add_global_model,
    add_labels,
    add_partial_labels,
    answer,
    any_due,
    learn_sums,
    update_inverse,
)
from evolabel.stages.rules.loops.label_moments import add_label_moments
from evolabel.typing import FloatArray, IntArray

LOOSE = 1.5  # factor by which a step bound may exceed the last exact largest eigenvalue


@inner
def answer_paper(m: int, rules: RuleArrays, work: Workspace, paper: PaperState, f: FloatArray) -> None:
    """Fill f with the output, eq. (2), from r and u of the m active rules."""
    if not paper.settings.iterated:
        answer(m, rules, paper.anchor, work, f)
        return
    f[:] = 0.0
    for b in range(m):
        add_product(rules.W[work.active[b]], work.r[b], work.psi[b], f)


@inner
def learn_iterated(
    m: int,
    y: FloatArray,
    share: float,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperState,
) -> bool:
    """Run Algorithm 2 for the m active rules, and least squares for the global model; False if weights diverge."""
    sound, f = True, paper.work.f
    for c in range(m, -1, -1):  # the global model first: the rules' ridge may pull towards it
        slot, w = work.active[c], weight * work.psi[c]
        if rules.locked[slot]:
            continue
        q = dot(work.r[c], work.u[c])
        if paper.settings.rls or slot == 0:
            rls_step(rules.W[slot], work.r[c], work.u[c], y, work.confidence, w, f)
        else:
            f[:] = 0.0
            add_product(rules.W[slot], work.r[c], 1.0, f)
        if share == 1.0:
            add_labels(rules.G[slot], work.r[c], y, w)
        else:
            add_partial_labels(rules.G[slot], work.r[c], f, y, work.confidence, work.expected, q, w, w * share)
        update_inverse(slot, c, w * share, rules, work)
        mirror(rules.H[slot])  # a block of one row: H is up to date, and iterations need the whole matrix
        if slot > 0:
            sound = iterate(slot, c, y, w * share, rules, settings, work, paper) and sound
    return sound


@inner
def learn_label_moments(
    m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace, paper: PaperState
) -> None:
    """Update the label moments of the m active rules by y."""
    arrays = paper.arrays
    for b in range(m):
        slot = work.active[b]
        if not rules.locked[slot]:
            add_label_moments(y, weight * work.psi[b], arrays.mass[slot], arrays.ybar[slot], arrays.Q[slot])


@inner
def any_loose(m: int, active: IntArray, top: FloatArray) -> bool:
    """Return whether the step bound of one of the m + 1 slots in `active` exceeds `LOOSE` times its exact value."""
    loose = False
    for b in range(m + 1):
        slot = active[b]
        loose = loose or (top.shape[1] > 0 and top[slot, 0] > LOOSE * top[slot, 1])
    return loose


@inlined
def learn_paper_consequents(
    m: int,
    z: FloatArray,
    y: FloatArray,
    share: float,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperState,
) -> int:
    """Update statistics and weights of the m active rules and of the global model; return DONE, DUE or DIVERGED.

    `share` is the mean confidence over the labels y of the row z, 1 if all are known.
    """
    add_global_model(m, z, rules, work)
    if paper.settings.iterated:
        if not learn_iterated(m, y, share, weight, rules, settings, work, paper):
            return DIVERGED
    else:
        if paper.arrays.Q.shape[1] > 0:
            learn_label_moments(m, y, weight * share, rules, work, paper)
        learn_sums(m, y, share, weight, rules, paper.anchor, work)
    if any_due(m, work.active, rules.age, settings.upkeep_every) or any_loose(m, work.active, paper.arrays.top):
        return DUE
    return DONE

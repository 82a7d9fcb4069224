"""Iterated consequents (the paper's): statistics of the batch phase, and the minimum of every rule's objective."""

import numpy as np

from evolabel.core.rows import Batch
from evolabel.engine.one_thread import one_blas_thread
from evolabel.errors import DivergenceError
from evolabel.stages.rules import inverses
from evolabel.stages.rules.loops.paper.coupling import NONE, coupling
from evolabel.stages.rules.proximal import DIVERGED_TEXT, Problem, minimise
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray


def objective(rules: RuleState, slot: int) -> Problem:
    """Return the objective of the rule in `slot`, from its statistics."""
    a, s = rules.arrays, rules.settings
    B = np.zeros((rules.n_labels, rules.n_labels))
    if s.coupling > NONE:
        coupling(a.Q[slot], a.mass[slot], s.coupling, B)
    anchor = a.W[0] * (s.anchor > 0.0)  # `s.anchor` is the penalty of the rules, or 0
    return Problem(rules.hessian(slot), a.G[slot], s.penalty[1], anchor, B, s.alpha, s.beta, s.literal_step)


@one_blas_thread()
def accumulate(rules: RuleBase, batch: Batch) -> None:
    """Learn H, G, P and label moments of the scaled rows of `batch`, and set weights to least squares, eq. (18).

    The outputs of `batch` receive the answers of least squares, each from before its row was learned.
    """
    settings = rules.settings
    rules.settings = settings._replace(iterated=False)
    try:
        rules.learn(batch, structure=False)
    finally:
        rules.settings = settings
    a = rules.arrays
    for slot in range(rules.n_rules + 1):
        inverses.upkeep(slot, a, settings)
        if slot > 0:
            a.W[slot] = (a.G[slot] + settings.anchor * a.W[0]) @ rules.inverse(slot)


def minimise_all_rules(rules: RuleBase) -> None:
    """Run Algorithm 1 for every rule: from least squares, eq. (18), to the minimum of its objective."""
    if rules.settings.prox_steps:
        for slot in range(1, rules.n_rules + 1):
            rules.arrays.W[slot] = _minimum(rules, slot)


def _minimum(rules: RuleBase, slot: int) -> FloatArray:
    """Return the weights that minimise the objective of the rule in `slot`; DivergenceError names the sample."""
    try:
        return minimise(objective(rules, slot), rules.arrays.W[slot])
    except DivergenceError:
        when = f"in the batch phase, at sample {rules.n_seen}"
        raise DivergenceError(DIVERGED_TEXT.format(when=when)) from None

"""Iterated consequents: the objective of every rule, and its minimum in the batch phase."""

import numpy as np

from evolabel.errors import DivergenceError
from evolabel.paper.rules.loops.coupling import NONE, coupling
from evolabel.paper.rules.proximal import DIVERGED_TEXT, Problem, minimise
from evolabel.paper.rules.rule_state import PaperRuleState


def objective(rules: PaperRuleState, slot: int) -> Problem:
    """Return the objective of the rule in `slot`, from its statistics."""
    a, own, s = rules.arrays, rules.own, rules.paper
    B = np.zeros((rules.n_labels, rules.n_labels))
    if s.coupling > NONE:
        coupling(own.Q[slot], own.mass[slot], s.coupling, B)
    anchor = a.W[0] * (rules.anchor > 0.0)  # `rules.anchor` is the penalty of the rules, or 0
    return Problem(
        rules.hessian(slot), a.G[slot], rules.settings.penalty[1], anchor, B, s.alpha, s.beta, s.literal_step
    )


def minimise_all_rules(rules: PaperRuleState) -> None:
    """Run Algorithm 1 for every rule: from least squares, eq. (18), to the minimum of its objective.

    DivergenceError names the sample.
    """
    for slot in range(1, rules.n_rules + 1):
        try:
            rules.arrays.W[slot] = minimise(objective(rules, slot), rules.arrays.W[slot])
        except DivergenceError:
            when = f"in the batch phase, at sample {rules.n_seen}"
            raise DivergenceError(DIVERGED_TEXT.format(when=when)) from None

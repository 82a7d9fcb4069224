"""Centre and spread of a rule, rotated or not."""

from evolabel.engine.compile import inlined
from evolabel.paper.rules.loops.rotated import rotate
from evolabel.stages.rules.arrays import RuleArrays, Settings
from evolabel.stages.rules.loops.antecedents import update_moments
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

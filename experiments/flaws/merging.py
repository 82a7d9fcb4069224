"""Flaws in what becomes of two rules that are merged, eq. (29)."""

import numpy as np

from evolabel.core.options import Options
from evolabel.engine.compile import interpreted
from evolabel.stages.rules import merging, slots
from evolabel.stages.rules.arrays import paper_arrays
from evolabel.stages.rules.loops.moments import update_moments
from evolabel.stages.rules.settings import kernel_settings
from evolabel.stages.rules.stage import RuleBase
from flaws.finding import Finding


def _pair(consistency: str = "output") -> RuleBase:
    """Two rules of 100 samples each, around -1 and 1, with variance 1 and outputs 0 and 1 everywhere."""
    options = Options(
        alpha=0.1,
        parent="nearest",
        consistency=consistency,
        prior_count=1e-9,
        covariance="full",
        follow_drift=False,
    )
    base = RuleBase(1, 1, kernel_settings(options, 1, 1, np.ones(1), 1.0))
    spread = np.repeat([-1.0, 1.0], 50)
    for centre in (-1.0, 1.0):
        slot = slots.create_rule(spread[:1] + centre, 0, 1.0, base.arrays, base.settings)
        for value in spread[1:]:
            sample = np.array([value + centre])
            interpreted(update_moments)(slot, sample, 1.0, base.arrays, base.settings, paper_arrays(base.arrays))
    base.arrays.W[2, 0, -1] = 1.0
    return base


def merged_spread() -> Finding:
    """Variance of the union: pooled moments against the mean of precisions."""
    base = _pair()
    first, second = (base.arrays.M[slot, 0] / base.arrays.n[slot, 0] for slot in (1, 2))
    printed = float(1.0 / (0.5 / first + 0.5 / second))
    slots.merge_pair(1, 2, base.arrays, base.settings)
    pooled = float(base.arrays.M[1, 0] / base.arrays.n[1, 0])
    return Finding(
        {"precisions": printed, "pooled": pooled},
        f"100 samples around -1 and 100 around 1, variance 1 each: the union has variance {pooled:.2f}; the mean of "
        f"the precisions says {printed:.2f}.",
    )


def blind_angle() -> Finding:
    """Two rules whose outputs are 0 and 1 everywhere: likeness by angle and by output, and the merged output."""
    results = {}
    for kind in ("angle", "output"):
        base = _pair(kind)
        results[kind] = float(merging.consistency(1, 2, base)[0]), float(merging.merged_weights(1, 2, base)[0, -1])
    allowed = merging.agrees(1, 2, _pair("angle"))
    likeness = float(merging.angle_similarity(1, 2, _pair("angle"))[0])
    return Finding(
        {
            "likeness": likeness, "angle_rho": results["angle"][0], "angle_merged": results["angle"][1],
            "output_rho": results["output"][0], "output_merged": results["output"][1], "allowed": float(allowed),
        },
        f"One rule always answers 0, the other always 1: their likeness by angle is {likeness:.2f}, rho = "
        f"{results['angle'][0]:.2f}, and the merged rule answers {results['angle'][1]:.2f} everywhere. By output rho = "
        f"{results['output'][0]:.2f}, and the veto forbids the merge.",
    )  # fmt: skip

"""From options, as a user gives them, to settings, as the kernels read them."""

import numpy as np

from evolabel.core.options import Options
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.loops.paper.coupling import NONE, PAPER, RIDGE, SHIFTED, SIGNED_LAPLACIAN
from evolabel.typing import FloatArray

# Samples a slot learns between two derivations of its P from H: rounding never shows, and the price is small.
UPKEEP_EVERY = 2048

# A rule is compared with the others each time it has won this many samples more.
MERGE_EVERY = 32

# Variance a label, times its weight, is expected to have inside a rule: without it, any new label combination would be
# infinitely far.
LABEL_VARIANCE = 0.1

# Rows of the stream that the fast member remembers: at least so many, and so many per weight of a rule and label, so
# that inverting H once in a quarter of them costs no more than learning.
LEAST_MEMORY = 500
MEMORY_PER_WEIGHT = 8

# Samples by which the centre of a rule is held in its place, at most: centres follow inputs that move.
MOST_COUNT = 300.0

COUPLINGS = {"none": NONE, "ridge": RIDGE, "shifted": SHIFTED, "signed_laplacian": SIGNED_LAPLACIAN, "paper": PAPER}


def kernel_settings(
    options: Options,
    p: int,
    K: int,
    prior: FloatArray,
    ridge: float,
    *,
    local_ridge: float | None = None,
) -> Settings:
    """Return the settings of the kernels for `options`, `p` features and `K` labels.

    `prior` is the expected variance of scaled features, `ridge` the unit of the ridges, `local_ridge` the factor
    chosen, if any.
    """
    o = options
    local = o.first_local_ridge if local_ridge is None else local_ridge
    shape = np.append(np.ones(p), o.intercept_ridge)  # D: the intercept is hardly penalised
    gamma = local * ridge * shape
    product = o.space == "product"
    d = p + K if product else p
    radius, young_power = novelty_radius(o, d)
    variances = np.append(prior, np.full(d - p, LABEL_VARIANCE))  # the label weight would cancel
    return Settings(
        penalty=np.stack([o.global_ridge * ridge * shape, gamma]),
        anchor=gamma if o.parent == "global" else np.zeros(p + 1),
        metric=np.stack([variances, np.ones(d)]),
        prior_count=o.prior_count_for(p),
        rotated=o.covariance == "full",
        product=product,
        label_weight=float(o.label_weight),
        tau=o.temperature_for(p) / p,
        min_activation=float(o.min_activation),
        max_rules=int(o.max_rules),
        radius=radius,
        young_power=young_power,
        novel_z=float(o.novel_z) if o.novelty == "deviation" else np.nan,
        upkeep_every=UPKEEP_EVERY,
        prune_after=int(o.prune_after or 0),
        min_support=float(o.min_support),
        merge_every=MERGE_EVERY if o.merging == "touching" else 0,
        memory=max(LEAST_MEMORY, MEMORY_PER_WEIGHT * (p + 1)) if o.follow_drift else 0,
        most_count=MOST_COUNT if o.follow_drift else np.inf,
        by_angle=o.consistency == "angle",
        iterated=o.iterated,
        rls=bool(o.rls),
        prox_steps=int(o.prox_steps) if o.alpha > 0.0 or o.beta > 0.0 else 0,
        alpha=float(o.alpha),
        beta=float(o.beta),
        coupling=COUPLINGS[o.coupling] if o.beta > 0.0 else NONE,
        literal_step=o.lipschitz == "paper",
        inherit=o.parent == "nearest",
    )


def novelty_radius(options: Options, d: int) -> tuple[float, float]:
    """Return the bound of the mean squared distance in `d` dimensions by `options`, and the exponent of (1 + 1/k).

    The exponent is for young rules. The paper's radius, eq. (5), is fac d^(1/sqrt 2) (1 + 1/k)^m with m = 4 on the
    distance itself.
    """
    if options.novelty == "paper":
        return float(options.vigilance) ** 2 * d ** (2.0**0.5) / d, 8.0
    return float(options.vigilance), 4.0

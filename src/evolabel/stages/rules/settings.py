"""From options, as a user gives them, to settings, as the kernels read them."""

import numpy as np

from evolabel.core.options import Options
from evolabel.stages.rules.arrays import Settings
from evolabel.typing import FloatArray

# Samples a slot learns between two derivations of its P from H: rounding never shows, and the price is small.
UPKEEP_EVERY = 2048

# Rows of the stream that the fast member remembers: at least so many, and so many per weight of a rule and label, so
# that inverting H once in a quarter of them costs no more than learning.
LEAST_MEMORY = 500
MEMORY_PER_WEIGHT = 8

# Samples by which the centre of a rule is held in its place, at most: centres follow inputs that move.
MOST_COUNT = 300.0


def kernel_settings(
    options: Options, p: int, prior: FloatArray, ridge: float, *, local_ridge: float | None = None
) -> Settings:
    """Return the settings of the kernels for `options` and `p` features.

    `prior` is the expected variance of scaled features, `ridge` the unit of the ridges, `local_ridge` the factor
    chosen, if any.
    """
    o = options
    local = o.first_local_ridge if local_ridge is None else local_ridge
    shape = np.append(np.ones(p), o.intercept_ridge)  # D: the intercept is hardly penalised
    return Settings(
        penalty=np.stack([o.global_ridge * ridge * shape, local * ridge * shape]),
        metric=np.stack([prior, np.ones(p)]),
        prior_count=o.prior_count_for(p),
        tau=o.temperature_for(p) / p,
        min_activation=float(o.min_activation),
        max_rules=int(o.max_rules),
        radius=float(o.vigilance),
        novel_z=float(o.novel_z),
        upkeep_every=UPKEEP_EVERY,
        prune_after=int(o.prune_after or 0),
        min_support=float(o.min_support),
        memory=max(LEAST_MEMORY, MEMORY_PER_WEIGHT * (p + 1)) if o.follow_drift else 0,
        most_count=MOST_COUNT if o.follow_drift else np.inf,
    )

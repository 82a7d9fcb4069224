"""From options, as a user gives them, to settings, as the paper's loops read them."""

import numpy as np

from evolabel.paper.options import PaperOptions
from evolabel.paper.rules.arrays import PaperSettings, dimensions, paper_bytes
from evolabel.paper.rules.loops.coupling import NONE, PAPER, RIDGE, SHIFTED, SIGNED_LAPLACIAN
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.kind import rule_settings
from evolabel.typing import FloatArray

# A rule is compared with the others each time it has won this many samples more.
MERGE_EVERY = 32

# Variance a label, times its weight, is expected to have inside a rule: without it, any new label combination would be
# infinitely far.
LABEL_VARIANCE = 0.1

COUPLINGS = {"none": NONE, "ridge": RIDGE, "shifted": SHIFTED, "signed_laplacian": SIGNED_LAPLACIAN, "paper": PAPER}


def literal_settings(options: PaperOptions) -> PaperSettings:
    """Return the settings that only the paper's loops read, for `options`."""
    o = options
    return PaperSettings(
        rotated=o.covariance == "full",
        product=o.space == "product",
        label_weight=float(o.label_weight),
        by_radius=o.novelty == "paper",
        merge_every=MERGE_EVERY if o.merging == "touching" else 0,
        by_angle=o.consistency == "angle",
        iterated=o.iterated,
        rls=bool(o.rls),
        prox_steps=int(o.prox_steps) if o.alpha > 0.0 or o.beta > 0.0 else 0,
        alpha=float(o.alpha),
        beta=float(o.beta),
        coupling=COUPLINGS[o.coupling] if o.beta > 0.0 else NONE,
        literal_step=o.lipschitz == "paper",
        anchored=o.parent == "global",
        inherit=o.parent == "nearest",
    )


def shared_settings(
    options: PaperOptions, p: int, K: int, prior: FloatArray, ridge: float, *, local_ridge: float | None = None
) -> Settings:
    """Return the settings that all loops read, for `options`, `p` features and `K` labels; drift is not followed.

    The other arguments are those of `rule_settings`.
    """
    d = dimensions(p, K, literal_settings(options))
    settings = rule_settings(options, p, prior, ridge, local_ridge=local_ridge)
    variances = np.append(settings.prior, np.full(d - p, LABEL_VARIANCE))  # the label weight would cancel
    metric = np.stack([variances, np.ones(d)])
    return settings._replace(metric=metric, radius=novelty_radius(options, d), memory=0, most_count=np.inf)


def novelty_radius(options: PaperOptions, d: int) -> float:
    """Return the bound of the mean squared distance in `d` dimensions by `options`, for a winner of large support.

    The paper's radius, eq. (5), is fac d^(1/sqrt 2) (1 + 1/k)^m with m = 4 on the distance itself.
    """
    if options.novelty == "paper":
        return float(float(options.vigilance) ** 2 * d ** (2.0**0.5) / d)
    return float(options.vigilance)


def paper_memory_need(n_features: int, n_labels: int, options: PaperOptions, rules: int) -> int:
    """Return the bytes that a rule base with slots for `rules` rules takes, by the sizes and the `options`."""
    return paper_bytes(rules, n_features, n_labels, literal_settings(options))

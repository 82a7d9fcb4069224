"""`PaperRuleKind`: what a model of the paper's formulas makes its rules stage of, and how it minimises consequents.

Options, as a user gives them, become the settings that loops read.
"""

from typing import Any

import numpy as np

from evolabel.core.rows import Batch
from evolabel.engine.symmetric import one_blas_thread
from evolabel.errors import DivergenceError
from evolabel.paper.options import PaperOptions
from evolabel.paper.rules.arrays import PAPER_ARRAYS, PaperSettings, dimensions, paper_sizes, paper_switches
from evolabel.paper.rules.file_checks import PaperRuleChecks
from evolabel.paper.rules.loops.coupling import NONE, PAPER, RIDGE, SHIFTED, SIGNED_LAPLACIAN, coupling
from evolabel.paper.rules.proximal import DIVERGED_TEXT, Problem, minimise
from evolabel.paper.rules.rule_state import PaperRuleState, weights_by_least_squares
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.arrays import RULE_ARRAYS, Settings
from evolabel.stages.rules.kind import RuleKind
from evolabel.typing import Arrays, FloatArray

# A rule is compared with the nearest one each time it has won this many samples more: at every update.
MERGE_EVERY = 1

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


def novelty_radius(options: PaperOptions, d: int) -> float:
    """Return the bound of the mean squared distance in `d` dimensions by `options`, for a winner of large support.

    The paper's radius, eq. (5), is fac d^(1/sqrt 2) (1 + 1/k)^m with m = 4 on the distance itself.
    """
    if options.novelty == "paper":
        return float(float(options.vigilance) ** 2 * d ** (2.0**0.5) / d)
    return float(options.vigilance)


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


class PaperRuleKind(RuleKind):
    """Makes `PaperRules`, from `PaperOptions`."""

    def settings(
        self, options: Any, n_features: int, n_labels: int, prior: FloatArray, ridges: tuple[float, float]
    ) -> Settings:
        """Return the settings that all loops read; arguments as of `RuleKind`. Drift is not followed."""
        d = dimensions(n_features, n_labels, literal_settings(options))
        settings = super().settings(options, n_features, n_labels, prior, ridges)
        variances = np.append(settings.prior, np.full(d - n_features, LABEL_VARIANCE))  # the label weight would cancel
        metric = np.stack([variances, np.ones(d)])
        return settings._replace(metric=metric, radius=novelty_radius(options, d), memory=0, most_count=np.inf)

    def rules(
        self, options: Any, n_features: int, n_labels: int, settings: Settings, stored: Arrays | None
    ) -> PaperRules:
        """Return the rules of `stored` arrays (None: no rules) with `settings`."""
        own, radius = literal_settings(options), novelty_radius(options, n_features)
        return PaperRules(n_features, n_labels, settings, own, input_radius=radius, stored=stored)

    def checks(self, options: Any, n_features: int, n_labels: int, settings: Settings) -> PaperRuleChecks:
        """Return the checks of stored rules with `settings`."""
        return PaperRuleChecks(n_features, n_labels, settings, literal_settings(options))

    def memory_need(self, n_features: int, n_labels: int, options: Any, rules: int) -> int:
        """Return the bytes that a rule base with slots for `rules` rules takes."""
        settings = literal_settings(options)
        sizes, switches = paper_sizes(rules, n_features, n_labels, settings), paper_switches(settings)
        return RULE_ARRAYS.n_bytes(sizes, switches) + PAPER_ARRAYS.n_bytes(sizes, switches)

    @one_blas_thread()
    def fit_consequents(self, rules: PaperRules, batch: Batch) -> None:
        """Learn H, G, P and label moments of the scaled rows of `batch`; iterated weights start at least squares.

        The outputs of `batch` receive the answers of least squares, eq. (18), each from before its row was learned.
        """
        if not rules.paper.iterated:
            super().fit_consequents(rules, batch)
            return
        settings = rules.paper
        rules.paper = settings._replace(iterated=False)
        try:
            super().fit_consequents(rules, batch)
        finally:
            rules.paper = settings
        a = rules.arrays
        for slot in range(rules.n_rules + 1):
            rules.contents.upkeep(slot)
            if slot > 0:
                a.W[slot] = weights_by_least_squares(rules, slot)

    def finish(self, rules: PaperRules) -> None:
        """Minimise the objective of every rule (Algorithm 1), where weights are iterated."""
        if rules.paper.iterated and rules.paper.prox_steps:
            minimise_all_rules(rules)

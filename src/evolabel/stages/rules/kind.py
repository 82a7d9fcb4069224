"""`RuleKind`: what a model makes its rules stage of."""

from typing import Any

import numpy as np

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.stages.rules.arrays import RULE_ARRAYS, Settings, rule_sizes, rule_switches
from evolabel.stages.rules.file_checks import RuleChecks
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import Arrays, FloatArray

# Samples a slot learns between two derivations of its P from H: rounding never shows, and the price is small.
UPKEEP_EVERY = 2048

# Rows of the stream that the fast member remembers: at least so many, and so many per weight of a rule and label, so
# that inverting H once in a quarter of them costs no more than learning.
LEAST_MEMORY = 500
MEMORY_PER_WEIGHT = 8

# Samples by which the centre of a rule is held in its place, at most: centres follow inputs that move.
MOST_COUNT = 300.0


class RuleKind:
    """Makes settings, rules and the checks of stored rules, from options of a model and its numbers of columns."""

    def settings(
        self, options: Any, n_features: int, n_labels: int, prior: FloatArray, ridges: tuple[float, float]
    ) -> Settings:
        """Return the settings that loops read.

        `prior` is the expected variance of scaled features, `ridges` their unit and the factor of that of the rules.
        """
        return rule_settings(options, n_features, prior, ridges[0], local_ridge=ridges[1])

    def rules(
        self, options: Any, n_features: int, n_labels: int, settings: Settings, stored: Arrays | None
    ) -> RuleBase:
        """Return the rules of `stored` arrays (None: no rules) with `settings`."""
        return RuleBase(n_features, n_labels, settings, stored)

    def checks(self, options: Any, n_features: int, n_labels: int, settings: Settings) -> RuleChecks:
        """Return the checks of stored rules with `settings`."""
        return RuleChecks(n_features, n_labels, settings)

    def memory_need(self, n_features: int, n_labels: int, options: Any, rules: int) -> int:
        """Return the bytes that a rule base with slots for `rules` rules takes."""
        settings = rule_settings(options, n_features, np.ones(n_features), 1.0)
        return RULE_ARRAYS.n_bytes(rule_sizes(rules, n_features, n_labels), rule_switches(settings))

    def fit_consequents(self, rules: Any, batch: Batch) -> None:
        """Learn the consequents of `rules` that have their places from the scaled initial `batch`."""
        rules.learn(batch, structure=False)

    def finish(self, rules: Any) -> None:
        """Do what is left to be done with `rules` once the initial batch was learned: nothing."""


def rule_settings(
    options: Options, p: int, prior: FloatArray, ridge: float, *, local_ridge: float | None = None
) -> Settings:
    """Return the settings of the rules for `options` and `p` features.

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

"""`RuleKind`: what a model makes its rules stage of."""

from typing import Any

from evolabel.core.rows import Batch
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.file_checks import RuleChecks
from evolabel.stages.rules.memory_need import memory_need
from evolabel.stages.rules.settings import kernel_settings
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import Arrays, FloatArray


class RuleKind:
    """Makes settings, rules and the checks of stored rules, from options of a model and its numbers of columns."""

    def settings(
        self, options: Any, n_features: int, n_labels: int, prior: FloatArray, ridges: tuple[float, float]
    ) -> Settings:
        """Return the settings of the kernels.

        `prior` is the expected variance of scaled features, `ridges` their unit and the factor of that of the rules.
        """
        return kernel_settings(options, n_features, prior, ridges[0], local_ridge=ridges[1])

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
        return memory_need(n_features, n_labels, options, rules)

    def fit_consequents(self, rules: Any, batch: Batch) -> None:
        """Learn the consequents of `rules` that have their places from the scaled initial `batch`."""
        rules.learn(batch, structure=False)

    def finish(self, rules: Any) -> None:
        """Do what is left to be done with `rules` once the initial batch was learned: nothing."""

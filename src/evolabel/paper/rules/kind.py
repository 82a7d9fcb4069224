"""`PaperRuleKind`: what a model of the paper's formulas makes its rules stage of."""

from typing import Any

from evolabel.core.rows import Batch
from evolabel.engine.one_thread import one_blas_thread
from evolabel.paper.rules.file_checks import PaperRuleChecks
from evolabel.paper.rules.iterated import minimise_all_rules
from evolabel.paper.rules.settings import literal_settings, novelty_radius, paper_memory_need, shared_settings
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.kind import RuleKind
from evolabel.typing import Arrays, FloatArray


class PaperRuleKind(RuleKind):
    """Makes `PaperRules`, from `PaperOptions`."""

    def settings(
        self, options: Any, n_features: int, n_labels: int, prior: FloatArray, ridges: tuple[float, float]
    ) -> Settings:
        """Return the settings that all loops read; arguments as of `RuleKind`."""
        return shared_settings(options, n_features, n_labels, prior, ridges[0], local_ridge=ridges[1])

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
        return paper_memory_need(n_features, n_labels, options, rules)

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
                a.W[slot] = (a.G[slot] + rules.anchor * a.W[0]) @ rules.inverse(slot)

    def finish(self, rules: PaperRules) -> None:
        """Minimise the objective of every rule (Algorithm 1), where weights are iterated."""
        if rules.paper.iterated and rules.paper.prox_steps:
            minimise_all_rules(rules)

"""What the stored arrays of the paper's rules must be."""

import numpy as np

from evolabel.core.schema import Sizes
from evolabel.core.stored_checks import FURTHEST, SHORTFALL, Expected, is_nearly_definite, require
from evolabel.paper.rules.arrays import PAPER_ARRAYS, PaperArrays, PaperSettings, paper_sizes, paper_switches
from evolabel.paper.rules.loops.iteration import DIVERGED_ABOVE
from evolabel.stages.rules.arrays import RULE_ARRAYS, Settings
from evolabel.stages.rules.file_checks import RuleChecks, whole_hessian
from evolabel.typing import Arrays, FloatArray


class PaperRuleChecks(RuleChecks):
    """Checks of the stored arrays of `PaperRules` with the settings `paper`; the others are those of `RuleChecks`."""

    def __init__(self, n_features: int, n_labels: int, settings: Settings, paper: PaperSettings) -> None:
        super().__init__(n_features, n_labels, settings)
        self.paper = paper

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays with an entry per slot."""
        return (*super().names, *PaperArrays._fields)

    @property
    def furthest(self) -> float:
        """The largest value of a sample in the space of the antecedents."""
        return max(FURTHEST, self.paper.label_weight) if self.paper.product else FURTHEST

    def sizes(self) -> Sizes:
        """Return the sizes of the arrays without rules."""
        return paper_sizes(0, self.n_features, self.n_labels, self.paper)

    def expected(self, sizes: Sizes, *, holds_weights: bool) -> dict[str, Expected]:
        """Return what arrays of these `sizes` must be by themselves; `holds_weights`: weights are stored."""
        switches = paper_switches(self.paper, holds_weights=holds_weights)
        table = RULE_ARRAYS.expected(sizes, switches) | PAPER_ARRAYS.expected(sizes, switches)
        if self.paper.iterated:
            table["W"] = table["W"]._replace(low=-DIVERGED_ABOVE, high=DIVERGED_ABOVE)
        return table

    def check_slot(self, slot: Arrays, of_all: bool, heaviest: float) -> None:
        """Check the arrays of one `slot`, slot 0 if `of_all`, whose evidence is at most `heaviest`."""
        super().check_slot(slot, of_all, heaviest)
        if self.paper.iterated and not of_all:
            most = np.linalg.eigvalsh(whole_hessian(slot) + np.diag(self.settings.penalty[1]))[-1]
            require(slot["top"][0] >= (1.0 - SHORTFALL) * most, "top", "a bound of the largest eigenvalue of H")
        if self.paper.rotated:
            self._check_spread(slot["F"])

    def _check_spread(self, F: FloatArray) -> None:
        """F F' of a rotated rule is its prior and what its samples add to it."""
        factor = np.tril(F)
        require(np.diagonal(factor) > 0.0, "F", "a diagonal above 0")
        spread = factor @ factor.T
        scatter = spread - np.diag(self.settings.prior_count * self.settings.prior)
        require(is_nearly_definite(scatter, np.diagonal(spread)), "F", "a spread of at least the prior")

    def check_weights(self, arrays: Arrays) -> None:
        """Check that weights are stored where they must be; iterated ones always are."""
        if not self.paper.iterated:
            super().check_weights(arrays)

"""`PaperContents`: what the arrays of the paper's rules hold, and how it changes other than by learning."""

from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky

from evolabel._utils.interrupts import held
from evolabel.core.schema import Sizes, new_entries
from evolabel.engine.symmetric import one_blas_thread
from evolabel.paper.rules import merging
from evolabel.paper.rules.arrays import PAPER_ARRAYS, PaperArrays, paper_sizes, paper_switches
from evolabel.paper.rules.rule_state import PaperRuleState, rotated_shape
from evolabel.stages.rules.arrays import RULE_ARRAYS, RuleArrays, Settings
from evolabel.stages.rules.contents import RuleContents
from evolabel.stages.rules.rule_state import RuleState, blend
from evolabel.typing import FloatArray, IntArray


class PaperContents(RuleContents):
    """The contents of `arrays` and `own` of the paper's `rules`."""

    rules: PaperRuleState

    def _sizes(self, rules: int, n_labels: int) -> Sizes:
        return paper_sizes(rules, self.rules.n_features, n_labels, self.rules.paper)

    def allocated(self, rules: int, n_labels: int, *, holds_weights: bool = False) -> RuleArrays:
        """Return zeroed arrays as `RuleBase` does, and set `own` to zeroed arrays of the same sizes."""
        sizes, switches = self._sizes(rules, n_labels), paper_switches(self.rules.paper, holds_weights=holds_weights)
        arrays, self.rules.own = RULE_ARRAYS.allocate(sizes, switches), PAPER_ARRAYS.allocate(sizes, switches)
        return arrays

    def clear(self, slot: int) -> None:
        """Empty `slot`, as `RuleBase` does; a rotated rule has its prior."""
        super().clear(slot)
        if self.rules.paper.rotated:
            self.rules.own.F[slot] = np.diag(np.sqrt(self.rules.settings.prior_count * self.rules.settings.prior))

    def pool(self, a: int, b: int) -> None:
        """Add what the rule in slot `b` has learned to that in slot `a`; iterated weights are merged by eq. (29)."""
        weights = merging.merged_weights(a, b, self.rules) if self.rules.paper.iterated else None
        if self.rules.paper.rotated:
            self._pool_scatter(a, b)
        super().pool(a, b)
        if self.rules.own.Q.shape[1]:
            self._pool_label_moments(a, b)
        self.rules.own.compared[a] = self.rules.arrays.k[a]
        if weights is not None:
            self.rules.arrays.W[a] = weights

    def _pool_scatter(self, a: int, b: int) -> None:
        """Set the scatter matrix of slot `a` to that of the samples of `a` and `b`; before the centres are pooled."""
        c, k = self.rules.arrays.c, self.rules.arrays.k
        apart = c[b] - c[a]
        between = k[a] * k[b] / (k[a] + k[b]) * np.outer(apart, apart)
        self.set_scatter(a, rotated_shape(self.rules, a).scatter + rotated_shape(self.rules, b).scatter + between)

    def _pool_label_moments(self, a: int, b: int) -> None:
        """Add the label means and co-moments of slot `b` to those of slot `a`, exactly."""
        own = self.rules.own
        mine, theirs = own.mass[a, 0], own.mass[b, 0]
        total = mine + theirs
        if total > 0.0:
            apart = own.ybar[b] - own.ybar[a]
            own.Q[a] += own.Q[b] + mine * theirs / total * np.outer(apart, apart)
            own.ybar[a] += theirs / total * apart
            own.mass[a] += own.mass[b]

    def start_inverse(self, slot: int) -> None:
        """Set P and the step bound of `slot` to those of consequents without samples."""
        super().start_inverse(slot)
        self.rules.own.top[slot] = self.rules.settings.penalty[min(slot, 1)].max()

    @one_blas_thread()
    def set_scatter(self, slot: int, matrix: FloatArray, settings: Settings | None = None) -> None:
        """Set F of `slot` to the factor of the scatter `matrix` with the prior of `settings`, by default its own."""
        s = settings or self.rules.settings
        self.rules.own.F[slot] = cholesky(matrix + np.diag(s.prior_count * s.prior), lower=True)

    # ------------------------------------------------------------------ labels, locks and features

    def take_larger(self, rules: int, n_labels: int) -> RuleArrays:
        """Copy all arrays into larger ones, for `rules` rules and `n_labels`, and return the former `arrays`.

        New labels in the product space have the prior of the others; a rotated rule is there as wide as in an empty
        slot, whatever the support.
        """
        own, known = self.rules.own, self.rules.arrays.c.shape[1]
        with held():
            if self.rules.paper.product and n_labels > self.rules.n_labels:
                labels = np.repeat(self.rules.settings.metric[:, -1:], n_labels, axis=1)
                metric = np.hstack([self.rules.settings.metric[:, : self.rules.n_features], labels])
                self.rules.settings = self.rules.settings._replace(metric=metric)
            old = super().take_larger(rules, n_labels)
            sizes, former = self._sizes(rules, n_labels), self._sizes(len(old.c) - 1, old.G.shape[1])
            sources = {axis: new_entries(former[axis], sizes[axis]) for axis in ("slot", "label", "dimension")}
            PAPER_ARRAYS.fill(self.rules.own, own, sources)
            if self.rules.paper.rotated:
                s = self.rules.settings
                for j in range(known, self.rules.arrays.c.shape[1]):
                    count = s.prior_count + np.maximum(self.rules.arrays.k - 1.0, 0.0)
                    self.rules.own.F[:, j, j] = np.sqrt(s.prior[j] * count)
        return old

    def lock(self, slot: int, weights: FloatArray) -> None:
        """Lock the rule in `slot`, which answers with these `weights`, (K, q), from now on."""
        super().lock(slot, weights)
        self.rules.own.compared[slot] = self.rules.arrays.k[slot]

    def copied(self) -> Self:
        """Return contents with copies of all arrays, to which an edit can go back by `take_arrays`."""
        twin = super().copied()
        twin.rules.own = PaperArrays._make(array.copy() for array in self.rules.own)
        return twin

    def take_arrays(self, other: Self) -> None:
        """Take all arrays of `other`, as they are."""
        super().take_arrays(other)
        self.rules.own = other.rules.own

    def take_features(self, other: Any, kept: IntArray) -> None:
        """Take the rules of `other`, whose columns `kept` are the first features; new ones are as in an empty slot."""
        super().take_features(other, kept)
        sources = self._sources(other, kept)
        PAPER_ARRAYS.fill(self.rules.own, other.own, sources, leave_out=("F",))
        if self.rules.paper.rotated:
            for slot in range(1, self.rules.n_rules + 1):
                self._move_scatter(slot, other, sources["dimension"])

    def _sources(self, other: Any, kept: IntArray) -> dict[str, IntArray]:
        sources = super()._sources(other, kept)
        labels = np.arange(other.n_features, other.arrays.c.shape[1])
        return {**sources, "dimension": np.append(sources["feature"], labels)}

    def _move_scatter(self, slot: int, other: Any, dimension: IntArray) -> None:
        """Set the scatter of the rotated rule in `slot` to that of `other`; `dimension` has the former places.

        A new feature is uncorrelated, and as wide as in an empty slot, whatever the support.
        """
        target = np.flatnonzero(dimension >= 0)
        source = dimension[target]
        matrix = np.diag(self.rules.settings.prior * max(float(self.rules.arrays.k[slot]) - 1.0, 0.0))
        matrix[np.ix_(target, target)] = rotated_shape(other, slot).scatter[np.ix_(source, source)]
        self.set_scatter(slot, matrix)

    # ------------------------------------------------------------------ merging of models

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels into this `order`, in the product space, too."""
        p, d = self.rules.n_features, self.rules.arrays.c.shape[1]
        joint = np.append(np.arange(p), p + order) if d > p else np.arange(p)
        if self.rules.paper.rotated and d > p:
            for slot in range(1, self.rules.n_rules + 1):
                self.set_scatter(slot, rotated_shape(self.rules, slot).scatter[np.ix_(joint, joint)])
        sources = {"label": order, "dimension": joint}
        self.rules.arrays = RULE_ARRAYS.rearranged(self.rules.arrays, sources)
        self.rules.own = PAPER_ARRAYS.rearranged(self.rules.own, sources, leave_out=("F",))

    def translate(self, slot: int, a: FloatArray, b: FloatArray, settings: Settings) -> None:
        """Express centre and spread of `slot` in scores `a` z + `b`; labels stay."""
        labels = self.rules.arrays.c.shape[1] - len(a)
        stretch, shift = np.append(a, np.ones(labels)), np.append(b, np.zeros(labels))
        if self.rules.paper.rotated:
            self.set_scatter(slot, np.outer(stretch, stretch) * rotated_shape(self.rules, slot).scatter, settings)
        super().translate(slot, stretch, shift, settings)

    def leave_labels(self, slot: int, labels: IntArray, part: FloatArray, W: FloatArray, known: RuleState) -> None:
        """Let only a `part` of the samples of `slot` count for each of the `labels`, and the weights `W` for the rest.

        Means of labels and centres in the product space follow from `W` and from the rules `known` that it is of.
        """
        super().leave_labels(slot, labels, part, W, known)
        p, centre = self.rules.n_features, self.rules.arrays.c[slot]
        if self.rules.own.Q.shape[1]:
            blend(self.rules.own.ybar[slot], labels, part, np.clip(W @ np.append(centre[:p], 1.0), 0.0, 1.0))
        if self.rules.paper.product:
            blend(centre, p + labels, part, known.arrays.c[0, p + labels])

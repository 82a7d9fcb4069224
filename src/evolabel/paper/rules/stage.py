"""`PaperRules`: rules by the paper's formulas: rotated, in the product space, iterated, merged when they touch."""

from typing import Any, Self

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.rows import Batch
from evolabel.core.schema import Sizes, new_entries
from evolabel.engine.compile import direct
from evolabel.engine.one_thread import one_blas_thread
from evolabel.errors import DivergenceError
from evolabel.paper.rules import merging
from evolabel.paper.rules.arrays import (
    DIVERGED,
    PAPER_ARRAYS,
    PaperArrays,
    PaperSettings,
    paper_sizes,
    paper_switches,
)
from evolabel.paper.rules.iterated import minimise_all_rules
from evolabel.paper.rules.loops.consequents import LOOSE
from evolabel.paper.rules.loops.learn import learn_paper
from evolabel.paper.rules.loops.memberships import join
from evolabel.paper.rules.loops.rotated import rotate
from evolabel.paper.rules.proximal import DIVERGED_TEXT
from evolabel.paper.rules.rule_state import PaperRuleState
from evolabel.stages.rules import slots
from evolabel.stages.rules.arrays import RULE_ARRAYS, RuleArrays, Settings
from evolabel.stages.rules.label_rates import blend
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import Arrays, FloatArray, IntArray

_learn_paper = direct(learn_paper)


class PaperRules(PaperRuleState, RuleBase):
    """The paper's rules and their global model while they learn a stream.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of scaled rows and of their labels.
    settings : Settings
        Parameters of all kernels; its metric has d dimensions.
    paper : PaperSettings
        Parameters of the paper's kernels.
    input_radius : float, optional
        Radius within which a sample is not novel by its features alone; by default that of `settings`.
    stored : dict of str to array, optional
        Arrays by name, used as they are; by default there are no rules.

    Attributes
    ----------
    diverged : bool
        Whether the weights have diverged; such a rule base cannot be used any more.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        settings: Settings,
        paper: PaperSettings,
        *,
        input_radius: float | None = None,
        stored: Arrays | None = None,
    ) -> None:
        self.paper = paper
        self.input_radius = settings.radius if input_radius is None else input_radius
        self.diverged = False
        if stored is not None:
            self.own = PaperArrays(**{name: stored[name] for name in PaperArrays._fields})
        RuleBase.__init__(self, n_features, n_labels, settings, stored)

    def _sizes(self, rules: int, n_labels: int) -> Sizes:
        return paper_sizes(rules, self.n_features, n_labels, self.paper)

    def _allocated(self, rules: int, n_labels: int, *, holds_weights: bool = False) -> RuleArrays:
        """Return zeroed arrays as `RuleBase` does, and set `own` to zeroed arrays of the same sizes."""
        sizes, switches = self._sizes(rules, n_labels), paper_switches(self.paper, holds_weights=holds_weights)
        arrays, self.own = RULE_ARRAYS.allocate(sizes, switches), PAPER_ARRAYS.allocate(sizes, switches)
        return arrays

    # ------------------------------------------------------------------ learning

    def _run(
        self, Z: FloatArray, batch: Batch, *, structure: bool, consequents: bool, created: bool
    ) -> tuple[int, int]:
        _, Y, weights, confidences, out, *_ = batch
        flags = self.antecedent_rate, structure, consequents, created
        return _learn_paper(self.packed(), self.packed_paper(), Z, Y, weights, confidences, *flags, out)

    @one_blas_thread()
    def fit_consequents(self, batch: Batch) -> None:
        """Learn H, G, P and label moments of the scaled rows of `batch`; iterated weights start at least squares.

        The outputs of `batch` receive the answers of least squares, eq. (18), each from before its row was learned.
        """
        if not self.paper.iterated:
            super().fit_consequents(batch)
            return
        settings = self.paper
        self.paper = settings._replace(iterated=False)
        try:
            super().fit_consequents(batch)
        finally:
            self.paper = settings
        a = self.arrays
        for slot in range(self.n_rules + 1):
            self.upkeep(slot)
            if slot > 0:
                a.W[slot] = (a.G[slot] + self.anchor * a.W[0]) @ self.inverse(slot)

    def finish_batch_phase(self) -> None:
        """Minimise the objective of every rule (Algorithm 1), where weights are iterated."""
        if self.paper.iterated and self.paper.prox_steps:
            minimise_all_rules(self)

    def _settle(self, reason: int, *, structure: bool) -> None:
        if reason == DIVERGED:
            self.diverged = True
            raise DivergenceError(DIVERGED_TEXT.format(when=f"at sample {self.n_seen}"))
        super()._settle(reason, structure=structure)
        if structure:
            self._merge_touching()

    def _antecedent(self, z: FloatArray, y: FloatArray) -> FloatArray:
        joint = np.empty(self.arrays.c.shape[1])
        join(z, y, self.paper.label_weight, joint)
        return joint

    def _start_weights(self, slot: int, parent: int) -> None:
        """Set iterated weights of the new rule in `slot` to those of `parent`, eq. (28), or of the global model.

        The latter if rules are shrunk towards it; else they start at zero.
        """
        if self.paper.iterated and (self.paper.inherit or self.paper.anchored):
            self.arrays.W[slot] = self.arrays.W[parent if self.paper.inherit else 0]

    def clear(self, slot: int) -> None:
        """Empty `slot`, as `RuleBase` does; a rotated rule has its prior."""
        super().clear(slot)
        if self.paper.rotated:
            self.own.F[slot] = np.diag(np.sqrt(self.settings.prior_count * self.settings.prior))

    def _update_moments(self, slot: int, s: FloatArray, weight: float) -> None:
        """Update centre and spread of `slot` by the sample `s`, as `loops.moments` does."""
        if self.paper.rotated and slot > 0:
            k, c = float(self.arrays.k[slot]), self.arrays.c[slot]
            rotate(s, float(weight), k, float(self.settings.prior_count), c, self.own.F[slot])
        super()._update_moments(slot, s, weight)

    def _upkeep(self) -> None:
        """Derive P of the slots that have learned `upkeep_every` samples, and step bounds that have become loose."""
        super()._upkeep()
        if self.paper.iterated:
            for slot in np.flatnonzero(self.own.top[:, 0] > LOOSE * self.own.top[:, 1]):
                self.tighten(int(slot))

    def _merge_touching(self) -> None:
        """Compare the rules that have grown with the others; merge those that touch and agree."""
        every = self.paper.merge_every
        while every and self.n_rules > 1:
            free = slots.unlocked(self.arrays)
            grown = free[self.arrays.k[free] - self.own.compared[free] >= every]
            if not len(grown):
                return
            slot = int(grown[0])
            self.own.compared[slot] = self.arrays.k[slot]
            partner = merging.partner_of(slot, self)
            if partner:
                self.merge(slot, partner)

    def _pool(self, a: int, b: int) -> None:
        """Add what the rule in slot `b` has learned to that in slot `a`; iterated weights are merged by eq. (29)."""
        weights = merging.merged_weights(a, b, self) if self.paper.iterated else None
        if self.paper.rotated:
            self._pool_scatter(a, b)
        super()._pool(a, b)
        if self.own.Q.shape[1]:
            self._pool_label_moments(a, b)
        self.own.compared[a] = self.arrays.k[a]
        if weights is not None:
            self.arrays.W[a] = weights

    def _pool_scatter(self, a: int, b: int) -> None:
        """Set the scatter matrix of slot `a` to that of the samples of `a` and `b`; before the centres are pooled."""
        c, k = self.arrays.c, self.arrays.k
        apart = c[b] - c[a]
        between = k[a] * k[b] / (k[a] + k[b]) * np.outer(apart, apart)
        self.set_scatter(a, self.scatter(a) + self.scatter(b) + between)

    def _pool_label_moments(self, a: int, b: int) -> None:
        """Add the label means and co-moments of slot `b` to those of slot `a`, exactly."""
        own = self.own
        mine, theirs = own.mass[a, 0], own.mass[b, 0]
        total = mine + theirs
        if total > 0.0:
            apart = own.ybar[b] - own.ybar[a]
            own.Q[a] += own.Q[b] + mine * theirs / total * np.outer(apart, apart)
            own.ybar[a] += theirs / total * apart
            own.mass[a] += own.mass[b]

    # ------------------------------------------------------------------ changes of the rules and their widths

    def _take_larger(self, rules: int, n_labels: int) -> RuleArrays:
        """Copy all arrays into larger ones, for `rules` rules and `n_labels`, and return the former `arrays`.

        New labels in the product space have the prior of the others; a rotated rule is there as wide as in an empty
        slot, whatever the support.
        """
        own, known = self.own, self.arrays.c.shape[1]
        with held():
            if self.paper.product and n_labels > self.n_labels:
                labels = np.repeat(self.settings.metric[:, -1:], n_labels, axis=1)
                metric = np.hstack([self.settings.metric[:, : self.n_features], labels])
                self.settings = self.settings._replace(metric=metric)
            old = super()._take_larger(rules, n_labels)
            sizes, former = self._sizes(rules, n_labels), self._sizes(len(old.c) - 1, old.G.shape[1])
            sources = {axis: new_entries(former[axis], sizes[axis]) for axis in ("slot", "label", "dimension")}
            PAPER_ARRAYS.fill(self.own, own, sources)
            if self.paper.rotated:
                s = self.settings
                for j in range(known, self.arrays.c.shape[1]):
                    count = s.prior_count + np.maximum(self.arrays.k - 1.0, 0.0)
                    self.own.F[:, j, j] = np.sqrt(s.prior[j] * count)
        return old

    def lock(self, slot: int, weights: FloatArray) -> None:
        """Lock the rule in `slot`, which answers with these `weights`, (K, q), from now on."""
        super().lock(slot, weights)
        self.own.compared[slot] = self.arrays.k[slot]

    def with_copied_arrays(self) -> Self:
        """Return these rules with copies of all arrays, to which an edit can go back by `take_arrays`."""
        twin = super().with_copied_arrays()
        twin.own = PaperArrays._make(array.copy() for array in self.own)
        return twin

    def take_arrays(self, other: Self) -> None:
        """Take all arrays of `other`, as they are."""
        super().take_arrays(other)
        self.own = other.own

    def take_features(self, other: Self, kept: IntArray) -> None:
        """Take the rules of `other`, whose columns `kept` are the first features; new ones are as in an empty slot."""
        super().take_features(other, kept)
        sources = self._sources(other, kept)
        PAPER_ARRAYS.fill(self.own, other.own, sources, leave_out=("F",))
        if self.paper.rotated:
            for slot in range(1, self.n_rules + 1):
                self._move_scatter(slot, other, sources["dimension"])

    def _sources(self, other: Self, kept: IntArray) -> dict[str, IntArray]:
        sources = super()._sources(other, kept)
        labels = np.arange(other.n_features, other.arrays.c.shape[1])
        return {**sources, "dimension": np.append(sources["feature"], labels)}

    def _move_scatter(self, slot: int, other: Self, dimension: IntArray) -> None:
        """Set the scatter of the rotated rule in `slot` to that of `other`; `dimension` has the former places.

        A new feature is uncorrelated, and as wide as in an empty slot, whatever the support.
        """
        target = np.flatnonzero(dimension >= 0)
        source = dimension[target]
        matrix = np.diag(self.settings.prior * max(float(self.arrays.k[slot]) - 1.0, 0.0))
        matrix[np.ix_(target, target)] = other.scatter(slot)[np.ix_(source, source)]
        self.set_scatter(slot, matrix)

    # ------------------------------------------------------------------ merging of models

    @property
    def kind(self) -> dict[str, object]:
        """What rule bases must agree in, by name, so that their statistics can be added."""
        names = ("rotated", "product", "iterated", "coupling", "label_weight", "inherit")
        return {**{name: getattr(self.paper, name) for name in names}, **super().kind}

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels into this `order`, in the product space, too."""
        p, d = self.n_features, self.arrays.c.shape[1]
        joint = np.append(np.arange(p), p + order) if d > p else np.arange(p)
        if self.paper.rotated and d > p:
            for slot in range(1, self.n_rules + 1):
                self.set_scatter(slot, self.scatter(slot)[np.ix_(joint, joint)])
        sources = {"label": order, "dimension": joint}
        self.arrays = RULE_ARRAYS.rearranged(self.arrays, sources)
        self.own = PAPER_ARRAYS.rearranged(self.own, sources, leave_out=("F",))

    def translate(self, slot: int, a: FloatArray, b: FloatArray, settings: Settings) -> None:
        """Express centre and spread of `slot` in scores `a` z + `b`; labels stay."""
        labels = self.arrays.c.shape[1] - len(a)
        stretch, shift = np.append(a, np.ones(labels)), np.append(b, np.zeros(labels))
        if self.paper.rotated:
            self.set_scatter(slot, np.outer(stretch, stretch) * self.scatter(slot), settings)
        super().translate(slot, stretch, shift, settings)

    def leave_labels(self, slot: int, labels: IntArray, part: FloatArray, W: FloatArray, known: RuleState) -> None:
        """Let only a `part` of the samples of `slot` count for each of the `labels`, and the weights `W` for the rest.

        Means of labels and centres in the product space follow from `W` and from the rules `known` that it is of.
        """
        super().leave_labels(slot, labels, part, W, known)
        p, centre = self.n_features, self.arrays.c[slot]
        if self.own.Q.shape[1]:
            blend(self.own.ybar[slot], labels, part, np.clip(W @ np.append(centre[:p], 1.0), 0.0, 1.0))
        if self.paper.product:
            blend(centre, p + labels, part, known.arrays.c[0, p + labels])

    # ------------------------------------------------------------------ copies

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because kernels write into them."""
        super().__setstate__(state)
        self.own = PAPER_ARRAYS.writeable(self.own)

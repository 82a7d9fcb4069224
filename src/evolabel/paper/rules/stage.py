"""`PaperRules`: rules by the paper's formulas: rotated, in the product space, iterated, merged when they touch."""

from typing import Any

import numpy as np

from evolabel.core.rows import Batch
from evolabel.engine.compile import direct
from evolabel.errors import DivergenceError
from evolabel.paper.rules import merging
from evolabel.paper.rules.arrays import DIVERGED, PAPER_ARRAYS, PaperArrays, PaperSettings
from evolabel.paper.rules.contents import PaperContents
from evolabel.paper.rules.loops.consequents import LOOSE
from evolabel.paper.rules.loops.learn import learn_paper
from evolabel.paper.rules.loops.memberships import join
from evolabel.paper.rules.loops.rotated import rotate
from evolabel.paper.rules.proximal import DIVERGED_TEXT
from evolabel.paper.rules.rule_state import PaperRuleState, tighten
from evolabel.stages.rules import slots
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import Arrays, FloatArray

_learn_paper = direct(learn_paper)


class PaperRules(PaperRuleState, RuleBase):
    """The paper's rules and their global model while they learn a stream.

    Arguments are those of `RuleBase`; the metric of the `settings` has d dimensions. The attributes `paper` and
    `input_radius` are as in `PaperRuleState`, the latter by default the radius of the settings. A rule base whose
    weights have `diverged` cannot be used any more.
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

    # ------------------------------------------------------------------ learning

    def _run(
        self, Z: FloatArray, batch: Batch, *, structure: bool, consequents: bool, created: bool
    ) -> tuple[int, int]:
        _, Y, weights, confidences, out, *_ = batch
        flags = self.antecedent_rate, structure, consequents, created
        return _learn_paper(self.packed, self.packed_paper, Z, Y, weights, confidences, *flags, out)

    def _maintain(self, reason: int, *, structure: bool) -> None:
        if reason == DIVERGED:
            self.diverged = True
            raise DivergenceError(DIVERGED_TEXT.format(when=f"at sample {self.n_seen}"))
        super()._maintain(reason, structure=structure)
        if structure:
            self._merge_touching()

    def _antecedent(self, z: FloatArray, y: FloatArray) -> FloatArray:
        joint = np.empty(self.arrays.c.shape[1])
        join(z, y, self.paper.label_weight, joint)
        return joint

    def _new_rule(self, s: FloatArray, parent: int, weight: float) -> int:
        """Make a rule as `RuleBase` does; it is compared with others once it has moved, else its birth were undone."""
        slot = super()._new_rule(s, parent, weight)
        self.own.compared[slot] = self.arrays.k[slot]
        return slot

    def _start_weights(self, slot: int, parent: int) -> None:
        """Set iterated weights of the new rule in `slot` to those of `parent`, eq. (28), or of the global model.

        The latter if rules are shrunk towards it; else they start at zero.
        """
        if self.paper.iterated and (self.paper.inherit or self.paper.anchored):
            self.arrays.W[slot] = self.arrays.W[parent if self.paper.inherit else 0]

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
                tighten(self, int(slot), self.settings)

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
                self.merge_rules(slot, partner)

    # ------------------------------------------------------------------ contents and copies

    @property
    def contents(self) -> PaperContents:
        """What the arrays hold, and how it changes other than by learning."""
        return PaperContents(self)

    @property
    def kind(self) -> dict[str, object]:
        """What rule bases must agree in, by name, so that their statistics can be added."""
        names = ("rotated", "product", "iterated", "coupling", "label_weight", "inherit")
        return {**{name: getattr(self.paper, name) for name in names}, **super().kind}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        super().__setstate__(state)
        self.own = PAPER_ARRAYS.writeable(self.own)

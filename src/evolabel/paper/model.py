"""`PaperModel`: the stream model of the paper's formulas. Its rules are `PaperRules`, without drift beside them."""

from typing import ClassVar

import numpy as np

from evolabel.engine.compile import direct
from evolabel.errors import StateError
from evolabel.model.protocols import FewAnswers, Model
from evolabel.model.stream_model import StreamModel
from evolabel.model.warm_up import WarmUp
from evolabel.paper.options import PaperOptions
from evolabel.paper.rules.kind import PaperRuleKind
from evolabel.paper.rules.loops.answer import paper_answer_few
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.kind import RuleKind
from evolabel.stages.rules.weights import Moments
from evolabel.typing import FloatArray

_answer_few = direct(paper_answer_few)


class PaperModel(StreamModel):
    """EFC-ML by the paper's formulas, with its scaling, from the first sample on; parameters as of `StreamModel`.

    Iterated weights need many rows: before the batch phase, outputs are then running label frequencies.
    """

    options: PaperOptions
    rules: PaperRules | None
    rule_kind: ClassVar[RuleKind] = PaperRuleKind()

    def fill_few(self, X: FloatArray, W: FloatArray, moments: Moments, found: FewAnswers) -> FloatArray:
        """Fill `found` by the scaling and the rules; return the rows `X`."""
        rules, scratch = self.trained(), (np.empty(X.shape), np.empty((len(X), X.shape[1] + 1)))
        assert self.scaler is not None
        kept = found.outputs, found.psi, found.D
        _answer_few(rules.packed, rules.packed_paper, self.scaler.knots, W, moments, scratch, X, kept, found.terms)
        return X

    def trained(self) -> PaperRules:
        """Return the rule base; only to be called once the batch phase has run. StateError if weights diverged."""
        rules = self.rules
        assert rules is not None, "the batch phase has not run yet"
        if rules.diverged:
            raise StateError(
                'the rule weights have diverged; call fit again with lipschitz="safe" and coupling other than "paper"'
            )
        return rules

    @property
    def answers_early(self) -> bool:
        """Whether a model of the first rows answers during the warm-up: not with iterated weights."""
        return not self.options.iterated

    def answering(self) -> Model | None:
        """Return the model behind the outputs; None while these are shares of labels."""
        return super().answering() if self.warm_up is None or self.answers_early else None

    def _first_outputs(self, buffer: WarmUp, X: FloatArray) -> FloatArray:
        return super()._first_outputs(buffer, X) if self.answers_early else np.tile(buffer.priors(), (len(X), 1))

    def grow_labels(self, n_labels: int, *, absent: bool = False) -> None:
        """Add labels mid-stream, up to `n_labels`; `absent`: the samples so far are known not to carry them."""
        super().grow_labels(n_labels, absent=absent)
        if self.rules is not None:
            self.rules.settings = self.settings()  # the product space has become wider

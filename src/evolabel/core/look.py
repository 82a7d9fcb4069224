"""What a model makes of samples without learning them: the raw material of every selection criterion.

| symbol | meaning                                                          |
|--------|------------------------------------------------------------------|
| psi_i  | normalised membership of the sample in rule i, eq. (2)           |
| r      | regressor (z, 1) as rule i sees it                               |
| P_i    | (H_i + penalty)^-1, the inverse Fisher information of eq. (31)   |
| M_i    | second moment of the rule's samples, see `core.second_moments`   |

All of it follows from q_i = r'P_i r, |P_i r|^2 and (P_i r)'M_i(P_i r): learning the sample would take
psi_i P_i r r'P_i / (1 + psi_i q_i) off P_i, eq. (27), so nothing has to be updated to know what an update would bring.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from evolabel.core.echo import Correction
from evolabel.core.formed_weights import MANY_ROWS, SOME_ROWS, Answers, formed_answers, formed_weights
from evolabel.core.model import StreamModel
from evolabel.core.rule_base import RuleBase
from evolabel.core.second_moments import NO_MOMENTS, Moments, SecondMoments, labelled_moments
from evolabel.core.settings import novelty_radius
from evolabel.errors import StateError
from evolabel.kernels._compile import direct
from evolabel.kernels.by_rule import inform_by_rule
from evolabel.kernels.information import (
    inform_rows,
    leverage_rows,
    look_rows,
    novelty_rows,
    trace_drop_rows,
    variance_reduction_rows,
)
from evolabel.kernels.state import FloatArray

_look_rows, _novelty_rows, _leverage_rows = direct(look_rows), direct(novelty_rows), direct(leverage_rows)
_trace_drop_rows, _variance_reduction_rows = direct(trace_drop_rows), direct(variance_reduction_rows)
_inform_rows, _inform_by_rule = direct(inform_rows), direct(inform_by_rule)

# During warm-up nothing is known: every sample is novel, and as informative as any other.
NOVEL_IN_WARM_UP = 2.0
INFORMATIVE_IN_WARM_UP = 1.0


class Knowledge(NamedTuple):
    """What the rules know of some rows (`kernels.information`)."""

    q: FloatArray
    s: FloatArray
    t: FloatArray


class Look:
    """What a model makes of some samples, without learning them; each quantity is computed when first asked for.

    Parameters
    ----------
    model : StreamModel
        Is read only. It must not learn while the look is in use.
    X : array (n, p)
        Raw rows, NaN for missing features.
    moments : SecondMoments, optional
        Second moments of all samples, labelled or not, for `variance_reduction`; without them those of the labelled
        samples are taken.
    weights : array (1 + C, K, q), optional
        `formed_weights` of the model as it is, to answer by; without them many rows let them be formed.
    correction : Correction, optional
        Of the outputs of a trained model.
    doubts : array (n, K), optional
        How much each label is to be doubted, in [0, 1], because little is known of it.
    """

    def __init__(
        self,
        model: StreamModel,
        X: FloatArray,
        moments: SecondMoments | None = None,
        weights: FloatArray | None = None,
        correction: Correction | None = None,
        doubts: FloatArray | None = None,
    ) -> None:
        self.model = model
        self.X = np.ascontiguousarray(X, np.float64)  # the kernels are compiled for such arrays
        self.moments = moments
        self.weights = weights
        self.correction = correction
        self.doubts = None if doubts is None else np.ascontiguousarray(doubts, np.float64)
        self.n = len(X)
        self.ready = model.warm_up is None
        self._apart = self.ready and (weights is not None or self.n >= MANY_ROWS)  # outputs cost less on their own
        self._seen = model.n_seen

    @cached_property
    def outputs(self) -> FloatArray:
        """Continuous outputs, eq. (2), (n, K); running label priors during warm-up."""
        plain = self._answers.outputs
        return plain if self.correction is None or not self.ready else self.correction.of(plain)

    @property
    def memberships(self) -> FloatArray:
        """psi_i, (n, C), 0 for idle rules; there are no rules during warm-up."""
        return self._answers.psi

    @property
    def distances(self) -> FloatArray:
        """Mean squared standardised distances to the rules in the input space, (n, C); inf: hopelessly far."""
        return self._answers.D

    @property
    def information(self) -> FloatArray:
        """q_i = r'P_i r, (n, C): variance of the rule's output in units of the noise; 0 for idle rules."""
        return self._knowledge.q

    @cached_property
    def novelty(self) -> FloatArray:
        """How far beyond the evolution criterion, eq. (5), in the input space, (n,): above 1 a sample is novel.

        The distance to the nearest rule over the distance at which a rule would be born; d / (1 + d) where no distance
        is enough, as in a full rule base that does not know yet what is strange. Labels are not known, so rules of the
        product space are judged by their features, with the radius for so many dimensions.
        """
        if not self.ready:
            return np.full(self.n, NOVEL_IN_WARM_UP)
        rules, out = self._rules(), np.empty(self.n)
        settings = rules.settings
        if settings.product:
            settings = settings._replace(radius=novelty_radius(self.model.options, self.model.n_features)[0])
        _novelty_rows(self.distances, rules.arrays, settings, out)
        return out

    @cached_property
    def leverage(self) -> FloatArray:
        """sum_i psi_i h_i with h_i = psi_i q_i / (1 + psi_i q_i), (n,), in [0, 1), free of units.

        h_i is the share of the rule's variance at the sample that learning the sample removes. Their mean by psi, not
        their maximum: a rule that hardly answers must not make a sample worth asking about. Where it is small it is
        the variance of the output itself, sum_i psi_i^2 q_i.
        """
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        out = np.empty(self.n)
        _leverage_rows(self.memberships, self.information, out)
        return out

    @cached_property
    def trace_drop(self) -> FloatArray:
        """Eq. (32): the largest relative drop of trace(P_i) that learning the sample would bring, (n,), in [0, 1)."""
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        psi, known, out = self.memberships, self._knowledge, np.empty(self.n)
        _trace_drop_rows(psi, known.q, known.s, self._rules().arrays, np.zeros(psi.shape[1]), out)
        return out

    @cached_property
    def variance_reduction(self) -> FloatArray:
        """By how much learning the sample would lower the mean variance of the stream's outputs (I-optimality), (n,).

        sum_i psi_i v'M_i v / (1 + psi_i q_i) / N with v = P_i r, where N is the weight of all samples in M: rules that
        answer much of the stream count more. Without `moments`, M_i = H_i: the labelled samples stand for all.
        """
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        rules, out = self._rules(), np.empty(self.n)
        if self.moments is None:
            moments = labelled_moments(rules)
            known = self._informed(moments)
        else:
            moments, known = self._moments, self._knowledge
        _variance_reduction_rows(self.memberships, known.q, known.t, out)
        out /= moments.total
        return out

    @cached_property
    def _Z(self) -> FloatArray:
        """The rows, scaled."""
        return self.model.scale(self.X)

    @cached_property
    def _moments(self) -> Moments:
        """Second moments, where they were given."""
        return NO_MOMENTS if self.moments is None else self.moments.of(self._rules())

    @property
    def _answers(self) -> Answers:
        return self._formed if self._apart else self._sight[0]

    @cached_property
    def _knowledge(self) -> Knowledge:
        return self._informed(self._moments) if self._apart else self._sight[1]

    @cached_property
    def _formed(self) -> Answers:
        """Answers by formed weights."""
        rules = self._rules()
        return formed_answers(rules, self._Z, formed_weights(rules) if self.weights is None else self.weights)

    @cached_property
    def _sight(self) -> tuple[Answers, Knowledge]:
        """Everything in one pass over the rows."""
        if not self.ready:
            none = np.zeros((self.n, 0))
            return Answers(self.model.outputs(self.X), none, none), Knowledge(none, none, none)
        rules = self._rules()
        shape = self.n, rules.n_rules
        answers = Answers(np.empty((self.n, rules.n_labels)), np.empty(shape), np.empty(shape))
        known, V = Knowledge(*np.zeros((3, *shape))), np.empty((self.n, rules.n_features + 1))
        _look_rows(self._Z, rules.arrays, rules.settings, rules.scratch(), *self._moments, *answers, *known, V)
        return answers, known

    def _informed(self, moments: Moments) -> Knowledge:
        """What the rules know of rows whose places are known."""
        rules, psi = self._rules(), self.memberships
        known = Knowledge(*np.zeros((3, *psi.shape)))
        inform = _inform_by_rule if self.n >= SOME_ROWS else _inform_rows
        inform(self._Z, psi, rules.arrays, rules.settings, rules.scratch(), *moments, *known)
        return known

    def _rules(self) -> RuleBase:
        """The rule base, if it still is as it was when the look began."""
        if self.model.n_seen != self._seen:
            raise StateError("the model has learned since this look began; make a new Look")
        return self.model.trained()

"""Quantities that a model derives from rows without learning them; all selection criteria are made of them.

| symbol | meaning                                                          |
|--------|------------------------------------------------------------------|
| psi_i  | normalised membership of the sample in rule i, eq. (2)           |
| r      | regressor (z, 1) as rule i sees it                               |
| P_i    | (H_i + penalty)^-1, the inverse Fisher information of eq. (31)   |
| M_i    | second moment of the rule's samples, see `active.scoring.second_moments`   |

All of it follows from q_i = r'P_i r, |P_i r|^2 and (P_i r)'M_i(P_i r): learning the sample would take
psi_i P_i r r'P_i / (1 + psi_i q_i) off P_i, eq. (27), so the effect of an update follows without an update.
"""

from functools import cached_property

import numpy as np

from evolabel.active.loops.scores import (
    AMBIGUITY,
    LEVERAGE,
    VARIANCE_REDUCTION,
    criterion_rows,
    novelty_rows,
    trace_drop_rows,
)
from evolabel.active.scoring.second_moments import SecondMoments, labelled_moments, total_weight
from evolabel.core.rows import Rows, misfit
from evolabel.engine.compile import direct
from evolabel.errors import StateError
from evolabel.model.protocols import Model
from evolabel.stages.feedback.stage import Correction
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import (
    MANY_ROWS,
    NO_MOMENTS,
    NO_VARIANCES,
    NO_WEIGHTS,
    SOME_ROWS,
    Answers,
    Moments,
    VarianceTerms,
    weights_of_all,
)
from evolabel.typing import FloatArray

_novelty_rows, _trace_drop_rows, _criterion_rows = direct(novelty_rows), direct(trace_drop_rows), direct(criterion_rows)

# During warm-up nothing is known: every sample is novel, and as informative as any other.
_NOVEL_IN_WARM_UP = 2.0
_INFORMATIVE_IN_WARM_UP = 1.0

_NOT_GIVEN = np.empty((0, 0))


class RowStatistics:
    """Quantities that a model derives from some rows without learning them; each is computed when first read.

    Parameters
    ----------
    model : Model
        Is not changed, and must not learn while this object is in use.
    X : array (n, p)
        Raw rows, NaN for missing features.
    moments : SecondMoments, optional
        Second moments of all samples, labelled or not, for `variance_reduction`; without them those of the labelled
        samples are taken.
    weights : array (1 + C, K, q), optional
        Consequents of the model as it is; without them they are formed where there are many rows.
    correction : Correction, optional
        Of the outputs of a trained model.
    exploration : array (n, K), optional
        Exploration weight of each label, in [0, 1]: larger where it has few answers.
    """

    def __init__(
        self,
        model: Model,
        X: FloatArray,
        moments: SecondMoments | None = None,
        *,
        weights: FloatArray | None = None,
        correction: Correction | None = None,
        exploration: FloatArray | None = None,
    ) -> None:
        self.model = model
        self.X = np.ascontiguousarray(X, np.float64)  # the loops are compiled for such arrays
        self.moments = moments
        self.weights = weights
        self.correction = correction
        self.exploration = None if exploration is None else np.ascontiguousarray(exploration, np.float64)
        self.n = len(X)
        self.ready = model.warm_up is None
        self._found: Answers | None = None
        self._terms: VarianceTerms | None = None
        self._seen = model.n_seen

    @property
    def outputs(self) -> FloatArray:
        """Continuous outputs, eq. (2), (n, K); running label priors during warm-up."""
        return self._answers.outputs

    @property
    def memberships(self) -> FloatArray:
        """psi_i, (n, C), 0 for idle rules; there are no rules during warm-up."""
        return self._answers.psi

    @property
    def distances(self) -> FloatArray:
        """Mean squared standardised distances to the rules in the input space, (n, C); inf: beyond every rule."""
        return self._answers.D

    @property
    def information(self) -> FloatArray:
        """q_i = r'P_i r, (n, C): variance of the rule's output in units of the noise; 0 for idle rules."""
        return self.terms.q

    @property
    def terms(self) -> VarianceTerms:
        """q_i, |P_i r|^2 and (P_i r)'M_i(P_i r), (n, C) each, by the second moments that were given."""
        answers = self._answers
        if self._terms is None:
            self._terms = self._terms_by(answers.psi, self._moments)
        return self._terms

    @cached_property
    def novelty(self) -> FloatArray:
        """How far beyond the evolution criterion, eq. (5), in the input space, (n,): above 1 a sample is novel.

        The distance to the nearest rule over the distance at which a rule would be born; d / (1 + d) where no distance
        is enough, as in a full rule base without winner statistics. Labels are not known, so features alone count.
        """
        if not self.ready:
            return np.full(self.n, _NOVEL_IN_WARM_UP)
        out = np.empty(self.n)
        _novelty_rows(self._rules().novelty_bounds, self.distances, out)
        return out

    @cached_property
    def leverage(self) -> FloatArray:
        """sum_i psi_i h_i with h_i = psi_i q_i / (1 + psi_i q_i), (n,), in [0, 1), free of units.

        h_i is the share of the rule's variance at the sample that learning the sample removes. Their mean by psi, not
        their maximum: a rule that hardly answers must not make a sample worth asking about. Where it is small it is
        the variance of the output itself, sum_i psi_i^2 q_i.
        """
        if not self.ready:
            return np.full(self.n, _INFORMATIVE_IN_WARM_UP)
        return criterion_scores(LEVERAGE, self.outputs, self.memberships, self.terms)[:, 0]

    @cached_property
    def trace_drop(self) -> FloatArray:
        """Eq. (32): the largest relative drop of trace(P_i) that learning the sample would bring, (n,), in [0, 1)."""
        if not self.ready:
            return np.full(self.n, _INFORMATIVE_IN_WARM_UP)
        psi, terms, out = self.memberships, self.terms, np.empty(self.n)
        _trace_drop_rows(self._rules().packed, psi, terms.q, terms.s, np.zeros(psi.shape[1]), out)
        return out

    @cached_property
    def variance_reduction(self) -> FloatArray:
        """By how much learning the sample would lower the mean variance of the stream's outputs (I-optimality), (n,).

        sum_i psi_i v'M_i v / (1 + psi_i q_i) / N with v = P_i r, where N is the weight of all samples in M: rules that
        answer much of the stream count more. Without `moments`, M_i = H_i: the labelled samples stand for all.
        """
        if not self.ready:
            return np.full(self.n, _INFORMATIVE_IN_WARM_UP)
        if self.moments is None:
            moments = labelled_moments(self._rules())
            terms = self._terms_by(self.memberships, moments)
        else:
            moments, terms = self._moments, self.terms
        return criterion_scores(VARIANCE_REDUCTION, self.outputs, self.memberships, terms, total=total_weight(moments))[
            :, 0
        ]

    @cached_property
    def _moments(self) -> Moments:
        """Second moments, where they were given."""
        return NO_MOMENTS if self.moments is None else self.moments.of(self._rules())

    @property
    def _answers(self) -> Answers:
        """Outputs, memberships and distances; of few rows together with the terms, in one pass over the rows."""
        if self._found is not None:
            return self._found
        model, X, weights = self.model, self.X, self.weights
        if not self.ready:
            none = np.zeros((self.n, 0))
            self._terms = VarianceTerms(none, none, none)
            self._found = Answers(model.outputs(X), none, none)
            return self._found
        self._rules()
        if self.n >= (MANY_ROWS if weights is None else SOME_ROWS):
            rows = model.answer(Rows(X, W=model.drift.mixed(weights_of_all) if weights is None else weights))
            found = Answers(rows.outputs, rows.psi, rows.D)
        else:
            few = model.answer_few(X, NO_WEIGHTS if weights is None else weights, self._moments)
            found, self._terms = Answers(few.outputs, few.psi, few.D), few.terms
        if self.correction is not None:
            found = found._replace(outputs=self.correction.of(found.outputs))
        self._found = found
        return found

    def _terms_by(self, psi: FloatArray, moments: Moments) -> VarianceTerms:
        """Quadratic forms of rows whose memberships `psi` are known."""
        rules = self._rules()
        terms = VarianceTerms(*np.zeros((3, *psi.shape)))
        loops = rules.loops
        fill = loops.variance_rows if self.n < SOME_ROWS else loops.variance_block
        fill(self.model.scale(self.X), psi, moments, terms)
        return terms

    def _rules(self) -> RuleBase:
        """The rule base, if it is as it was when this object was made."""
        if self.model.n_seen != self._seen:
            raise StateError("the model has learned since these statistics were made; make new ones")
        return self.model.trained()


def criterion_scores(
    kind: int,
    f: FloatArray,
    psi: FloatArray = _NOT_GIVEN,
    terms: VarianceTerms = NO_VARIANCES,
    *,
    total: float = 1.0,
    width: float = np.nan,
    exploration: FloatArray | None = None,
) -> FloatArray:
    """Return the scores of rows by one built-in criterion of this `kind`, (n, K) or (n, 1); see `active.loops.scores`.

    `f` are the outputs, `psi` the memberships, `terms` and `total` the variance terms and the weight of all samples,
    `width` the width of the ambiguity, `exploration` the exploration weights of labels.
    """
    f, explored = np.ascontiguousarray(f, np.float64), _NOT_GIVEN if exploration is None else exploration
    given = {"psi": psi, **terms._asdict(), "exploration": explored}
    if any(len(array) not in (0, len(f)) for array in given.values()) or explored.size not in (0, f.size):
        raise misfit(given, f"outputs {f.shape}")
    scores = np.empty((len(f), f.shape[1] if kind == AMBIGUITY else 1))
    kinds, widths = np.array([kind]), np.array([width], np.float64)
    _criterion_rows(f, psi, terms.q, terms.t, total, kinds, widths, explored, scores)
    return scores

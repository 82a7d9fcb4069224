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

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rule_base import RuleBase
from evolabel.core.second_moments import SecondMoments
from evolabel.core.settings import novelty_radius
from evolabel.kernels.state import FloatArray
from evolabel.kernels.structure import novelty_bound

# During warm-up nothing is known: every sample is novel, and as informative as any other.
NOVEL_IN_WARM_UP = 2.0
INFORMATIVE_IN_WARM_UP = 1.0


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
    """

    def __init__(self, model: StreamModel, X: FloatArray, moments: SecondMoments | None = None) -> None:
        self.model = model
        self.X = X
        self.moments = moments
        self.n = len(X)
        self.ready = model.warm_up is None

    @cached_property
    def outputs(self) -> FloatArray:
        """Continuous outputs, eq. (2), (n, K); running label priors during warm-up."""
        return self.model.outputs(self.X)

    @cached_property
    def memberships(self) -> FloatArray:
        """psi, (n, C); there are no rules during warm-up."""
        return self._places[0]

    @cached_property
    def distances(self) -> FloatArray:
        """Mean squared standardised distances to the rules in the input space, (n, C); inf: hopelessly far."""
        return self._places[1]

    @cached_property
    def novelty(self) -> FloatArray:
        """How far beyond the evolution criterion, eq. (5), in the input space, (n,): above 1 a sample is novel.

        The distance to the nearest rule over the distance at which a rule would be born; where no distance is enough
        (too little is known of what is strange), d / (1 + d), so that it still grows with the distance.
        """
        if not self.ready:
            return np.full(self.n, NOVEL_IN_WARM_UP)
        rules, settings = self._rules, self._rules.settings
        radius, _ = novelty_radius(self.model.options, self.model.n_features)
        settings = settings._replace(radius=radius)
        winner = self.distances.argmin(axis=1)
        d = self.distances.min(axis=1)
        support = rules.arrays.k[1 + winner]
        bounds = [novelty_bound(k, rules.n_rules, rules.arrays.strange, settings) for k in support]
        return np.array([x / (1.0 + x) if np.isinf(b) else x / max(b, 1e-200) for x, b in zip(d, bounds, strict=True)])

    @cached_property
    def information(self) -> FloatArray:
        """q_i = r'P_i r, (n, C): variance of a rule's output at the sample in units of the noise; 0 for idle rules."""
        return np.array([[r @ u for r, u in row] for row in self._solved]).reshape(self.n, -1)

    @cached_property
    def leverage(self) -> FloatArray:
        """sum_i psi_i h_i with h_i = psi_i q_i / (1 + psi_i q_i), (n,), in [0, 1): unit-free.

        h_i is the share of the rule's variance at the sample that learning the sample removes. The mean by psi, not
        the maximum: a rule that hardly answers must not make a sample worth asking about.
        """
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        gain = self.memberships * self.information
        return np.asarray((self.memberships * gain / (1.0 + gain)).sum(axis=1))

    @cached_property
    def trace_drop(self) -> FloatArray:
        """Eq. (32): the largest relative drop of trace(P_i) that learning the sample would bring, (n,), in [0, 1)."""
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        psi, q = self.memberships, self.information
        squares = np.array([[u @ u for _, u in row] for row in self._solved]).reshape(self.n, -1)
        traces = np.array([np.trace(self._rules.inverse(slot)) for slot in range(1, self._rules.n_rules + 1)])
        return np.asarray((psi * squares / (1.0 + psi * q) / traces).max(axis=1))

    @cached_property
    def variance_reduction(self) -> FloatArray:
        """By how much the mean variance of the stream's outputs would sink (I-optimality), (n,).

        sum_i psi_i v'M_i v / (1 + psi_i q_i) / N with v = P_i r; N is the weight of the samples in M_0.
        """
        if not self.ready:
            return np.full(self.n, INFORMATIVE_IN_WARM_UP)
        rules = self._rules
        if self.moments is None:
            M = np.stack([rules.hessian(slot) for slot in range(rules.n_rules + 1)])
        else:
            M = self.moments.aligned(rules)
        forms = np.array([[u @ A @ u for (_, u), A in zip(row, M[1:], strict=True)] for row in self._solved])
        psi, q = self.memberships, self.information
        return np.asarray((psi * forms / (1.0 + psi * q)).sum(axis=1) / M[0, -1, -1])

    @property
    def _rules(self) -> RuleBase:
        return self.model.trained()

    @cached_property
    def _Z(self) -> FloatArray:
        return self.model.scale(self.X)

    @cached_property
    def _places(self) -> tuple[FloatArray, FloatArray]:
        if not self.ready:
            return np.empty((self.n, 0)), np.empty((self.n, 0))
        return self._rules.memberships(self._Z)

    @cached_property
    def _solved(self) -> list[list[tuple[FloatArray, FloatArray]]]:
        rules = self._rules if self.ready else None
        if rules is None:
            return [[] for _ in range(self.n)]
        inverses = [rules.inverse(slot) for slot in range(1, rules.n_rules + 1)]
        rows = []
        for z, psi in zip(self._Z, self.memberships, strict=True):
            regressors = [rules.regressor(z, slot) * (psi[slot - 1] > 0.0) for slot in range(1, rules.n_rules + 1)]
            rows.append([(r, P @ r) for r, P in zip(regressors, inverses, strict=True)])
        return rows

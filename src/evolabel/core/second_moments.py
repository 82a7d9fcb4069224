"""Where the stream is: second moments of all samples a rule has seen, labelled or not."""

from typing import Any

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rule_base import RuleBase
from evolabel.kernels.state import FloatArray, IntArray
from evolabel.ranges import check_number

Arrays = dict[str, np.ndarray[Any, Any]]


class SecondMoments:
    """M_i = sum of psi_i r r' over the samples of a stream, for each rule, and M_0 for the whole stream.

    A rule enters with H_i, the moments of the labelled samples it has learned so far. Rules that are merged add up,
    rules that die are dropped.
    """

    def __init__(self, every: int = 1) -> None:
        check_number("every", every, 1, whole=True)
        self.every = every
        self.n_seen = 0
        self._identity: IntArray = np.empty(0, np.int64)
        self._M: FloatArray = np.empty((0, 0, 0))

    def update(self, model: StreamModel, X: FloatArray) -> None:
        """Take in samples, before the model learns them (if it does at all)."""
        if model.rules is None:
            return
        rules = model.trained()
        first = -self.n_seen % self.every
        self.n_seen += len(X)
        self._M, self._identity = self.aligned(rules), _identities(rules)
        Z = model.scale(X[first :: self.every])
        psi, _ = rules.memberships(Z)
        for z, own in zip(Z, psi, strict=True):
            for slot, weight in enumerate([1.0, *own]):
                if weight > 0.0:
                    r = rules.regressor(z, slot) if slot else np.append(np.where(np.isnan(z), rules.arrays.c[0, : len(z)], z), 1.0)
                    self._M[slot] += self.every * weight * np.outer(r, r)

    def aligned(self, rules: RuleBase) -> FloatArray:
        """M of the slots as they are now, (1 + C, q, q)."""
        now = _identities(rules)
        if np.array_equal(now, self._identity) and self._M.shape[1:] == rules.arrays.H.shape[1:]:
            return self._M
        if self._M.shape[1:] != rules.arrays.H.shape[1:]:
            return np.stack([rules.hessian(slot) for slot in range(len(now))])
        known = {int(i): M for i, M in zip(self._identity, self._M, strict=True)}
        M = np.stack([known[int(i)] if int(i) in known else rules.hessian(slot) for slot, i in enumerate(now)])
        return M


def _identities(rules: RuleBase) -> IntArray:
    """Identities by slot; -1 is the whole stream."""
    return np.concatenate([[-1], rules.arrays.identity[1 : rules.n_rules + 1]])

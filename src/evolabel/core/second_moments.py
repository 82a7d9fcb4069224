"""Where the stream is: second moments of all samples the rules have seen, labelled or not."""

from typing import NamedTuple

import numpy as np

from evolabel.core.formed_weights import placed
from evolabel.core.inverses import mirrored
from evolabel.core.model import StreamModel
from evolabel.core.rule_base import RuleBase
from evolabel.core.sizes import check_rows, misfit
from evolabel.errors import DataError
from evolabel.kernels._compile import direct
from evolabel.kernels.information import add_moment_rows
from evolabel.kernels.room import block_length
from evolabel.kernels.state import Arrays, FloatArray, IntArray
from evolabel.ranges import check_number

MERGES = ("merge", "merged by hand")
WHOLE_STREAM = -1  # stands for an identity in slot 0, which is no rule

_add_moment_rows = direct(add_moment_rows)


class Moments(NamedTuple):
    """M of slots 0..C, lower triangles, with the rows that still wait, as `kernels.information` reads them."""

    M: FloatArray
    late_M: FloatArray
    late: IntArray

    @property
    def total(self) -> float:
        """Weight of all samples: the intercept's own moment in M_0."""
        waiting = self.late_M[0, : self.late[0], -1]
        return float(self.M[0, -1, -1] + waiting @ waiting)

    def matrix(self, slot: int) -> FloatArray:
        """M of a slot as a full symmetric matrix."""
        rows = self.late_M[slot, : self.late[slot]]
        return np.asarray(mirrored(self.M[slot]) + rows.T @ rows)


NO_MOMENTS = Moments(np.empty((0, 0, 0)), np.empty((0, 0, 0)), np.empty(0, np.int64))


def labelled_moments(rules: RuleBase) -> Moments:
    """H_i of the rules: the samples they have learned stand for all."""
    used = rules.n_rules + 1
    return Moments(rules.arrays.H[:used], rules.arrays.late_H[:used], rules.arrays.late[:used])


class SecondMoments:
    """M_i = sum of psi_i r r' over the samples of a stream, for every rule, and M_0 over all with psi = 1.

    Labels are not needed, so samples nobody is asked about still tell where the stream is. A rule enters with H_i, the
    moments of the samples it has learned; rules that are merged add up, rules that die are dropped. Memory is
    constant. What is known belongs to one model: start anew when that is fitted anew.

    Parameters
    ----------
    every : int
        Only each so-manieth sample is taken in, with that weight: cheaper, and the same on average.
    """

    def __init__(self, every: int = 1) -> None:
        check_number("every", every, 1, whole=True)
        self.every = int(every)
        self.n_seen = 0
        self._identities: IntArray = np.empty(0, np.int64)
        self._moments = NO_MOMENTS

    def update(self, model: StreamModel, X: FloatArray) -> None:
        """Take in raw rows, whether the model learns them or not; during warm-up there are no rules yet to do so."""
        if model.warm_up is not None:
            return
        rules, first = model.trained(), -self.n_seen % self.every
        self.follow(rules)
        self.n_seen += len(X)
        if first >= len(X):
            return
        Z = model.scale(np.ascontiguousarray(X[first :: self.every]))
        check_rows(Z, rules.n_features)
        if len(self._moments.M) != rules.n_rules + 1:
            raise misfit({"M": self._moments.M}, f"{rules.n_rules} rules")
        state = rules.arrays, rules.settings, rules.scratch()
        _add_moment_rows(Z, placed(rules, Z)[0], float(self.every), *state, *self._moments)

    def follow(self, rules: RuleBase) -> None:
        """Let rules enter and leave, and add up what belongs to rules that were merged."""
        if not self._fits(rules):
            self._moments, self._identities = self._arranged(rules), _identities(rules)

    def of(self, rules: RuleBase) -> Moments:
        """The moments slot by slot, as the rules stand now; not to be written to."""
        if self._fits(rules):
            return self._moments
        return self._arranged(rules) if self._known(rules) else labelled_moments(rules)

    def _known(self, rules: RuleBase) -> bool:
        """Has anything been seen with these features?"""
        return self._moments.M.shape[1:] == rules.arrays.H.shape[1:]

    def _fits(self, rules: RuleBase) -> bool:
        """Is it known of just these rules, slot by slot?"""
        now = rules.arrays.identity[1 : rules.n_rules + 1]
        return self._known(rules) and np.array_equal(now, self._identities[1:])

    def _arranged(self, rules: RuleBase) -> Moments:
        """A copy in the order of the slots."""
        if not self._known(rules):
            M, late_M, late = labelled_moments(rules)
            return Moments(M.copy(), late_M.copy(), late.copy())
        inherited, slots = self._inherited(rules), enumerate(_identities(rules).tolist())
        M = np.stack([inherited[i] if i in inherited else rules.hessian(slot) for slot, i in slots])
        return Moments(M, np.zeros((len(M), block_length(M.shape[1]), M.shape[1])), np.zeros(len(M), np.int64))

    def _inherited(self, rules: RuleBase) -> dict[int, FloatArray]:
        """Full matrices by identity; what was merged away since has been added to the rule that lives on."""
        known = {int(i): self._moments.matrix(slot) for slot, i in enumerate(self._identities)}
        heirs = {event.other: event.rule for event in rules.events if event.kind in MERGES}
        for gone in known.keys() & heirs.keys():
            heir = heirs[gone]
            while heir in heirs:
                heir = heirs[heir]
            if heir in known:
                known[heir] += known[gone]
        return known

    def arrays(self) -> Arrays:
        """All there is to keep, by name."""
        counts = np.array([self.every, self.n_seen], np.int64)
        return {"counts": counts, "identities": self._identities, **self._moments._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "SecondMoments":
        """What `arrays` gave, put together again."""
        every, n_seen = (int(count) for count in arrays["counts"])
        made = cls(every)
        made.n_seen = n_seen
        made._identities = np.array(arrays["identities"], np.int64)
        M, late_M = (np.array(arrays[name], np.float64, order="C") for name in ("M", "late_M"))
        made._moments = Moments(M, late_M, np.array(arrays["late"], np.int64))
        _check_shapes(made._moments, len(made._identities))
        return made


def _identities(rules: RuleBase) -> IntArray:
    """Identities by slot."""
    now = rules.arrays.identity[: rules.n_rules + 1].copy()
    now[0] = WHOLE_STREAM
    return now


def _check_shapes(moments: Moments, slots: int) -> None:
    """Kernels do not look at bounds, so stored arrays must not be able to lead them beyond."""
    q, shapes = moments.M.shape[-1], [array.shape for array in moments]
    block = block_length(q) if slots else 0
    waiting = moments.late[(moments.late < 0) | (moments.late >= block)]
    if shapes != [(slots, q, q), (slots, block, q), (slots,)] or len(waiting):
        raise DataError(f"second moments of {slots} slots do not fit together: shapes {shapes}; store them again")

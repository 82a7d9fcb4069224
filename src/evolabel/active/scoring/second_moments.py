"""Second moments of all samples of a stream, labelled or not, rule by rule."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.core.array_checks import check_arrays, floats, is_nearly_definite, require, size_of, whole
from evolabel.core.events import MERGES
from evolabel.core.sizes import misfit
from evolabel.engine.compile import direct_by_profile
from evolabel.stages.protocols import Model
from evolabel.stages.rules.arrays import block_length
from evolabel.stages.rules.loops.second_moments import add_moment_rows
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import NO_MOMENTS, Moments
from evolabel.typing import Arrays, FloatArray, IntArray

WHOLE_STREAM = -1  # stands for an identity in slot 0, which is no rule

_add_moment_rows = direct_by_profile(add_moment_rows)


def labelled_moments(rules: RuleBase) -> Moments:
    """Return H_i of the `rules`: the samples they have learned stand for all."""
    used = rules.n_rules + 1
    return Moments(rules.arrays.H[:used], rules.arrays.pending_H[:used], rules.arrays.n_pending[:used])


class SecondMoments:
    """M_i = sum of psi_i r r' over the samples of a stream, for every rule, and M_0 over all with psi = 1.

    Labels are not needed, so samples without answers count, too. A rule enters with H_i, the
    moments of the samples it has learned; rules that are merged add up, rules that die are dropped. Memory is
    constant. The moments belong to one model: start anew when that is fitted anew.

    Parameters
    ----------
    every : int
        One sample of each so many is added, with that weight: cheaper, and the same on average.
    identities : IntArray, optional
        Identities of the rules whose `moments` are given, slot by slot.
    moments : Moments
        Moments to go on from.
    """

    def __init__(self, every: int = 1, identities: IntArray | None = None, moments: Moments = NO_MOMENTS) -> None:
        check_number("every", every, 1, whole=True)
        self.every = int(every)
        self.n_seen = 0
        self._identities = np.empty(0, np.int64) if identities is None else identities
        self._moments = moments

    def update(self, model: Model, X: FloatArray) -> None:
        """Add the raw rows `X`, whether `model` learns them or not; does nothing during its warm-up."""
        if model.warm_up is not None:
            return
        rules, first = model.trained(), -self.n_seen % self.every
        self.match_rules(rules)
        self.n_seen += len(X)
        if first >= len(X):
            return
        Z = model.scale(np.ascontiguousarray(X[first :: self.every]))
        if len(self._moments.M) != rules.n_rules + 1:
            raise misfit({"M": self._moments.M}, f"{rules.n_rules} rules")
        _add_moment_rows(*rules.packed(), Z, rules.memberships(Z)[0], float(self.every), *self._moments)

    def match_rules(self, rules: RuleBase) -> None:
        """Adapt to `rules`: add new ones, drop removed ones, and add up those that were merged."""
        if not self._fits(rules):
            self._moments, self._identities = self._arranged(rules), _identities(rules)

    def of(self, rules: RuleBase) -> Moments:
        """Return the moments slot by slot, as the `rules` are now; not to be written to."""
        if self._fits(rules):
            return self._moments
        return self._arranged(rules) if self._known(rules) else labelled_moments(rules)

    def _known(self, rules: RuleBase) -> bool:
        """Whether any samples with these features were added."""
        return self._moments.M.shape[1:] == rules.arrays.H.shape[1:]

    def _fits(self, rules: RuleBase) -> bool:
        """Whether the moments are those of just these rules, slot by slot."""
        now = rules.arrays.identity[1 : rules.n_rules + 1]
        return self._known(rules) and now.tobytes() == self._identities[1:].tobytes()  # faster than array_equal

    def _arranged(self, rules: RuleBase) -> Moments:
        """A copy in the order of the slots."""
        if not self._known(rules):
            return _with_own_block(labelled_moments(rules))
        inherited, slots = self._inherited(rules), enumerate(_identities(rules).tolist())
        M = np.stack([inherited[i] if i in inherited else rules.hessian(slot) for slot, i in slots])
        return Moments(M, np.zeros((len(M), block_length(M.shape[1]), M.shape[1])), np.zeros(len(M), np.int64))

    def _inherited(self, rules: RuleBase) -> dict[int, FloatArray]:
        """Full matrices by identity; what was merged away since has been added to the rule that lives on."""
        known = {int(i): self._moments.matrix(slot) for slot, i in enumerate(self._identities)}
        heirs = {event.other: event.rule for event in rules.events if event.kind in MERGES}
        for gone in known.keys() & heirs.keys():
            heir = heirs[gone]
            for _ in range(len(heirs)):  # a chain of merges is no longer; events of a crafted file may form a circle
                heir = heirs.get(heir, heir)
            if heir in known:
                known[heir] += known[gone]
        return known

    def arrays(self) -> Arrays:
        """Return all arrays by name."""
        counts = np.array([self.every, self.n_seen], np.int64)
        return {"counts": counts, "identities": self._identities, **self._moments._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "SecondMoments":
        """Return the moments that gave these `arrays`; DataError if they do not fit together."""
        _check_stored(arrays)
        every, n_seen = (int(count) for count in arrays["counts"])
        moments = Moments(*(arrays[name].copy() for name in Moments._fields))
        made = cls(every, arrays["identities"].copy(), moments)
        made.n_seen = n_seen
        return made


def _with_own_block(moments: Moments) -> Moments:
    """Return a copy with `block_length` pending rows; rules with iterated weights have only one."""
    slots, rows, q = moments.pending_M.shape
    pending_M = np.zeros((slots, block_length(q), q))
    pending_M[:, :rows] = moments.pending_M
    return Moments(moments.M.copy(), pending_M, moments.n_pending.copy())


def _identities(rules: RuleBase) -> IntArray:
    """Identities by slot."""
    now = rules.arrays.identity[: rules.n_rules + 1].copy()
    now[0] = WHOLE_STREAM
    return now


def _check_stored(arrays: Arrays) -> None:
    """DataError unless the stored arrays are moments: kernels do not look at bounds, and divide by the total."""
    slots, q = size_of(arrays, "identities"), size_of(arrays, "M", 1)
    block = block_length(q) if slots else 0
    table = {
        "counts": whole(2),
        "identities": whole(slots, low=WHOLE_STREAM),
        "M": floats(slots, q, q),
        "pending_M": floats(slots, block, q),
        "n_pending": whole(slots, high=max(block - 1, 0)),
    }
    check_arrays(arrays, table)
    identities = arrays["identities"].tolist()
    require(arrays["counts"][0] > 0, "counts", "1 or more, of which one sample is added")
    require(identities[:1] in ([], [WHOLE_STREAM]), "identities", "the whole stream first")
    require(len(set(identities)) == slots, "identities", "identities that differ")
    moments = Moments(*(arrays[name] for name in Moments._fields))
    for slot in range(slots):
        require(is_nearly_definite(moments.matrix(slot)), "M", "positive semidefinite matrices")
    require(slots == 0 or q > 0, "M", "one row or more")

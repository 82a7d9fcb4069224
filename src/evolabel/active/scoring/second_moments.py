"""Second moments of all samples of a stream, labelled or not, rule by rule, and the rows that wait for them."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.core.events import MERGES
from evolabel.core.rows import misfit
from evolabel.core.schema import Schema, array, new_entries
from evolabel.core.stored_checks import (
    check_arrays,
    check_names,
    check_samples,
    inside,
    is_nearly_definite,
    part_of,
    prefixed,
    require,
    size_of,
)
from evolabel.model.protocols import Model
from evolabel.stages.rules.arrays import block_length
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import MOMENTS, NO_MOMENTS, Moments
from evolabel.typing import Arrays, FloatArray, IntArray

WHOLE_STREAM = -1  # stands for an identity in slot 0, which is no rule


class MomentCounts(NamedTuple):
    """What belongs to second moments in a file."""

    counts: Annotated[IntArray, array(2)]
    """Of how many samples one is added, and samples seen."""
    identities: Annotated[IntArray, array("slot", low=WHOLE_STREAM)]
    """Identities of the rules, slot by slot; -1: the whole stream."""


class WaitingRows(NamedTuple):
    """Rows that wait for the next block."""

    waiting: Annotated[FloatArray, array("row", "feature", missing=True)]
    """Raw features."""


MOMENT_COUNTS, WAITING_ROWS = Schema(MomentCounts), Schema(WaitingRows)


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
        self._identities = _no_identities() if identities is None else identities
        self._moments = moments
        self._total: float | None = None  # of `_moments`; None: not computed since they changed

    def __getstate__(self) -> dict[str, Any]:
        """The attributes but for what only saves time, so that reads change no copy."""
        return {**vars(self), "_total": None}

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
        self._total = None
        rules.loops.add_moments(Z, rules.memberships(Z)[0], float(self.every), self._moments)

    def match_rules(self, rules: RuleBase) -> None:
        """Adapt to `rules`: add new ones, drop removed ones, and add up those that were merged."""
        if not self._fits(rules):
            self._moments, self._identities, self._total = self._arranged(rules), _identities(rules), None

    def of(self, rules: RuleBase) -> Moments:
        """Return the moments slot by slot, as the `rules` are now; not to be written to."""
        if self._fits(rules):
            return self._moments
        return self._arranged(rules) if self._known(rules) else labelled_moments(rules)

    def total_of(self, moments: Moments) -> float:
        """Return the weight of all samples in `moments`, which `of` has returned."""
        if moments is not self._moments:
            return total_weight(moments)
        if self._total is None:
            self._total = total_weight(moments)
        return self._total

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
        return MOMENTS.allocate(_sizes(len(M), M.shape[1]))._replace(M=M)

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
        counts = MomentCounts(np.array([self.every, self.n_seen], np.int64), self._identities)
        return {**MOMENT_COUNTS.arrays_of(counts), **MOMENTS.arrays_of(self._moments)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "SecondMoments":
        """Return the moments that gave these `arrays`; DataError if they do not fit together."""
        _check_stored(arrays)
        every, n_seen = (int(count) for count in arrays["counts"])
        made = cls(every, arrays["identities"].copy(), MOMENTS.from_arrays(arrays))
        made.n_seen = n_seen
        return made


def _with_own_block(moments: Moments) -> Moments:
    """Return a copy with `block_length` pending rows; rules may have fewer."""
    slots, rows, q = moments.pending_M.shape
    return MOMENTS.rearranged(moments, {"block": new_entries(rows, block_length(q)), "slot": np.arange(slots)})


def _no_identities() -> IntArray:
    """Return the identities of no rules."""
    return MOMENT_COUNTS.allocate({"slot": 0}).identities


def _identities(rules: RuleBase) -> IntArray:
    """Identities by slot."""
    now = rules.arrays.identity[: rules.n_rules + 1].copy()
    now[0] = WHOLE_STREAM
    return now


def _sizes(slots: int, q: int) -> dict[str, int]:
    """Return the sizes of second moments of `q` regressors in so many `slots`."""
    return {"slot": slots, "regressor": q, "block": block_length(q) if slots else 0}


def _check_stored(arrays: Arrays) -> None:
    """DataError unless the stored arrays are moments: loops do not look at bounds, and divide by the total."""
    slots, q = size_of(arrays, "identities"), size_of(arrays, "M", 1)
    sizes = _sizes(slots, q)
    table = MOMENT_COUNTS.expected(sizes) | MOMENTS.expected(sizes)
    check_arrays(arrays, {**table, "n_pending": table["n_pending"]._replace(high=max(sizes["block"] - 1, 0))})
    identities = arrays["identities"].tolist()
    require(arrays["counts"][0] > 0, "counts", "1 or more, of which one sample is added")
    require(identities[:1] in ([], [WHOLE_STREAM]), "identities", "the whole stream first")
    require(len(set(identities)) == slots, "identities", "identities that differ")
    moments = MOMENTS.from_arrays(arrays)
    for slot in range(slots):
        require(is_nearly_definite(moments.matrix(slot)), "M", "positive semidefinite matrices")
    require(slots == 0 or q > 0, "M", "one row or more")


# Rows per block of the second moments: an eighth of the rows before, within bounds. Within a block the scores of a row
# do not change. Of a block only each fourth row is taken in, with weight four. Shuffles 10-17 of three sets,
# samples-based, mean share of the gap over PA, AP and three budgets: .469; a quarter at a time .460; always 16, and
# every row, .464; always 256 .449. Blocks of more than 256 rows, which only long streams have, make no difference
# (mediamill-5k, shuffles 10-13, 10 and 30 %: within .003 points of PA and .03 of AP) except in speed.
_SHORTEST_BLOCK, _LONGEST_BLOCK, _BLOCK_SHARE = 16, 1024, 8
_EVERY = 4


class UnlabelledRows:
    """Collects the rows of the stream and adds them to the second moments, a block at a time.

    Parameters
    ----------
    moments : bool
        Whether a criterion needs second moments; without them nothing is collected.
    """

    def __init__(self, *, moments: bool) -> None:
        self.moments = SecondMoments(_EVERY) if moments else None
        self._waiting = _room_for(0, 0)  # rows of the present block
        self._filled = 0  # number of them
        self._model: Model | None = None  # model whose moments these are

    def moments_of(self, model: Model) -> SecondMoments | None:
        """Second moments for `model`; empty ones for a model that was fitted anew, None where they are not needed."""
        if self.moments is None or self._model is None or self._model is model:
            return self.moments
        return SecondMoments(_EVERY)

    def begin(self, model: Model) -> None:
        """Drop what was collected for another model than `model`."""
        if self._model is not None and self._model is not model:
            self._filled, self.moments = 0, self.moments_of(model)
        self._model = model

    def rows_until_change(self) -> int:
        """Number of rows that can be added before the scores of a row may change."""
        return np.iinfo(np.int64).max if self.moments is None else self._block(self.moments) - self._filled

    def add(self, model: Model, rows: FloatArray) -> None:
        """Add counted `rows`, at most `rows_until_change` of them; ignored during the warm-up of `model`."""
        if model.warm_up is not None:
            return
        self.begin(model)
        if self.moments is None:
            return
        self.moments.match_rules(model.trained())
        block = self._block(self.moments)
        self._wait(rows)
        if self._filled == block:
            self._filled = 0
            self.moments.update(model, self._waiting[:block])

    @staticmethod
    def _block(moments: SecondMoments) -> int:
        """Rows per block."""
        return min(max(_SHORTEST_BLOCK, moments.n_seen // _BLOCK_SHARE), _LONGEST_BLOCK)

    def _wait(self, rows: FloatArray) -> None:
        """Copy `rows` behind those that wait."""
        if self._waiting.shape[1] != rows.shape[1] or not len(self._waiting):
            self._waiting, self._filled = _room_for(_LONGEST_BLOCK, rows.shape[1]), 0
        end = self._filled + len(rows)
        self._waiting[self._filled : end] = rows
        self._filled = end

    def arrays(self, n_features: int) -> Arrays:
        """The state for rows of `n_features` features, by name."""
        kept = {} if self.moments is None else prefixed("moments", self.moments.arrays())
        comparable = self._waiting.shape[1] == n_features  # else features were added or removed: `_wait` starts anew
        waiting = self._waiting[: self._filled] if comparable else _room_for(0, n_features)
        return {**WAITING_ROWS.arrays_of(WaitingRows(waiting)), **kept}

    def restore(self, arrays: Arrays, n_features: int) -> None:
        """Take over the state in `arrays`, for rows of `n_features` features; DataError if it does not fit."""
        moments = part_of(arrays, "moments")
        check_names(arrays, ["waiting", *prefixed("moments", moments)])
        rows = size_of(arrays, "waiting")
        check_arrays({"waiting": arrays["waiting"]}, WAITING_ROWS.expected({"row": rows, "feature": n_features}))
        check_samples("waiting", arrays["waiting"])
        if self.moments is None:
            check_names(arrays, ["waiting"])
            require(rows == 0, "waiting", "no rows")
            return
        with inside("moments"):
            self.moments = SecondMoments.from_arrays(moments)
            require(self.moments.every == _EVERY, "counts", f"each {_EVERY}th sample")
        require(rows < self._block(self.moments), "waiting", f"fewer than {self._block(self.moments)} rows")
        if rows:
            self._wait(arrays["waiting"])


def _room_for(rows: int, n_features: int) -> FloatArray:
    """Return room for waiting `rows` of `n_features` features."""
    return WAITING_ROWS.allocate({"row": rows, "feature": n_features}).waiting


def total_weight(moments: Moments) -> float:
    """Return the weight of all samples, which is the last entry of M_0; 1 where there were none: it is a divisor."""
    rows = moments.pending_M[0, : moments.n_pending[0], -1]
    return float(moments.M[0, -1, -1] + rows @ rows) or 1.0

"""`FollowingRules`: a rule base that follows drift, with a fast and a linear member beside its rules.

All three members answer every row, and the mixer weighs them per label (`drift.loops`). The rules and their sums,
as in `RuleBase`, are the slow member. The fast member has the same rules with sums that fade. So the mixture of both is
again one rule base, with consequents in between.
"""

from typing import Any, NamedTuple

import numpy as np

from evolabel.core.events import SHIFTS
from evolabel.core.rows import Batch
from evolabel.core.schema import new_entries
from evolabel.engine.compile import direct, interpreted
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.arrays import (
    BORN,
    CUT,
    CUT_DUE,
    DRIFT,
    FACTOR,
    FAST,
    MEMBER_ARRAYS,
    N_REVERSED,
    NEVER,
    OFFSET,
    RECOVERED,
    RENEWAL_DUE,
    RENEWED,
    REVERSAL_DUE,
    ROWS,
    SENSOR_MOVED,
    SETTLED,
    SLOW,
    SLOW_START,
    MemberArrays,
    Members,
    allocate_members,
    with_scratch,
)
from evolabel.stages.drift.loops.follow import reversal_limit
from evolabel.stages.drift.loops.mixer import current_weights
from evolabel.stages.rules import fast_sums, slots
from evolabel.stages.rules.arrays import BLOCKS, RuleArrays, Settings, State
from evolabel.stages.rules.label_rates import set_rate
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import Scaler
from evolabel.typing import BoolArray, FloatArray

IDLE_ROWS = 5000  # rows of the stream without firing after which a rule gives up its slot first

LABEL_EVENTS = {DRIFT: "drift", RECOVERED: "recovered", SETTLED: "settled"}

_OF_PRESENT_ROW = ("F", "s", "x", "other")  # scratch arrays that are needed after a rule was created for a row

_current_weights = direct(current_weights)
_reversal_limits: Any = interpreted(reversal_limit)  # of whole arrays, too


class KeptMembers(NamedTuple):
    """The members as kernels take them, and the arrays and settings from which they were made."""

    rules: RuleArrays
    settings: Settings
    arrays: MemberArrays
    members: Members
    packed: Any
    fast: RuleState


class MovedSensor(NamedTuple):
    """A sensor that has moved: row of the verdict, number of the feature, and how it is read.

    `mean` and `variance` are those of its readings in calm times, `old` and `new` the offset and factor of its
    corrected reading before and after the verdict.
    """

    row: int
    feature: int
    mean: float
    variance: float
    old: tuple[float, ...]
    new: tuple[float, ...]


class FollowingRules(RuleBase):
    """A rule base whose fast and linear member follow the stream when labels change their meaning.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    settings : Settings
        Parameters of the kernels; `memory` is above 0.
    scaler : Scaler
        Scaling of the rows; the members watch whether sensors leave it.
    arrays : RuleArrays, optional
        The rules, as for `RuleBase`.

    Attributes
    ----------
    members : MemberArrays
        State of the linear member, the mixer, the alarms and the clock.
    """

    def __init__(
        self, n_features: int, n_labels: int, settings: Settings, scaler: Scaler, arrays: RuleArrays | None = None
    ) -> None:
        super().__init__(n_features, n_labels, settings, arrays)
        self.scaler = scaler
        self.members = allocate_members(n_features, n_labels)
        self.ended_elsewhere: set[int] = set()  # labels whose drift a refiner has noticed, and ends
        self.moved_sensors: list[MovedSensor] = []  # that the last call of `learn_raw` has found
        self._kept_members: KeptMembers | None = None

    @property
    def has_fast(self) -> bool:
        """Whether the fast member has begun; before, it would be the same as the slow one."""
        return bool(self.members.clock[BORN] != NEVER)

    @property
    def slow(self) -> RuleState:
        """The rules with the sums of the slow member alone."""
        return RuleState(self.n_features, self.arrays, self.settings)

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has drifted and neither recovered nor settled yet."""
        return np.asarray(self.members.episode != NEVER)

    @property
    def fast(self) -> RuleState:
        """The rules with the sums of the fast member."""
        return self.kept_members.fast

    @property
    def block(self) -> int:
        """Block of the stream that the present row is in."""
        return max(int(self.members.clock[ROWS]) - 1, 0) // (self.settings.memory // BLOCKS)

    # ------------------------------------------------------------------ answering

    def weights(self, slot: int) -> FloatArray:
        """Return W of `slot`, (q, K): that of slow and fast member, mixed by their weights for each label."""
        slow = super().weights(slot)
        if not self.has_fast or self.arrays.locked[slot]:
            return slow
        part = self.part_of_fast
        return (1.0 - part) * slow + part * self.fast.weights(slot)

    @property
    def mixer_weights(self) -> FloatArray:
        """Weights of the slow, the fast and the linear member for each label, (3, K)."""
        kept = self.kept_members
        _current_weights(kept.packed)
        return kept.members.w.copy()

    @property
    def part_of_fast(self) -> FloatArray:
        """Weight of the fast member for each label, where slow and fast add up to 1, (K,)."""
        w = self.mixer_weights
        both = w[SLOW] + w[FAST]
        return np.asarray(np.divide(w[FAST], both, out=np.zeros(len(both)), where=both > 0.0))

    # ------------------------------------------------------------------ learning

    def learn_raw(self, batch: Batch, scaler: Scaler) -> None:
        """Learn the raw rows of `batch`; they are scaled row by row, because sensors may be corrected in between."""
        self.moved_sensors.clear()
        self.learn(batch._replace(X=np.empty(batch.X.shape), raw=batch.X))

    @property
    def packed_members(self) -> Any:
        """The members as `learn_rows` takes them."""
        return self.kept_members.packed

    @property
    def kept_members(self) -> KeptMembers:
        """The members, made again when arrays or settings were replaced; outputs of the present row stay."""
        kept = self._kept_members
        same = kept is not None and kept.rules is self.arrays and kept.settings is self.settings
        if kept is None or not same or kept.arrays is not self.members:
            sums, own = fast_sums.fast_arrays(self.arrays), self.workspace
            work = own._replace(u=np.empty_like(own.u))
            state = State(sums, self.settings, work)
            made = with_scratch(self.members, state, self.arrays.fast_block, self.scaler.knot_arrays)
            if kept is not None and kept.members.F.shape == made.F.shape and kept.members.s.shape == made.s.shape:
                for name in _OF_PRESENT_ROW:
                    getattr(made, name)[:] = getattr(kept.members, name)
            fast = RuleState(self.n_features, sums, self.settings)
            kept = KeptMembers(self.arrays, self.settings, self.members, made, pack(made), fast)
            self._kept_members = kept
        return kept

    def log(self, kind: str, rule: int | None, other: int | None, note: str = "", **about: Any) -> None:
        """Append an event as a `RuleBase` does; a shift of the stream has its row, by the clock, as its sample."""
        super().log(kind, rule, other, note, **about)
        if kind in SHIFTS:
            self.events[-1] = self.events[-1]._replace(sample=int(self.members.clock[ROWS]))

    def _settle(self) -> None:
        """Log what the last row has shown, start, reverse or cut the fast member, or renew the slow one from it."""
        kept, clock, now = self.kept_members, self.members.clock, int(self.members.clock[ROWS])
        members = kept.members
        self._log_labels(members)
        self._log_features(members)
        if not self.has_fast and (members.due[CUT_DUE] or now >= self.settings.memory):
            start_fast(self)
        if members.due[REVERSAL_DUE]:
            self._reverse()
        if members.due[RENEWAL_DUE]:
            self._renew(now)
        if members.due[CUT_DUE]:
            fast_sums.cut(self.arrays, self.settings)
            clock[CUT] = now
        members.happened[:] = 0
        members.verdict[:] = 0
        members.due[:] = 0

    def _log_labels(self, members: Members) -> None:
        """Log the labels that have drifted, recovered or settled at the last row."""
        episode, now = self.members.episode, int(self.members.clock[ROWS])
        for label in np.flatnonzero(members.happened).tolist():
            kind, since = LABEL_EVENTS[int(members.happened[label])], int(episode[label])
            if kind != "drift" and label in self.ended_elsewhere:
                continue
            before, after = self.members.depth[:, label].tolist()
            about: dict[str, Any] = {"label": label, "before": before, "after": after, "rows": now - since}
            self.log(kind, None, None, **about)
            if kind != "drift":
                episode[label] = NEVER

    def _log_features(self, members: Members) -> None:
        """Log the features of a trial that has ended."""
        for feature in np.flatnonzero(members.verdict).tolist():
            before, after, deviations, variance, *old = members.moved[:, feature].tolist()
            kind = "sensor moved" if members.verdict[feature] == SENSOR_MOVED else "inputs moved"
            if kind == "sensor moved":
                new = self.members.views[[OFFSET, FACTOR], feature].tolist()
                row = int(self.members.clock[ROWS])
                self.moved_sensors.append(MovedSensor(row, feature, before, variance, tuple(old), tuple(new)))
            about: dict[str, Any] = {"feature": feature, "before": before, "after": after, "deviations": deviations}
            self.log(kind, None, None, **about)

    def _reverse(self) -> None:
        """Let fast and linear member answer the opposite for labels in a drift that contradict them beyond doubt."""
        odds, before = self.members.reversal[:N_REVERSED], self.members.reversal[N_REVERSED:]
        found = (odds > _reversal_limits(before)) & self.drifting
        of_fast, of_linear = found
        of_fast &= self.has_fast
        if of_fast.any():
            fast_sums.reverse_labels(of_fast, self.arrays)
        self.members.W[of_linear] *= -1.0
        odds[found], before[found] = 0.0, 1.0

    def _renew(self, now: int) -> None:
        """Set the sums and losses of the slow member to those of the fast one at the row `now`."""
        fast_sums.renew_slow(self.block, self.arrays, self.settings)
        members, memory = self.members, self.settings.memory
        since_cut = now - int(members.clock[CUT])
        members.losses[SLOW] = members.losses[FAST]
        members.paired[:] = 0.0
        members.clock[RENEWED], members.clock[SLOW_START] = now, now - memory
        rows = min(memory, since_cut) if members.clock[CUT] != NEVER else memory
        self.log("renewed", None, None, rows=rows)

    # ------------------------------------------------------------------ changes of the rules

    def _give_up_slot(self) -> bool:
        """Merge a rule that has not fired for `IDLE_ROWS` rows into its nearest neighbour; return whether one was."""
        blocks = IDLE_ROWS // (self.settings.memory // BLOCKS)
        used = slice(1, self.n_rules + 1)
        idle = self.block - self.arrays.fast_block[used] > blocks
        idle &= self.arrays.locked[used] == 0
        if not self.has_fast or not idle.any():
            return False
        slot = 1 + int(np.flatnonzero(idle)[np.argmin(self.arrays.fast_block[used][idle])])
        self.merge(slot, slots.closest_to(slot, self.arrays, self.settings.most_count))
        return True

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, with weights 0 and the rate of `RuleBase.grow_labels` in all members."""
        known, rate = self.n_labels, self.rate_of_new_label
        super().grow_labels(n_labels)
        set_rate(self.fast, n_labels - known, rate)
        self.members = MEMBER_ARRAYS.rearranged(self.members, {"label": new_entries(known, n_labels)})
        self.members.W[known:, -1] = np.log(rate / (1.0 - rate))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_kept_members": None, "moved_sensors": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays are copied, as in `RuleBase`."""
        super().__setstate__(state)
        self.members = MEMBER_ARRAYS.writeable(self.members)


def start_fast(rules: FollowingRules) -> None:
    """Start the fast member of `rules` as a copy of the slow one."""
    for slot in range(rules.n_rules + 1):
        fast_sums.copy_slow(rules.arrays, slot, rules.block)
    members = rules.members
    members.losses[FAST] = members.losses[SLOW]
    members.paired[:] = 0.0
    members.clock[[BORN, RENEWED]] = members.clock[ROWS]

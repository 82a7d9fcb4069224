"""`Drift`: a fast and a linear member beside the rules, which follow labels that change their meaning.

All three members answer every row, and the mixer weighs them per label (`drift.loops`). The rules and their sums are
the slow member. The fast member has the same rules with sums that fade. So the mixture of both is again one rule base,
with consequents in between. `NoDrift` has the same methods where drift is not followed: the rules answer alone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from evolabel.core.events import OF_POSITIVES, SHIFTS, Event
from evolabel.core.rows import Rows
from evolabel.core.schema import new_entries, of_features
from evolabel.engine.compile import direct, interpreted
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.arrays import (
    BORN,
    CALM,
    CUT,
    CUT_DUE,
    DRIFT,
    FAST,
    LAG,
    LOST,
    MEMBER_ARRAYS,
    N_ALARM,
    N_MEMBERS,
    N_REVERSED,
    NEVER,
    RECOVERED,
    RENEWAL_DUE,
    RENEWED,
    REVERSAL_DUE,
    ROW_PACE,
    ROWS,
    SETTLED,
    SLOW,
    SLOW_START,
    MemberArrays,
    Members,
    allocate_members,
    with_scratch,
)
from evolabel.stages.drift.file_checks import check_members
from evolabel.stages.drift.loops.alarm import CALM_MEAN, IS_LOST, IS_RAISED, SHORT_MEAN, excuse
from evolabel.stages.drift.loops.follow import reversal_limit
from evolabel.stages.drift.loops.members import current_weights, mix_rows, standard_rows
from evolabel.stages.drift.merge_members import merged_members
from evolabel.stages.drift.relatives import covariances
from evolabel.stages.rules import fast_sums, slots
from evolabel.stages.rules.arrays import BLOCKS, RuleArrays, Settings, State
from evolabel.stages.rules.rule_state import RuleState, set_rate
from evolabel.stages.rules.stage import Beside, RuleBase
from evolabel.stages.rules.weights import answers
from evolabel.stages.scaling.stage import Scaler
from evolabel.stages.sensors.arrays import UNSETTLED
from evolabel.stages.sensors.stage import Sensors, WatchedSensors
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

IDLE_ROWS = 5000  # rows of the stream without firing after which a rule gives up its slot first

LABEL_EVENTS = {DRIFT: "drift", LOST: "drift", RECOVERED: "recovered", SETTLED: "settled"}

_OF_PRESENT_ROW = ("F", "s", "other")  # scratch arrays that are needed after a rule was created for a row
_NO_OUTPUTS = np.empty((0, 0))

_current_weights = direct(current_weights)
_mix_rows, _standard_rows = direct(mix_rows), direct(standard_rows)
_reversal_limits: Any = interpreted(reversal_limit)  # of whole arrays, too


class KeptMembers(NamedTuple):
    """The members as loops take them, and the arrays and settings from which they were made."""

    rules: RuleArrays
    settings: Settings
    arrays: MemberArrays
    members: Members
    packed: Any
    fast: RuleState


class NoDrift:
    """The stage where drift is not followed: the `rules` answer alone, and nothing is watched."""

    name = "drift"

    def __init__(self, rules: RuleBase) -> None:
        self.rules = rules
        self.sensors = Sensors()
        self.ended_by_trees: set[int] = set()  # labels whose drift threshold rules have noticed, and end
        self.excused: set[int] = set()  # labels that the last rows of the stream have shown to be excused by a sensor

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has drifted and neither recovered nor settled yet, (K,)."""
        return np.zeros(self.rules.n_labels, np.bool_)

    @property
    def n_rows(self) -> int | None:
        """Rows of the stream so far, answered or not; None where they are not counted."""
        return None

    @property
    def packed(self) -> Any:
        """The members as compiled loops take them; None without members."""
        return None

    @property
    def with_sums(self) -> list[RuleState]:
        """The members that have sums H and G."""
        return [self.rules]

    @property
    def linear(self) -> FloatArray | None:
        """Weights of the linear member, (K, q); None where there is none."""
        return None

    def linear_scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of the raw rows `X` as the linear member takes them, (rows, q); none without one."""
        return np.empty((len(X), 0))

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of each raw feature by which the linear member scales it, (p,); 0 without one."""
        return np.zeros(self.rules.n_features)

    @property
    def alarms(self) -> FloatArray:
        """Alarms of the slow member and of the mixture (`drift.loops.alarm`); all 0 where nothing is watched."""
        return np.zeros((2, self.rules.n_labels, N_ALARM))

    @property
    def persistence(self) -> FloatArray | None:
        """Counts of changes between neighbouring answers (`core.pace`), by label; None where no part counts them."""
        return None

    @property
    def mixer_weights(self) -> FloatArray:
        """Weights of the slow, the fast and the linear member for each label, (3, K)."""
        weights = np.zeros((N_MEMBERS, self.rules.n_labels))
        weights[SLOW] = 1.0
        return weights

    # ------------------------------------------------------------------ answering

    def answer(self, rows: Rows) -> None:
        """Leave the outputs of `rows` as they are."""

    def weights(self, slot: int) -> FloatArray:
        """Return the consequents W of `slot`, (q, K), of the members that have the rules, mixed by their weights."""
        return self.rules.weights(slot)

    def mixed(self, read: Callable[[RuleState], FloatArray]) -> FloatArray:
        """Return what `read` returns for each member that has the rules, (1 + C, K, ...), mixed as by `weights`."""
        return read(self.rules)

    # ------------------------------------------------------------------ what other stages have found

    @property
    def episode(self) -> IntArray:
        """Row of the stream at which each label has drifted, (K,); `NEVER` while it is calm."""
        return np.full(self.rules.n_labels, NEVER)

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that are not learned."""

    def follow(self, events: Iterable[Event], ended_by_trees: BoolArray) -> None:
        """Let the labels of `events`, which threshold rules have logged, be in a drift, or calm again.

        Threshold rules end the drifts of the labels `ended_by_trees`, (K,), and the members those of the others.
        """

    @property
    def is_unsettled(self) -> bool:
        """Whether a sensor may have moved, so that drifts are held."""
        return False

    @property
    def drifts_held(self) -> dict[int, dict[str, Any]]:
        """Labels whose drifts are held, by number, with an empty dictionary each."""
        return {}

    def hold(self, found: Mapping[int, Mapping[str, Any]]) -> None:
        """Hold drifts that threshold rules have `found`, by label, while a sensor may have moved."""

    def restart_alarms(self) -> None:
        """Reset the alarms that are not raised."""

    def relate(self, errors: FloatArray) -> None:
        """Learn labels without an answer from now on, by the covariances of `errors`, (n, K); NaN: no answer."""

    # ------------------------------------------------------------------ changes of the rules and their widths

    def resume_fading(self, slot: int) -> None:
        """Let the fast sums of `slot` fade from now on: they did not while its rule was locked."""

    def grow_labels(self, known: int, n_labels: int) -> None:
        """Add labels to the members, from `known` up to `n_labels`, at the rate of `RuleBase.grow_labels`."""

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels of the members into this `order`; those of the rules are."""

    def fade_to_present(self, *, begin: bool = False) -> None:
        """Fade the fast sums to their present, so that others can follow; `begin` them if they have not begun."""

    def take_features(self, other: Any, kept: IntArray) -> None:
        """Copy the members of `other`, whose columns `kept` are the first features of these rules."""

    def stored(self) -> Arrays:
        """Return the arrays of the members by name, as files have them."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Set the members to copies of stored `arrays`; DataError if they are not those of such members."""

    def align(self, other: Any) -> None:
        """Bring the fast sums of both, of models trained apart, to their own present, so that they can be added."""

    def merge(self, other: Any) -> None:
        """Add what the members of `other` have learned, whose labels and features are in the same order."""


class Drift(NoDrift, Beside):
    """The fast and the linear member beside the `rules`, the mixer and the alarms of the labels.

    Parameters
    ----------
    rules : RuleBase
        The slow member; `memory` of its settings is above 0.
    scaler : Scaler
        Scaling of the rows; the members watch whether sensors leave it.
    arrays : MemberArrays, optional
        State of the members; by default they have learned nothing.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : MemberArrays
        State of the linear member, the mixer, the alarms and the clock.
    """

    def __init__(
        self, rules: RuleBase, scaler: Scaler, arrays: MemberArrays | None = None, *, exclusive: bool = False
    ) -> None:
        super().__init__(rules)
        self.exclusive = exclusive
        self.sensors: WatchedSensors = WatchedSensors(rules.n_features)
        self.scaler = scaler
        self.arrays = allocate_members(rules.n_features, rules.n_labels) if arrays is None else arrays
        self._kept: KeptMembers | None = None
        rules.beside = self

    @property
    def has_fast(self) -> bool:
        """Whether the fast member has begun; before, it would be the same as the slow one."""
        return bool(self.arrays.clock[BORN] != NEVER)

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has drifted and neither recovered nor settled yet, (K,)."""
        return np.asarray(self.arrays.episode != NEVER)

    @property
    def n_rows(self) -> int:
        """Rows of the stream so far, answered or not."""
        return self.arrays.clock.item(ROWS)

    @property
    def fast(self) -> RuleState:
        """The rules with the sums of the fast member."""
        return self.kept.fast

    @property
    def with_sums(self) -> list[RuleState]:
        """The members that have sums H and G: slow and fast."""
        return [self.rules, self.fast]

    @property
    def linear(self) -> FloatArray | None:
        """Weights of the linear member, (K, q)."""
        return self.arrays.W

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of each raw feature by which the linear member scales it, (p,)."""
        return np.sqrt(self.arrays.variance)

    @property
    def alarms(self) -> FloatArray:
        """Alarms of the slow member and of the mixture (`drift.loops.alarm`)."""
        return self.arrays.alarms

    @property
    def persistence(self) -> FloatArray | None:
        """Counts of changes between neighbouring answers (`core.pace`), by label."""
        return self.arrays.persistence

    @property
    def block(self) -> int:
        """Block of the stream, in time, that the present row is in."""
        return max(self.now - 1, 0) // (self.rules.settings.memory // BLOCKS)

    @property
    def now(self) -> int:
        """The time of the stream, in which the fast member fades: rows, but less where answers persist."""
        return self.n_rows - int(self.arrays.time[LAG])

    @property
    def packed(self) -> Any:
        """The members as compiled loops take them."""
        return self.kept.packed

    @property
    def kept(self) -> KeptMembers:
        """The members, made again when arrays or settings were replaced; outputs of the present row stay."""
        kept, rules = self._kept, self.rules
        if (
            kept is None
            or kept.rules is not rules.arrays
            or kept.settings is not rules.settings
            or kept.arrays is not self.arrays
            or kept.members.sensors.arrays is not self.sensors.arrays
        ):
            sums, own = fast_sums.fast_arrays(rules.arrays), rules.workspace
            work = own._replace(u=np.empty_like(own.u))
            state = State(sums, rules.settings, work)
            knots = self.scaler.knot_arrays
            made = with_scratch(
                self.arrays, state, rules.arrays.fast_block, knots, self.sensors.state, exclusive=self.exclusive
            )
            if kept is not None and kept.members.F.shape == made.F.shape and kept.members.s.shape == made.s.shape:
                for name in _OF_PRESENT_ROW:
                    getattr(made, name)[:] = getattr(kept.members, name)
            fast = RuleState(rules.n_features, sums, rules.settings)
            kept = KeptMembers(rules.arrays, rules.settings, self.arrays, made, pack(made), fast)
            self._kept = kept
        return kept

    # ------------------------------------------------------------------ answering

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows`, which are those of the slow member, to those of all members."""
        fast = answers(self.fast, rows.Z).outputs if self.has_fast and not len(rows.W) else _NO_OUTPUTS
        _mix_rows(self.packed, rows.read, fast, len(rows.W) > 0, rows.outputs)

    def linear_scores(self, X: FloatArray) -> FloatArray:
        """Return the standard scores of the raw rows `X` as the linear member takes them, with ones, (rows, q)."""
        out = np.empty((len(X), self.rules.n_features + 1))
        _standard_rows(self.packed, self.sensors.corrected(X), out)
        return out

    def weights(self, slot: int) -> FloatArray:
        """Return W of `slot`, (q, K): that of slow and fast member, mixed by their weights for each label."""
        slow = self.rules.weights(slot)
        if not self.has_fast or self.rules.arrays.locked[slot]:
            return slow
        part = self.part_of_fast
        return (1.0 - part) * slow + part * self.fast.weights(slot)

    def mixed(self, read: Callable[[RuleState], FloatArray]) -> FloatArray:
        """Return what `read` returns for each member that has the rules, (1 + C, K, ...), mixed as by `weights`."""
        slow = read(self.rules)
        if not self.has_fast:
            return slow
        part = self.part_of_fast.reshape(-1, *[1] * (slow.ndim - 2))
        return (1.0 - part) * slow + part * read(self.fast)

    @property
    def mixer_weights(self) -> FloatArray:
        """Weights of the slow, the fast and the linear member for each label, (3, K)."""
        kept = self.kept
        _current_weights(kept.packed)
        return kept.members.w.copy()

    @property
    def part_of_fast(self) -> FloatArray:
        """Weight of the fast member for each label, where slow and fast add up to 1, (K,)."""
        w = self.mixer_weights
        both = w[SLOW] + w[FAST]
        return np.asarray(np.divide(w[FAST], both, out=np.zeros(len(both)), where=both > 0.0))

    # ------------------------------------------------------------------ learning

    def _log(self, kind: str, note: str = "", **about: Any) -> None:
        """Log a shift of the stream, `about` a label or a feature, at the present row of the stream."""
        assert kind in SHIFTS
        self.rules.log(kind, None, None, note, sample=self.n_rows, **about)

    def adapt(self) -> None:
        """Log what the last row has shown, start, reverse or cut the fast member, or renew the slow one from it."""
        kept, clock, now = self.kept, self.arrays.clock, self.now
        members = kept.members
        self._log_labels(members)
        for kind, about in self.sensors.verdicts(self.n_rows):
            self._log(kind, **about)
            if kind == "sensor moved":
                self._excuse_held()
        if not self.has_fast and (members.due[CUT_DUE] or now >= self.rules.settings.memory):
            self._start_fast()
        if members.due[REVERSAL_DUE]:
            self._reverse()
        if members.due[RENEWAL_DUE]:
            self._renew(now)
        if members.due[CUT_DUE]:
            fast_sums.cut(self.rules.arrays, self.rules.settings)
            clock[CUT] = now
        members.happened[:] = 0
        members.due[:] = 0

    def _log_labels(self, members: Members) -> None:
        """Log the labels that have drifted, recovered or settled at the last row."""
        episode, now = self.arrays.episode, self.n_rows
        for label in np.flatnonzero(members.happened).tolist():
            kind, since = LABEL_EVENTS[int(members.happened[label])], int(episode[label])
            if kind != "drift" and label in self.ended_by_trees:
                continue
            before, after = self.arrays.depth[:, label].tolist()
            note = OF_POSITIVES if members.happened[label] == LOST else ""
            about: dict[str, Any] = {"label": label, "before": before, "after": after, "rows": now - since}
            self._log(kind, note, **about)
            if note:
                self._compare_all_rows(label)
            if kind != "drift":
                episode[label] = NEVER

    def _excuse_held(self) -> None:
        """Forget recent errors of labels, and let those whose drifts are held be calm: a sensor has moved.

        It is corrected now.
        """
        arrays = self.arrays
        is_held = arrays.held != CALM
        for label in np.flatnonzero(is_held | ~self.drifting).tolist():
            for alarm in arrays.alarms[:, label]:
                excuse(alarm, arrays.positives[label])
        arrays.episode[is_held], arrays.held[is_held] = NEVER, CALM
        self.excused |= {*np.flatnonzero(is_held).tolist()}

    def _compare_all_rows(self, label: int) -> None:
        """Set the depth of the drift of `label` to the errors of all its rows, which "recovered" compares."""
        self.arrays.depth[:, label] = self.arrays.alarms[1, label, [CALM_MEAN, SHORT_MEAN]]

    def _reverse(self) -> None:
        """Let fast and linear member answer the opposite for labels in a drift that contradict them beyond doubt."""
        odds, before = self.arrays.reversal[:N_REVERSED], self.arrays.reversal[N_REVERSED:]
        found = (odds > _reversal_limits(before)) & self.drifting
        of_fast, of_linear = found
        of_fast &= self.has_fast
        if of_fast.any():
            fast_sums.reverse_labels(of_fast, self.rules.arrays)
        self.arrays.W[of_linear] *= -1.0
        odds[found], before[found] = 0.0, 1.0

    def _renew(self, now: int) -> None:
        """Set the sums and losses of the slow member to those of the fast one at the time `now`."""
        fast_sums.renew_slow(self.block, self.rules.arrays, self.rules.settings)
        members, memory = self.arrays, self.rules.settings.memory
        since_cut = now - int(members.clock[CUT])
        members.losses[SLOW] = members.losses[FAST]
        members.paired[:] = 0.0
        members.clock[RENEWED], members.clock[SLOW_START] = now, now - memory
        remembered = min(memory, since_cut) if members.clock[CUT] != NEVER else memory
        self._log("renewed", rows=min(int(remembered / members.time[ROW_PACE]), self.n_rows))

    def _start_fast(self) -> None:
        """Start the fast member as a copy of the slow one."""
        for slot in range(self.rules.n_rules + 1):
            self._copy_slow(slot)
        members = self.arrays
        members.losses[FAST] = members.losses[SLOW]
        members.paired[:] = 0.0
        members.clock[[BORN, RENEWED]] = self.now

    # ------------------------------------------------------------------ what other stages have found

    @property
    def episode(self) -> IntArray:
        """Row of the stream at which each label has drifted, (K,); `NEVER` while it is calm."""
        return self.arrays.episode

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that are not learned."""
        clock, time = self.arrays.clock, self.arrays.time
        time[LAG] = max(time[LAG] + rows * (1.0 - time[ROW_PACE]), 0.0)
        least = clock[ROWS + 1 :].max() + int(time[LAG])
        clock[ROWS] = max(clock[ROWS] + rows, least)  # a row may be taken back that was not counted

    def follow(self, events: Iterable[Event], ended_by_trees: BoolArray) -> None:
        """Let the labels of `events`, which threshold rules have logged, be in a drift, or calm again.

        Threshold rules end the drifts of the labels `ended_by_trees`, (K,), and the members those of the others.
        """
        for event in events:
            if event.kind in LABEL_EVENTS.values() and isinstance(event.label, int):
                self.arrays.episode[event.label] = self.n_rows if event.kind == "drift" else NEVER
                if event.kind == "drift":
                    self.arrays.depth[:, event.label] = event.before, event.after
                    if event.note == OF_POSITIVES:
                        self._compare_all_rows(event.label)
                    self.arrays.reversal[N_REVERSED:, event.label] = 0.0
        self.ended_by_trees = set(np.flatnonzero(ended_by_trees & self.drifting).tolist())

    @property
    def is_unsettled(self) -> bool:
        """Whether a sensor may have moved, so that drifts are held."""
        return bool(self.sensors.arrays.trial[UNSETTLED])

    @property
    def drifts_held(self) -> dict[int, dict[str, Any]]:
        """Labels whose drifts are held, by number, with an empty dictionary each."""
        return {label: {} for label in self.arrays.held.nonzero()[0].tolist()}

    def hold(self, found: Mapping[int, Mapping[str, Any]]) -> None:
        """Hold drifts that threshold rules have `found`, by label, while a sensor may have moved.

        Labels with nothing about their drift are held already.
        """
        for label, about in found.items():
            if not about:
                continue
            self.arrays.episode[label] = self.n_rows
            self.arrays.held[label] = LOST if about.get("note") else DRIFT
            self.arrays.depth[:, label] = about["before"], about["after"]
            self.arrays.reversal[N_REVERSED:, label] = 0.0

    def restart_alarms(self) -> None:
        """Reset the alarms that are not raised."""
        calm = self.arrays.alarms[..., IS_RAISED] == 0.0
        self.arrays.alarms[calm] = 0.0
        self.arrays.positives[self.arrays.positives[:, IS_LOST] == 0.0] = 0.0
        self.arrays.reversal[:N_REVERSED, calm[1]] = 0.0

    def relate(self, errors: FloatArray) -> None:
        """Learn labels without an answer from now on, by the covariances of `errors`, (n, K); NaN: no answer."""
        if not self.arrays.relatives.size:
            self.arrays = self.arrays._replace(relatives=covariances(errors))

    # ------------------------------------------------------------------ changes of the rules and their widths

    def give_up_slot(self) -> bool:
        """Merge a rule that has not fired for `IDLE_ROWS` rows into its nearest neighbour; return whether one was."""
        rules = self.rules
        blocks = IDLE_ROWS // (rules.settings.memory // BLOCKS)
        used = slice(1, rules.n_rules + 1)
        idle = self.block - rules.arrays.fast_block[used] > blocks
        idle &= rules.arrays.locked[used] == 0
        if not self.has_fast or not idle.any():
            return False
        slot = 1 + int(np.flatnonzero(idle)[np.argmin(rules.arrays.fast_block[used][idle])])
        rules.merge_rules(slot, slots.closest_to(slot, rules.arrays, rules.settings.most_count))
        return True

    def _copy_slow(self, slot: int) -> None:
        """Set the fast sums of `slot` to the slow ones, which a person has written."""
        fast_sums.copy_slow(self.rules.arrays, slot, self.block)

    def resume_fading(self, slot: int) -> None:
        """Let the fast sums of `slot` fade from now on: they did not while its rule was locked."""
        fast_sums.set_block(self.block, self.rules.arrays, slot)

    def grow_labels(self, known: int, n_labels: int) -> None:
        """Add labels to the members, from `known` up to `n_labels`, at the rate of `RuleBase.grow_labels`."""
        rate = self.rules.rate_of_new_label
        set_rate(self.fast, n_labels - known, rate)
        self.arrays = MEMBER_ARRAYS.rearranged(self.arrays, {"label": new_entries(known, n_labels)})
        self.arrays.W[known:, -1] = np.log(rate / (1.0 - rate))

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels of the members into this `order`; those of the rules are."""
        self.arrays = MEMBER_ARRAYS.rearranged(self.arrays, {"label": order})

    def fade_to_present(self, *, begin: bool = False) -> None:
        """Fade the fast sums to their present, so that others can follow; `begin` them if they have not begun."""
        if begin and not self.has_fast:
            self._start_fast()
        if self.has_fast:
            fast_sums.fade_to(self.block, self.rules.arrays, self.rules.settings)

    def take_features(self, other: Any, kept: IntArray) -> None:
        """Copy the members of `other`, whose columns `kept` are the first features of these rules."""
        sources = of_features(kept, other.rules.n_features, self.rules.n_features)
        self.arrays = MEMBER_ARRAYS.rearranged(other.arrays, sources)
        self.sensors.take_features(other.sensors, sources)
        self.ended_by_trees = other.ended_by_trees
        if self.rules.settings.memory != other.rules.settings.memory:  # blocks have another length
            fast_sums.set_block(self.block, self.rules.arrays)  # to which sums have faded

    def stored(self) -> Arrays:
        """Return the arrays of the members by name, as files have them."""
        arrays = self.arrays._asdict()
        return arrays if self.arrays.relatives.size else {name: arrays[name] for name in arrays if name != "relatives"}

    def restore(self, arrays: Arrays) -> None:
        """Set the members to copies of stored `arrays`; DataError if they are not those of such members."""
        rules = self.rules
        arrays = {"relatives": np.empty((rules.n_labels, 0)), **arrays}
        check_members(arrays, rules.n_features, rules.n_labels, rules.settings.memory)
        self.arrays = MEMBER_ARRAYS.from_arrays(arrays)

    def align(self, other: Any) -> None:
        """Bring the fast sums of both, of models trained apart, to their own present, so that they can be added.

        A fast member that has not begun begins, if the other one has.
        """
        if not (self.has_fast or other.has_fast):
            return
        for drift in (self, other):
            drift.fade_to_present(begin=True)
        fast_sums.set_block(self.block, other.rules.arrays)

    def merge(self, other: Any) -> None:
        """Add what the members of `other` have learned, whose labels and features are in the same order."""
        self.arrays = merged_members(self.arrays, other.arrays)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = MEMBER_ARRAYS.writeable(self.arrays)

"""Merging two models trained apart: sufficient statistics add up.

If both scale alike, the merged global model is the one a single pass over both streams would have given. If not, the
other model's statistics are first translated: z' = a z + b per feature, under which moments, H and G change exactly.

A label that only one side has answers to counts as not annotated in the samples of the other side, which must leave its
weights as they are; so does a part of the samples of a side that has far fewer answers than the other. In the global
model G_other = H_other W_0 with the weights W_0 of the side that has answers: then
(H + H_other + penalty) W_0 = G + H_other W_0 holds exactly. The rules of the other side get G = H W, too, with the
weights W by which the side that has answers answers where the rule is.
"""

import copy
from collections import deque

import numpy as np

from evolabel._utils.text import with_article
from evolabel.engine.one_thread import one_blas_thread
from evolabel.errors import DataError
from evolabel.model.pipeline import merge_own, start_memory
from evolabel.model.seen_ranges import merged_ranges, without_waiting
from evolabel.model.stream_model import StreamModel
from evolabel.stages.answered_forest.stage import forest_of
from evolabel.stages.drift.stage import NoDrift
from evolabel.stages.first_tree.stage import merged_first_tree
from evolabel.stages.own.stage import Facts, difference_of
from evolabel.stages.rules.arrays import RULES, SEEN, Settings
from evolabel.stages.rules.label_rates import blend
from evolabel.stages.rules.loops.antecedents import derive_inverse_variance, pool_moments
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import Scaler
from evolabel.stages.threshold_rules.merging import merge_thresholds
from evolabel.stages.written_rules.merging import merge_written
from evolabel.typing import FloatArray, IntArray

# Translation by a straight line must leave less than this share of a feature's spread unexplained.
TOLERANCE = 0.25


def empty_like(model: StreamModel) -> StreamModel:
    """Return a model without samples but with the scaling, corrections of sensors, ridges and labels of `model`."""
    feedback = None if model.feedback is None else model.feedback.empty_like()
    sizes = model.n_features, model.n_labels
    stages = [stage.prototype for stage in model.own_stages]
    twin = type(model)(*sizes, model.options, exclusive=model.exclusive, feedback=feedback, stages=stages)
    twin.scaler, twin.ridge, twin.local_ridge, twin.warm_up = model.scaler, model.ridge, model.local_ridge, None
    assert model.scaler is not None
    twin.start_rules(model.scaler, twin.settings())
    twin.trees, twin.first_tree = twin.new_trees(), twin.new_first_tree()
    start_memory(twin)
    twin.ranges = without_waiting(model.ranges)
    twin.drift.sensors.copy(model.sensors)
    return twin


@one_blas_thread()
def merge(
    mine: StreamModel, theirs: StreamModel, n_labels: int, columns: list[int], *, exclusive: bool = False
) -> StreamModel:
    """Return a new model of what `mine` and `theirs` have learned; `columns` has the places of their labels.

    It has `n_labels` labels. Statistics hold no ridge, so they add up whatever the two ridges are; those of `mine` are
    kept. `exclusive`: labels are classes, so that samples without answers to a label are known not to carry it.
    """
    if mine.options.classifier != theirs.options.classifier:
        kinds = f"{with_article(mine.options.classifier)} and {with_article(theirs.options.classifier)}"
        raise DataError(f"the classifiers are {kinds}; merge only classifiers with the same parameters")
    _check_same_kind(mine.trained(), theirs.trained())
    if (mine.trees is None) != (theirs.trees is None):
        raise DataError("the classifiers differ in threshold_rules; merge only classifiers with the same parameters")
    if mine.options.memory != theirs.options.memory:
        raise DataError("the classifiers differ in memory; merge only classifiers with the same parameters")
    _check_same_stages(*([stage.facts() for stage in model.own_stages] for model in (mine, theirs)))
    if mine.options.rule_of_decisions != theirs.options.rule_of_decisions:
        raise DataError("the classifiers differ in what they optimise; merge only classifiers with the same parameters")
    united = copy.deepcopy(mine)
    if n_labels > united.n_labels:
        united.grow_labels(n_labels)
    drift, theirs_drift = united.drift, copy.deepcopy(theirs.drift)
    rules, other = drift.rules, theirs_drift.rules
    assert mine.scaler is not None
    assert theirs.scaler is not None
    drift.align(theirs_drift)
    place_labels(theirs_drift, n_labels, columns)
    translate(theirs_drift, *straight_lines(theirs.scaler, mine.scaler), rules.settings)
    if not exclusive:
        ours, others = (_annotated(model, n_labels, at) for model, at in ((united, None), (theirs, columns)))
        _count_in_part(drift, _own_part(others, ours), theirs_drift)
        _count_in_part(theirs_drift, _own_part(ours, others), drift)
    drift.merge(theirs_drift)
    _add_whole_stream(drift, theirs_drift)
    for slot in range(1, other.n_rules + 1):
        _add_copy(rules, other, slot)
    rules.shrink_to(rules.settings.max_rules)
    if united.trees is not None and theirs.trees is not None:
        merge_thresholds(united.trees, theirs.trees, n_labels, columns)
        drift.follow([], united.trees.drifting)
    united.first_tree = merged_first_tree(united.first_tree, theirs.first_tree, np.asarray(columns, np.int64))
    united.forest = None if mine.forest is None and theirs.forest is None else forest_of(united.trees)
    merge_own(united, theirs, np.asarray(columns, np.int64))
    if united.memory is not None and theirs.memory is not None:
        united.memory.merge(theirs.memory, np.asarray(columns, np.int64))
    if len(united.written) or len(theirs.written):
        merge_written(united.written, theirs.written, columns, rules, theirs.trained())
    united.n_answers[columns] += theirs.n_answers
    united.ranges = merged_ranges(mine.ranges, theirs.ranges)
    if united.feedback is not None and theirs.feedback is not None:
        united.feedback.merge(theirs.feedback, n_labels, columns)
    united.calibration.add(theirs.calibration, columns)
    if united.decisions is not None:
        united.decisions.add(theirs.decisions, columns)
    if united.following is not None and theirs.following is not None:
        united.following.add(theirs.following, columns)
    return united


def _add_copy(rules: RuleBase, other: RuleBase, slot: int) -> None:
    """Add a copy of the rule in `slot` of `other`, of the same widths, to `rules`, under a new identity."""
    rules.reserve(rules.n_rules + 1)
    target = rules.n_rules + 1
    rules.arrays.counters[RULES] = target
    rules.contents.set_slots(np.array([target]), {name: array[[slot]] for name, array in other.by_slot.items()})
    identity = rules.arrays.identity[target] = rules.new_number()
    rules.rule_names.add(int(identity), other.rule_names.names.get(int(other.arrays.identity[slot])))
    rules.log("joined", int(identity), None)


def _annotated(model: StreamModel, n_labels: int, columns: list[int] | None) -> FloatArray:
    """Answers to each of all labels, as a share of those to the model's best annotated label.

    `columns` has the places of its own labels.
    """
    share = np.zeros(n_labels)
    most = max(model.n_answers.max(initial=0.0), 1.0)
    share[slice(None) if columns is None else columns] = model.n_answers / most
    return share


def _own_part(own: FloatArray, others: FloatArray) -> FloatArray:
    """The part of a side's own statistics that counts for each label: 1 where it is at least half as well annotated.

    Below, the rest of its samples counts as not annotated. Five drifting streams, accuracy of a label that one side has
    1, 3, 10 and 50 answers to in 1,000 rows: .763 before the merge; .659, .695, .724, .749 if all its samples counted.
    """
    return np.where(others > 0.0, np.minimum(2.0 * own / np.where(others > 0.0, others, 1.0), 1.0), 1.0)


def _count_in_part(known: NoDrift, part: FloatArray, left: NoDrift) -> None:
    """Count only a `part` of the samples of `left`, (K,), for each label: the others change no weights of `known`."""
    labels = np.flatnonzero(part < 1.0)
    if not len(labels):
        return
    other = left.rules
    kept = part[labels]
    weights = _weights_at(known.rules, known, labels, other)
    of_sums = [_weights_at(known.rules, member, labels, other) for member in known.with_sums]
    for slot, W in enumerate(weights):
        for own, member in zip(of_sums, left.with_sums, strict=True):
            blend(member.arrays.G[slot], labels, kept, own[slot] @ member.hessian(slot))
        other.contents.leave_labels(slot, labels, kept, W, known.rules)


def _weights_at(known: RuleBase, member: NoDrift | RuleState, labels: IntArray, other: RuleBase) -> FloatArray:
    """Weights by which a `member` of `known` answers these labels, for every slot of `other`, (1 + C, labels, q).

    For the whole stream those of the global model; for a rule the mean of the rules that answer at its centre. Five
    drifting streams (seeds 0-4, 8 features, 1,000 samples each), accuracy of a label that one side has no answers to:
    .877 before the merge, .878 after it, .808 if rules get the global model's weights; paper(): .872, .864, .787.
    """
    W = np.stack([member.weights(slot).T[labels] for slot in range(known.n_rules + 1)])
    centres = np.ascontiguousarray(other.arrays.c[1 : other.n_rules + 1, : other.n_features])
    psi = known.memberships(centres)[0]
    alone = 1.0 - psi.sum(axis=1)  # 1 where there are no rules, else 0 up to rounding
    return np.concatenate([W[:1], np.tensordot(np.column_stack([alone, psi]), W, 1)])


def _check_same_kind(mine: RuleBase, theirs: RuleBase) -> None:
    """Statistics of different kinds do not add up."""
    ours, others = mine.kind, theirs.kind
    differ = [name for name in {**ours, **others} if ours.get(name) != others.get(name)]
    if differ:
        names = ", ".join(differ)
        raise DataError(f"the classifiers differ in kind ({names}); merge only classifiers with the same parameters")


def _check_same_stages(mine: list[Facts], theirs: list[Facts]) -> None:
    """Raise DataError unless the own stages of both sides have the same names, arrays and parameters."""
    differ = "the classifiers differ in stages"
    if [stage["name"] for stage in mine] != [stage["name"] for stage in theirs]:
        raise DataError(f"{differ}; merge only classifiers with the same ones")
    if difference := difference_of(mine, theirs):
        name, what, one, other = difference
        raise DataError(f"{differ}: the {what} of {name!r} are {one} and {other}; merge only classifiers with the same")


def place_labels(drift: NoDrift, n_labels: int, columns: list[int]) -> None:
    """Move the labels of the rules and members of `drift` to `columns` of `n_labels`; new ones have their base rate."""
    rules, known = drift.rules, drift.rules.n_labels
    if n_labels > known:
        rules.grow_labels(n_labels)
        drift.grow_labels(known, n_labels)
    order = np.argsort(columns + [c for c in range(n_labels) if c not in set(columns)])
    rules.contents.reorder_labels(order)
    drift.reorder_labels(order)


def straight_lines(source: Scaler, target: Scaler) -> tuple[FloatArray, FloatArray]:
    """a, b with target score = a * source score + b, fitted at the source's knots feature by feature."""
    p = len(source.used)
    a, b = np.ones(p), np.zeros(p)
    if _same(source, target):
        return a, b
    for j in range(p):
        raw = np.zeros((max(int(source.used[j]), 1), p))
        raw[:, j] = source.x[j, : len(raw)]
        u, v = source.transform(raw)[:, j], target.transform(raw)[:, j]
        if np.ptp(u) > 0.0:
            a[j], b[j] = np.polyfit(u, v, 1)
        else:
            b[j] = v[0]
        misfit = float(np.sqrt(np.mean((a[j] * u + b[j] - v) ** 2)))
        if misfit > TOLERANCE * max(float(v.std()), 1e-12) and misfit > 1e-9:
            raise DataError(
                f"feature {j} is scaled too differently in the two models (misfit {misfit:.2f}); "
                "train the parts from clf.sibling(), so that they share one scaling, and merge those"
            )
    return a, b


def translate(drift: NoDrift, a: FloatArray, b: FloatArray, settings: Settings) -> None:
    """Re-express all statistics of the rules of `drift` in scores `a` z + `b`, and what is derived by `settings`."""
    rules = drift.rules
    arrays = rules.arrays
    A = np.diag(np.append(a, 1.0))
    A[:-1, -1] = b
    for slot in range(rules.n_rules + 1):
        for member in drift.with_sums:
            member.arrays.H[slot] = A @ member.hessian(slot) @ A.T
            member.arrays.G[slot] = member.arrays.G[slot] @ A.T
            member.arrays.n_pending[slot] = 0
            member.derive_inverse(slot, settings)
        if arrays.W.shape[1]:
            arrays.W[slot] = np.linalg.lstsq(A.T, arrays.W[slot].T, rcond=None)[0].T
        rules.contents.translate(slot, a, b, settings)
    rules.settings = settings


def _add_whole_stream(kept: NoDrift, added: NoDrift) -> None:
    """Slot 0 and the counters of both together."""
    rules, other = kept.rules, added.rules
    spare = _borrowed_slot(rules, other)
    mine, theirs = rules.arrays, other.arrays
    pool_moments(0, spare, mine)
    derive_inverse_variance(0, mine, rules.settings)
    for member, another in zip(kept.with_sums, added.with_sums, strict=True):
        member.arrays.H[0] = member.hessian(0) + another.arrays.H[0]
        member.arrays.n_pending[0] = 0
        member.arrays.G[0] += another.arrays.G[0]
        member.derive_inverse(0, rules.settings)
    mine.born[: rules.n_rules + 1] += theirs.counters[SEEN]  # idle times stay what they are
    mine.last_won[: rules.n_rules + 1] += theirs.counters[SEEN]
    later = int(theirs.counters[SEEN])
    rules.events = deque((e._replace(sample=e.sample + later) for e in rules.events), maxlen=rules.events.maxlen)
    theirs.born[: other.n_rules + 1] += mine.counters[SEEN]
    theirs.last_won[: other.n_rules + 1] += mine.counters[SEEN]
    mine.counters[SEEN] += theirs.counters[SEEN]
    _pool_distances(mine.winner_stats, theirs.winner_stats)


def _borrowed_slot(rules: RuleBase, other: RuleBase) -> int:
    """Their slot-0 moments in a free slot of ours, for `pool_moments`."""
    rules.reserve(rules.n_rules + 1)
    slot = rules.n_rules + 1
    for name in ("c", "M", "n", "k"):
        getattr(rules.arrays, name)[slot] = getattr(other.arrays, name)[0]
    return slot


def _pool_distances(mine: FloatArray, theirs: FloatArray) -> None:
    n = mine[0] + theirs[0]
    if n > 0.0:
        mean = (mine[0] * mine[1] + theirs[0] * theirs[1]) / n
        within = (mine[0] * mine[2] + theirs[0] * theirs[2]) / n
        between = mine[0] * theirs[0] * (mine[1] - theirs[1]) ** 2 / n**2
        mine[:] = n, mean, within + between


def _same(source: Scaler, target: Scaler) -> bool:
    return all(np.array_equal(getattr(source, name), getattr(target, name)) for name in ("x", "z", "used", "slope"))

"""Merging two models trained apart: each stage adds what the same stage of the other model has learned."""

import copy

import numpy as np

from evolabel._utils.text import with_article
from evolabel.engine.symmetric import one_blas_thread
from evolabel.errors import DataError
from evolabel.model.pipeline import merge_stages, start_stages
from evolabel.model.seen_ranges import merged_ranges, without_waiting
from evolabel.model.stream_model import StreamModel
from evolabel.stages.drift.merging import merge_drifts
from evolabel.stages.own.stage import Facts, difference_of
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import straight_lines
from evolabel.stages.written_rules.stage import merge_written
from evolabel.typing import FloatArray, IntArray


def empty_like(model: StreamModel) -> StreamModel:
    """Return a model without samples but with the scaling, corrections of sensors, ridges and labels of `model`."""
    feedback = None if model.feedback is None else model.feedback.empty_like()
    sizes = model.n_features, model.n_labels
    stages = [stage.prototype for stage in model.own_stages]
    twin = type(model)(*sizes, model.options, exclusive=model.exclusive, feedback=feedback, stages=stages)
    twin.scaler, twin.ridge, twin.local_ridge, twin.warm_up = model.scaler, model.ridge, model.local_ridge, None
    assert model.scaler is not None
    twin.start_rules(model.scaler, twin.settings())
    start_stages(twin)
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
    assert mine.scaler is not None
    assert theirs.scaler is not None
    labels, theirs_drift = np.asarray(columns, np.int64), copy.deepcopy(theirs.drift)
    answers = None if exclusive else (_annotated(united, n_labels, None), _annotated(theirs, n_labels, labels))
    merge_drifts(united.drift, theirs_drift, labels, straight_lines(theirs.scaler, mine.scaler), answers)
    merge_stages(united, theirs, labels)
    if united.trees is not None:
        united.drift.follow([], united.trees.drifting)
    if len(united.written) or len(theirs.written):
        merge_written(united.written, theirs.written, columns, united.drift.rules, theirs.trained())
    united.n_answers[columns] += theirs.n_answers
    if united.plain_outputs is not None and theirs.plain_outputs is not None:
        united.plain_outputs.merge(theirs.plain_outputs, labels)
    united.ranges = merged_ranges(mine.ranges, theirs.ranges)
    if united.feedback is not None and theirs.feedback is not None:
        united.feedback.merge(theirs.feedback, n_labels, columns)
    return united


def _annotated(model: StreamModel, n_labels: int, columns: IntArray | None) -> FloatArray:
    """Answers to each of all labels, as a share of those to the model's best annotated label.

    `columns` has the places of its own labels.
    """
    share = np.zeros(n_labels)
    most = max(model.n_answers.max(initial=0.0), 1.0)
    share[slice(None) if columns is None else columns] = model.n_answers / most
    return share


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

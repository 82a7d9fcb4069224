"""What operators do to the model as a whole: rows with labels from before the project, a fit to them, another model."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.storage import classifier_in
from evolabel.errors import DataError
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.learner_changes import (
    REPLACED,
    Columns,
    blob_hash,
    fit_history,
    has_learned,
    model_columns,
)
from evolabel.server.project.operations import ConflictError, PlacedError, check_same_body
from evolabel.server.project.replay import versions
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.values import read_answers, read_cells

MOST_HISTORY = 100_000  # rows; they are kept in memory until the fit
_LEAST_ROWS = 10


class FitPlan(NamedTuple):
    """A state whose history and labels do not change, and the names of features and labels of its model."""

    state: ProjectState
    columns: Columns


class Fitted(NamedTuple):
    """A classifier, the number of rows it was fitted to, and the labels it has."""

    classifier: EvolvingFuzzyClassifier
    rows: int
    labels: list[str]


def add_history(batch: RecordBatch, rows: Sequence[Facts], origin: Origin) -> Facts:
    """Keep `rows` of `origin`, each with `x` and `y`, for a fit of the project in the `batch`; none is predicted.

    The same request again changes nothing.
    """
    if origin.key is not None and (known := batch.by_key(origin.key)):
        check_same_body(known, origin)
        return dict(known[0].entry.outcome)
    _check_untrained(batch.state.learner)
    if len(batch.state.history) + len(rows) > MOST_HISTORY:
        raise ConflictError("too-much-history", f"a history has at most {MOST_HISTORY} rows; send the newest")
    read = []
    for place, row in enumerate(rows):
        try:
            x, y = read_cells(batch.state.features, row["x"]), read_answers(batch.state.labels, row["y"])
        except DataError as error:
            raise PlacedError(f"/rows/{place}", str(error)) from None
        read.append({"x": x, "y": y})
    return batch.record("history", {"rows": read}, origin)


def plan_fit(batch: RecordBatch) -> FitPlan:
    """Return what a fit to the history of the project in the `batch` needs; ConflictError if there is no history."""
    state = batch.state
    _check_untrained(state.learner)
    if len(state.history) < _LEAST_ROWS:
        raise ConflictError(
            "no-history", f"the history has {len(state.history)} rows; send at least {_LEAST_ROWS} by POST history"
        )
    twin = copy.copy(state)
    twin.history, twin.labels = list(state.history), list(state.labels)
    return FitPlan(twin, model_columns(state.learner))


def fit_planned(plan: FitPlan) -> Fitted:
    """Return a classifier fitted by `plan`, in any thread."""
    classifier = fit_history(plan.columns, *plan.state.training_rows())
    return Fitted(classifier, len(plan.state.history), plan.state.label_names)


def take_fitted(batch: RecordBatch, fitted: Fitted, origin: Origin) -> Facts:
    """Go on with a `fitted` classifier in the `batch`, by order of `origin`; ConflictError if others came between."""
    _check_untrained(batch.state.learner)
    if (len(batch.state.history), batch.state.label_names) != fitted[1:]:
        raise ConflictError("model-moved", "rows or labels were added during the fit; fit again")
    batch.state.prepared = fitted.classifier
    return batch.record("fitted", {"rows": fitted.rows}, origin)


def check_model(learner: ActiveLearner, data: bytes) -> None:
    """Raise an error unless `data` is a model file whose classifier the `learner`, a copy, can go on with."""
    learner.replace_classifier(classifier_in(data, "the file"))


def replace_model(batch: RecordBatch, data: bytes, origin: Origin) -> Facts:
    """Go on with the classifier in `data`, checked before, in the `batch`; counts and questions stay."""
    if classifier_in(data, "the file").inner.label_names != batch.state.label_names:
        raise DataError("the model has other labels than the project; train it on those of the project")
    payload = {"hash": blob_hash(data), "versions": versions()}
    return batch.record(REPLACED, payload, origin, file=data)


def _check_untrained(learner: ActiveLearner) -> None:
    if has_learned(learner):
        raise ConflictError("already-trained", "the model has learned from answers; upload a model instead")

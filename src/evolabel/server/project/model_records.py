"""Records that give a project another classifier: trained on a history of rows with labels, or from a file."""

import hashlib
from typing import Any, Protocol

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.storage import classifier_in

REPLACED = "model.replaced"
REBUILT = "model.rebuilt"
NEW_MODEL_KINDS = ("fitted", REPLACED, REBUILT)
"""Kinds of records after which the numbers of rules may stand for others."""
MODEL_KINDS = ("history", *NEW_MODEL_KINDS)
_FILE = "data"  # name of the bytes of a file in the payload of a record, which the log keeps in a table of their own
Columns = tuple[list[str], list[str]]
"""Names of features and of labels."""


class ModelHolder(Protocol):
    """What these records change: the learner, the rows of the history, and a classifier fitted to them before."""

    learner: ActiveLearner
    history: list[dict[str, Any]]
    prepared: EvolvingFuzzyClassifier | None

    def seal(self) -> str:
        """Return a checksum of the state."""

    def training_rows(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return the features and the labels of the rows in the history."""


def change_model(state: ModelHolder, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Change `state` by a record of this `kind` and `payload`, and return its outcome."""
    if kind == "history":
        state.history += payload["rows"]
        return {"rows": len(state.history)}
    before = state.seal()
    if kind == REBUILT:
        state.learner = ActiveLearner.from_bytes(payload[_FILE])
        return {"seal_before": before, "seal": state.seal(), "left_out": payload["left_out"]}
    if kind == REPLACED:
        classifier = classifier_in(payload[_FILE], "the stored model")
    else:
        classifier = state.prepared or fit_history(model_columns(state.learner), *state.training_rows())
        state.prepared, state.history = None, []
    state.learner.replace_classifier(classifier)
    return {"rules": n_rules(classifier), "seal_before": before, "seal": state.seal()}


def model_columns(learner: ActiveLearner) -> Columns:
    """Return the names of the features and of the labels of the model of `learner`."""
    inner = learner.classifier.inner
    return list(inner.fitted.features or []), list(inner.label_names)


def fit_history(columns: Columns, X: list[list[float]], Y: list[list[float]]) -> EvolvingFuzzyClassifier:
    """Return a classifier with the names in `columns`, fitted to rows `X` with labels `Y`."""
    return EvolvingFuzzyClassifier().fit(X, Y).name_columns(*columns)


def has_learned(learner: ActiveLearner) -> bool:
    """Return whether the model of `learner` has learned from any row."""
    return learner.classifier.inner.any_model.n_seen > 0


def n_rules(classifier: EvolvingFuzzyClassifier) -> int:
    """Return the number of rules of `classifier`; 0 while it has too few rows for rules."""
    return 0 if classifier.inner.any_model.warm_up is not None else classifier.n_rules_


def blob_hash(data: bytes) -> str:
    """Return the name under which the log refers to `data`."""
    return hashlib.sha256(data).hexdigest()

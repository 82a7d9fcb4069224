"""What figures look at: a trained model and the names of its columns, asked for by name or by number."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.rules.scaling import Scaler
from evolabel.errors import DataError, DataTypeError, StateError
from evolabel.explain.relevance import feature_relevance
from evolabel.typing import FloatArray, IntArray


class Drawable(Protocol):
    """A classifier that lets figures look inside."""

    def figure_data(self) -> "Anatomy": ...  # noqa: D102


@dataclass(frozen=True)
class Anatomy:
    """A trained model with at least one rule, and the names of its features and labels."""

    model: StreamModel
    feature_names: list[str]
    label_names: list[str]

    def __post_init__(self) -> None:
        if self.rules.n_rules == 0:
            raise StateError("there are no rules yet that could be drawn; let the classifier learn first")

    @property
    def rules(self) -> RuleBase:
        """The rule base."""
        return self.model.trained()

    @property
    def scaler(self) -> Scaler:
        """The map between units and scores."""
        assert self.model.scaler is not None
        return self.model.scaler

    def feature(self, wanted: int | str) -> int:
        """Place of a feature given by its name or place."""
        return _place(wanted, self.feature_names, "feature")

    def label(self, wanted: int | str) -> int:
        """Place of a label given by its name or place."""
        return _place(wanted, self.label_names, "label")

    def slot(self, rule: int) -> int:
        """Slot of a rule given by its number for life."""
        known = self.rules.arrays.identity[1 : self.rules.n_rules + 1].tolist()
        if rule not in known:
            raise DataError(f"there is no rule {rule!r}; the rules are {', '.join(map(str, known))}")
        return int(known.index(rule)) + 1

    def name_of(self, slot: int) -> str:
        """What a person calls a rule."""
        identity = int(self.rules.arrays.identity[slot])
        return self.rules.words.names.get(identity) or f"rule {identity}"

    def best_supported(self, count: int) -> IntArray:
        """Slots of the rules that have won most."""
        support = self.rules.arrays.k[1 : self.rules.n_rules + 1]
        return np.argsort(-support, kind="stable")[:count] + 1

    def most_relevant(self, count: int) -> list[int]:
        """Places of the features that explain most of some label."""
        overall = feature_relevance(self.model, self.feature_names, self.label_names).overall
        return [int(j) for j in np.argsort(-overall, kind="stable")[:count]]

    def samples(self, X: object) -> FloatArray:
        """Raw rows, checked."""
        rows = _table(X, "X")
        if rows.ndim != 2 or rows.shape[1] != self.model.n_features:
            raise DataError(f"X has shape {rows.shape}, expected (n_samples, {self.model.n_features})")
        return rows

    def answers(self, Y: object, rows: int) -> FloatArray:
        """A label matrix, checked: (rows, n_labels)."""
        labels = _table(Y, "Y")
        if labels.shape != (rows, self.model.n_labels):
            raise DataError(
                f"Y has shape {labels.shape}, expected ({rows}, {self.model.n_labels}): one row per row of X"
            )
        return labels


def _place(wanted: int | str, names: list[str], kind: str) -> int:
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    if isinstance(wanted, int | np.integer) and 0 <= wanted < len(names):
        return int(wanted)
    known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise DataError(f"there is no {kind} {wanted!r}; use a place from 0 to {len(names) - 1}, or one of {known}")


def _table(values: object, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name} cannot be read as numbers; pass an array or a frame of numbers") from None

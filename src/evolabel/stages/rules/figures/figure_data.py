"""`RuleFigureData`: the trained model that figures of its rules draw, with the names of its columns."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError, DataTypeError, StateError
from evolabel.stages.rules.relevance import feature_relevance
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.stream_terms import RulesModel
from evolabel.stages.scaling.stage import Scaler
from evolabel.typing import FloatArray, IntArray


class RuleDrawable(Protocol):
    """A classifier with rules that can be drawn, such as `EvolvingFuzzyClassifier`."""

    def figure_data(self) -> "RuleFigureData": ...  # noqa: D102


@dataclass(frozen=True)
class RuleFigureData:
    """A trained `model` with at least one rule, and the names of its features and labels."""

    model: RulesModel
    feature_names: list[str]
    label_names: list[str]

    def __post_init__(self) -> None:
        if self.rules.n_rules == 0:
            raise StateError("there are no rules yet, so nothing can be drawn; call fit or partial_fit first")

    @property
    def rules(self) -> RuleBase:
        """The rule base."""
        return self.model.trained()

    @property
    def scaler(self) -> Scaler:
        """Turns rows of the rules into units of the features, and back."""
        assert self.model.scaler is not None
        return self.model.scaler

    def scaled(self, X: FloatArray) -> FloatArray:
        """Return the scores of the values `X`, (n, p), which sensors that have moved read now."""
        return self.scaler.transform(self.model.sensors.as_corrected(X))

    def weights(self, slot: int) -> FloatArray:
        """Return the consequents in `slot`, (q, K)."""
        return self.rules.weights(slot)

    def words_at_lines(self) -> dict[int, str]:
        """Return what is written at the lines of rules of other stages, by number."""
        return {}

    def feature_index(self, feature: int | str) -> int:
        """Return the column number of `feature`, which is a name or a column number."""
        return _index(feature, self.feature_names, "feature")

    def label_index(self, label: int | str) -> int:
        """Return the column number of `label`, which is a name or a column number."""
        return _index(label, self.label_names, "label")

    def slot(self, rule: int) -> int:
        """Return the slot of the rule with the number `rule`."""
        known = self.rules.arrays.identity[1 : self.rules.n_rules + 1].tolist()
        if rule not in known:
            raise DataError(f"there is no rule {rule!r}; the rules are {', '.join(map(str, known))}")
        return int(known.index(rule)) + 1

    def rule_name(self, slot: int) -> str:
        """Return the name of the rule in `slot`: the one a person gave it, or "rule" with its number."""
        identity = int(self.rules.arrays.identity[slot])
        return self.rules.rule_names.names.get(identity) or f"rule {identity}"

    def best_supported(self, count: int) -> IntArray:
        """Return the slots of the `count` rules with the largest support."""
        support = self.rules.arrays.k[1 : self.rules.n_rules + 1]
        return np.argsort(-support, kind="stable")[:count] + 1

    def most_relevant(self, count: int) -> list[int]:
        """Return the column numbers of the `count` features that explain most of some label."""
        overall = feature_relevance(self.rules, self.feature_names, self.label_names).overall
        return [int(j) for j in np.argsort(-overall, kind="stable")[:count]]

    def read_rows(self, X: object) -> FloatArray:
        """Return `X` as raw rows (n, n_features); DataError if it has another shape."""
        rows = _as_numbers(X, "X")
        if rows.ndim != 2 or rows.shape[1] != self.model.n_features:
            raise DataError(f"X has shape {rows.shape}, expected (n_samples, {self.model.n_features})")
        return rows

    def read_labels(self, Y: object, n_rows: int) -> FloatArray:
        """Return `Y` as a label matrix (n_rows, n_labels); DataError if it has another shape."""
        labels = _as_numbers(Y, "Y")
        if labels.shape != (n_rows, self.model.n_labels):
            raise DataError(
                f"Y has shape {labels.shape}, expected ({n_rows}, {self.model.n_labels}): one row per row of X"
            )
        return labels


def _index(column: int | str, names: list[str], kind: str) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise DataError(
        f"there is no {kind} {column!r}; use a number from 0 to {len(names) - 1}, or one of {first_names(names)}"
    )


def _as_numbers(values: object, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name} cannot be read as numbers; pass an array or a frame of numbers") from None

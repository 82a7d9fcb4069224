"""`read_threshold_rules`: the trees of a model as lists of threshold rules, in words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from evolabel.engine.compile import interpreted
from evolabel.stages.rules.stream_terms import RulesModel
from evolabel.stages.threshold_rules.arrays import IS_OPEN, TREE_WEIGHT, TreeArrays
from evolabel.stages.threshold_rules.leaves import (
    EVERYWHERE,
    Box,
    Side,
    join_strips,
    ring_rows,
    seen_missing,
    tree_relevance,
)
from evolabel.stages.threshold_rules.loops.answer import mean_label
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.stages.threshold_rules.words import (
    ADMITTED_TOO,
    LIKELY_FROM,
    NEVER_SEEN,
    NOT_ADMITTED,
    NOTHING_ELSE,
    LabelRules,
    ThresholdCondition,
    ThresholdRule,
)
from evolabel.typing import BoolArray, FloatArray
from evolabel.words.names import Corrections
from evolabel.words.text_columns import FALSE, column_and_value, flag_features, text_columns

_LEAST_SUPPORT = 1e-12  # by which a share is divided
_LEAST_SHOWN = 0.5  # samples of a leaf that is printed: fewer are printed as 0

_mean_label = interpreted(mean_label)

LONG_ENOUGH = 200  # labelled rows from which on it is printed that no threshold was found


@dataclass(frozen=True)
class TreeReader:
    """Reads the trees of threshold rules, `arrays`, of a model with these names of features and labels.

    Attributes
    ----------
    arrays : TreeArrays
    first : int
        First label with a tree of its own; 1 for two classes, which share the tree of the second.
    features, labels : list of str
    binary : array of shape (n_features,)
        Which features were only 0 or 1 in the initial batch.
    corrections : dict of str to SensorCorrection
        Sensors that have moved, by the names of their features.
    """

    arrays: TreeArrays
    first: int
    features: list[str]
    labels: list[str]
    binary: BoolArray
    corrections: Corrections

    @cached_property
    def gaps(self) -> BoolArray:
        """Which features were missing in a row that is kept, (n_features,)."""
        return seen_missing(self.arrays)

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """The 0/1 features of each categorical column, by their numbers."""
        return text_columns(self.features, self.binary)

    @cached_property
    def column_of(self) -> dict[int, str]:
        """The categorical column of each of these features."""
        return {j: column for column, features in self.columns.items() for j in features}

    @property
    def open_labels(self) -> list[int]:
        """Labels whose tree is used, and is their own."""
        t = self.arrays
        return [k for k in range(self.first, len(self.labels)) if t.gate[k, IS_OPEN] > 0.0 and t.feature[k, 0] >= 0]

    def tree_of(self, label: int) -> int | None:
        """Return the tree that is used for `label`; None where there is none."""
        k = max(label, self.first)
        return k if k in self.open_labels else None

    def boxes(self, k: int) -> list[Box]:
        """Return the leaves of tree `k` as boxes, strips beside an edge joined.

        The share of a leaf whose rows have faded to less than one is what it answers: nearly the share of its parent.
        """
        return [self._as_answered(k, box) for box in join_strips(self.arrays, k, self.gaps)]

    def _as_answered(self, k: int, box: Box) -> Box:
        if box.support >= 1.0:
            return box
        support = max(box.support, _LEAST_SUPPORT)
        return box.with_samples(support, support * _mean_label(k, box.leaf, self.arrays))

    def rule(self, k: int, box: Box, number: int | None = None) -> ThresholdRule | None:
        """Return the `box` of tree `k` as a rule with this `number`, or that of its leaf; None where no row is in it.

        Of two classes, which share one tree, the rule is for the more frequent one.
        """
        label, share = self._likely(k, box.share)
        conditions: list[ThresholdCondition] = []
        done: set[str] = set()
        for j, side in box.sides.items():
            column = self.column_of.get(j)
            if column is None:
                if side.only_missing and not self._is_missing(j, side):
                    return None
                conditions += self._condition(j, side)
            elif column not in done:
                done.add(column)
                found = self._text_condition(column, box)
                if found is None:
                    return None
                conditions += found
        number = int(self.arrays.number[k, box.leaf]) if number is None else number
        return ThresholdRule(label, number if number >= 0 else None, tuple(conditions), share, box.support)

    def _is_missing(self, j: int, side: Side) -> bool:
        """Return whether `side` of feature `j`, without known values, stands for missing ones that were there."""
        return side.missing and (bool(self.gaps[j]) or np.isinf(side.low))

    def _likely(self, k: int, share: float) -> tuple[str, float]:
        """Return the label of tree `k` and its `share`; of two classes those of the more frequent one."""
        two_classes = self.first == 1
        return (self.labels[0], 1.0 - share) if two_classes and share < LIKELY_FROM else (self.labels[k], share)

    def _condition(self, j: int, side: Side) -> list[ThresholdCondition]:
        """Return the condition that feature `j` is in `side`; none if that holds always."""
        name = self.features[j]
        missing = _missing(bool(self.gaps[j]), side.missing, side.only_missing)
        if np.isinf(side.low) and np.isinf(side.high) and missing in (ADMITTED_TOO, NEVER_SEEN):
            return []
        low, high = self.as_read(j, side.low), self.as_read(j, side.high)
        widths = self.width_as_read(j, side.low_width), self.width_as_read(j, side.high_width)
        return [ThresholdCondition(name, low, high, *widths, missing, correction=self.corrections.get(name))]

    def as_read(self, j: int, value: float) -> float:
        """Return the corrected `value` of feature `j` in the units that its sensor reads now."""
        correction = self.corrections.get(self.features[j])
        return value if correction is None else correction.as_read(value)

    def width_as_read(self, j: int, width: float) -> float:
        """Return the `width` of an edge of feature `j` in the units that its sensor reads now."""
        correction = self.corrections.get(self.features[j])
        return width if correction is None else width / abs(correction.factor)

    def rows_as_read(self, X: FloatArray) -> FloatArray:
        """Return the corrected rows `X` in the units that the sensors read now."""
        if not self.corrections:
            return X
        ends = [self.corrections.get(name) for name in self.features]
        return np.column_stack([x if how is None else how.as_read(x) for x, how in zip(X.T, ends, strict=True)])

    def _text_condition(self, column: str, box: Box) -> list[ThresholdCondition] | None:
        """Return the condition of `box` on a categorical `column`; none if it holds always, None if it never does."""
        sides = {j: box.sides.get(j, EVERYWHERE) for j in self.columns[column]}
        must = [j for j, side in sides.items() if not side.holds(0.0)]
        may = [j for j, side in sides.items() if side.holds(1.0) and not set(must) - {j}]
        admitted = all(side.missing for side in sides.values())
        seen = bool(self.gaps[list(sides)].any())
        if must and not may and not (admitted and seen):
            return None
        others = [j for j in sides if j not in may]
        missing = _missing(seen, admitted, bool(must) and not may)
        excluded = not must and len(others) > 0 and (not may or len(others) <= len(may))
        named = may if must or (others and not excluded) else others
        if not named and missing in (ADMITTED_TOO, NEVER_SEEN):
            return []
        texts = tuple(column_and_value(self.features[j])[1] for j in named)
        if column in flag_features(self.features):
            texts, excluded = ((FALSE,) if excluded else texts), False
        return [ThresholdCondition(column, -np.inf, np.inf, 0.0, 0.0, missing, texts, excluded)]

    def label_rules(self, k: int) -> LabelRules:
        """Return the rules of tree `k`, with those that are printed first."""
        found = [(rule, box) for box in self.boxes(k) if (rule := self.rule(k, box)) is not None]
        t, used = self.arrays, ring_rows(self.arrays, k)
        weights, positive = t.weights[used, k], t.Y[used, k] > 0
        usual = float(weights @ positive / max(weights.sum(), 1e-300))
        least = LIKELY_FROM if any(box.share >= LIKELY_FROM for _, box in found) else max(usual, 1e-300)
        found.sort(key=lambda pair: (not _is_shown(pair[1], least), -pair[1].support))
        shown = [box for _, box in found if _is_shown(box, least)]
        others = [box for _, box in found if not _is_shown(box, least)]
        support = sum(box.support for box in others)
        share = sum(box.positives for box in others) / max(support, 1e-300)
        rest_label, rest_share = self._likely(k, share)
        return LabelRules(
            label=self.labels[k],
            weight=float(t.gate[k, TREE_WEIGHT]),
            rules=tuple(rule for rule, _ in found),
            n_shown=len(shown),
            rest_label=rest_label,
            rest_share=rest_share,
            rest_support=support,
        )

    def relevant(self, k: int) -> BoolArray:
        """Return which features are relevant for the label of tree `k`, (p,); a categorical column is so as a whole."""
        found = tree_relevance(self.arrays, k) > 0.0
        for features in self.columns.values():
            found[features] = found[features].any()
        return np.asarray(found)


def _is_shown(box: Box, least: float) -> bool:
    """Return whether the share of `box` is at `least` this, of samples that have not faded."""
    return box.share >= least and box.support >= _LEAST_SHOWN


class TreeModel(RulesModel, Protocol):
    """A model as its threshold rules are read, too."""

    trees: ThresholdRules | None


def tree_reader(model: TreeModel, feature_names: list[str], label_names: list[str]) -> TreeReader | None:
    """Return a reader of the trees of `model`, whose columns are called `feature_names` and `label_names`.

    None where the model has no threshold rules.
    """
    trees = model.trees
    if trees is None or model.rules is None or model.scaler is None:
        return None
    corrections = model.sensors.corrections(feature_names)
    first = trees.first_tree
    return TreeReader(trees.arrays, first, feature_names, label_names, model.scaler.binary, corrections)


def read_threshold_rules(model: TreeModel, feature_names: list[str], label_names: list[str]) -> list[LabelRules]:
    """Return the threshold rules of each label of `model` for which they are used.

    `feature_names` and `label_names` are the names of its columns.
    """
    reader = tree_reader(model, feature_names, label_names)
    return [] if reader is None else [reader.label_rules(k) for k in reader.open_labels]


def _missing(seen: bool, admitted: bool, only: bool) -> str:
    """Return the word for missing values that were `seen` or not, are `admitted` or not, and are the `only` ones."""
    if only:
        return NOTHING_ELSE
    if not seen:
        return NEVER_SEEN
    return ADMITTED_TOO if admitted else NOT_ADMITTED

"""`LinearRule`: the linear member as one rule that holds everywhere, in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from evolabel.explain.answer_parts import AnswerParts
from evolabel.model.protocols import Model
from evolabel.words.condition_words import driver_words
from evolabel.words.names import Corrections, correction_note
from evolabel.words.sections import Items, Marks, SectionView
from evolabel.words.text_columns import flag_features, text_features

_MIN_WEIGHT = 0.01  # smallest weight of the rule in the outputs of a label that is shown
_MAX_FEATURES = 3

_TITLE = "Linear part, which holds everywhere"


@dataclass(frozen=True)
class LinearLabel:
    """A label in the linear part: the share `weight` of its answers, and the strongest features.

    `effects` has the change of the logit per standard deviation of each feature, the strongest first.
    """

    label: str
    weight: float
    effects: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class LinearRule(SectionView):
    """The linear member of a classifier that follows drift, with all its labels, and `corrections` of features.

    `texts` are the features that stand for values of categorical columns, and flags.
    """

    labels: tuple[LinearLabel, ...]
    corrections: Corrections = field(default_factory=dict, repr=False)
    texts: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def shown(self) -> bool:
        """Whether the rule has a weight in the output of any label."""
        return bool(_lines(self))

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return the title, and one line per label in whose output the rule has a weight."""
        return _TITLE, [Items([marks.plain(line) for line in _lines(self)])]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold."""
        return {"labels": [{**asdict(label), "effects": [*map(list, label.effects)]} for label in self.labels]}


def read_linear_rule(
    model: Model, feature_names: list[str], label_names: list[str], parts: Sequence[AnswerParts]
) -> LinearRule | None:
    """Return the linear member of `model` with `feature_names` and `label_names`; None if drift is not followed.

    `parts` are the shares of its answers, label by label.
    """
    if model.rules is None or model.drift.linear is None:
        return None
    slopes = model.drift.linear[:, :-1]
    labels = []
    for c, name in enumerate(label_names):
        strongest = np.argsort(-np.abs(slopes[c]), kind="stable")[:_MAX_FEATURES]
        effects = tuple((feature_names[j], float(slopes[c, j])) for j in strongest.tolist() if slopes[c, j] != 0.0)
        labels.append(LinearLabel(name, parts[c].linear, effects))
    texts = frozenset[str]() if model.scaler is None else text_features(feature_names, model.scaler.binary)
    worded = texts | flag_features(feature_names)
    return LinearRule(tuple(labels), model.sensors.corrections(feature_names), worded)


def _lines(rule: LinearRule) -> list[str]:
    """Return one line per label in whose output the rule has a weight, and a note on corrected sensors."""
    lines: list[str] = []
    named: list[str] = []
    for label in rule.labels:
        if label.weight >= _MIN_WEIGHT:
            parts = []
            named += [name for name, _ in label.effects]
            for word, sign in (("more", 1.0), ("less", -1.0)):
                names = [name for name, effect in label.effects if sign * effect > 0.0]
                if names:
                    parts.append(f"{word} likely {driver_words(names, rule.texts, 'with larger')}")
            how = ", ".join(parts) or "the same everywhere"
            lines.append(f"{label.label} ({label.weight:.0%} of its answers) is {how}")
    note = correction_note(rule.corrections, named)
    return [*lines, *([note] if note else [])]

"""`learn_plant`: evolabel learns the plant in one pass, with one alarm explained on the way; `found_rules`."""

import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.events import SHIFTS, Event
from evolabel.demo.standing import SCORED_FROM
from evolabel.streams import Dataset
from evolabel.streams.synthetic.plant import GAUGE_MOVES
from evolabel.typing import BoolArray, FloatArray

EXPLAINED_FROM = GAUGE_MOVES + 700  # by then the gauge has been corrected
_ALARM = "leak"
_STEP = 100  # rows between two updates of a progress bar


class Learned(NamedTuple):
    """What the `classifier` has learned: its `outputs` for the rows from `SCORED_FROM` on, before each was learned.

    `alarm` is the row of an alarm, `explanation` why it was raised.
    """

    classifier: EvolvingFuzzyClassifier
    outputs: FloatArray
    seconds: float
    alarm: int
    explanation: str

    @property
    def decided(self) -> BoolArray:
        """The labels that were predicted."""
        return self.outputs >= 0.5

    @property
    def shifts(self) -> list[Event]:
        """What was reported about changes of the plant."""
        return [event for event in self.classifier.events_ if event.kind in SHIFTS]


def learn_plant(rows: Dataset, progress: Callable[[int], object] = int) -> Learned:
    """Return what a classifier with default parameters learns from `rows`, each predicted right before.

    `progress` is called with numbers of rows that were learned.
    """
    classifier = EvolvingFuzzyClassifier().fit(rows.X[:SCORED_FROM], rows.Y[:SCORED_FROM])
    alarms = rows.label_names.index(_ALARM)
    found, seconds, alarm, explanation = [], 0.0, -1, ""
    at = SCORED_FROM
    while at < len(rows):
        end = min(at + (_STEP if at < EXPLAINED_FROM or alarm >= 0 else 1), len(rows))
        if at >= EXPLAINED_FROM and alarm < 0 and classifier.predict(rows.X[at : at + 1])[0, alarms] > 0.5:
            alarm, explanation = at, _explanation(classifier, rows, at)
        start = time.perf_counter()
        found.append(classifier.test_then_train(rows.X[at:end], rows.Y[at:end]))
        seconds += time.perf_counter() - start
        progress(end - at)
        at = end
    classifier.name_columns(rows.feature_names, rows.label_names, rows.kinds)
    return Learned(classifier, np.vstack(found), seconds, alarm, explanation)


def _explanation(classifier: EvolvingFuzzyClassifier, rows: Dataset, row: int) -> str:
    """Return why `classifier` raises the alarm at `row` of `rows`, in the names of its columns."""
    named = deepcopy(classifier).name_columns(rows.feature_names, rows.label_names, rows.kinds)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # the columns are the same
        lines = named.explain(rows.X[row]).text.splitlines()
    starts = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    others = len(rows.label_names) - 1  # those of the other labels are left out
    return "\n".join(lines[: starts[1]] + lines[starts[1 + others] :])


def found_rules(classifier: EvolvingFuzzyClassifier) -> dict[str, list[str]]:
    """Return the threshold rules for each label of `classifier`, as text, with how many rows each stands for."""
    return {
        label.label: [rule.text for rule in label.rules[: label.n_shown]] for label in classifier.rules_.threshold_rules
    }

"""A warning of labels that occur and are never predicted, once for each label."""

from collections.abc import Callable

import numpy as np

from evolabel._utils.notes import note
from evolabel._utils.text import first_names
from evolabel.model.protocols import Model
from evolabel.model.stream_model import StreamModel
from evolabel.typing import BoolArray, FloatArray

FIRST_CHECK = 500  # rows of a stream; further checks follow after twice as many each
ENOUGH_POSITIVES = 20  # of a label among the recent rows that are kept
ADVICE = 'optimise="macro_f1" predicts rare labels, too{}, or class_weight with the cost of a miss in false alarms'


class SilentLabels:
    """Labels of which a warning was given, and the row of the stream at which they are looked for again.

    `found` has the labels that were never predicted when they were looked for last.
    """

    def __init__(self) -> None:
        self.due = FIRST_CHECK
        self.named: set[object] = set()
        self.found: list[str] = []

    def look(self, model: StreamModel, names: list[str], decide: Callable[[FloatArray], BoolArray]) -> None:
        """Warn of labels of `model`, called `names`, that no recent row is predicted to have although many have them.

        `decide` returns the labels that are on by outputs. Where decisions weigh labels, where no rows are kept, and
        where stages of a user answer, which may fail, nothing is looked for.
        """
        self.due, self.found = max(FIRST_CHECK, 2 * model.n_seen), []
        options = model.options
        weighed = options.optimise != "accuracy" or options.class_weight is not None
        if weighed or model.trees is None or model.own_stages:
            return
        from evolabel.explain.answer_parts import recent_counts, recent_rows

        positives, known, n = recent_counts(model)
        found = np.flatnonzero(positives >= ENOUGH_POSITIVES)
        if not len(found):
            return
        rows = np.ascontiguousarray(model.sensors.as_read(recent_rows(model)))
        on = np.asarray(decide(model.outputs(rows)).any(axis=0))
        silent = [k for k in found.tolist() if not on[k]]
        self.found = [names[k] for k in silent]
        if new := [k for k in silent if names[k] not in self.named]:
            self.named.update(names[k] for k in new)
            counts = [f"{names[k]} ({positives[k]} of {_rows(int(known[k]), n)} have it)" for k in new]
            cost = cost_of_f1(model)
            note(f"never predicted: {first_names(counts, 5)}; {ADVICE.format(cost and f' ({cost})')}")


def cost_of_f1(model: Model) -> str:
    """Return what PA and macro F1 of `model` would be so far under optimise="macro_f1", and what they are, in words.

    All outputs from before their answers count, those of the initial batch only where there are no others, and since
    the model was loaded. Empty where none was counted, as where decisions weigh labels.
    """
    outputs = None if model.plain_outputs is None else model.plain_outputs.counts()
    if outputs is None or not outputs.seen.any():
        return ""
    thresholds = outputs.thresholds(model.calibration)
    now = outputs.figures(np.full(len(thresholds), model.options.threshold))
    then = outputs.figures(thresholds)
    return (
        f"so far PA {then.pa:.3f} instead of {now.pa:.3f}, macro F1 {then.macro_f1:.3f} instead of {now.macro_f1:.3f}"
    )


def _rows(known: int, n: int) -> str:
    """Return the last `n` rows in words, of which a label is `known` in some."""
    return f"the last {n:,} samples" if known == n else f"the {known:,} of the last {n:,} samples in which it is known"

"""Learning a batch in which labels or classes appear that the model does not know yet."""

import numpy as np

from evolabel.classifier.targets import ClassCodes, Targets
from evolabel.core.model import StreamModel
from evolabel.core.rules.rule_base import NO_ROWS
from evolabel.kernels.thresholds import UNDECIDED
from evolabel.typing import FloatArray


def learn_growing(
    model: StreamModel,
    targets: Targets,
    rows: FloatArray,
    labels: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    out: FloatArray,
    limits: FloatArray,
) -> None:
    """Learn a checked batch piece by piece; before each piece the model grows by the labels that appear with it.

    `out` receives the answers, `limits` the learned thresholds of that moment; what stands there of labels that were
    not known yet stays.
    """
    steps = targets.steps(labels, model.n_labels)
    ends = [start for start, _ in steps[1:]] + [len(rows)]
    for (start, size), end in zip(steps, ends, strict=True):
        if size > model.n_labels:
            model.grow_labels(size, absent=isinstance(targets, ClassCodes))
        piece = slice(start, end)
        known = np.zeros((end - start, size)) if len(out) else NO_ROWS
        cuts = np.full((end - start, size), UNDECIDED) if len(limits) else NO_ROWS
        model.learn(
            rows[piece],
            np.ascontiguousarray(labels[piece, :size]),
            weights[piece],
            np.ascontiguousarray(confidences[piece, :size]),
            known,
            cuts,
        )
        if len(out):
            out[piece, :size] = known
        if len(limits):
            limits[piece, :size] = cuts

"""Learning a batch in which labels or classes appear that are new to the model."""

import numpy as np

from evolabel.classifier.targets import ClassCodes, Targets
from evolabel.core.batch import Batch
from evolabel.core.model import StreamModel
from evolabel.kernels.thresholds import UNDECIDED


def learn_growing(model: StreamModel, targets: Targets, batch: Batch) -> None:
    """Train `model` on a checked `batch` piece by piece, and add the labels of `targets` that appear with each piece.

    Outputs and thresholds of labels that were not known yet stay as they are in `batch`.
    """
    steps = targets.steps(batch.Y, model.n_labels)
    ends = [start for start, _ in steps[1:]] + [len(batch.X)]
    for (start, size), end in zip(steps, ends, strict=True):
        if size > model.n_labels:
            model.grow_labels(size, absent=isinstance(targets, ClassCodes))
        part = batch.rows(slice(start, end))
        piece = Batch(part.X, np.ascontiguousarray(part.Y[:, :size]), part.weights)
        if len(part.confidences):
            piece = piece._replace(confidences=np.ascontiguousarray(part.confidences[:, :size]))
        if len(part.outputs):
            piece = piece._replace(outputs=np.zeros(piece.Y.shape))
        if len(part.thresholds):
            piece = piece._replace(thresholds=np.full(piece.Y.shape, UNDECIDED))
        model.learn(piece)
        if len(part.outputs):
            part.outputs[:, :size] = piece.outputs
        if len(part.thresholds):
            part.thresholds[:, :size] = piece.thresholds

"""Answers for a row without any feature, from the base rates of the labels."""

import numpy as np

from evolabel.core.rows import Batch
from evolabel.model.protocols import Model
from evolabel.stages.calibration.loops import LEAST_SHARE
from evolabel.typing import FloatArray


def base_probabilities(model: Model) -> FloatArray:
    """Return the base rates of the labels of `model`, (K,), as probabilities: never 0 or 1, of classes with the sum 1.

    They are not calibrated: rates are shares already, and the maps are made for outputs.
    """
    rates = np.clip(model.base_rates(), LEAST_SHARE, 1.0 - LEAST_SHARE)
    return np.asarray(rates / rates.sum()) if model.calibrator().exclusive else rates


def answer_by_base_rates(model: Model, batch: Batch, row: int) -> None:
    """Set what `batch` has for the answers of `row`: outputs, probabilities, limits of sets, decisions of `model`."""
    rates, calibrator = model.base_rates(), model.calibrator()
    if len(batch.outputs):
        batch.outputs[row] = rates
    if len(batch.probabilities):
        batch.probabilities[row] = base_probabilities(model)
    if len(batch.set_limits):
        batch.set_limits[row] = calibrator.limits(float(batch.coverages[row]))
    if len(batch.decisions) and model.decisions is not None:
        batch.decisions[row] = model.decisions.decide(rates[None], calibrator)[0]

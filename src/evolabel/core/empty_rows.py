"""Answers for a row without any feature, from the base rates of the labels."""

from evolabel.core.batch import Batch
from evolabel.core.protocols import Model


def answer_by_base_rates(model: Model, batch: Batch, row: int) -> None:
    """Set what `batch` has for the answers of `row`: outputs, probabilities, limits of sets, decisions of `model`."""
    rates, calibrator = model.base_rates(), model.calibrator()
    if len(batch.outputs):
        batch.outputs[row] = rates
    if len(batch.probabilities):
        batch.probabilities[row] = calibrator.probabilities(rates[None])[0]
    if len(batch.set_limits):
        batch.set_limits[row] = calibrator.limits(float(batch.coverages[row]))
    if len(batch.decisions) and model.decisions is not None:
        batch.decisions[row] = model.decisions.decide(rates[None], calibrator)[0]

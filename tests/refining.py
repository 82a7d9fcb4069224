"""Rows of a batch on their way through one stage, for the tests of the stages behind the rules."""

from evolabel.core.rows import Rows


def refine(stage, batch, out):
    """Learn `batch`; `out`, its outputs, are changed in place, each before its row is learned."""
    stage.learn(Rows(batch.X, batch.Y, batch.weights, batch.confidences, outputs=out), None)


def answered(stage, batch, f):
    """The outputs `f` of `batch` as the stage changes them."""
    rows = Rows(batch.X, outputs=f.copy())
    stage.answer(rows)
    return rows.outputs

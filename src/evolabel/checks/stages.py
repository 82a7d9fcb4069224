"""`check_stage`: what a model relies on in a stage, checked on a small batch."""

import copy

import numpy as np

from evolabel.checks.comparison import (
    N_INITIAL,
    N_ROWS,
    ROUNDING,
    require_methods,
    require_same,
    require_scores,
    small_stream,
    with_gaps,
)
from evolabel.core.rows import Rows
from evolabel.core.stage import LearningStage
from evolabel.typing import FloatArray


def check_stage(stage: LearningStage, *, n_features: int = 4, n_labels: int = 3) -> None:
    """Raise AssertionError if `stage` does not keep what a model relies on (`evolabel.stages.LearningStage`).

    Checked are: finite outputs of the right shape; `answer` changes the outputs alone, neither the stage nor what else
    the rows have, and does not read labels; rows at once are answered and learned like row by row; `learn` changes
    outputs as `answer` does before each row; the same rows twice give the same outputs. Rows have missing features and
    labels (NaN), sample weights and confidences.

    Parameters
    ----------
    stage : LearningStage
        An object with `name`, `answer` and `learn`, made for these numbers of features and labels.
    n_features, n_labels : int
        Columns of the features and labels of the test rows.

    Raises
    ------
    AssertionError
        At the first check that fails.

    Examples
    --------
    >>> from evolabel.checks import check_stage
    >>> class Shares:
    ...     name, rows_at_once = "shares", 1
    ...     def __init__(self):
    ...         self.on, self.n = np.zeros(3), np.full(3, 1e-9)
    ...     def answer(self, rows):
    ...         rows.outputs[:] = 0.9 * rows.outputs + 0.1 * self.on / self.n
    ...     def learn(self, rows, log=None):
    ...         for i, y in enumerate(rows.Y):
    ...             rows.outputs[i] = 0.9 * rows.outputs[i] + 0.1 * self.on / self.n
    ...             self.on += np.nan_to_num(y)
    ...             self.n += ~np.isnan(y)
    >>> check_stage(Shares())
    """
    name = type(stage).__name__
    require_methods(stage, "evolabel.stages.LearningStage", ("answer", "learn"))
    rows = _rows(n_features, n_labels)
    first, later = _part(rows, slice(0, N_INITIAL)), _part(rows, slice(N_INITIAL, None))
    require_scores(_answered(stage, first), first.Y.shape, f"{name}.answer before any training")
    trained, silent = copy.deepcopy(stage), copy.deepcopy(stage)
    for each in (trained, silent):
        each.learn(_part(first, slice(None)), None)
    f = _answered(trained, later)
    require_scores(f, later.Y.shape, f"{name}.answer")
    what, todo = f"{name}.answer changes the object", "only learn may change it"
    require_same(_answered(trained, later), f, what, todo)
    require_same(_answered(silent, later), f, what, todo)
    flipped = _part(later, slice(None))
    flipped.Y = 1.0 - flipped.Y
    what = f"{name}.answer reads the labels of the rows it answers"
    require_same(_answered(trained, flipped), f, what, "use X, read and outputs; labels come to learn")
    _check_order(stage, name, first, later)
    _check_input(trained, name, later)


def _check_order(stage: LearningStage, name: str, first: Rows, later: Rows) -> None:
    """Check that rows at once are like row by row, and that the same rows twice give the same outputs."""
    at_once, again, by_row = (copy.deepcopy(stage) for _ in range(3))
    learned = _learned(at_once, first)
    _learned(again, first)
    f = _answered(at_once, later)
    require_same(_answered(again, later), f, f"{name}: the same rows twice give other outputs", "use a seed")
    what, todo = f"{name}.learn changes outputs otherwise than answer", "answer each row before it is learned"
    for row in range(len(first.X)):
        one = _part(first, slice(row, row + 1))
        require_same(_answered(by_row, one), learned[row : row + 1], what, todo, ROUNDING)
        by_row.learn(one, None)
    what, todo = f"{name}.learn of many rows differs from row by row", "learn the rows one after the other"
    require_same(_answered(by_row, later), f, what, todo, ROUNDING)
    alone = np.concatenate([_answered(by_row, _part(later, slice(i, i + 1))) for i in range(len(f))])
    what = f"{name}.answer of many rows differs from row by row"
    require_same(alone, f, what, "answer each row on its own", ROUNDING)


def _check_input(stage: LearningStage, name: str, rows: Rows) -> None:
    """Check that the stage changes nothing of `rows` but their outputs."""
    names = ("X", "read", "Z", "Y", "weights", "confidences")
    kept = {each: getattr(rows, each).copy() for each in names}
    stage.answer(_part(rows, slice(None)))
    _learned(stage, rows)
    for each, before in kept.items():
        require_same(getattr(rows, each), before, f"{name} writes into {each} of its rows", "change outputs alone")


def _rows(n_features: int, n_labels: int) -> Rows:
    """Return scaled rows with gaps, sample weights, confidences and outputs."""
    rng, (X, Y) = np.random.default_rng(0), small_stream(n_features, n_labels)
    X = with_gaps((X - X.mean(axis=0)) / X.std(axis=0))
    weights, confidences = rng.uniform(0.0, 2.0, len(X)), rng.uniform(0.5, 1.0, Y.shape)
    outputs = rng.uniform(-0.2, 1.2, (N_ROWS, n_labels))
    rows = Rows(X, with_gaps(Y, empty_rows=True), weights, confidences, outputs=outputs)
    rows.Z, rows.episode = X, np.full(n_labels, -1)
    return rows


def _part(rows: Rows, part: slice) -> Rows:
    """Return a `part` of `rows`, with outputs of its own."""
    piece = Rows(
        rows.X[part], rows.Y[part], rows.weights[part], rows.confidences[part], outputs=rows.outputs[part].copy()
    )
    piece.Z, piece.episode = rows.Z[part], rows.episode
    return piece


def _answered(stage: LearningStage, rows: Rows) -> FloatArray:
    """Return the outputs of `rows` as `stage` changes them; `rows` stay as they are."""
    piece = _part(rows, slice(None))
    stage.answer(piece)
    return np.array(piece.outputs)


def _learned(stage: LearningStage, rows: Rows) -> FloatArray:
    """Let `stage` learn `rows`, and return the outputs that it has changed before each row."""
    piece = _part(rows, slice(None))
    stage.learn(piece, None)
    return piece.outputs

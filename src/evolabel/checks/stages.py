"""`check_member` and `check_refiner`: what the stages of a model rely on, checked on a small batch."""

import copy
from typing import Any

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
from evolabel.core.rows import Batch, Memberships
from evolabel.stages.protocols import Member, Refiner
from evolabel.typing import FloatArray


def check_member(member: Member, *, n_features: int = 4, n_labels: int = 3, n_rules: int = 5) -> None:
    """Raise AssertionError if `member` does not keep what the stages of a model rely on (`stages.protocols.Member`).

    Checked are: shape of the outputs, finite outputs, `answer` neither changes the member nor reads labels, rows at
    once like row by row, the same run twice gives the same outputs, arrays passed are not changed; with missing
    features and labels (NaN), sample weights and confidences.

    Parameters
    ----------
    member : Member
        An object with `answer` and `learn`, made for these numbers of features, labels and rules.
    n_features, n_labels, n_rules : int
        Columns of the features, labels and memberships of the test rows.

    Raises
    ------
    AssertionError
        At the first check that fails.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel.checks import check_member
    >>> class LabelShares:
    ...     def __init__(self):
    ...         self.on, self.n = np.zeros(3), np.full(3, 1e-9)
    ...     def answer(self, batch, memberships):
    ...         return np.tile(self.on / self.n, (len(batch.X), 1))
    ...     def learn(self, batch, memberships):
    ...         for y in batch.Y:
    ...             self.on += np.nan_to_num(y)
    ...             self.n += ~np.isnan(y)
    >>> check_member(LabelShares())
    """
    rng = np.random.default_rng(1)
    D = rng.exponential(size=(N_ROWS, n_rules))
    psi = np.exp(-D) / np.exp(-D).sum(axis=1, keepdims=True)
    _check_stage(member, "evolabel.stages.protocols.Member", _batch(n_features, n_labels), Memberships(psi, D))


def check_refiner(refiner: Refiner, *, n_features: int = 4, n_labels: int = 3) -> None:
    """Raise AssertionError if `refiner` does not keep what the stages of a model rely on (`stages.protocols.Refiner`).

    The checks are those of `check_member`, with the outputs of the members instead of memberships.

    Parameters
    ----------
    refiner : Refiner
        An object with `answer` and `learn`, made for these numbers of features and labels.
    n_features, n_labels : int
        Columns of the features and labels of the test rows.

    Raises
    ------
    AssertionError
        At the first check that fails.

    Examples
    --------
    >>> from evolabel.checks import check_refiner
    >>> from evolabel.stages.feedback.stage import ErrorFeedback
    >>> check_refiner(ErrorFeedback())
    """
    f = np.random.default_rng(1).uniform(-0.2, 1.2, (N_ROWS, n_labels))
    _check_stage(refiner, "evolabel.stages.protocols.Refiner", _batch(n_features, n_labels), f)


def _check_stage(stage: Any, interface: str, batch: Batch, given: Any) -> None:
    """Check a member or refiner on `batch`; `given` are its memberships, or the outputs of the members."""
    name = type(stage).__name__
    require_methods(stage, interface, ("answer", "learn"))
    first, later = ((batch.rows(part), _part(given, part)) for part in (slice(0, N_INITIAL), slice(N_INITIAL, None)))
    kept = copy.deepcopy((first, later))
    trained, silent = copy.deepcopy(stage), copy.deepcopy(stage)
    require_scores(trained.answer(*first), first[0].Y.shape, f"{name}.answer before any training")
    for each in (trained, silent):
        each.learn(*first)
    f = np.array(trained.answer(*later))
    require_scores(f, later[0].Y.shape, f"{name}.answer")
    what, todo = f"{name}.answer changes the object", "only learn may change it"
    require_same(trained.answer(*later), f, what, todo)
    require_same(silent.answer(*later), f, what, todo)
    flipped = later[0]._replace(Y=1.0 - later[0].Y)
    what = f"{name}.answer reads the labels of the rows it answers"
    require_same(trained.answer(flipped, later[1]), f, what, "use X only; labels come to learn, after the answer")
    _check_stage_rows(stage, name, first, later)
    for array, before in zip(_arrays_of(first, later), _arrays_of(*kept), strict=True):
        require_same(array, before, f"{name} writes into its input", "work on a copy")


def _check_stage_rows(stage: Any, name: str, first: Any, later: Any) -> None:
    """Check that rows at once are like row by row, and that the same rows twice give the same outputs."""
    at_once, again, by_row = (copy.deepcopy(stage) for _ in range(3))
    at_once.learn(*first)
    again.learn(*first)
    f = np.array(at_once.answer(*later))
    require_same(again.answer(*later), f, f"{name}: the same rows twice give other outputs", "use a seed")
    for row in range(len(first[0].X)):
        by_row.learn(*_row(first, row))
    what, todo = f"{name}.learn of many rows differs from row by row", "learn the rows one after the other"
    require_same(by_row.answer(*later), f, what, todo, ROUNDING)
    alone = np.concatenate([np.array(by_row.answer(*_row(later, row))) for row in range(len(f))])
    what = f"{name}.answer of many rows differs from row by row"
    require_same(alone, f, what, "answer each row on its own", ROUNDING)


def _batch(n_features: int, n_labels: int) -> Batch:
    """Return scaled rows with gaps, sample weights and confidences."""
    rng, (X, Y) = np.random.default_rng(0), small_stream(n_features, n_labels)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weights, confidences = rng.uniform(0.0, 2.0, len(X)), rng.uniform(0.5, 1.0, Y.shape)
    return Batch(with_gaps(X), with_gaps(Y, empty_rows=True), weights, confidences)


def _part(given: Any, part: slice) -> Any:
    return Memberships(*(array[part] for array in given)) if isinstance(given, Memberships) else given[part]


def _row(pair: tuple[Batch, Any], row: int) -> tuple[Batch, Any]:
    (batch, given), part = pair, slice(row, row + 1)
    return batch.rows(part), _part(given, part)


def _arrays_of(*pairs: Any) -> list[FloatArray]:
    return [a for batch, given in pairs for a in (*batch, *(given if isinstance(given, Memberships) else (given,)))]

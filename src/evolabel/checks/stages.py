"""`check_stage`: what a model relies on in a stage, checked on a small batch, and in a classifier."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evolabel._utils.rollback import content_of
from evolabel.checks.comparison import (
    N_INITIAL,
    N_ROWS,
    ROUNDING,
    require,
    require_methods,
    require_same,
    require_scores,
    small_stream,
    with_gaps,
)
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.rows import Rows
from evolabel.core.stage import LearningStage, OwnStage
from evolabel.errors import ParameterError, StageError
from evolabel.stages.own.stage import CheckedStage, checked_prototypes, reason_of, schema_fault
from evolabel.typing import FloatArray

_INTERFACE = "evolabel.stages.OwnStage"


def check_stage(
    stage: LearningStage | OwnStage, *, n_features: int = 4, n_labels: int = 3, merging: bool = True
) -> None:
    """Raise AssertionError if `stage` does not keep what a model relies on (`evolabel.stages.OwnStage`).

    Checked are: finite outputs of the right shape; `answer` changes the outputs alone, neither the stage nor what else
    the rows have, and does not read labels; rows at once are answered and learned like row by row; `learn` changes
    outputs as `answer` does before each row; the same rows twice give the same outputs; `explain` returns what `answer`
    adds; copies are independent; the arrays are all that was learned; a label that comes later is answered and learned.
    Of a stage of your own also: other attributes stay as they are; a feature that comes later; merging, with a stage
    that has learned nothing, too, its labels in another order; training in a classifier, its file, and its
    explanations. Rows have missing features and labels (NaN), sample weights and confidences.

    Parameters
    ----------
    stage : OwnStage
        An object as it is passed to a classifier, or a built-in stage that is made for these numbers of features and
        labels.
    n_features, n_labels : int
        Columns of the features and labels of the test rows.
    merging : bool
        Whether models with the stage are merged; False: it needs no `merge`.

    Examples
    --------
    >>> from typing import Annotated, NamedTuple
    >>> from evolabel.checks import check_stage
    >>> from evolabel.stages import OwnStage, Schema, array
    >>> from evolabel.typing import FloatArray
    >>> class Counts(NamedTuple):
    ...     on: Annotated[FloatArray, array("label")]
    ...     n: Annotated[FloatArray, array("label")]
    >>> class Shares(OwnStage):
    ...     name, schema = "shares", Schema(Counts)
    ...     def answer(self, rows):
    ...         on, n = self.arrays
    ...         rows.outputs[:] = 0.9 * rows.outputs + 0.1 * on / np.maximum(n, 1.0)
    ...     def learn_row(self, row, log):
    ...         self.arrays.on[:] += np.nan_to_num(row.Y[0])
    ...         self.arrays.n[:] += ~np.isnan(row.Y[0])
    ...     def merge(self, other, labels):
    ...         for mine, theirs in zip(self.arrays, self.placed(other, labels)):
    ...             mine += theirs
    >>> check_stage(Shares())
    """
    name = type(stage).__name__
    own = not hasattr(stage, "arrays")
    require_methods(stage, _INTERFACE, ("answer", "learn", *(() if own else ("explain",))))
    schema = schema_fault(stage)
    require(schema is None, f"{name} {str(schema).removeprefix('which ')}")
    if own:
        with _working(f"{name} as a stage of a classifier"):
            checked_prototypes([], [stage])
    started: Any = CheckedStage(stage, n_features, n_labels, exclusive=False).stage if own else stage
    rows = _rows(n_features, n_labels)
    first, later = _part(rows, slice(0, N_INITIAL)), _part(rows, slice(N_INITIAL, None))
    with _working(name):
        _check_input(started, name, rows)
        _check_copies(started, name, first)
        _check_answers(started, name, first, later)
        _check_order(started, name, first, later)
        if hasattr(started, "explain"):
            _check_parts(started, name, first, later)
        if own:
            _check_attributes(started, name, (first, later))
        _check_arrays(started, name, first, later)
    if own:
        _check_widths(stage, name, first)
        if merging:
            _check_merging(stage, name, first, later)
        _check_in_classifier(stage, name, n_features, n_labels)


@contextmanager
def _working(what: str, advice: str = "") -> Iterator[None]:
    """Turn what a stage raises inside into an AssertionError: `what` was tried, the reason once, and `advice`."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        if isinstance(error, StageError | ParameterError):  # its message names the stage and the method
            found = ": " + str(error).removesuffix("; the model is unchanged").removesuffix("; nothing was learned")
        else:
            where, why = reason_of(error, "")
            found = f": {where} {why}" if where else f" {why}"
        raise AssertionError(what + found + (f"; {advice}" if advice else "")) from error


def _check_copies(stage: Any, name: str, first: Rows) -> None:
    """Check that a copy that learns leaves the stage as it was."""
    require_scores(_answered(copy.deepcopy(stage), first), first.Y.shape, f"{name}.answer before any training")
    before, f = _arrays_of(stage), _answered(copy.deepcopy(stage), first)
    _trained(stage, first)
    what, todo = f"{name}: a copy that learns changes the answers of the stage", "keep what was learned in `arrays`"
    require_same(_answered(copy.deepcopy(stage), first), f, what, todo)
    for array, former in zip(_arrays_of(stage), before, strict=True):
        what = f"{name}: a copy that learns changes the arrays of the stage"
        require_same(array, former, what, "copy the arrays, too, or leave copying to Python")


def _check_answers(stage: Any, name: str, first: Rows, later: Rows) -> None:
    """Check the outputs of rows, and that answering them neither changes the stage nor reads labels."""
    trained, silent = _trained(stage, first), _trained(stage, first)
    f = _answered(trained, later)
    require_scores(f, later.Y.shape, f"{name}.answer")
    what, todo = f"{name}.answer changes the object", "only learn may change it"
    require_same(_answered(trained, later), f, what, todo)
    require_same(_answered(silent, later), f, what, todo)
    flipped = _part(later, slice(None))
    flipped.Y = 1.0 - flipped.Y
    what = f"{name}.answer reads the labels of the rows it answers"
    require_same(_answered(trained, flipped), f, what, "use X, read and outputs; labels come to learn")


def _check_order(stage: Any, name: str, first: Rows, later: Rows) -> None:
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


def _check_input(stage: Any, name: str, rows: Rows) -> None:
    """Check that the stage changes nothing of `rows` but their outputs."""
    names = ("X", "read", "Z", "Y", "weights", "confidences")
    kept = {each: getattr(rows, each).copy() for each in names}
    _answered(_trained(stage, rows), rows)
    for each, before in kept.items():
        require_same(getattr(rows, each), before, f"{name} writes into {each} of its rows", "change outputs alone")


def _check_parts(stage: Any, name: str, first: Rows, later: Rows) -> None:
    """Check that `explain` returns what `answer` adds."""
    trained = _trained(stage, first)
    learned, f = _arrays_of(trained), _answered(trained, later)
    shown = _part(later, slice(None))
    part = trained.explain(shown)
    what = f"{name}.explain returns something else than answer adds"
    require_same(later.outputs + part.added, f, what, "return StagePart(outputs behind - outputs before)", ROUNDING)
    require_same(shown.outputs, f, f"{name}.explain leaves other outputs than answer", "answer the rows in it")
    for array, former in zip(_arrays_of(trained), learned, strict=True):
        require_same(array, former, f"{name}.explain changes the arrays", "only learn may change them")


def _check_attributes(stage: Any, name: str, pieces: tuple[Rows, ...]) -> None:
    """Check that answering and learning `pieces` of rows change no attribute but the arrays; a new one may come."""
    for method, call in (("answer", _answered), ("learn_row", _learned)):
        tried = copy.deepcopy(stage)
        states = [_attributes_of(tried)]
        for rows in pieces:
            call(tried, rows)
            states.append(_attributes_of(tried))
        for before, after in pairwise(states):
            changed = [each for each, state in before.items() if after.get(each, state) != state]
            found = f"{name}.{method} changes the attribute {', '.join(map(repr, changed))}"
            require(not changed, f"{found}, which is neither stored nor put back; declare it in `schema` as an array")


def _attributes_of(stage: Any) -> dict[str, Any]:
    """Return the contents of the attributes of `stage` by name, but for its arrays and those that are None."""
    return {name: content_of(each) for name, each in vars(stage).items() if name != "arrays" and each is not None}


def _check_arrays(stage: Any, name: str, first: Rows, later: Rows) -> None:
    """Check that the arrays are all that was learned: another object with copies of them goes on with the same bits."""
    trained, loaded = _trained(stage, first), copy.deepcopy(stage)
    if hasattr(stage, "restore"):
        loaded.restore(trained.stored())
    else:
        loaded.arrays = type(trained.arrays)(*_arrays_of(trained))
    what, todo = f"{name}: a stage with the stored arrays gives other outputs", "keep all that is learned in `arrays`"
    require_same(_answered(loaded, later), _answered(trained, later), what, todo)
    require_same(_learned(loaded, later), _learned(trained, later), what, todo)
    if hasattr(stage, "grow_labels"):
        loaded.grow_labels(later.Y.shape[1] + 1)
        _check_wider(loaded, name, _wider(later))


def _check_widths(prototype: Any, name: str, first: Rows) -> None:
    """Check that labels and features that come later are answered and learned."""
    (p, K) = first.X.shape[1], first.Y.shape[1]
    checked = CheckedStage(prototype, p, K, exclusive=False)
    _learned(checked.stage, first)
    checked.grow_labels(K + 1)
    _check_wider(checked.stage, name, _wider(first))
    checked.change_features(np.arange(p), p + 1)
    rows = _wider(first)
    rows.X = rows.read = rows.Z = np.column_stack([first.X, np.full(len(first.X), np.nan)])
    with _working(f"{name} after a feature has come", "take the number of features from the rows"):
        _check_outputs(checked.stage, name, rows)


def _check_wider(stage: Any, name: str, rows: Rows) -> None:
    """Check that `stage`, to which a label was added, answers and learns `rows` with it."""
    with _working(f"{name} after a label has come", "take the number of labels from the rows"):
        _check_outputs(stage, name, rows)


def _check_outputs(stage: Any, name: str, rows: Rows) -> None:
    """Check the outputs of `rows` before and while they are learned."""
    require_scores(_answered(stage, rows), rows.Y.shape, f"{name}.answer of wider rows")
    require_scores(_learned(stage, rows), rows.Y.shape, f"{name}.learn of wider rows")


def _check_merging(prototype: Any, name: str, first: Rows, later: Rows) -> None:
    """Check that merging adds what the other stage has learned, also to a stage that has learned nothing."""
    is_there = getattr(type(prototype), "merge", OwnStage.merge) is not OwnStage.merge
    todo = f"write merge(other, labels) as {_INTERFACE} describes"
    require(is_there, f"{name} has no merge; {todo}, or pass merging=False if models with it are never merged")
    p, K = first.X.shape[1], first.Y.shape[1]
    trained, twin, empty, other = (CheckedStage(prototype, p, K, exclusive=False).stage for _ in range(4))
    for stage, rows in ((trained, first), (twin, first), (other, later)):
        _learned(stage, rows)
    places, todo = np.arange(K)[::-1].copy(), "add what `placed(other, labels)` has, less the start values"
    with _working(f"{name}.merge", "write it for any order of labels"):
        _check_merged(trained, other, name, todo)
        twin.merge(empty, places)
        what = f"{name}.merge with a stage that has learned nothing changes the outputs"
        require_same(_answered(twin, later), _answered(trained, later), what, todo, ROUNDING)
        before = _arrays_of(trained)
        empty.merge(trained, places)
    for array, former in zip(_arrays_of(trained), before, strict=True):
        require_same(array, former, f"{name}.merge changes the other stage", "change `self` alone")
    turned = _part(later, slice(None))
    turned.outputs = np.ascontiguousarray(turned.outputs[:, places])
    what = f"{name}.merge mixes up the labels"
    require_same(_answered(empty, turned), _answered(trained, later)[:, places], what, todo, ROUNDING)


def _check_merged(one: Any, other: Any, name: str, todo: str) -> None:
    """Check that merging copies of two stages, each into the other, changes one of them if they differ."""
    if _bytes_of(one) == _bytes_of(other):
        return
    merged = copy.deepcopy(one), copy.deepcopy(other)
    for mine, theirs in ((merged[0], other), (merged[1], one)):
        mine.merge(copy.deepcopy(theirs), np.arange(one.n_labels))
    changes = _bytes_of(merged[0]) != _bytes_of(one) or _bytes_of(merged[1]) != _bytes_of(other)
    require(changes, f"{name}.merge leaves the arrays as they were, of two stages that have learned other rows; {todo}")


def _bytes_of(stage: Any) -> list[bytes]:
    """Return the arrays of `stage` as bytes."""
    return [np.asarray(array).tobytes() for array in stage.arrays]


def _check_in_classifier(prototype: Any, name: str, n_features: int, n_labels: int) -> None:
    """Check the stage inside a classifier: all rows at once and row by row, explanations, files, a new label."""
    X, Y = small_stream(n_features, n_labels)
    gaps = with_gaps(Y, empty_rows=True)
    with _working(f"{name} in a classifier"):
        at_once, by_row = (_classifier(prototype).fit(X[:N_INITIAL], Y[:N_INITIAL]) for _ in range(2))
        f = at_once.test_then_train(X[N_INITIAL:], gaps[N_INITIAL:])
        rows = zip(X[N_INITIAL:, None], gaps[N_INITIAL:, None], strict=True)
        alone = np.concatenate([by_row.test_then_train(x, y) for x, y in rows])
        what, todo = f"{name} in a classifier: rows at once differ from row by row", "learn each row on its own"
        require_same(alone, f, what, todo, ROUNDING)
        outputs = _outputs(at_once, X)
        total = np.stack([at_once.explain(x).total for x in X[:3]])
        what = f"{name} in a classifier: the parts of an explanation do not add up"
        require_same(total, outputs[:3], what, "change outputs in answer alone", 1e3 * ROUNDING)
        with TemporaryDirectory() as folder:
            at_once.save(Path(folder) / "model.safetensors")
            stages = [copy.deepcopy(prototype)]
            loaded = EvolvingFuzzyClassifier.load(Path(folder) / "model.safetensors", stages=stages)
        what = f"{name} in a classifier: a loaded model gives other outputs"
        require_same(_outputs(loaded, X), outputs, what, "keep all that is learned in `arrays`")
        at_once.partial_fit(X, np.column_stack([Y, Y[:, 0]]))
        require_scores(at_once.decision_function(X), (len(X), n_labels + 1), f"{name} in a classifier with a new label")


def _classifier(prototype: Any) -> EvolvingFuzzyClassifier:
    return EvolvingFuzzyClassifier(max_rules=4, stages=[copy.deepcopy(prototype)])


def _outputs(classifier: EvolvingFuzzyClassifier, X: FloatArray) -> FloatArray:
    """Return the outputs of `classifier` for `X`, answered row by row: many at a time are the same up to rounding."""
    return np.concatenate([classifier.decision_function(x[None]) for x in X])


def _rows(n_features: int, n_labels: int) -> Rows:
    """Return scaled rows with gaps, sample weights, confidences and outputs."""
    rng, (X, Y) = np.random.default_rng(0), small_stream(n_features, n_labels)
    X = with_gaps((X - X.mean(axis=0)) / X.std(axis=0))
    weights, confidences = rng.uniform(0.0, 2.0, len(X)), rng.uniform(0.5, 1.0, Y.shape)
    outputs = rng.uniform(-0.2, 1.2, (N_ROWS, n_labels))
    rows = Rows(X, with_gaps(Y, empty_rows=True), weights, confidences, outputs=outputs)
    rows.Z, rows.episode = X, np.full(n_labels, -1)
    return rows


def _wider(rows: Rows) -> Rows:
    """Return `rows` with another label, which is the first one again."""
    wider = _part(rows, slice(None))
    for name in ("Y", "confidences", "outputs"):
        array = getattr(rows, name)
        setattr(wider, name, np.column_stack([array, array[:, 0]]))
    wider.episode = np.append(rows.episode, -1)
    return wider


def _trained(stage: Any, rows: Rows) -> Any:
    """Return a copy of `stage` that has learned `rows`."""
    trained = copy.deepcopy(stage)
    _learned(trained, rows)
    return trained


def _arrays_of(stage: Any) -> list[FloatArray]:
    """Return copies of the arrays of `stage`."""
    return [np.array(array) for array in stage.arrays]


def _part(rows: Rows, part: slice) -> Rows:
    """Return a `part` of `rows`, with outputs of its own."""
    piece = Rows(
        rows.X[part], rows.Y[part], rows.weights[part], rows.confidences[part], outputs=rows.outputs[part].copy()
    )
    piece.Z, piece.episode = rows.Z[part], rows.episode
    return piece


def _answered(stage: Any, rows: Rows) -> FloatArray:
    """Return the outputs of `rows` as `stage` changes them; `rows` stay as they are."""
    piece = _part(rows, slice(None))
    try:
        stage.answer(piece)
    except Exception as error:
        error.add_note("answer")
        raise
    return np.array(piece.outputs)


def _learned(stage: Any, rows: Rows) -> FloatArray:
    """Let `stage` learn `rows`, and return the outputs that it has changed before each row."""
    piece = _part(rows, slice(None))
    stage.learn(piece, None)
    return piece.outputs

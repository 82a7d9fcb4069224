"""`Stage`: the interface of a part of a model; `OwnStage`: the base class of stages that users write.

A stage owns its arrays; no other stage writes them. Values that one stage needs of another pass through `Rows`, or
through events in the `EventLog`; the forest of answered rows reads the ring of the threshold rules besides.
`model.pipeline` has the stages in their order.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from threading import local
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.events import EventLog, StageLog
from evolabel.core.rows import Rows
from evolabel.core.schema import Schema, places_of
from evolabel.errors import DataError, StageError
from evolabel.typing import AnyArray, FloatArray, IntArray

MANY = 1 << 40  # rows that a stage learns at once if no turn of maintenance is due


def _can_be_opened(array: AnyArray) -> bool:
    """Return whether `array` can be made writeable again; one that was unpickled from bytes cannot."""
    return array.flags.owndata or (isinstance(array.base, np.ndarray) and _can_be_opened(array.base))


@contextmanager
def read_only(arrays: Iterable[AnyArray]) -> Iterator[None]:
    """Make `arrays` read-only in the `with` block, but for those that could not be made writeable again."""
    locked = [array for array in arrays if array.flags.writeable and _can_be_opened(array)]
    with held():  # Ctrl-C waits: an array that stays read-only could not be learned into any more
        try:
            for array in locked:
                array.setflags(write=False)
            yield
        finally:
            for array in locked:
                array.setflags(write=True)


class _InUse(local):
    """What stages of users work on in one thread."""

    def __init__(self) -> None:
        self.things: list[object] = []


IN_USE = _InUse()
"""Classifiers' states and models that a stage of a user may not change, as it is called for them."""


@contextmanager
def in_use(*things: object) -> Iterator[None]:
    """Let `check_unused` refuse each of `things` in the `with` block, in this thread."""
    before = IN_USE.things
    IN_USE.things = [*before, *things]
    try:
        yield
    finally:
        IN_USE.things = before


def check_unused(*things: object) -> None:
    """Raise StageError if a stage of a user is called for one of `things`: it would change what it works on."""
    if any(each is used for each in things for used in IN_USE.things):
        raise StageError("a stage trains its own classifier, or edits it; do that outside of the stage")


def fixed_copy(array: AnyArray) -> Any:
    """Return a copy of `array` that cannot be made writeable: its memory is that of bytes."""
    return np.ndarray(array.shape, array.dtype, array.tobytes())


class StagePart(NamedTuple):
    """What a stage adds to outputs, in units of the output: the parts of all stages add up to it."""

    added: FloatArray
    """By row and label, (n, K)."""


class Stage(Protocol):
    """A part of a model, which changes the outputs of the stages in front of it.

    What sensors, scaling, rules and drift add is explained together, feature by feature (`stages.drift.part`), so they
    have no `explain`; rules and drift are merged together, too (`stages.drift.merging`).
    """

    @property
    def name(self) -> str:
        """Prefix of its arrays in files, and its name in errors and explanations."""

    def answer(self, rows: Rows) -> None:
        """Change `rows`, above all their outputs, by what was learned so far; changes nothing else."""


class LearningStage(Stage, Protocol):
    """A stage behind the compiled loop of rules and drift, which learns from the outputs in front of it.

    New labels and features, files and their checks follow from its `schema`.
    """

    @property
    def schema(self) -> Schema[Any]:
        """Its arrays, each declared once."""

    @property
    def rows_at_once(self) -> int:
        """How many further rows can be learned before other stages have to learn them, too."""

    def learn(self, rows: Rows, log: EventLog | None) -> None:
        """Learn `rows` one after the other, at most `rows_at_once`, and answer each before it is learned.

        Outputs are changed in place, as by `answer`. Events go to `log`, if it is given.
        """

    def explain(self, rows: Rows) -> StagePart:
        """Answer `rows`, and return what this adds to their outputs."""


def parameters_of(stage: object) -> dict[str, Any]:
    """Return the attributes of `stage` that are parameters of its `__init__`, by name."""
    return {name: vars(stage)[name] for name in signature(type(stage)).parameters if name in vars(stage)}


class WrongOutputs(DataError):
    """Outputs that a stage has left are not finite, or have another shape."""


def checked_outputs(outputs: object, shape: tuple[int, ...]) -> FloatArray:
    """Return `outputs` as an array; WrongOutputs unless they are finite and of this `shape`."""
    found = np.asarray(outputs, np.float64)
    if found.shape != shape:
        raise WrongOutputs(f"left outputs of shape {found.shape}, expected {shape}")
    if not np.isfinite(found).all():
        row, label = np.argwhere(~np.isfinite(found))[0].tolist()
        place = f"label {label}" if shape[0] == 1 else f"row {row}, label {label}"
        raise WrongOutputs(f"left {found[row, label]} in the outputs of {place}, expected finite numbers")
    return found


class Answering:
    """A stage of which all that it does to outputs is in `answer`."""

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows`."""
        raise NotImplementedError(f"write answer of {type(self).__name__}: it changes `rows.outputs`")

    def explain(self, rows: Rows) -> StagePart:
        """Answer `rows`, and return what this adds to their outputs."""
        before = rows.outputs.copy()
        self.answer(rows)
        return StagePart(rows.outputs - before)


class OwnStage(Answering):
    """Base class of a stage that a user writes, to pass to `EvolvingFuzzyClassifier(stages=[...])`.

    A class of its own has a `name`, a `schema`, `answer` and `learn_row`; `merge` if models are merged. What it has
    learned is in `arrays` alone: files hold these, and an error puts them back. Parameters are attributes that
    `__init__` sets.

    Attributes
    ----------
    name : str
        Prefix of its arrays in files, its name in errors, events and explanations.
    schema : Schema
        Its arrays: a NamedTuple whose fields are declared by `array`. Axes are "label", "feature", "regressor" (the
        features and 1), those in `sizes`, and numbers.
    sizes : dict of str to int
        Lengths of axes of its own.
    arrays : NamedTuple
        Arrays of the schema, made when training starts; they are wider, and new objects, once labels or features come.
    n_features, n_labels : int
        Widths of rows and of their labels, set when training starts.
    is_exclusive : bool
        Whether the labels are classes, of which one is true.

    Examples
    --------
    >>> from typing import Annotated, NamedTuple
    >>> import numpy as np
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.stages import OwnStage, Schema, array
    >>> class Errors(NamedTuple):
    ...     mean: Annotated[np.ndarray[tuple[int, ...], np.dtype[np.float64]], array("label")]
    >>> class MeanError(OwnStage):
    ...     "Adds the mean error of recent answers."
    ...     name, schema = "mean_error", Schema(Errors)
    ...     def answer(self, rows):
    ...         rows.outputs += self.arrays.mean
    ...     def learn_row(self, row, log):
    ...         error = np.nan_to_num(row.Y[0] - row.outputs[0])
    ...         self.arrays.mean[:] += 0.02 * error
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> clf = EvolvingFuzzyClassifier(stages=[MeanError()]).fit(X, X > 0.0)
    >>> list(clf.explain(X[0]).own)
    ['mean_error']
    """

    _changing: ClassVar = ("arrays",)  # all that learning changes; an error puts it back
    name: str = ""
    schema: ClassVar[Schema[Any]]
    sizes: Mapping[str, int] = {}
    arrays: Any
    n_features: int = 0
    n_labels: int = 0
    is_exclusive: bool = False

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in parameters_of(self).items())
        return f"{type(self).__name__}({given})"

    @property
    def rows_at_once(self) -> int:
        """How many rows can be learned before other stages have to learn them: any number."""
        return MANY

    def learn(self, rows: Rows, log: StageLog | None) -> None:
        """Learn `rows` one after the other, each after it was answered, but those of weight 0; events go to `log`."""
        width = rows.outputs.shape[1]
        for i, row in enumerate(rows.each()):
            method = "answer"
            try:
                with read_only(self.arrays):
                    self.answer(row)
                row.outputs = fixed_copy(checked_outputs(row.outputs, (1, width)))
                rows.outputs[i] = row.outputs[0]
                method = "learn_row"
                if not len(row.weights) or row.weights[0] > 0.0:
                    self.learn_row(row, None if log is None else log.at(row.n_seen))
            except Exception as error:
                error.add_note(f"{method} of " + (f"row {i}" if row.n_seen is None else f"sample {row.n_seen}"))
                raise

    def learn_row(self, row: Rows, log: StageLog | None) -> None:
        """Learn one `row`, (1, p), which has its labels and its outputs behind this stage; events go to `log`."""
        raise NotImplementedError(f"write learn_row of {type(self).__name__}: it changes `arrays` by one row")

    def merge(self, other: Any, labels: IntArray) -> None:
        """Add what `other` has learned; `labels` has the places of its labels among those of this stage."""
        raise NotImplementedError(f"write merge(other, labels) of {type(self).__name__}")

    def placed(self, other: Any, labels: IntArray) -> Any:
        """Return the arrays of `other` with its labels in the places `labels`; those it does not have start anew."""
        return self.schema.rearranged(other.arrays, {"label": places_of(labels, self.n_labels)})

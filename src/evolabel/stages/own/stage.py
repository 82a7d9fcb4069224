"""`CheckedStage`: a stage of a user inside a model; what it does is checked, and faults are a `StageError`.

It gets copies of what the model has read, which it cannot write, and outputs of its own, which count only if they are
finite and of the right shape. While it runs, arrays of other stages cannot be written. The caller that trains puts the
model back.
"""

import copy
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from evolabel.core.events import EventLog, StageLog
from evolabel.core.rows import Rows
from evolabel.core.schema import Schema, new_entries, of_features, stream_sizes
from evolabel.core.stage import (
    MANY,
    Answering,
    StagePart,
    WrongOutputs,
    checked_outputs,
    fixed_copy,
    parameters_of,
)
from evolabel.core.stored_checks import check_arrays, inside
from evolabel.errors import DataError, ParameterError, StageError
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

Facts = dict[str, Any]
"""What a file states of a stage: its name, and by name the arrays and parameters."""

_METHODS = ("answer", "learn")
_LONGEST = 200  # characters of a parameter that a file states in full
_CLOSE = 1e-9  # relative difference of sums in another order
_INITIAL_ROW = re.compile(r"row (\d+) of the initial batch")


class CheckedStage(Answering):
    """A stage of a user, made for rows and labels of these widths, that has learned nothing.

    Parameters
    ----------
    prototype : OwnStage
        Is copied.
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.
    """

    _changing: ClassVar = ("stage",)

    def __init__(self, prototype: Any, n_features: int, n_labels: int, *, exclusive: bool) -> None:
        self.prototype, self.stage = copy.deepcopy(prototype), copy.deepcopy(prototype)
        self.name: str = prototype.name
        self.schema: Schema[Any] = prototype.schema
        self.stage.is_exclusive = exclusive
        self._set(self.schema.allocate(self._sizes(n_features, n_labels)), n_features, n_labels)

    @property
    def is_built_in(self) -> bool:
        """Whether the stage is one of this library, which may start anew where a file lacks it."""
        return is_built_in(self.prototype)

    @property
    def arrays(self) -> Any:
        """What the stage has learned, a NamedTuple of its schema."""
        return self.stage.arrays

    @property
    def rows_at_once(self) -> int:
        """How many rows can be learned before other stages have to learn them."""
        with _faults_of(self.name, "rows_at_once"):
            return max(int(getattr(self.stage, "rows_at_once", MANY)), 1)

    def empty_like(self) -> "CheckedStage":
        """Return one for the same widths that has learned nothing."""
        stage = self.stage
        return CheckedStage(self.prototype, stage.n_features, stage.n_labels, exclusive=stage.is_exclusive)

    # ------------------------------------------------------------------ answering and learning

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows` by the stage."""
        self._call("answer", rows, self.stage.answer)

    def explain(self, rows: Rows) -> StagePart:
        """Answer `rows`, and return what this adds to their outputs, by `explain` of the stage if it has its own.

        StageError unless that is what `answer` adds.
        """
        shown = self._shown(rows)
        added = super().explain(rows).added
        if getattr(type(self.stage), "explain", Answering.explain) is Answering.explain:
            return StagePart(added)
        with _faults_of(self.name, "explain"):
            part: StagePart = self.stage.explain(shown)
            found = checked_outputs(part.added, added.shape)
        differs = np.argwhere(np.abs(found - added) > _CLOSE * (1.0 + np.abs(rows.outputs)))
        if len(differs):
            row, label = differs[0].tolist()
            what = f"returned {found[row, label]} for label {label}, and answer adds {added[row, label]}"
            raise _fault(self.name, "explain", what, initial=False)
        return part

    def learn(self, rows: Rows, log: EventLog | None) -> None:
        """Learn `rows`, whose outputs are changed as by `answer`; events go to `log`, if it is given."""
        arrays, own_log = self.arrays, None if log is None else StageLog(self.name, log, rows.n_seen)
        self._call("learn", rows, lambda shown: self.stage.learn(shown, own_log), initial=log is None)
        self._check_arrays(arrays, "learn", initial=log is None)

    def merge(self, other: "CheckedStage", labels: IntArray) -> None:
        """Add what `other` has learned; `labels` has the places of its labels among those of this stage."""
        arrays, theirs = self.arrays, copy.deepcopy(other.stage)
        with _faults_of(self.name, "merge"):
            self.stage.merge(theirs, labels)
        self._check_arrays(arrays, "merge")

    def _call(self, method: str, rows: Rows, call: Callable[[Rows], object], *, initial: bool = False) -> None:
        """Call a `method` of the stage with what it may read of `rows`, and take over the outputs if they are sound.

        `initial`: they are the initial batch.
        """
        shown = self._shown(rows)
        with _faults_of(self.name, method, initial=initial):
            call(shown)
            outputs = checked_outputs(shown.outputs, rows.outputs.shape)
        rows.outputs[...] = outputs

    @staticmethod
    def _shown(rows: Rows) -> Rows:
        """Return copies of what the stage may read of `rows`, and of their outputs, which it changes."""
        shown = Rows(*(fixed_copy(getattr(rows, name)) for name in ("X", "Y", "weights", "confidences")))
        shown.read, shown.episode = (fixed_copy(getattr(rows, name)) for name in ("read", "episode"))
        shown.n_rows, shown.n_seen, shown.outputs = rows.n_rows, rows.n_seen, rows.outputs.copy()
        return shown

    def _check_arrays(self, before: Any, method: str, *, initial: bool = False) -> None:
        """Raise StageError unless the arrays are of the kind, shapes and types that they had `before`."""
        now = self.arrays
        if type(now) is not type(before):
            what = f"replaced its arrays by {type(now).__name__}; change them in place"
            raise _fault(self.name, method, what, initial=initial)
        for name, array, old in zip(self.schema.declarations, now, before, strict=True):
            if array.shape != old.shape or array.dtype != old.dtype:
                found, expected = (f"{each.shape} {each.dtype}" for each in (array, old))
                what = f"left the array {name!r} as {found}, expected {expected}"
                raise _fault(self.name, method, what, initial=initial)
        try:
            check_arrays(self.stored(), self.schema.expected(self._sizes(self.stage.n_features, self.stage.n_labels)))
        except DataError as error:
            raise _fault(self.name, method, f"left what no file can hold: {error}", initial=initial) from None

    # ------------------------------------------------------------------ other widths

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, for which arrays have their start values."""
        source = new_entries(self.stage.n_labels, n_labels)
        self._set(self.schema.rearranged(self.arrays, {"label": source}), self.stage.n_features, n_labels)

    def change_features(self, kept: IntArray, n_features: int, _: EventLog | None = None) -> None:
        """Keep the features in the columns `kept`, and add new ones up to `n_features`."""
        sources = of_features(kept, self.stage.n_features, n_features)
        self._set(self.schema.rearranged(self.arrays, sources), n_features, self.stage.n_labels)

    def _set(self, arrays: Any, n_features: int, n_labels: int) -> None:
        self.stage.arrays, self.stage.n_features, self.stage.n_labels = arrays, n_features, n_labels

    def _sizes(self, n_features: int, n_labels: int) -> dict[str, int]:
        return _sizes_of(self.prototype, n_features, n_labels)

    # ------------------------------------------------------------------ files

    def facts(self) -> Facts:
        """Return what a file states of the stage: what one that is given, or merged, must agree with."""
        return facts_of(self.prototype)

    def restore(self, arrays: Arrays) -> None:
        """Set the arrays to copies of stored ones; DataError if they are not those of such a stage."""
        stage, schema = self.stage, self.schema
        sizes = self._sizes(stage.n_features, stage.n_labels)
        with inside(self.name):
            check_arrays(arrays, schema.expected(sizes))
        stage.arrays = schema.allocate(sizes)._replace(**{name: np.array(arrays[name]) for name in schema.stored})

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them."""
        return self.schema.arrays_of(self.arrays)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied."""
        self.__dict__.update(state)
        self.stage.arrays = self.schema.writeable(self.stage.arrays)


def checked_prototypes(built_in: Sequence[Any], stages: object, taken: Collection[str] = ()) -> tuple[Any, ...]:
    """Return the stages that are `built_in` and those of the parameter `stages`, all of different names.

    ParameterError for what is no stage, and for a name that is `taken` by another built-in stage.
    """
    if isinstance(stages, str) or not isinstance(stages, Sequence):
        raise ParameterError(
            f"stages={stages!r} is no list or tuple; pass one of objects derived from evolabel.stages.OwnStage"
        )
    places: dict[object, str] = dict.fromkeys((*taken, *(stage.name for stage in built_in)), "a built-in stage")
    for place, stage in enumerate(stages):
        about = f"stages={stages!r} has {stage!r} in place {place}"
        missing = [name for name in _METHODS if not callable(getattr(stage, name, None))]
        if isinstance(stage, type) or missing:
            raise ParameterError(f"{about}; pass an object of a class derived from evolabel.stages.OwnStage")
        if (schema := schema_fault(stage)) is not None:
            raise ParameterError(f"{about}, {schema}")
        name = stage.name
        if not isinstance(name, str) or not name.isidentifier():
            raise ParameterError(f"{about}, whose name is {name!r}; use letters, digits and _")
        if name in places:
            todo = "it another name" if name in taken else "each a name of its own"
            raise ParameterError(f"{about}, and {places[name]} is called {name!r}, too; give {todo}")
        places[name] = f"the one in place {place}"
        _check_axes(stage, about)
    return (*built_in, *stages)


def schema_fault(stage: object) -> str | None:
    """Return what is wrong with the schema of `stage`, as a part of a message; None if it is a `Schema`."""
    schema = getattr(stage, "schema", None)
    if isinstance(schema, Schema):
        return None
    found = "which has no schema" if schema is None else f"whose schema is {schema!r}"
    return f"{found}; write schema = Schema(KIND) in its class, KIND being the NamedTuple of its arrays"


def _check_axes(stage: Any, about: str) -> None:
    """Raise ParameterError, which begins with `about`, for axes without a length and start values out of range."""
    sizes = _sizes_of(stage, 1, 1)
    for name in getattr(stage.schema.kind, "_fields", ()):
        if name not in stage.schema.declarations:
            raise ParameterError(f"{about}: field {name!r} of its schema is not declared; annotate it with array(...)")
    for name, declared in stage.schema.declarations.items():
        for axis in declared.axes:
            if isinstance(axis, str) and axis not in sizes:
                raise ParameterError(f"{about}: axis {axis!r} of {name!r} has no length; add it to `sizes`")
    try:
        check_arrays(stage.schema.arrays_of(stage.schema.allocate(sizes)), stage.schema.expected(sizes))
    except (DataError, TypeError, ValueError, MemoryError) as error:
        raise ParameterError(
            f"{about}: its arrays cannot be made: {error}; change their axes or start values"
        ) from None


def _sizes_of(stage: Any, n_features: int, n_labels: int) -> dict[str, int]:
    """Return the lengths of all axes of the arrays of `stage`, for rows and labels of these widths."""
    return stream_sizes(n_features, n_labels, **getattr(stage, "sizes", {}))


def bytes_of(stages: Iterable[Any], n_features: int, n_labels: int) -> int:
    """Return the bytes that the arrays of `stages` take for rows and labels of these widths."""
    return sum(int(stage.schema.n_bytes(_sizes_of(stage, n_features, n_labels))) for stage in stages)


# ---------------------------------------------------------------------- what a file states of a stage


def facts_of(stage: Any) -> Facts:
    """Return the name of `stage`, type and axes of each stored array, and its parameters, as JSON holds them.

    A parameter is compared as a text; one that is not made of numbers and texts, such as a function, is left out.
    """
    schema, sizes = stage.schema, getattr(stage, "sizes", {})
    arrays = {
        name: [np.dtype(schema.dtypes[name]).name, *(sizes.get(axis, axis) for axis in schema.declarations[name].axes)]
        for name in schema.stored
    }
    texts = {name: _text_of(value) for name, value in parameters_of(stage).items()}
    parameters = {name: text for name, text in texts.items() if text is not None}
    return {"name": stage.name, "arrays": arrays, "parameters": parameters}


def _text_of(value: object) -> str | None:
    """Return `value` as a text, a checksum in place of a long one; None unless it is made of numbers and texts."""
    try:
        text = json.dumps(value, sort_keys=True, default=_plain)
    except (TypeError, ValueError):
        return None
    return (
        text if len(text) <= _LONGEST else f"{len(text):,} characters of checksum {sha256(text.encode()).hexdigest()}"
    )


def _plain(value: Any) -> Any:
    """Return an array or number of numpy as Python has it."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufU":
        return value.tolist()
    raise TypeError


def is_built_in(stage: object) -> bool:
    """Return whether `stage` is one of this library."""
    return type(stage).__module__.startswith("evolabel.")


def check_given(facts: object, prototypes: Iterable[Any]) -> None:
    """Raise DataError unless the stages that a file has `facts` of are the `prototypes`, which load was given.

    A built-in stage may be missing: the file was written before there was one.
    """
    if not isinstance(facts, list):
        raise DataError(f"its stages are {facts!r}, expected a list")
    stored = [each for each in facts if isinstance(each, dict)]
    found = [str(each.get("name")) for each in stored]
    given = [facts_of(stage) for stage in prototypes if stage.name in found or not is_built_in(stage)]
    passed = [each["name"] for each in given]
    if found != passed:
        names, others = (", ".join(map(repr, each)) or "none" for each in (found, passed))
        raise DataError(
            f"it has the stages {names}, and load was given {others}; pass stages=[...] as when it was saved, to a "
            "command --stages module:function; the service has no models with stages of users"
        )
    if difference := difference_of(stored, given):
        name, what, saved, other = difference
        raise DataError(
            f"the {what} of stage {name!r} in it are {saved}, those of the one given {other}; "
            "pass it as when it was saved"
        )


def difference_of(stages: Sequence[Facts], others: Sequence[Facts]) -> tuple[str, str, Any, Any] | None:
    """Return the first difference between `stages` and `others` of the same names: its name, what differs, and both."""
    for one, other in zip(stages, others, strict=True):
        for what in ("arrays", "parameters"):
            if (saved := one.get(what)) != other[what]:
                return other["name"], what, saved, other[what]
    return None


@contextmanager
def _faults_of(name: str, method: str, *, initial: bool = False) -> Iterator[None]:
    """Turn what a `method` of the stage of this `name` raises into a StageError; `initial`: in the initial batch."""
    try:
        yield
    except Exception as error:
        raise _fault(name, *reason_of(error, method), initial=initial) from error


def reason_of(error: Exception, method: str) -> tuple[str, str]:
    """Return where a stage has failed, by default in this `method`, and what happened, from the `error` it raised."""
    what = str(error) if isinstance(error, WrongOutputs) else f"raised {type(error).__name__}: {error}"
    why = " ".join(what.split())
    if "read-only" in why:
        why += " (answer may change rows.outputs alone, learn_row the arrays of its stage)"
    return ", ".join(getattr(error, "__notes__", [method])), why


def _fault(name: str, where: str, what: str, *, initial: bool) -> StageError:
    """Return the error of the stage of this `name`; in the `initial` batch there is no model yet."""
    batch, ending = (" of the initial batch", "nothing was learned") if initial else ("", "the model is unchanged")
    return StageError(f"stage {name!r}: {where}{batch} {what}; {ending}")


@contextmanager
def naming_rows(kind: str, numbers: Callable[[], IntArray]) -> Iterator[None]:
    """Let a StageError about a row of an initial batch name it by `kind` with its entry of what `numbers` returns."""
    try:
        yield
    except StageError as error:
        if (found := _INITIAL_ROW.search(text := str(error))) is None:
            raise
        name = kind.format(numbers()[int(found[1])])
        raise StageError(text[: found.start()] + name + text[found.end() :]) from error.__cause__


def fault_of_row(
    error: StageError, answer: Callable[[FloatArray], object], rows: FloatArray, among: BoolArray | None = None
) -> StageError:
    """Return the StageError that `answer` raises for one of `rows`, the first such, with its number; else `error`.

    `among` has, for all rows, which of them these are; None: these are all.
    """
    start, end, found = 0, len(rows), error
    while end - start > 1:
        middle = (start + end) // 2
        try:
            answer(rows[start:middle])
            start = middle
        except StageError:
            end = middle
    try:
        answer(rows[start:end])
    except StageError as alone:
        row = start if among is None else np.flatnonzero(among)[start]
        found = StageError(f"row {row} of X: {alone}") if len(rows) > 1 or among is not None else alone
    return found

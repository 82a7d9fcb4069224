"""Targets as users have them, made into a label matrix of 0, 1 and NaN (not annotated), and back.

A 2-D target is a label matrix: one column per label. A 1-D target is a plain classification problem: one class per
sample, coded as one label per class.

A list of lists of labels by name, one per row, is read as `MultiLabelBinarizer` of scikit-learn takes it.
"""

from collections.abc import Iterable, Sequence
from itertools import count, islice
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from evolabel._utils.notes import note
from evolabel._utils.text import counted
from evolabel.classifier.samples import LABEL, are_missing, as_array, as_matrix, checked_labels, column_names
from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.streams.tabular.label_column import rows_of_labels
from evolabel.typing import AnyArray, FloatArray

LabelLists = list[list[str] | None]
"""Names of the labels of each row; None for a row that is not annotated."""
_SHOWN_NAMES = 5  # labels in an error


def are_generated(names: Sequence[str]) -> bool:
    """Whether all `names` are those that columns without names get, in their order."""
    return all(name == f"label{i}" for i, name in enumerate(names))


def generated_names(number: int, known: Iterable[str]) -> list[str]:
    """The first `number` names label0, label1, ... that are not among the `known` ones."""
    taken = set(known)
    return list(islice((name for i in count() if (name := f"label{i}") not in taken), number))


class LabelMatrix:
    """Several labels at once. Labels may appear mid-stream, by a new column name or by a wider matrix."""

    def __init__(self, names: Sequence[str] = (), first_rows: Sequence[int] = ()) -> None:
        self.names: list[str] = list(names)
        self.size = len(self.names)  # K, the number of labels
        self._first_rows = first_rows  # of the last labels, in the rows they came with; empty: all exist from row 0 on

    def read(self, target: object) -> tuple[FloatArray, "LabelMatrix"]:
        """Return rows of 0, 1 and NaN from `target`, and their coding: this one, or a wider one with new labels."""
        Y = checked_labels(as_matrix(target, "Y", LABEL))
        return self._placed(Y, column_names(target))

    def _placed(self, Y: FloatArray, names: list[str] | None) -> tuple[FloatArray, "LabelMatrix"]:
        """Columns of Y in the order of the coding."""
        if names is None:
            if Y.shape[1] == 0 or Y.shape[1] < self.size:
                expected = f"at least {self.size}" if self.size else "at least 1"
                raise DataError(
                    f"Y has {Y.shape[1]} columns, {expected} were expected; use NaN for labels not annotated"
                )
            if Y.shape[1] == self.size:
                return Y, self
            return Y, LabelMatrix(self.names + generated_names(Y.shape[1] - self.size, self.names))
        if len(set(names)) < len(names):
            raise DataError(f"Y has several columns of the same name; label names must differ, got {names}")
        if self.size and are_generated(self.names) and not set(names) & set(self.names):
            return self._named(Y, names)
        wider = LabelMatrix(_with_new(self.names, names))
        placed = np.full((len(Y), wider.size), np.nan)
        placed[:, _places(names, wider.names)] = Y
        return placed, self if wider.size == self.size else wider

    def _named(self, Y: FloatArray, names: list[str]) -> tuple[FloatArray, "LabelMatrix"]:
        """Labels that had no names so far get those of a frame of the same width."""
        if len(names) != self.size:
            raise DataError(
                f"Y has {len(names)} named columns, but the model has {counted(self.size, 'label')} without names; "
                f"name all {self.size}, or pass arrays"
            )
        return Y, LabelMatrix(names)

    def first(self, size: int) -> "LabelMatrix":
        """Return the coding of the first `size` labels."""
        return LabelMatrix(self.names[:size])

    def steps(self, labels: FloatArray, known: int) -> list[tuple[int, int]]:
        """Return (first row, number of labels from there on) of `labels`, given the number of `known` labels.

        New columns of a matrix exist from row 0 on, names in lists from the row on that first has them.
        """
        if not self._first_rows:
            return [(0, self.size)]
        return _growth(self._first_rows[len(self._first_rows) - (self.size - known) :], known)


class ClassCodes:
    """One class per sample, coded as one label per class. Classes may appear mid-stream."""

    def __init__(self, classes: AnyArray | None = None) -> None:
        self.classes = np.empty(0) if classes is None else classes

    @property
    def size(self) -> int:
        """K, one label per class."""
        return len(self.classes)

    @property
    def names(self) -> list[str]:
        """Names of the labels: the classes as text."""
        return [str(c) for c in self.classes]

    def read(self, target: object, *, by_appearance: bool = False) -> tuple[FloatArray, "ClassCodes"]:
        """Return one-hot rows from `target` (NaN where the class is missing), and their coding.

        New classes follow the known ones, sorted, or, `by_appearance`, in the order in which they appear.
        """
        values = _class_values(target)
        missing = are_missing(values)
        found, first = _sorted_classes(values[~missing])
        order = np.argsort(first) if by_appearance else np.arange(len(found))
        known = set(self.classes.tolist())
        new = [c for c in found[order].tolist() if c not in known]
        if new and self.size:
            _sorted_classes(np.array(self.classes.tolist() + new, dtype=object))  # refuses to mix text and numbers
        codes = self
        if new:  # the first classes keep the kind of array they came in
            codes = ClassCodes(np.array(self.classes.tolist() + new, dtype=None if self.size else found.dtype))
        Y = np.full((len(values), codes.size), np.nan)
        place = {c: i for i, c in enumerate(codes.classes.tolist())}
        Y[~missing] = 0.0
        for row, value in enumerate(values.tolist()):
            if not missing[row]:
                Y[row, place[value]] = 1.0
        return Y, codes

    def first(self, size: int) -> "ClassCodes":
        """Return the coding of the first `size` classes."""
        return ClassCodes(self.classes[:size])

    def steps(self, labels: FloatArray, known: int) -> list[tuple[int, int]]:
        """Return (first row, number of classes from there on) of one-hot `labels`, given the number of `known` classes.

        A class exists from the sample on that first has it, so a stream cut into batches is learned as one batch. The
        very first class exists from the first row on.
        """
        return _growth([int(np.argmax(labels[:, c] == 1.0)) for c in range(known, self.size)], known)

    def decode(self, outputs: AnyArray) -> AnyArray:
        """Return the class with the largest of the `outputs` of each row."""
        return np.asarray(self.classes[np.argmax(outputs, axis=1)])


def _growth(firsts: Sequence[int], known: int) -> list[tuple[int, int]]:
    """Return (first row, number of labels from there on), where new labels begin at the rows `firsts`."""
    steps = [(row, known + number) for number, row in enumerate(firsts, start=1)]
    steps = [(0 if size == 1 else row, size) for row, size in steps]
    if known or not steps:
        steps.insert(0, (0, known))
    return [step for step, after in zip(steps, [*steps[1:], (-1, 0)], strict=True) if step[0] != after[0]]


Targets = LabelMatrix | ClassCodes


def read_targets(
    target: object, rows: int, known: Targets | None, *, streaming: bool = False
) -> tuple[FloatArray, Targets]:
    """Return the label matrix of a `target` of `rows` rows, and its coding; `known` is the coding so far.

    In a batch new classes are sorted; when `streaming` they come in the order in which they appear.
    """
    if target is None:
        raise DataError("a classifier requires y to be passed, but the target y is None; pass the labels of X")
    if sparse.issparse(target):
        raise DataTypeError("Y is a sparse matrix, dense labels are required; use Y.toarray()")
    if (lists := as_label_lists(target)) is not None:
        return _read_lists(lists, rows, known, streaming=streaming)
    shape = target.shape if isinstance(target, np.ndarray) else as_array(target, "the target").shape
    if len(shape) not in (1, 2):
        raise DataError(f"the target has shape {shape}; pass a label matrix (samples, labels) or one class per sample")
    coding: Targets = known if known is not None else (ClassCodes() if len(shape) == 1 else LabelMatrix())
    if isinstance(coding, ClassCodes) != (len(shape) == 1):
        expected = "one class per sample (1-D)" if isinstance(coding, ClassCodes) else "a label matrix (2-D)"
        raise DataError(f"the target has shape {shape}, but the model was trained on {expected}; keep to one form")
    if shape[0] != rows:
        raise DataError(f"X has {rows} rows and the target {shape[0]}; every sample needs its row (NaN: not annotated)")
    if isinstance(coding, ClassCodes):
        labels, codes = coding.read(target, by_appearance=streaming)
        if codes is not coding:
            note_joined_labels(codes.classes.tolist())
        return labels, codes
    return coding.read(target)


def _read_lists(lists: LabelLists, rows: int, known: Targets | None, *, streaming: bool) -> tuple[FloatArray, Targets]:
    """Return the label matrix of one list of labels per row, and its coding, as `read_targets` does."""
    if isinstance(known, ClassCodes):
        raise DataError("y has lists of labels, but the model was trained on one class per sample; keep to one form")
    if len(lists) != rows:
        raise DataError(f"X has {rows} rows and the target {len(lists)}; every sample needs its row (None: unknown)")
    labels, names, first_rows = read_label_lists(lists, known.names if known else [], streaming=streaming)
    return labels, known if known is not None and len(names) == known.size else LabelMatrix(names, first_rows)


def announced(known: Targets | None, classes: object) -> Targets:
    """Return the `known` coding with the `classes` that a user announces."""
    if isinstance(known, LabelMatrix):
        return known
    return (known or ClassCodes()).read(classes)[1]


def joined(mine: Targets, theirs: Targets) -> Targets:
    """Return the coding of the labels of `mine` and `theirs`, mine first."""
    if isinstance(mine, LabelMatrix) and isinstance(theirs, LabelMatrix):
        return LabelMatrix(_with_new(mine.names, theirs.names))
    if isinstance(mine, ClassCodes) and isinstance(theirs, ClassCodes):
        return mine.read(theirs.classes)[1]
    raise DataError("one classifier was trained on a label matrix, the other on classes; they cannot be merged")


def places(theirs: Targets, both: Targets) -> list[int]:
    """Return where the labels of `theirs` stand in the joined coding `both`."""
    if isinstance(theirs, ClassCodes) and isinstance(both, ClassCodes):
        return _places(theirs.classes.tolist(), both.classes.tolist())  # by value: 1 and 1.0 are the same class
    return _places(theirs.names, both.names)


def _with_new(known: list[str], names: list[str]) -> list[str]:
    """The known names, then those of the others that are not among them."""
    seen = set(known)
    return known + [name for name in names if name not in seen]


def _places(values: list[Any], known: list[Any]) -> list[int]:
    """Return where each of `values` stands among the `known` ones."""
    place = {value: i for i, value in enumerate(known)}
    return [place[value] for value in values]


def _class_values(target: object) -> AnyArray:
    """One class per sample; a list keeps its kinds of values (numpy would make NaN among text the text "nan")."""
    values = as_array(target, "the target")
    if values.ndim != 1:
        raise DataError(f"classes have shape {values.shape}; pass a flat list of classes")
    mixed = isinstance(target, list | tuple) and values.dtype.kind in "US"
    return np.array(target, dtype=object) if mixed else values


def _sorted_classes(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The classes, sorted, and where each appears first."""
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: y is complex; pass classes or 0/1 labels")
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise DataError("y contains inf; use NaN for a class not annotated")
        if (values != np.round(values)).any():
            raise DataError("Unknown label type: continuous. y holds fractions; pass classes or a matrix of 0/1 labels")
    try:
        found, first = np.unique(values, return_index=True)
        return found, first
    except TypeError:
        raise DataError("Unknown label type: y mixes kinds of classes that cannot be sorted; use one kind") from None


def named_weights(class_weight: dict[Any, float] | str | None, names: list[str]) -> FloatArray | None:
    """Return the weight of each label or class in `names`, 1 where `class_weight` has none; None if it is no dict."""
    if not isinstance(class_weight, dict):
        return None
    given = {str(name): float(weight) for name, weight in class_weight.items()}
    return np.array([given.get(name, 1.0) for name in names])


def renamed_weights(
    class_weight: dict[Any, float] | str | None, known: Sequence[str], names: Sequence[str]
) -> dict[Any, float] | str | None:
    """Return `class_weight` with those of `names` in place of the labels `known`; the same where it is no dict."""
    if not isinstance(class_weight, dict):
        return class_weight
    new = dict(zip(known, names, strict=True))
    return {new.get(str(name), name): weight for name, weight in class_weight.items()}


def check_weighted_names(class_weight: dict[Any, float] | str | None, targets: Targets) -> None:
    """Raise ParameterError if `class_weight` names a label or class that `targets` do not have."""
    unknown = [] if not isinstance(class_weight, dict) else [n for n in class_weight if str(n) not in targets.names]
    if unknown:
        first = ", ".join(targets.names[:_SHOWN_NAMES])
        more = "" if targets.size <= _SHOWN_NAMES else f", ... ({counted(targets.size, 'label')} in all)"
        raise ParameterError(f"class_weight has {unknown[0]!r}, which y does not have; use names of {first}{more}")


_SEPARATORS = ";|,"
_FEW_UNKNOWN, _SHARE_UNKNOWN = 10, 0.1  # rows that are not annotated without a note


def as_label_lists(target: Any) -> LabelLists | None:
    """Return the labels of each row if `target`, a list or series, holds lists, tuples or sets of texts; else None.

    Empty texts are no labels. A DataWarning is given where many rows hold nothing at all and count as not annotated.
    """
    if isinstance(target, np.ndarray):
        values = target.tolist() if target.dtype == object and target.ndim == 1 else []
    elif nw.dependencies.is_into_series(target):
        series: Any = nw.from_native(target, series_only=True)
        values = series.to_list() if series.dtype in (nw.List, nw.Object) else []
    else:
        values = list(target) if isinstance(target, list | tuple) else []
    if not any(_is_list(value) for value in values):
        return None
    rows: LabelLists = []
    for value in values:
        if not _is_list(value):
            if not _is_missing(value):
                return None
            rows.append(None)
        elif all(isinstance(label, str) for label in value):
            rows.append([label for label in value if label])  # "".split(";") gives an empty text
        else:
            return None
    unknown = sum(row is None for row in rows)
    if unknown > max(_FEW_UNKNOWN, _SHARE_UNKNOWN * len(rows)):
        note(
            f"{counted(unknown, 'row')} of y hold no list and count as not annotated; where there is no label, pass an "
            'empty list: y.fillna("").str.split(";")'
        )
    return rows


def read_label_lists(
    lists: LabelLists, known: Sequence[str], *, streaming: bool
) -> tuple[FloatArray, list[str], list[int]]:
    """Return rows of 0, 1 and NaN of these `lists`, the names of their columns, and the first row of each new label.

    The `known` names come first. New labels are sorted; when `streaming` they come in the order in which they appear,
    and are NaN before.
    """
    first: dict[str, int] = {}
    for row, labels in enumerate(lists):
        for label in labels or ():
            first.setdefault(label, row)
    new = [label for label in (first if streaming else sorted(first)) if label not in set(known)]
    names = [*known, *new]
    Y = rows_of_labels(lists, names)
    if streaming:
        for column, label in enumerate(new, len(known)):
            Y[: first[label], column] = np.nan
    return Y, names, [first[label] for label in new] if streaming else []


def note_joined_labels(classes: Sequence[object]) -> None:
    """Warn if `classes` look like several labels in one text: the texts split into no more parts than there are."""
    texts = [text for text in classes if isinstance(text, str)]
    for mark in _SEPARATORS:
        joined_text = next((text for text in texts if mark in text.strip(mark)), None)
        parts = {part.strip() for text in texts for part in text.split(mark) if part.strip()}
        if joined_text is not None and len(parts) <= len(texts):
            note(
                f"y looks like several labels per row ({joined_text!r}), but is learned as {len(texts)} classes; pass "
                f"a list per row for {len(parts)} labels: y.str.split({mark!r}) or [text.split({mark!r}) for text in y]"
            )
            return


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)

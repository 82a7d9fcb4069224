"""`Schema`: the arrays of a stage, each declared once, in the annotation of its field in a NamedTuple or a class.

    class Sums(NamedTuple):
        total: Annotated[FloatArray, array("label", "regressor", low=0.0)]

Allocation, new labels and features, other orders, and what a stored array must be follow from the declaration.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Generic, TypeVar, get_args, get_type_hints

import numpy as np

from evolabel.core.stored_checks import LARGEST, MOST, Expected
from evolabel.errors import DataTypeError
from evolabel.typing import AnyArray, Arrays, IntArray

T = TypeVar("T")

Sizes = Mapping[str, int]
"""Lengths of axes, by name."""

Start = float | AnyArray | Callable[[Sizes], AnyArray]
"""A value for all elements, an array that is broadcast to the shape, or a function of the sizes that returns one."""


@dataclass(frozen=True)
class Declaration:
    """One array: its axes, the value of a new element, and the range of stored values; see `array`."""

    axes: tuple[str | int, ...]
    start: Start
    low: float | None
    high: float | None
    positive: bool
    missing: bool
    when: str
    is_stored: bool
    kind: str

    def shape(self, sizes: Sizes, switches: Collection[str]) -> tuple[int, ...]:
        """Return the shape for these `sizes`; one that the `switches` leave out has no elements behind its slots."""
        lengths = tuple(axis if isinstance(axis, int) else sizes[axis] for axis in self.axes)
        return lengths if not self.when or self.when in switches else (lengths[0], *(0 for _ in lengths[1:]))


def array(
    *axes: str | int,
    start: Start = 0.0,
    low: float | None = None,
    high: float | None = None,
    positive: bool = False,
    missing: bool = False,
    when: str = "",
    is_stored: bool = True,
    kind: str = "exact",
) -> Declaration:
    """Return the declaration of an array.

    Parameters
    ----------
    *axes : str or int
        Name of each axis, by which its length is found, or the length itself.
    start : float, array or function
        Value of a new element.
    low, high : float, optional
        Range of stored values; by default any that can be squared, and whole numbers from 0.
    positive : bool
        Whether values must be above 0.
    missing : bool
        Whether values may be NaN.
    when : str
        Switch without which the array has no elements.
    is_stored : bool
        Whether files have it; it is derived again where they do not.
    kind : {"exact", "derived", "policy", "bound"}
        Whether it follows from other arrays.
    """
    return Declaration(axes, start, low, high, positive, missing, when, is_stored, kind)


class Schema(Generic[T]):
    """The declarations in the annotations of `kind`: a NamedTuple of arrays, or a class with them as attributes.

    Parameters
    ----------
    kind : type
        The NamedTuple, or the class; attributes of it that are not declared are left alone.

    Attributes
    ----------
    declarations : dict of str to Declaration
        Of every array, in their order.
    """

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self.declarations: dict[str, Declaration] = {}
        self.dtypes: dict[str, type] = {}
        for name, hint in get_type_hints(kind, include_extras=True).items():
            if len(annotated := get_args(hint)) == 2 and isinstance(annotated[1], Declaration):
                self.declarations[name] = annotated[1]
                self.dtypes[name] = _dtype_in(annotated[0], f"field {name!r} of {kind.__name__}")

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the arrays that files have."""
        return tuple(name for name, declared in self.declarations.items() if declared.is_stored)

    def along(self, axis: str) -> dict[str, int]:
        """Return the names of the arrays that have this `axis`, with its first place in them."""
        return {name: found.axes.index(axis) for name, found in self.declarations.items() if axis in found.axes}

    def shapes(self, sizes: Sizes, switches: Collection[str] = ()) -> dict[str, tuple[int, ...]]:
        """Return the shape of every array for these `sizes` and `switches`."""
        return {name: declared.shape(sizes, switches) for name, declared in self.declarations.items()}

    def n_bytes(self, sizes: Sizes, switches: Collection[str] = ()) -> int:
        """Return the bytes that all arrays take for these `sizes` and `switches`."""
        shapes = self.shapes(sizes, switches)
        return sum(prod(shape) * np.dtype(self.dtypes[name]).itemsize for name, shape in shapes.items())

    def allocate(self, sizes: Sizes, switches: Collection[str] = ()) -> T:
        """Return new arrays for these `sizes` and `switches`, with their start values."""
        return self.kind(**self.new(sizes, switches))

    def new(self, sizes: Sizes, switches: Collection[str] = ()) -> Arrays:
        """Return new arrays for these `sizes` and `switches`, with their start values, by name."""
        shapes = self.shapes(sizes, switches)
        return {name: self._started(name, shape, sizes) for name, shape in shapes.items()}

    def arrays_of(self, holder: object) -> Arrays:
        """Return the stored arrays of `holder`, by name."""
        return {name: getattr(holder, name) for name in self.stored}

    def expected(self, sizes: Sizes, switches: Collection[str] = ()) -> dict[str, Expected]:
        """Return what each stored array must be, for these `sizes` and `switches`."""
        table = {}
        for name in self.stored:
            declared, dtype = self.declarations[name], self.dtypes[name]
            is_whole = np.issubdtype(dtype, np.integer)
            low = (0 if is_whole else -LARGEST) if declared.low is None else declared.low
            high = (MOST if is_whole else LARGEST) if declared.high is None else declared.high
            shape = declared.shape(sizes, switches)
            table[name] = Expected(shape, dtype, low, high, declared.positive, declared.missing)
        return table

    def rearranged(self, arrays: T, sources: Mapping[str, IntArray], leave_out: Collection[str] = ()) -> T:
        """Return `arrays` with other entries along some axes; those without these axes, and those to `leave_out`, stay.

        `sources` has, by axis, the former place of each entry; -1: it is new and has the start value.
        """
        return self.kind(**self.moved(arrays, sources, leave_out))

    def moved(self, holder: object, sources: Mapping[str, IntArray], leave_out: Collection[str] = ()) -> Arrays:
        """Return the arrays of `holder` by name, with other entries along some axes; arguments as of `rearranged`."""
        changed: Arrays = {}
        for name in self.declarations:
            old = changed[name] = getattr(holder, name)
            by_axis = self._by_axis(name, old, sources)
            if name not in leave_out and any(source is not None for source in by_axis):
                lengths = [n if found is None else len(found) for n, found in zip(old.shape, by_axis, strict=True)]
                sizes = {str(axis): n for axis, n in zip(self.declarations[name].axes, lengths, strict=True)}
                new = self._started(name, tuple(lengths), sizes)
                self._move(new, old, by_axis)
                changed[name] = new
        return changed

    def fill(self, new: T, old: T, sources: Mapping[str, IntArray], leave_out: Collection[str] = ()) -> None:
        """Copy the entries of `old` into `new`, by `sources` as in `rearranged`, but not the arrays to `leave_out`."""
        for name in self.declarations:
            if name not in leave_out:
                self._move(getattr(new, name), getattr(old, name), self._by_axis(name, getattr(old, name), sources))

    def _by_axis(self, name: str, old: AnyArray, sources: Mapping[str, IntArray]) -> list[IntArray | None]:
        """Return the source of each axis of the array `old` of this `name`; None: all its entries, as they are."""
        declared = self.declarations[name]
        is_absent = bool(declared.when) and 0 in old.shape[1:]
        axes = [axis if place == 0 or not is_absent else None for place, axis in enumerate(declared.axes)]
        return [sources.get(axis) if isinstance(axis, str) else None for axis in axes]

    @staticmethod
    def _move(new: AnyArray, old: AnyArray, sources: list[IntArray | None]) -> None:
        """Copy the entries of `old` by the `sources` of its axes into `new`."""
        found = [
            np.arange(n) if s is None else np.asarray(s, np.int64) for n, s in zip(old.shape, sources, strict=True)
        ]
        new[np.ix_(*(np.flatnonzero(s >= 0) for s in found))] = old[np.ix_(*(s[s >= 0] for s in found))]

    def from_arrays(self, arrays: Arrays) -> T:
        """Return copies of stored `arrays`, by name, that were checked."""
        return self.kind(**self.copies(arrays))

    def copies(self, arrays: Arrays) -> Arrays:
        """Return copies of stored `arrays`, by name, that were checked, as those of a holder."""
        return {name: np.array(arrays[name], self.dtypes[name]) for name in self.declarations}

    def writeable(self, arrays: T) -> T:
        """Return `arrays`, or copies where they are read-only, as those of a memory map are: loops write into them."""
        found = {name: getattr(arrays, name) for name in self.declarations}
        return arrays if all(each.flags.writeable for each in found.values()) else self.from_arrays(found)

    def _started(self, name: str, shape: tuple[int, ...], sizes: Sizes) -> AnyArray:
        """Return a new array of this `name` and `shape`, with its start values for these `sizes`."""
        start = self.declarations[name].start
        made: AnyArray = np.zeros(shape, self.dtypes[name])
        if made.size and not (isinstance(start, float) and start == 0.0):
            made[...] = start(sizes) if callable(start) else start
        return made


def _dtype_in(hint: object, field: str) -> type:
    """Return the type of the elements in `hint`, such as `FloatArray`; DataTypeError, which names `field`, if none."""
    found = get_args(get_args(hint)[-1])[:1] if get_args(hint) else ()
    if not found or not isinstance(found[0], type) or not issubclass(found[0], np.generic):
        raise DataTypeError(
            f"{field} is annotated with {hint}, which has no type of elements; "
            "use FloatArray, IntArray or BoolArray of evolabel.typing"
        )
    return found[0]


def stream_sizes(n_features: int, n_labels: int, **others: int) -> dict[str, int]:
    """Return the sizes of a stream of `n_features` and `n_labels`, and `others`; a regressor has a 1 behind them."""
    return {"feature": n_features, "regressor": n_features + 1, "label": n_labels, **others}


def of_features(kept: IntArray, n_before: int, n_features: int) -> dict[str, IntArray]:
    """Return the sources of the axes of features: `kept` columns of `n_before`, then new ones up to `n_features`."""
    source = np.append(kept, np.full(n_features - len(kept), -1))
    return {"feature": source, "regressor": np.append(source, n_before)}


def new_entries(known: int, total: int) -> IntArray:
    """Return the sources of an axis that grows from `known` to `total` entries, for `Schema.rearranged`."""
    return np.append(np.arange(known), np.full(total - known, -1))


def places_of(labels: IntArray, n_labels: int) -> IntArray:
    """Return the sources of an axis of `n_labels`, for `Schema.rearranged`; `labels` has the places of the old ones."""
    source = np.full(n_labels, -1)
    source[labels] = np.arange(len(labels))
    return source

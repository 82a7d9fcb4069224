"""Arrays that are declared once: allocated, rearranged and checked as the plainest code does it."""

import itertools
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.core.schema import Schema, array, new_entries, of_features, stream_sizes
from evolabel.core.stored_checks import check_arrays
from evolabel.errors import DataError
from evolabel.stages.calibration.arrays import CALIBRATION_ARRAYS
from evolabel.stages.drift.arrays import MEMBER_ARRAYS
from evolabel.stages.rules.arrays import RULE_ARRAYS
from evolabel.stages.sensors.arrays import SENSOR_ARRAYS
from evolabel.stages.threshold_rules.arrays import TREE_ARRAYS
from evolabel.stages.written_rules.arrays import WRITTEN_ARRAYS
from evolabel.typing import FloatArray, IntArray

SCHEMAS = (RULE_ARRAYS, SENSOR_ARRAYS, MEMBER_ARRAYS, TREE_ARRAYS, WRITTEN_ARRAYS, CALIBRATION_ARRAYS)
START = np.array([[1.0], [2.0]])


class Arrays(NamedTuple):
    """Some arrays of each kind."""

    weights: Annotated[FloatArray, array("label", "regressor", start=3.0)]
    views: Annotated[FloatArray, array(2, "feature", start=START, low=0.0)]
    known: Annotated[IntArray, array("feature", start=-1, low=-1)]
    square: Annotated[FloatArray, array("label", "label", when="coupled")]
    by_size: Annotated[IntArray, array("label", start=lambda sizes: np.arange(sizes["label"]))]
    clock: Annotated[IntArray, array(2)]
    derived: Annotated[FloatArray, array("feature", is_stored=False)]


SCHEMA = Schema(Arrays)


def filled(p, K, switches):
    """Arrays of these sizes whose entries all differ."""
    arrays = SCHEMA.allocate(stream_sizes(p, K), switches)
    return Arrays(*(np.arange(a.size).reshape(a.shape).astype(a.dtype) + 10 for a in arrays))


def started(name, place, sizes):
    """The start value of the array `name` at a `place`."""
    if name == "by_size":
        return place[0]
    return {"weights": 3.0, "known": -1, "square": 0.0, "derived": 0.0, "views": 1.0 + place[0]}[name]


def naive(old, sources):
    """`rearranged`, entry by entry."""
    found = {}
    for name, declared in SCHEMA.declarations.items():
        before = getattr(old, name)
        by_axis = [sources.get(axis) if isinstance(axis, str) else None for axis in declared.axes]
        if declared.when and not before.size:
            found[name] = np.zeros((len(by_axis[0]), 0)) if by_axis[0] is not None else before
            continue
        by_axis = [range(n) if s is None else s for s, n in zip(by_axis, before.shape, strict=True)]
        made = np.empty([len(s) for s in by_axis], before.dtype)
        for place in np.ndindex(*made.shape):
            source = tuple(s[i] for s, i in zip(by_axis, place, strict=True))
            made[place] = before[source] if min(source) >= 0 else started(name, place, made.shape)
        found[name] = made
    return found


@st.composite
def changes(draw):
    p, K = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sources = {}
    if draw(st.booleans()):
        sources["label"] = np.array(draw(st.permutations([*range(K), -1, -1]))[: draw(st.integers(1, K + 2))])
    if draw(st.booleans()):
        kept = np.array(sorted(draw(st.sets(st.integers(0, p - 1)))), np.int64)
        sources |= of_features(kept, p, len(kept) + draw(st.integers(0, 2)))
    return p, K, sources, draw(st.sampled_from([(), ("coupled",)]))


@given(changes())
def test_entries_move_as_one_by_one(change):
    p, K, sources, switches = change
    old = filled(p, K, switches)
    before = [a.copy() for a in old]
    new, expected = SCHEMA.rearranged(old, sources), naive(old, sources)
    for name in Arrays._fields:
        np.testing.assert_array_equal(getattr(new, name), expected[name], err_msg=name)
        assert getattr(new, name).dtype == getattr(old, name).dtype
    for array_before, array_after in zip(before, old, strict=True):
        np.testing.assert_array_equal(array_after, array_before)
    assert new.clock is old.clock


@given(changes())
def test_filling_leaves_new_entries_as_they_were(change):
    p, K, sources, switches = change
    old = filled(p, K, switches)
    sizes = stream_sizes(len(sources.get("feature", range(p))), len(sources.get("label", range(K))))
    new = SCHEMA.allocate(sizes, switches)
    SCHEMA.fill(new, old, sources)
    for name, expected in naive(old, sources).items():
        np.testing.assert_array_equal(getattr(new, name), expected, err_msg=name)


def test_growth_keeps_what_is_there():
    old = filled(2, 2, ())
    new = SCHEMA.rearranged(old, {"label": new_entries(2, 3)})
    np.testing.assert_array_equal(new.weights[:2], old.weights)
    np.testing.assert_array_equal(new.weights[2], 3.0)


def test_stored_arrays_are_checked_by_their_declaration():
    sizes = stream_sizes(2, 1)
    arrays = {name: getattr(SCHEMA.allocate(sizes), name) for name in SCHEMA.stored}
    check_arrays(arrays, SCHEMA.expected(sizes))
    assert "derived" not in arrays
    for name, wrong, message in (
        ("views", np.full((2, 2), -1.0), "views holds values from -1 to -1, expected values from 0"),
        ("known", np.zeros(3, np.int64), r"known has shape \(3,\), expected \(2,\)"),
        ("weights", np.zeros((1, 3), np.int64), "weights holds int64, expected float64"),
        ("square", np.zeros((1, 1)), r"square has shape \(1, 1\), expected \(1, 0\)"),
    ):
        with pytest.raises(DataError, match=message):
            check_arrays({**arrays, name: wrong}, SCHEMA.expected(sizes))


def test_bytes_are_those_of_the_arrays():
    sizes = stream_sizes(3, 2)
    for switches in ((), ("coupled",)):
        arrays = SCHEMA.allocate(sizes, switches)
        assert SCHEMA.n_bytes(sizes, switches) == sum(a.nbytes for a in arrays)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.kind.__name__)
def test_every_array_of_a_stage_is_documented(schema):
    import ast
    import inspect

    body = ast.parse(inspect.getsource(schema.kind)).body[0].body
    described = {
        field.target.id
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    assert described == set(schema.kind._fields)


class Counts:
    """A class that declares some of its attributes."""

    seen: Annotated[FloatArray, array("label", low=0.0)]
    ages: Annotated[IntArray, array("label", start=-1, low=-1)]
    n_labels: int

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        vars(self).update(COUNTS.new({"label": n_labels}))


COUNTS = Schema(Counts)


def test_a_class_declares_some_of_its_attributes():
    counts = Counts(2)
    counts.seen[:] = 3.0, 4.0
    assert COUNTS.stored == ("seen", "ages")
    grown = COUNTS.moved(counts, {"label": new_entries(2, 3)})
    assert [grown["seen"].tolist(), grown["ages"].tolist()] == [[3.0, 4.0, 0.0], [-1, -1, -1]]
    assert COUNTS.arrays_of(counts)["seen"] is counts.seen
    copied = COUNTS.copies(COUNTS.arrays_of(counts))
    assert copied["seen"].tolist() == [3.0, 4.0]
    assert copied["seen"] is not counts.seen

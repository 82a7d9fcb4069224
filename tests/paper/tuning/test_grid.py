"""A grid holds all combinations of its values, and knows which of them share a structure."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import ParameterError
from evolabel.paper import PAPER_GRID
from evolabel.paper.tuning.grid import Grid

NAMES = st.sampled_from(["alpha", "beta", "vigilance", "max_rules"])


def every_combination(values):
    """Nested loops, one per parameter."""
    points = [{}]
    for name, given_values in values.items():
        points = [{**point, name: value} for point in points for value in given_values]
    return points


def as_set(points):
    return {tuple(sorted(point.items())) for point in points}


@settings(max_examples=examples(50), deadline=None)
@given(st.dictionaries(NAMES, st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True), min_size=1))
def test_structures_times_consequents_are_all_combinations(values):
    grid = Grid.of(values)
    joined = [{**structure, **pair} for structure in grid.structures for pair in grid.consequents]
    assert len(grid) == len(joined)
    assert as_set(joined) == as_set(every_combination(values))


@settings(max_examples=examples(50), deadline=None)
@given(st.dictionaries(NAMES, st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True), min_size=1))
def test_only_alpha_and_beta_share_a_structure(values):
    grid = Grid.of(values)
    assert all(not {"alpha", "beta"} & point.keys() for point in grid.structures)
    assert all(point.keys() <= {"alpha", "beta"} for point in grid.consequents)


def test_a_grid_without_alpha_and_beta_has_one_point_per_structure():
    grid = Grid.of({"vigilance": [0.1, 0.2]})
    assert grid.structures == [{"vigilance": 0.1}, {"vigilance": 0.2}]
    assert grid.consequents == [{}]


def test_the_papers_grid():
    grid = Grid.of(PAPER_GRID)
    assert (len(grid.structures), len(grid.consequents), len(grid)) == (17, 80, 1360)
    vigilance = PAPER_GRID["vigilance"]
    assert (vigilance[0], vigilance[1], vigilance[-1]) == (0.1, 0.15, 0.9)
    assert (PAPER_GRID["alpha"][0], PAPER_GRID["alpha"][-1], PAPER_GRID["beta"][-1]) == (0.0, 10.0, 100.0)


@pytest.mark.parametrize("value", [0.1, 3, "press", None, True])
def test_single_values_need_not_be_wrapped(value):
    assert Grid.of({"ridge": value}).structures == [{"ridge": value}]


@pytest.mark.parametrize("values", [np.array([0.1, 0.5]), (0.1, 0.5), [0.1, 0.5]], ids=["array", "tuple", "list"])
def test_values_come_in_any_sequence(values):
    assert Grid.of({"alpha": values}).consequents == [{"alpha": 0.1}, {"alpha": 0.5}]


@pytest.mark.parametrize(("values", "told"), [({}, "the grid has no values;"), ({"alpha": []}, "no values for alpha;")])
def test_a_grid_without_points_is_refused(values, told):
    with pytest.raises(ParameterError, match=told):
        Grid.of(values)

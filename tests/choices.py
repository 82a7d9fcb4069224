"""Which of many parameters `make test` tries; `make check` tries all of them."""

import pytest
from hypothesis import settings


def pairs(one, two):
    """Return all pairs of values of `one` and `two`; without the slow ones, each value is still in some pair."""
    one, two = list(one), list(two)
    quick = {(i % len(one), i % len(two)) for i in range(max(len(one), len(two)))}
    return [
        pytest.param(a, b, marks=() if (i, j) in quick else pytest.mark.slow)
        for i, a in enumerate(one)
        for j, b in enumerate(two)
    ]


def first_quick(*values):
    """Return `values`, of which all but the first are slow."""
    return [values[0], *(pytest.param(value, marks=pytest.mark.slow) for value in values[1:])]


def examples(number):
    """Return how many examples to draw: `number` in `make check`, a fifth in `make test`, more in `explore`."""
    return max(min(number, 5), min(300, number * settings().max_examples // 50))


def only_quick(values, *quick):
    """Return `values`, of which all but those in `quick` are slow."""
    assert all(one in list(values) for one in quick)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]


def all_but(values, *slow):
    """Return `values`, of which those in `slow` are slow."""
    assert all(one in list(values) for one in slow)
    return [pytest.param(value, marks=pytest.mark.slow) if value in slow else value for value in values]

"""A row that is encoded already is answered as its values are, and refused where it does not fit."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.streams.tabular.column_coding import Encoded


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return EvolvingFuzzyClassifier().fit(X, X[:, :2] > 0.0)


def test_an_encoded_row_is_read_as_its_values(fitted):
    x = np.array([[0.5, np.nan, -1.0]])
    assert fitted.inner.validate_row(Encoded(x, [])).rows is x
    assert np.array_equal(fitted.inner.validate_rows([Encoded(x, [])]), x, equal_nan=True)


@pytest.mark.parametrize("shape", [(1, 2), (1, 4), (2, 3), (0, 3)])
def test_an_encoded_row_of_another_shape_is_refused_with_both_shapes(fitted, shape):
    with pytest.raises(DataError, match=r"\(1, 3\)") as refused:
        fitted.inner.validate_row(Encoded(np.zeros(shape), []))
    assert str(shape) in str(refused.value)


def test_an_infinite_value_in_an_encoded_row_is_refused(fitted):
    with pytest.raises(DataError, match="inf"):
        fitted.inner.validate_row(Encoded(np.array([[0.0, np.inf, 0.0]]), []))

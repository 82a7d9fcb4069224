"""`Dataset`: rows, names, cuts and shuffles."""

import numpy as np
import pytest

from evolabel.errors import DataError
from evolabel.streams import Dataset

X = np.arange(12.0).reshape(6, 2)
Y = np.eye(6)[:, :3]


def test_iterating_gives_the_stream():
    pairs = list(Dataset(X, Y))
    assert len(pairs) == 6
    np.testing.assert_array_equal(pairs[2][0], X[2])
    np.testing.assert_array_equal(pairs[2][1], Y[2])


def test_names_are_made_up_where_there_are_none():
    dataset = Dataset(X, Y, label_names=("a", "b", "c"))
    assert dataset.feature_names == ("x0", "x1")
    assert dataset.label_names == ("a", "b", "c")


def test_lists_become_arrays_and_arrays_stay_the_same():
    dataset = Dataset([[1, 2], [3, None]], [[True], [False]])
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, np.nan]])
    np.testing.assert_array_equal(dataset.Y, [[1], [0]])
    assert dataset.X.dtype == dataset.Y.dtype == np.float64
    assert Dataset(X, Y).X is X


def test_the_first_rows_keep_what_is_left_of_the_split():
    assert Dataset(X, Y, split=4).take(5).split == 4
    assert Dataset(X, Y, split=4).take(3).split == 3
    assert Dataset(X, Y).take(3).split is None


def test_shuffles_are_those_of_the_seed():
    shuffled = Dataset(X, Y, split=2).shuffled(5)
    np.testing.assert_array_equal(shuffled.X, X[np.random.default_rng(5).permutation(6)])
    assert shuffled.split is None


def test_shuffles_follow_the_order_of_the_published_file():
    published = Dataset(np.roll(X, 2, axis=0), np.roll(Y, 2, axis=0))
    ours = Dataset(X, Y, starts_at=4)
    np.testing.assert_array_equal(ours.shuffled(1).X, published.shuffled(1).X)
    np.testing.assert_array_equal(ours.shuffled(1).Y, published.shuffled(1).Y)
    assert ours.take(3).starts_at == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, Y[:5]), "same number of rows"),
        ((X[:, 0], Y), "two tables"),
        (([1, 2], [0, 1]), "two tables"),
        (([[1, 2], [3]], Y), "X cannot be read as a table of numbers"),
        ((X, [["frogs"]] * 6), "Y cannot be read as a table of numbers"),
        ((X, Y, ("only one",)), "1 feature_names were given for 2 columns"),
    ],
)
def test_tables_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        Dataset(*arguments)


def test_a_dataset_is_written_in_one_line():
    assert repr(Dataset(X, Y, name="pond")) == f"Dataset('pond', 6 x 2, {Y.shape[1]} labels)"


def test_rows_keep_their_lines_wherever_they_go():
    table = Dataset(np.arange(6.0)[:, None], np.zeros((6, 1)), lines=np.arange(6) + 2)
    for picked in (table.take(4), table.shuffled(3), table.shuffled(3).take(2)):
        assert picked.lines.tolist() == (picked.X[:, 0] + 2).tolist()
    assert table.describe_row(1) == "row 1 (line 3 of the file)"
    assert Dataset(table.X, table.Y).describe_row(1) == "row 1"

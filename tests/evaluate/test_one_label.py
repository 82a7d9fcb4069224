"""With one label AP is 1 whatever the scores: a warning says so."""

import warnings

import pytest

from evolabel.evaluate import average_precision


def test_average_precision_of_one_label_warns():
    with pytest.warns(UserWarning, match=r"AP is 1 here: one label has no ranking.* label_scores"):
        assert average_precision([[1], [0], [1]], [[0.1], [0.9], [0.2]]) == 1.0


def test_average_precision_of_two_labels_does_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        average_precision([[1, 0], [0, 1]], [[0.1, 0.3], [0.9, 0.2]])
        average_precision([1, 0], [0.1, 0.3])

"""Labels by their names, one list per row; texts such as "a;b" are classes, with a note."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning

NAMES = ("bearing", "leak", "noise")


@pytest.fixture
def lists(stream):
    return [[NAMES[c] for c in np.flatnonzero(y)] for y in stream[1]]


def small(**changes):
    return EvolvingFuzzyClassifier(max_rules=4, **changes)


@pytest.mark.parametrize("form", [list, pd.Series, pl.Series, tuple, lambda y: [set(row) for row in y]])
def test_lists_of_labels_are_a_label_matrix_with_names(stream, lists, form):
    X, Y = stream
    clf = small().fit(X, form(lists))
    assert clf.label_names_.tolist() == list(NAMES)
    assert np.array_equal(clf.decision_function(X), small().fit(X, Y).decision_function(X))
    assert clf.score(X, form(lists)) == clf.score(X, Y)


def test_split_texts_of_pandas_and_polars_are_such_lists(stream, lists):
    X = stream[0]
    texts = [";".join(row) or "noise" for row in lists]
    expected = small().fit(X, [text.split(";") for text in texts]).decision_function(X)
    for series in (pd.Series(texts), pl.Series(texts)):
        assert np.array_equal(small().fit(X, series.str.split(";")).decision_function(X), expected)


def test_a_missing_list_is_not_annotated_and_an_empty_one_has_no_label(stream, lists):
    X, Y = stream
    Y = Y.copy()
    Y[3], Y[5] = np.nan, 0.0
    lists = [None if row == 3 else [] if row == 5 else labels for row, labels in enumerate(lists)]
    assert np.array_equal(small().fit(X, lists).decision_function(X), small().fit(X, Y).decision_function(X))


@pytest.mark.parametrize("warm_up", [20, 1000])
def test_a_stream_of_lists_is_learned_row_by_row_or_at_once(stream, lists, warm_up):
    X, lists = stream[0], [[label for label in row if label != "noise" or i > 60] for i, row in enumerate(lists)]
    lists[0] = lists[0] or ["leak"]
    at_once, by_row = small(warm_up=warm_up).partial_fit(X, lists), small(warm_up=warm_up)
    for i in range(len(X)):
        by_row.partial_fit(X[i : i + 1], lists[i : i + 1])
    assert by_row.label_names_.tolist() == at_once.label_names_.tolist()
    assert set(by_row.label_names_) == set(NAMES)
    assert np.array_equal(by_row.decision_function(X), at_once.decision_function(X))


def test_joined_texts_are_noted(stream, lists):
    texts = [";".join(row) or "ok" for row in lists]
    with pytest.warns(DataWarning, match=r"several labels per row .* pass a list per row for 4 labels") as told:
        clf = small().fit(stream[0], pd.Series(texts))
    assert len(clf.classes_) == len(set(texts))
    assert told[0].filename == __file__


def test_classes_with_such_marks_are_not_noted(stream):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small().fit(stream[0], ["Vienna, Austria" if x > 0 else "Linz" for x in stream[0][:, 0]])


def test_what_does_not_fit_is_one_clear_error(stream, lists, state_of, assert_same_state):
    X = stream[0]
    with pytest.raises(DataError, match="X has 3 rows and the target 2"):
        small().fit(X[:3], lists[:2])
    classes = small().fit(X, (X[:, 0] > 0).astype(int))
    before = state_of(classes)
    with pytest.raises(DataError, match="trained on one class per sample"):
        classes.partial_fit(X[:3], [["leak"], [], []])
    assert_same_state(state_of(classes), before)


def test_empty_texts_in_lists_are_no_labels_and_missing_lists_are_counted():
    tags = pd.Series(["a;b", None, "b", None, "a"] * 20)
    X = np.arange(100.0)[:, None]
    full = EvolvingFuzzyClassifier().fit(X, tags.fillna("").str.split(";"))
    assert full.inner.label_names == ["a", "b"]
    with pytest.warns(DataWarning, match="40 rows of y hold no list and count as not annotated"):
        EvolvingFuzzyClassifier().fit(X, tags.str.split(";"))

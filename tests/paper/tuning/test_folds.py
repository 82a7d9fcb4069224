"""Every row is held out once; losses are turned round; answers that are no numbers have no score."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import METRICS, metric_named
from evolabel.paper.tuning.folds import folds, read_score, scored


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 10), st.integers(0, 60), st.integers(0, 100))
def test_every_row_is_held_out_once_in_parts_of_nearly_equal_size(cv, more, seed):
    rows = 2 * cv + more
    masks = np.array(list(folds(rows, cv, seed)))
    assert masks.shape == (cv, rows)
    np.testing.assert_array_equal(masks.sum(axis=0), 1)
    assert np.ptp(masks.sum(axis=1)) <= 1


def test_the_seed_alone_decides():
    first, again, other = (np.array(list(folds(40, 4, seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_too_few_rows_are_refused_at_once():
    with pytest.raises(DataError, match="9 rows are too few for 5 folds"):
        folds(9, 5, 0)
    assert len(list(folds(10, 5, 0))) == 5


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, size=(20, 3)).astype(float), rng.random((20, 3))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_scores_and_losses_are_turned_round(name, answers):
    metric = metric_named(name).update(*answers)
    assert read_score(name)(*answers) == (metric.get() if metric.bigger_is_better else -metric.get())
    assert read_score(name)(*answers) == read_score(name)(*answers)


def test_functions_are_scores_as_they_are():
    def score(truth, outputs):
        return 1.0

    assert read_score(score) is score


@pytest.mark.parametrize("score", ["accuracy of some kind", 3, None])
def test_what_is_no_score_is_refused(score):
    with pytest.raises(ParameterError, match=r"use .*one of pa, ap, hamming_loss"):
        read_score(score)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_answers_that_are_no_numbers_have_no_score(bad, answers):
    truth, outputs = answers
    blown_up = outputs.copy()
    blown_up[3, 1] = bad
    found = scored(read_score("pa"), truth, np.array([outputs, blown_up, 1.0 - truth, truth]))
    assert found[0] == metric_named("pa").update(truth, outputs).get()
    assert np.isnan(found[1])
    assert found[2:] == [0.0, 1.0]

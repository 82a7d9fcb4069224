"""Drift that a prequential run finds in the losses of its learners."""

import numpy as np
import pytest
from choices import first_quick
from prequential_helpers import MeanLearner, small_stream, without_times

from evolabel.baselines import GlobalRLS, RunningPrior
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.results import Results


def turned_stream(rows=1600, turn=1000, missing=0.1):
    """Three labels that follow three features; the last one becomes its opposite in row `turn`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    Y = (X > 0.0).astype(float)
    Y[turn:, 2] = 1.0 - Y[turn:, 2]
    Y[rng.random(Y.shape) < missing] = np.nan
    return X, Y


@pytest.fixture(scope="module")
def run():
    learners = {"rls": GlobalRLS(), "prior": RunningPrior()}
    return prequential(learners, turned_stream(), initial=100, every=64, watch_drift=True)


def test_the_rows_of_drifts_are_in_the_summary_of_each_learner(run):
    first, second, turned = run.summary["rls"].drifts
    assert first == second == []
    assert len(turned) == 1
    assert 900 < turned[0] < 960  # counted after the initial batch
    assert run.summary["prior"].drifts == [[], [], []]  # its loss is the same before and after
    assert run.settings["watch_drift"] is True


@pytest.mark.parametrize("every", first_quick(1500, 1))
def test_drifts_do_not_depend_on_the_steps(run, every):
    again = prequential({"rls": GlobalRLS()}, turned_stream(), initial=100, every=every, watch_drift=True)
    assert again.summary["rls"].drifts == run.summary["rls"].drifts


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet"])
def test_drifts_are_written_and_read(run, ending, tmp_path):
    run.write(tmp_path / f"results{ending}")
    read = Results.read(tmp_path / f"results{ending}")
    assert {name: summary.drifts for name, summary in read.summary.items()} == {
        name: summary.drifts for name, summary in run.summary.items()
    }


def test_watching_changes_no_score_and_is_off_by_default():
    stream = small_stream(60)
    off, on = (prequential(MeanLearner(), stream, initial=5, keep_scores=True, watch_drift=w) for w in (False, True))
    assert off.summary["MeanLearner"].drifts is None
    assert on.summary["MeanLearner"].drifts == [[], [], []]
    assert without_times(off).count("drifts=None") == 1
    np.testing.assert_array_equal(off.scores["MeanLearner"], on.scores["MeanLearner"])

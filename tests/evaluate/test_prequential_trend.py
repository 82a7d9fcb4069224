"""Trend lines, progress and summary say what the scores, the rules and the clock say."""

from itertools import count
from math import isnan

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from prequential_helpers import MeanLearner, OnePassLearner, small_stream

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import average_precision, partial_accuracy, run
from evolabel.evaluate.metrics import MacroF1, MicroF1, PartialAccuracy
from evolabel.evaluate.prequential import prequential
from evolabel.streams import DriftingStream

ROWS, INITIAL = 40, 8


def line(results, learner, metric, form):
    """One trend line as {sample: value}."""
    return {p.sample: p.value for p in results.trend if (p.learner, p.metric, p.form) == (learner, metric, form)}


@settings(max_examples=examples(30), deadline=None)
@given(every=st.integers(1, 50), window=st.integers(1, 50))
def test_every_point_is_the_metric_of_the_scores_up_to_it(every, window):
    X, Y = DriftingStream(seed=1).take(ROWS)
    results = prequential(
        {"mean": MeanLearner()},
        (X, Y),
        initial=INITIAL,
        every=every,
        window=window,
        metrics=("pa", "ap"),
        keep_scores=True,
    )
    truth, scores, left = Y[INITIAL:], results.scores["mean"], ROWS - INITIAL
    stops = [*range(every, left, every), left]
    for metric, score in (("pa", partial_accuracy), ("ap", average_precision)):
        cumulative, sliding = (line(results, "mean", metric, form) for form in ("cumulative", "sliding"))
        assert list(cumulative) == list(sliding) == stops
        for stop in stops:
            start = max(0, stop - window)
            assert cumulative[stop] == pytest.approx(score(truth[:stop], scores[:stop]), nan_ok=True)
            assert sliding[stop] == pytest.approx(score(truth[start:stop], scores[start:stop]), nan_ok=True)
        assert results.summary["mean"].metrics[metric] == cumulative[left]


def test_the_trend_is_tidy_one_point_per_learner_sample_metric_and_form():
    results = prequential({"a": MeanLearner(), "b": OnePassLearner()}, small_stream(ROWS), initial=INITIAL, every=10)
    keys = [point[:4] for point in results.trend]
    assert len(set(keys)) == len(keys) == 2 * 4 * (4 + 4 + 2)
    assert {point.form for point in results.trend} == {"cumulative", "sliding", "current"}


def test_rules_are_followed_where_there_are_any():
    results = prequential({"a": MeanLearner(), "b": OnePassLearner()}, small_stream(ROWS), initial=INITIAL, every=10)
    assert all(map(isnan, line(results, "a", "rules", "current").values()))
    assert line(results, "b", "rules", "current") == {10: 1.0, 20: 2.0, 30: 3.0, 32: 4.0}
    assert isnan(results.summary["a"].rules)
    assert results.summary["b"].rules == 4.0


def test_rules_of_the_classifier_are_those_it_has(stream):
    results = prequential(EvolvingFuzzyClassifier(max_rules=4), stream, every=48)
    name = "EvolvingFuzzyClassifier"
    assert results.summary[name].rules == results.learners[name].n_rules_ > 0


def test_a_classifier_that_has_learned_nothing_yet_has_no_rules_to_count(stream):
    results = prequential({"efc": EvolvingFuzzyClassifier()}, stream, initial=0, delay=10, every=5)
    rules = list(line(results, "efc", "rules", "current").values())
    assert isnan(rules[0])
    assert rules[-1] > 0


def test_times_are_those_of_each_learner_alone_and_without_the_initial_batch(monkeypatch):
    clock = count()
    monkeypatch.setattr(run, "perf_counter", lambda: next(clock))  # a second passes between two looks at it
    events = []
    learners = {"a": MeanLearner(), "b": OnePassLearner()}
    results = prequential(learners, small_stream(ROWS), initial=INITIAL, every=10, progress=events.append)
    for name in learners:
        assert line(results, name, "ms_per_sample", "current") == {10: 100.0, 20: 100.0, 30: 100.0, 32: 500.0}
        assert results.summary[name].ms_per_sample == 1e3 * 4 / 32
        assert results.summary[name].fit_seconds == 1
    assert [event.samples_per_second for event in events[::2]] == [10.0, 10.0, 10.0, 8.0]


def test_a_clock_that_stands_still_harms_nothing(monkeypatch):
    monkeypatch.setattr(run, "perf_counter", lambda: 0.0)
    events = []
    prequential(MeanLearner(), small_stream(ROWS), progress=events.append)
    assert events[-1].samples_per_second == np.inf


def test_progress_is_reported_after_every_step_of_each_learner():
    events = []
    learners = {"a": MeanLearner(), "b": OnePassLearner()}
    results = prequential(learners, small_stream(ROWS), initial=INITIAL, every=10, progress=events.append)
    steps = [(event.learner, event.done, event.total) for event in events]
    assert steps == [(name, done, 32) for done in (10, 20, 30, 32) for name in "ab"]
    assert repr(events[-1].metrics) == repr(results.summary["b"].metrics)
    assert events[-1].rules == 4.0
    with pytest.raises(AttributeError):
        events[0].done = 0


def test_metrics_are_named_as_on_the_command_line():
    X, Y = small_stream(ROWS)
    results = prequential(MeanLearner(), (X, Y), metrics=["micro-F1", MacroF1(threshold=0.3), PartialAccuracy()])
    assert list(results.summary["MeanLearner"].metrics) == ["micro_f1", "macro F1", "PA"]
    assert results.settings["metrics"]["macro F1"] == "MacroF1(threshold=0.3)"


def test_one_metric_needs_no_list_and_what_it_has_seen_does_not_count():
    used = MicroF1().update([1, 1], [0.0, 0.0])
    results = [prequential(MeanLearner(), small_stream(ROWS), metrics=m) for m in (used, "micro_f1")]
    values = [run.summary["MeanLearner"].metrics.popitem()[1] for run in results]
    assert values[0] == values[1]
    assert used.n_samples == 1


def test_skipped_counts_the_samples_a_metric_could_not_judge():
    X, Y = DriftingStream(seed=1).take(ROWS)
    Y[10:14] = 0.0
    Y[20] = np.nan
    nothing_on = int((~(Y[INITIAL:] == 1.0).any(axis=1)).sum())
    skipped = prequential(MeanLearner(), (X, Y), initial=INITIAL).summary["MeanLearner"].skipped
    assert skipped["pa"] == 1
    assert skipped["ap"] == nothing_on >= 5

"""A prequential run gives exactly what the obvious loop gives: answer a row, then learn what has arrived."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from prequential_helpers import MeanLearner, OnePassLearner, small_stream, without_times

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import AveragePrecision, MacroF1, PartialAccuracy
from evolabel.evaluate.prequential import prequential
from evolabel.streams import DriftingStream
from evolabel.streams.dataset import Dataset

ROWS = 30
MANY, FEW = settings(max_examples=examples(80), deadline=None), settings(max_examples=12, deadline=None)


def obvious_loop(learner, X, Y, initial, delay, annotated, seed):
    """Scores after the initial batch; labels of row n are learned once row n + delay[n] is answered."""
    if initial:
        learner.fit(X[:initial], Y[:initial])
    X, Y = X[initial:], Y[initial:]
    delays = np.random.default_rng((seed, 1)).integers(*delay, len(X), endpoint=True)
    shown = np.random.default_rng((seed, 0)).random(Y.shape) < annotated
    seen = np.where(shown, Y, np.nan)
    scores, learned = np.zeros(Y.shape), bool(initial)
    for now in range(len(X)):
        if learned:
            scores[now] = learner.decision_function(X[now : now + 1])
        for row in range(now + 1):
            if row + delays[row] == now:
                learner.partial_fit(X[row : row + 1], seen[row : row + 1])
                learned = True
    return scores


delay_ranges = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda ends: tuple(sorted(ends)))


@MANY
@given(
    kind=st.sampled_from([MeanLearner, OnePassLearner]),
    initial=st.integers(0, ROWS - 1),
    every=st.integers(1, ROWS + 5),
    delay=delay_ranges,
    annotated=st.sampled_from([0.3, 0.7, 1.0]),
    seed=st.integers(0, 5),
)
def test_scores_and_trained_learner_are_those_of_the_obvious_loop(kind, initial, every, delay, annotated, seed):
    X, Y = small_stream(ROWS, seed)
    twin = MeanLearner()
    expected = obvious_loop(twin, X, Y, initial, delay, annotated, seed)
    results = prequential(
        {"mean": kind()},
        (X, Y),
        initial=initial,
        every=every,
        delay=delay,
        annotated=annotated,
        seed=seed,
        keep_scores=True,
    )
    np.testing.assert_array_equal(results.scores["mean"], expected)
    np.testing.assert_array_equal(results.learners["mean"].memory, twin.memory)


@FEW
@given(delay=delay_ranges, annotated=st.sampled_from([0.5, 1.0]), initial=st.sampled_from([0, 50]))
def test_the_classifier_answers_as_in_the_obvious_loop(gappy_stream, delay, annotated, initial):
    X, Y = gappy_stream
    make = {"max_rules": 5, "warm_up": 30}
    expected = obvious_loop(EvolvingFuzzyClassifier(**make), X, Y, initial, delay, annotated, 0)
    options = {"delay": delay, "annotated": annotated, "every": 17, "keep_scores": True}
    results = prequential({"efc": EvolvingFuzzyClassifier(**make)}, (X, Y), initial=initial, **options)
    np.testing.assert_array_equal(results.scores["efc"], expected)


def test_without_delay_the_classifier_gives_what_test_then_train_gives(stream):
    X, Y = stream
    expected = EvolvingFuzzyClassifier().fit(X[:24], Y[:24]).test_then_train(X[24:], Y[24:])
    results = prequential(EvolvingFuzzyClassifier(), (X, Y), every=40, keep_scores=True)
    np.testing.assert_array_equal(results.scores["EvolvingFuzzyClassifier"], expected)


@FEW
@given(every=st.integers(1, 40))
def test_a_learner_that_answers_and_learns_in_one_go_gets_whole_steps(every):
    batches = (
        prequential(OnePassLearner(), small_stream(ROWS), initial=5, every=every).learners["OnePassLearner"].batches
    )
    assert sum(batches) == ROWS - 5
    assert all(size == every for size in batches[:-1])


def test_with_a_delay_every_learner_is_asked_row_by_row():
    learner = prequential(OnePassLearner(), small_stream(ROWS), delay=1).learners["OnePassLearner"]
    assert learner.batches == []


@pytest.mark.parametrize("options", [{}, {"delay": (1, 5), "annotated": 0.5}])
def test_the_length_of_a_step_changes_no_score(options):
    runs = [prequential(MeanLearner(), small_stream(ROWS), every=n, keep_scores=True, **options) for n in (1, 7, 100)]
    assert len({run.scores["MeanLearner"].tobytes() for run in runs}) == 1


def test_another_seed_draws_other_delays_and_other_labels():
    for options in ({"delay": (0, 9)}, {"annotated": 0.5}):
        runs = [prequential(MeanLearner(), small_stream(ROWS), seed=s, keep_scores=True, **options) for s in (0, 1)]
        assert not np.array_equal(runs[0].scores["MeanLearner"], runs[1].scores["MeanLearner"])


def test_metrics_see_labels_that_learners_do_not():
    X, Y = small_stream(ROWS)
    Y = np.nan_to_num(Y)
    results = prequential({"mean": MeanLearner()}, (X, Y), annotated=0.2, initial=10, keep_scores=True)
    assert results.summary["mean"].metrics["pa"] == ((results.scores["mean"] >= 0.5) == Y[10:]).mean()


# ---------------------------------------------------------------------- streams and initial batches


def forms_of(X, Y):
    """The same rows in every form a stream can have."""
    pairs = list(zip(X, Y, strict=True))
    return {
        "tables": ((X, Y), {}),
        "lists": ((X.tolist(), Y.tolist()), {}),
        "data set": (Dataset(X, Y), {}),
        "pairs": (pairs, {}),
        "generator": ((pair for pair in pairs), {"samples": len(X)}),
        "longer than needed": (pairs * 2, {"samples": len(X)}),
        "shorter than announced": ((pair for pair in pairs), {"samples": 2 * len(X)}),
    }


@pytest.mark.parametrize("form", forms_of(*small_stream(1)))
def test_every_form_of_a_stream_gives_the_same_scores(form):
    X, Y = small_stream(ROWS)
    stream, options = forms_of(X, Y)[form]
    expected = prequential({"mean": MeanLearner()}, (X, Y), initial=6, keep_scores=True)
    results = prequential({"mean": MeanLearner()}, stream, initial=6, keep_scores=True, **options)
    np.testing.assert_array_equal(results.scores["mean"], expected.scores["mean"])
    assert results.summary["mean"].samples == ROWS - 6


def test_an_endless_stream_is_read_once_and_only_as_far_as_needed():
    given_out = 0

    def endless():
        nonlocal given_out
        for pair in DriftingStream(seed=1):
            given_out += 1
            yield pair

    learners = {"one": MeanLearner(), "other": OnePassLearner()}
    results = prequential(learners, endless(), samples=50, initial=10, every=7, keep_scores=True)
    assert given_out == 50
    X, Y = DriftingStream(seed=1).take(50)
    np.testing.assert_array_equal(results.scores["one"], obvious_loop(MeanLearner(), X, Y, 10, (0, 0), 1.0, 0))
    np.testing.assert_array_equal(results.scores["other"], results.scores["one"])


@pytest.mark.parametrize(
    ("initial", "rows"), [(0.2, 6), (0.25, 8), (12, 12), (0, 0), (0.0, 0), ("split", 9), (np.int64(3), 3)]
)
def test_the_initial_batch_is_a_share_a_number_or_the_official_split(initial, rows):
    results = prequential(MeanLearner(), Dataset(*small_stream(ROWS), split=9), initial=initial)
    assert results.settings["initial"] == rows
    assert results.summary["MeanLearner"].samples == ROWS - rows


def test_only_the_first_samples_are_used_where_a_limit_is_given():
    X, Y = small_stream(ROWS)
    assert without_times(prequential(MeanLearner(), (X, Y), samples=20)) == without_times(
        prequential(MeanLearner(), (X[:20], Y[:20]))
    )


# ---------------------------------------------------------------------- learners


@FEW
@given(delay=delay_ranges, annotated=st.sampled_from([0.5, 1.0]), initial=st.sampled_from([0, 8]))
def test_several_learners_in_one_pass_do_what_each_does_alone(delay, annotated, initial):
    learners = {"slow": MeanLearner(0.1), "fast": MeanLearner(0.9), "swift": OnePassLearner(0.5)}
    options = {"delay": delay, "annotated": annotated, "initial": initial, "every": 5, "keep_scores": True}
    together = prequential(learners, small_stream(ROWS), **options)
    for name, learner in learners.items():
        alone = prequential({name: learner}, small_stream(ROWS), **options)
        np.testing.assert_array_equal(together.scores[name], alone.scores[name])
        assert repr(together.summary[name].metrics) == repr(alone.summary[name].metrics)


def test_the_learners_passed_stay_as_they_are():
    learner = OnePassLearner()
    results = prequential({"one": learner, "same": learner}, small_stream(ROWS), keep_scores=True)
    assert learner.memory is None
    assert learner.batches == []
    np.testing.assert_array_equal(results.scores["one"], results.scores["same"])


def test_a_learner_trained_before_is_asked_from_the_first_row_on():
    X, Y = small_stream(ROWS)
    trained = MeanLearner().fit(X[:10], Y[:10])
    results = prequential(trained, (X[10:], Y[10:]), initial=0, keep_scores=True)
    from_the_start = prequential(MeanLearner(), (X, Y), initial=10, keep_scores=True)
    np.testing.assert_array_equal(results.scores["MeanLearner"], from_the_start.scores["MeanLearner"])


class Strict(OnePassLearner):
    """Predicts a label only while few rows were learned: its own thresholds rise row by row."""

    learned = 0

    def partial_fit(self, X, Y):
        super().partial_fit(X, Y)
        self.learned += len(X)
        return self

    @property
    def thresholds_(self):
        return np.full(3, 0.02 * self.learned)


class Decided(Strict):
    """The same in one go."""

    def decide_then_train(self, X, Y):
        limits = 0.02 * (self.learned + np.arange(len(X)))[:, None]
        scores = self.test_then_train(X, Y)
        return scores, scores >= limits


@pytest.mark.parametrize("kind", [Strict, Decided])
@pytest.mark.parametrize("delay", [0, 3])
def test_a_learner_s_own_decisions_count_as_they_were_at_each_answer(kind, delay):
    X, Y = small_stream(40)
    metrics = ["pa", "macro_f1", "ap", PartialAccuracy(0.4)]
    results = prequential(kind(), (X, Y), initial=10, every=7, delay=delay, metrics=metrics, keep_scores=True)
    scores, truth = results.scores[kind.__name__], Y[10:]
    learned = 10 + np.maximum(np.arange(30) - delay, 0)[:, None]
    decided = (scores >= 0.02 * learned).astype(float)
    assert (decided != (scores >= 0.5)).any()
    found = results.summary[kind.__name__].metrics
    assert found["pa"] == PartialAccuracy().update(truth, decided).get()
    assert found["macro_f1"] == MacroF1().update(truth, decided).get()
    assert found["ap"] == AveragePrecision().update(truth, scores).get()
    assert found["PA"] == PartialAccuracy(0.4).update(truth, scores).get()

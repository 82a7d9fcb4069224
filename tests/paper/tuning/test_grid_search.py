"""A grid search finds what separate runs on the same folds would find."""

import numpy as np
import pytest
from profiles import PLAIN
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DivergenceError, NotTrainedError, ParameterError
from evolabel.evaluate import metric_named
from evolabel.paper import EvolvingOneVsRest, PaperClassifier, PaperGridSearch
from evolabel.paper.tuning import search
from evolabel.paper.tuning.folds import folds
from evolabel.paper.tuning.shared import shared_answers

GRID = {"vigilance": (0.5, 1.5), "alpha": (0.0, 0.5), "beta": (0.0, 2.0)}
STEADY = PaperClassifier(**PLAIN)


@pytest.fixture
def batch(stream):
    return stream[0][:60], stream[1][:60]


@pytest.fixture
def gappy_batch(gappy_stream):
    return gappy_stream[0][:60], gappy_stream[1][:60]


def squared_error(truth, outputs):
    """A score of our own: larger is better."""
    return -float(np.nanmean((truth - outputs) ** 2))


def naive_surface(estimator, grid, X, Y, cv, score, seed=0):
    """Mean scores by point, in the order of the grid: a run of its own for every point and fold."""
    points = [{}]
    for name, values in grid.items():
        points = [{**point, name: value} for point in points for value in values]
    means = []
    for point in points:
        found = []
        for out in folds(len(X), cv, seed):
            clf = clone(estimator).set_params(**point).fit(X[~out], Y[~out])
            found.append(score(Y[out], clf.decision_function(X[out])))
        means.append(np.mean(found))
    return points, means


def surface_of(done):
    """The surface with its numbers as text, so that NaN equals NaN."""
    return repr(done.surface_)


def parameters(points):
    return [{name: value for name, value in point.items() if name in GRID} for point in points]


@pytest.mark.parametrize("profile", ["default", "paper"])
def test_the_surface_is_that_of_separate_runs(batch, profile):
    estimator = {"default": STEADY, "paper": EvolvingFuzzyClassifier.paper()}[profile]
    found = PaperGridSearch(estimator, GRID, cv=2, score=squared_error).fit(*batch)
    points, means = naive_surface(estimator, GRID, *batch, 2, squared_error)
    assert parameters(found.surface_) == points
    np.testing.assert_allclose([point["score"] for point in found.surface_], means, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["pa", "macro_f1", "hamming_loss"])
def test_metrics_by_name_are_scores_and_losses_are_minimised(batch, name):
    grid = {"max_rules": (1, 8), "alpha": (0.0, 3.0)}
    found = PaperGridSearch(STEADY, grid, cv=3, score=name).fit(*batch)
    _, means = naive_surface(
        STEADY,
        grid,
        *batch,
        3,
        lambda truth, outputs: metric_named(name).update(truth, outputs).get(),
    )
    sign = 1.0 if metric_named(name).bigger_is_better else -1.0
    np.testing.assert_allclose([point["score"] for point in found.surface_], sign * np.array(means), atol=1e-12)
    assert found.best_score_ == pytest.approx(max(sign * np.array(means)))


def test_features_and_labels_may_be_missing(gappy_batch):
    found = PaperGridSearch(STEADY, GRID, cv=2, score=squared_error).fit(*gappy_batch)
    _, means = naive_surface(STEADY, GRID, *gappy_batch, 2, squared_error)
    np.testing.assert_allclose([point["score"] for point in found.surface_], means, rtol=0.0, atol=1e-9)


def test_any_parameter_can_be_searched(batch):
    grid = {"max_rules": [1, 5], "coupling": ["none", "shifted"], "ridge": "press", "alpha": [0.1], "beta": [1.0]}
    found = PaperGridSearch(STEADY, grid, cv=2, score=squared_error).fit(*batch)
    _, means = naive_surface(STEADY, grid | {"ridge": ["press"]}, *batch, 2, squared_error)
    np.testing.assert_allclose([point["score"] for point in found.surface_], means, rtol=0.0, atol=1e-9)
    assert found.best_params_.keys() == grid.keys()


def test_the_default_classifier_has_no_alpha(batch):
    with pytest.raises(ParameterError, match=r"'alpha' is no parameter of the estimator; use some of class_weight, "):
        PaperGridSearch(EvolvingFuzzyClassifier(), {"alpha": [0.0, 0.1]}, cv=2).fit(*batch)


def test_the_best_point_is_the_maximum_of_the_surface(batch):
    found = PaperGridSearch(STEADY, GRID, cv=3).fit(*batch)
    best = max(found.surface_, key=lambda point: point["score"])
    assert found.best_score_ == best["score"]
    assert found.best_params_ == {name: best[name] for name in GRID}


def test_mean_and_deviation_are_those_of_the_folds(batch):
    for point in PaperGridSearch(STEADY, GRID, cv=3).fit(*batch).surface_:
        assert len(point["folds"]) == 3
        assert point["score"] == pytest.approx(np.mean(point["folds"]))
        assert point["deviation"] == pytest.approx(np.std(point["folds"], ddof=1))


def test_the_best_estimator_is_a_fresh_fit_on_the_whole_batch(batch, state_of, assert_same_state):
    found = PaperGridSearch(STEADY, GRID, cv=2).fit(*batch)
    fresh = clone(STEADY).set_params(**found.best_params_).fit(*batch)
    assert found.best_estimator_.get_params() == fresh.get_params()
    assert_same_state(state_of(found.best_estimator_), state_of(fresh))


def test_the_rows_held_out_are_never_learned(batch, monkeypatch):
    X, Y = batch
    tasks = []

    def spy(estimator, points, known, asked, decided):
        tasks.append(estimator.vigilance)
        rows = [row.tobytes() for row in np.vstack([known[0], asked])]
        assert sorted(rows) == sorted(row.tobytes() for row in X)
        assert len(known[0]) == len(known[1]) == 40
        return shared_answers(estimator, points, known, asked, decided)

    monkeypatch.setattr(search, "shared_answers", spy)
    PaperGridSearch(STEADY, GRID, cv=3).fit(X, Y)
    assert sorted(tasks) == [0.5] * 3 + [1.5] * 3


@pytest.mark.parametrize("score", ["macro_f1", "ap"])
@pytest.mark.parametrize(
    "estimator",
    [EvolvingFuzzyClassifier(threshold=0.3), EvolvingOneVsRest(EvolvingFuzzyClassifier(optimise="macro_f1"))],
)
def test_who_decides_by_thresholds_of_its_own_is_judged_by_them(batch, estimator, score):
    X, Y = batch
    name = "vigilance" if "vigilance" in estimator.get_params() else "base__vigilance"
    found = PaperGridSearch(estimator, {name: [0.5]}, cv=3, score=score, refit=False).fit(X, Y)
    for out, value in zip(folds(len(X), 3, 0), found.surface_[0]["folds"], strict=True):
        trained = clone(estimator).set_params(**{name: 0.5}).fit(X[~out], Y[~out])
        judged = trained.predict(X[out]) if score == "macro_f1" else trained.decision_function(X[out])
        assert value == pytest.approx(metric_named(score).update(Y[out], judged).get())


def test_thresholds_can_be_searched_where_decisions_are_judged(batch):
    grid = {"threshold": [0.1, 0.3, 0.5], "optimise": ["accuracy", "macro_f1"]}
    found = PaperGridSearch(STEADY, grid, cv=2, score="macro_f1", refit=False).fit(*batch)
    assert len({point["score"] for point in found.surface_}) == 4


def test_names_of_columns_reach_the_best_estimator(batch):
    pandas = pytest.importorskip("pandas")
    X, Y = pandas.DataFrame(batch[0], columns=list("abcd")), pandas.DataFrame(batch[1], columns=["x", "y", "z"])
    found = PaperGridSearch(STEADY, {"alpha": [0.0, 1.0]}, cv=2).fit(X, Y)
    assert list(found.best_estimator_.feature_names_in_) == list("abcd")
    assert list(found.best_estimator_.label_names_) == ["x", "y", "z"]
    plain = PaperGridSearch(STEADY, {"alpha": [0.0, 1.0]}, cv=2).fit(*batch)
    assert surface_of(found) == surface_of(plain)


def test_the_seed_alone_decides(batch):
    def run(seed):
        return surface_of(PaperGridSearch(STEADY, GRID, cv=3, seed=seed).fit(*batch))

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_processes_and_threads_find_the_same(batch):
    """The multiprocessing backend hands over all results at the end, the others as they come."""
    expected = surface_of(PaperGridSearch(STEADY, GRID, cv=2).fit(*batch))
    ways = [{"n_jobs": 2}, {"backend": "threading"}, {"backend": "multiprocessing"}]
    for options in [*ways, {"backend": "sequential", "n_jobs": -1}]:
        assert surface_of(PaperGridSearch(STEADY, GRID, cv=2, **options).fit(*batch)) == expected


def test_the_estimator_and_the_data_stay_as_they_were(batch):
    estimator, (X, Y) = clone(STEADY), (batch[0].copy(), batch[1].copy())
    PaperGridSearch(estimator, GRID, cv=2).fit(X, Y)
    assert estimator.get_params() == STEADY.get_params()
    assert not hasattr(estimator, "n_features_in_")
    np.testing.assert_array_equal(X, batch[0])
    np.testing.assert_array_equal(Y, batch[1])


def test_without_an_estimator_the_papers_profile_is_searched(batch):
    found = PaperGridSearch(grid={"alpha": [0.5]}, cv=2).fit(*batch)
    assert found.best_estimator_.get_params() == EvolvingFuzzyClassifier.paper(alpha=0.5).get_params()


def test_without_a_grid_the_papers_grid_is_searched(batch, monkeypatch):
    def guess(estimator, points, known, asked, decided):
        return np.zeros((len(points), len(asked), 3))

    monkeypatch.setattr(search, "shared_answers", guess)
    assert len(PaperGridSearch(cv=2).fit(*batch).surface_) == 1360


def test_progress_is_told_task_by_task(batch):
    told = []
    PaperGridSearch(STEADY, GRID, cv=3, progress=lambda *news: told.append(news)).fit(*batch)
    assert told == [(done, 6) for done in range(1, 7)]


def test_points_that_blow_up_never_win(batch):
    grid = {"alpha": [0.0, 0.1], "beta": [1000.0, 0.0]}
    found = PaperGridSearch(EvolvingFuzzyClassifier.paper(coupling="paper"), grid, cv=2).fit(*batch)
    lost = [np.isnan(point["score"]) for point in found.surface_]
    assert lost == [True, False, True, False]
    assert found.best_params_["beta"] == 0.0
    assert found.best_score_ == max(point["score"] for point in found.surface_ if point["beta"] == 0.0)


def test_a_score_below_everything_still_beats_none(batch):
    grid = {"beta": [1000.0, 0.0]}
    estimator = EvolvingFuzzyClassifier.paper(coupling="paper")
    found = PaperGridSearch(estimator, grid, cv=2, score=lambda truth, outputs: -1e300).fit(*batch)
    assert found.best_params_ == {"beta": 0.0}


def test_a_grid_on_which_everything_blows_up_is_told_and_leaves_no_result(batch):
    literal = PaperGridSearch(EvolvingFuzzyClassifier.paper(coupling="paper"), {"beta": [1000.0, 2000.0]}, cv=2)
    with pytest.raises(DivergenceError, match="no point of the grid gave finite outputs"):
        literal.fit(*batch)
    with pytest.raises(NotTrainedError):
        literal.frame()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_surface_as_a_frame(batch, backend):
    pytest.importorskip(backend)
    found = PaperGridSearch(STEADY, GRID, cv=2).fit(*batch)
    frame = found.frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert list(columns) == ["vigilance", "alpha", "beta", "score", "deviation"]
    assert columns == {name: [point[name] for point in found.surface_] for name in columns}


def test_an_unknown_frame_is_refused(batch):
    found = PaperGridSearch(STEADY, {"vigilance": [0.5]}, cv=2).fit(*batch)
    with pytest.raises(ParameterError, match="'excel' is unknown; use one of pandas, polars, pyarrow"):
        found.frame("excel")


def test_a_search_that_has_not_run_has_no_frame():
    with pytest.raises(NotTrainedError, match="has not run yet; call fit first"):
        PaperGridSearch().frame()


def test_a_search_is_shown_as_the_call_that_makes_it():
    assert repr(PaperGridSearch()) == "PaperGridSearch()"
    shown = repr(PaperGridSearch(EvolvingFuzzyClassifier(max_rules=3), {"vigilance": np.array([0.5, 1.0])}, cv=4))
    expected = (
        "PaperGridSearch(estimator=EvolvingFuzzyClassifier(max_rules=3), grid={'vigilance': array([0.5, 1. ])}, cv=4)"
    )
    assert shown == expected

"""What cannot be searched is refused in one line, before anything is computed or written."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, EvolabelError, ParameterError
from evolabel.paper import PaperGridSearch
from evolabel.paper.tuning import search
from evolabel.paper.tuning.folds import folds


@pytest.fixture
def batch(stream):
    return stream[0][:60], stream[1][:60]


@pytest.fixture
def idle(monkeypatch):
    """Nothing may be computed."""

    def refuse(*_):
        raise AssertionError("a task has started")

    monkeypatch.setattr(search, "shared_answers", refuse)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"estimator": 3}, "estimator is an int; pass an EvolvingFuzzyClassifier"),
        ({"estimator": EvolvingFuzzyClassifier}, "estimator is a type; pass an EvolvingFuzzyClassifier"),
        ({"grid": {}}, "the grid has no values; give at least one"),
        ({"grid": {"alpha": ()}}, "the grid has no values for alpha"),
        ({"grid": {"gamma": [1.0]}}, "gamma"),
        ({"grid": {"vigilance": [0.5, -1.0]}}, "vigilance=-1.0 is not allowed; use a number >= 0"),
        ({"grid": {"alpha": [0.5, -1.0]}}, "alpha=-1.0 is not allowed; use a number >= 0"),
        ({"grid": {"alpha": [1.0], "beta": [0.1, "much"]}}, "beta='much' is not allowed; use a number >= 0"),
        ({"grid": {"coupling": ["none", "strong"]}}, "coupling='strong' is unknown"),
        ({"grid": {"threshold": [0.3, 0.5]}, "score": "ap"}, "threshold changes no output after fit"),
        ({"grid": {"optimise": ["accuracy", "macro_f1"]}, "score": "ap"}, "optimise changes no output after fit"),
        ({"grid": {"warm_up": [20, 80]}}, "warm_up changes no output after fit"),
        ({"grid": [{"vigilance": [0.5]}]}, "the grid is a list; pass a dict of values by parameter"),
        ({"cv": 1}, "cv=1 is not allowed; use a whole number >= 2"),
        ({"cv": 2.5}, "cv=2.5 is not allowed; use a whole number >= 2"),
        ({"seed": -1}, "seed=-1 is not allowed; use a whole number >= 0"),
        ({"seed": "a"}, "seed='a' is not allowed; use a whole number >= 0"),
        ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
        ({"score": "beauty"}, "there is no metric 'beauty'; use one of pa, ap"),
        ({"score": 3}, "score=3 is not allowed; use a function or one of pa, ap"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_out_of_range_are_refused_before_the_search_starts(tmp_path, batch, changes, told):
    options = {"estimator": EvolvingFuzzyClassifier.paper(), "grid": {"alpha": [0.1]}, "cv": 2} | changes
    with pytest.raises(ParameterError) as refusal:
        PaperGridSearch(**options, checkpoint=tmp_path / "checkpoint").fit(*batch)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("idle")
def test_classes_in_place_of_a_label_matrix_are_refused(batch):
    with pytest.raises(ParameterError, match="takes a label matrix; give y one column per label"):
        PaperGridSearch(EvolvingFuzzyClassifier.paper(), {"alpha": [0.1]}).fit(batch[0], batch[1][:, 0])


@pytest.mark.usefixtures("idle")
def test_too_few_rows_are_refused(batch):
    with pytest.raises(DataError, match="9 rows are too few for 5 folds; use a larger initial batch or fewer folds"):
        PaperGridSearch(EvolvingFuzzyClassifier.paper(), {"alpha": [0.1]}).fit(batch[0][:9], batch[1][:9])


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("spoil", ["rows", "infinite", "labels"])
def test_data_that_the_classifier_refuses_is_refused(batch, spoil):
    X, Y = batch[0].copy(), batch[1].copy()
    if spoil == "rows":
        Y = Y[:50]
    elif spoil == "infinite":
        X[3, 1] = np.inf
    else:
        Y[3, 1] = 0.5
    with pytest.raises(DataError) as refusal:
        EvolvingFuzzyClassifier.paper().fit(X, Y)
    with pytest.raises(DataError) as same:
        PaperGridSearch(EvolvingFuzzyClassifier.paper(), {"alpha": [0.1]}).fit(X, Y)
    assert str(same.value) == str(refusal.value)


@pytest.mark.usefixtures("idle")
def test_a_fold_that_cannot_be_judged_is_not_called_a_blow_up(batch):
    X, Y = batch[0], batch[1].copy()
    Y[list(folds(60, 5, 0))[1]] = np.nan
    with pytest.raises(DataError, match="cannot be scored"):
        PaperGridSearch(EvolvingFuzzyClassifier.paper(), {"alpha": [0.0, 0.1]}).fit(X, Y)


def test_a_search_that_fails_leaves_the_one_before(batch):
    found = PaperGridSearch(EvolvingFuzzyClassifier.paper(), {"beta": [0.0, 1.0]}, cv=2).fit(*batch)
    before = dict(vars(found))
    found.estimator, found.grid = EvolvingFuzzyClassifier.paper(coupling="paper"), {"beta": [1000.0]}
    with pytest.raises(EvolabelError):
        found.fit(*batch)
    for name in ("surface_", "best_params_", "best_score_", "best_estimator_"):
        assert vars(found)[name] is before[name]

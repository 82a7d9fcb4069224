"""Bad input: one line from `evolabel.errors` that scikit-learn users can catch, and a model that has not changed."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataTypeError, EvolabelError, NotTrainedError, StateError

GOOD_X = np.arange(12.0).reshape(3, 4) / 5.0
GOOD_Y = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, np.nan], [0.0, 0.0, 1.0]])


def changed(array, value, at):
    array = array.astype(type(value)) if isinstance(value, complex) else array.copy()
    array[at] = value
    return array


BAD_X = {
    "too narrow": (GOOD_X[:, :3], DataError, "3 features"),
    "too wide": (np.hstack([GOOD_X, GOOD_X]), DataError, "8 features"),
    "1-D": (GOOD_X[0], DataError, "Reshape your data"),
    "3-D": (GOOD_X[None], DataError, "3 dimension"),
    "a number": (3.0, DataError, "0 dimension"),
    "nothing": (None, DataError, "0 dimension"),
    "no rows": (GOOD_X[:0], DataError, "0 sample"),
    "no columns": (GOOD_X[:, :0], DataError, "0 feature"),
    "inf": (changed(GOOD_X, np.inf, (1, 2)), DataError, "inf at row 1, column 2"),
    "-inf": (changed(GOOD_X, -np.inf, (2, 0)), DataError, "inf at row 2, column 0"),
    "sparse": (sparse.csr_array(GOOD_X), DataTypeError, "sparse"),
    "complex": (changed(GOOD_X, 1j, (0, 0)), DataError, "Complex data not supported"),
    "strings": (np.full((3, 4), "warm"), DataError, "numbers only"),
    "ragged": ([[1.0, 2.0, 3.0, 4.0], [1.0], [2.0]], DataError, "X"),
    "objects": (np.full((3, 4), object()), DataTypeError, "numbers only"),
    "dates": (np.full((3, 4), "2020-01-01", "datetime64[D]"), (DataError, DataTypeError), "numbers only"),
}

BAD_Y = {
    "too few rows": (GOOD_Y[:2], DataError, "3 rows and the target 2"),
    "too many rows": (np.vstack([GOOD_Y, GOOD_Y]), DataError, "3 rows and the target 6"),
    "nothing": (None, DataError, "requires y"),
    "a number": (1, DataError, "shape"),
    "3-D": (GOOD_Y[None], DataError, "shape"),
    "a label of 2": (changed(GOOD_Y, 2.0, (1, 0)), DataError, "2 at row 1, column 0"),
    "a label of 0.5": (changed(GOOD_Y, 0.5, (0, 1)), DataError, "0.5 at row 0, column 1"),
    "a label of -1": (changed(GOOD_Y, -1.0, (2, 2)), DataError, "-1 at row 2, column 2"),
    "an infinite label": (changed(GOOD_Y, np.inf, (0, 0)), DataError, "row 0, column 0"),
    "no columns": (GOOD_Y[:, :0], DataError, "0 columns"),
    "strings": (np.full((3, 3), "yes"), DataError, "numbers only"),
    "sparse": (sparse.csr_array(np.ones((3, 3))), DataTypeError, "sparse"),
    "complex": (changed(GOOD_Y, 1j, (0, 0)), DataError, "Complex data not supported"),
    "ragged": ([[0, 1, 1], [1], [0]], DataError, "for labels one column of 0 and 1 each"),
}

BAD_Y_OF_A_KNOWN_WIDTH = {
    "too narrow": (GOOD_Y[:, :2], DataError, "at least 3"),
    "classes": ([0, 1, 0], DataError, "keep to one form"),
}

BAD_WEIGHT = {
    "too short": ([1.0, 2.0], DataError),
    "2-D": (np.ones((3, 1)), DataError),
    "negative": ([1.0, -1.0, 1.0], DataError),
    "NaN": ([1.0, np.nan, 1.0], DataError),
    "inf": ([1.0, np.inf, 1.0], DataError),
    "strings": (["a", "b", "c"], DataError),
    "a string": ("heavy", DataError),
    "complex": ([1j, 1.0, 1.0], DataError),
    "objects": ([{}, {}, {}], (DataError, DataTypeError)),
}

BAD_CONFIDENCE = {
    "too short": ([1.0, 0.5], DataError),
    "wrong width": (np.ones((3, 2)), DataError),
    "3-D": (np.ones((3, 3, 1)), DataError),
    "above 1": ([1.0, 1.5, 1.0], DataError),
    "negative": ([1.0, -0.1, 1.0], DataError),
    "NaN": ([1.0, np.nan, 1.0], DataError),
    "strings": (["a", "b", "c"], DataError),
    "complex": ([1j, 1.0, 1.0], DataError),
    "ragged": ([[1.0, 1.0, 1.0], [1.0], [1.0]], DataError),
}

TEACHING = ("fit", "partial_fit", "test_then_train")
ASKING = ("predict", "predict_proba", "decision_function")


@pytest.fixture(params=["trained", "warming"])
def model(request):
    return request.getfixturevalue(request.param)


def all_attributes(clf):
    return {**vars(clf), **vars(clf.inner.state)}


@pytest.fixture
def refused(state_of, assert_same_state):
    """Check that a call on a model raises what it should, in one line, and leaves no trace."""

    def check(clf, kinds, words, call, *arguments, **named):
        attributes, before = all_attributes(clf), state_of(clf) if clf.inner.is_fitted else None
        with pytest.raises(kinds) as error:
            call(*arguments, **named)
        assert isinstance(error.value, EvolabelError)
        assert "\n" not in str(error.value)
        assert words in str(error.value)
        assert all_attributes(clf).keys() == attributes.keys()
        assert all(value is attributes[name] for name, value in all_attributes(clf).items())
        if before is not None:
            assert_same_state(state_of(clf), before)

    return check


@pytest.mark.parametrize("case", BAD_X)
def test_bad_samples_are_neither_answered_nor_learned(case, model, refused):
    X, kinds, words = BAD_X[case]
    for method in ASKING:
        refused(model, kinds, words, getattr(model, method), X)
    for method in ("partial_fit", "test_then_train"):
        refused(model, kinds, words, getattr(model, method), X, GOOD_Y)


@pytest.mark.parametrize("case", [case for case in BAD_X if case != "1-D"])
def test_bad_samples_are_not_explained(case, trained, refused):
    X, kinds, words = BAD_X[case]
    for method in ("memberships", "explain"):
        refused(trained, kinds, words, getattr(trained, method), X)


@pytest.mark.parametrize("case", [case for case in BAD_X if case not in ("too narrow", "too wide")])
def test_bad_samples_leave_a_fresh_model_untrained(case, refused):
    X, kinds, words = BAD_X[case]
    for method in TEACHING:
        clf = EvolvingFuzzyClassifier()
        refused(clf, kinds, words, getattr(clf, method), X, GOOD_Y)


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_labels_are_not_learned(case, model, refused):
    Y, kinds, words = BAD_Y[case]
    for method in TEACHING:
        for clf in (model, EvolvingFuzzyClassifier()):
            refused(clf, kinds, words, getattr(clf, method), GOOD_X, Y)


@pytest.mark.parametrize("case", BAD_Y_OF_A_KNOWN_WIDTH)
def test_labels_that_do_not_fit_the_model_are_not_learned(case, model, refused):
    Y, kinds, words = BAD_Y_OF_A_KNOWN_WIDTH[case]
    for method in ("partial_fit", "test_then_train"):
        refused(model, kinds, words, getattr(model, method), GOOD_X, Y)


@pytest.mark.parametrize("case", BAD_WEIGHT)
def test_bad_weights_are_not_used(case, model, refused):
    weight, kinds = BAD_WEIGHT[case]
    for method in TEACHING:
        for clf in (model, EvolvingFuzzyClassifier()):
            refused(clf, kinds, "sample_weight", getattr(clf, method), GOOD_X, GOOD_Y, sample_weight=weight)


@pytest.mark.parametrize("case", BAD_CONFIDENCE)
def test_bad_confidences_are_not_used(case, model, refused):
    sure, kinds = BAD_CONFIDENCE[case]
    for method in TEACHING:
        for clf in (model, EvolvingFuzzyClassifier()):
            refused(clf, kinds, "confidence", getattr(clf, method), GOOD_X, GOOD_Y, confidence=sure)


def test_a_refused_batch_that_would_have_grown_the_model_does_not_grow_it(model, refused):
    wider = np.hstack([GOOD_Y, GOOD_Y[:, :1]])
    refused(model, DataError, "negative", model.partial_fit, GOOD_X, wider, sample_weight=[-1.0, 1.0, 1.0])
    assert model.predict(GOOD_X).shape == (3, 3)


@pytest.mark.parametrize(
    "arguments",
    [
        {"y": np.full((3, 3), np.nan)},
        {"y": GOOD_Y, "sample_weight": np.zeros(3)},
        {"y": GOOD_Y, "confidence": np.zeros(3)},
        {"y": np.array([None, None, None])},
    ],
    ids=["no label", "no weight", "no confidence", "no class"],
)
def test_a_batch_phase_without_anything_to_learn_is_refused(arguments, model, refused):
    for clf in (model, EvolvingFuzzyClassifier()):
        refused(clf, DataError, "annotate", clf.fit, GOOD_X, **arguments)


@pytest.mark.parametrize("method", [*ASKING, "memberships", "explain"])
def test_an_untrained_model_says_so(method, refused):
    clf = EvolvingFuzzyClassifier()
    refused(clf, NotTrainedError, "not fitted", getattr(clf, method), GOOD_X[:1])
    refused(clf, NotFittedError, "not fitted", getattr(clf, method), GOOD_X[:1])


@pytest.mark.parametrize(
    "name", ["rules_", "events_", "n_rules_", "n_samples_seen_", "ridge_", "local_ridge_", "label_names_"]
)
def test_an_untrained_model_has_nothing_to_show(name, refused):
    clf = EvolvingFuzzyClassifier()
    refused(clf, NotTrainedError, "not fitted", getattr, clf, name)


def test_an_untrained_model_is_neither_saved_nor_copied(tmp_path, refused):
    clf = EvolvingFuzzyClassifier()
    refused(clf, NotTrainedError, "not fitted", clf.save, tmp_path / "model")
    refused(clf, NotTrainedError, "not fitted", clf.sibling)
    assert list(tmp_path.iterdir()) == []


def test_there_are_no_rules_to_show_during_the_warm_up(warming, stream, refused):
    refused(warming, StateError, "warm-up", warming.memberships, GOOD_X[:1])
    first = EvolvingFuzzyClassifier().partial_fit(stream[0][:9], stream[1][:9])
    refused(first, StateError, "explained from 10 on", first.explain, stream[0][:1])


def test_a_good_batch_is_learned_after_a_refused_one(trained, stream, state_of, assert_same_state):
    X, Y = stream
    undisturbed = EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    with pytest.raises(DataError):
        trained.partial_fit(changed(X[100:], np.inf, (19, 0)), Y[100:])
    trained.partial_fit(X[100:], Y[100:])
    assert_same_state(state_of(trained), state_of(undisturbed))

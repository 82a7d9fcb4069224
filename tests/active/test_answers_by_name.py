"""Samples and answers that carry names are read by them, never by their order."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, DataTypeError, DataWarning
from evolabel.streams import DriftingStream

pd = pytest.importorskip("pandas")

DATA = DriftingStream(n_features=4, n_labels=3, seed=0).dataset(120)
X = pd.DataFrame(DATA.X, columns=["heat", "flow", "noise", "level"])
Y = pd.DataFrame(DATA.Y, columns=["a", "b", "c"])


@pytest.fixture
def learner():
    return ActiveLearner(
        EvolvingFuzzyClassifier().fit(X[:100], Y[:100]), per="labels", budget=1.0, error_feedback=False
    )


def taught(learner, y, row=100):
    """Outputs after one answer."""
    learner.update(learner.query(X.iloc[[row]]), y)
    return learner.decision_function(X[:10])


def same_answers(full, partly):
    return [
        (np.array(full), {"c": full[2], "a": full[0], "b": full[1]}),
        (np.array(full), pd.Series(full, index=["a", "b", "c"])[::-1]),
        (np.array(full), pd.DataFrame([full], columns=["a", "b", "c"])[["b", "c", "a"]]),
        (np.array([np.nan, partly, np.nan]), {"b": partly}),
        (np.array([np.nan, partly, np.nan]), {"b": partly, "a": None}),
    ]


@pytest.mark.parametrize(("by_order", "by_name"), same_answers([1.0, 0.0, 0.0], 1.0))
def test_answers_are_placed_by_their_names(by_order, by_name):
    learners = [ActiveLearner(EvolvingFuzzyClassifier().fit(X[:100], Y[:100]), per="labels") for _ in range(2)]
    np.testing.assert_array_equal(taught(learners[0], by_order), taught(learners[1], by_name))


def test_rows_of_a_frame_are_answers_in_order_where_labels_have_no_names():
    learners = [ActiveLearner(EvolvingFuzzyClassifier().fit(X[:100], Y[:100].to_numpy())) for _ in range(2)]
    np.testing.assert_array_equal(taught(learners[0], Y.iloc[100]), taught(learners[1], Y.to_numpy()[100]))


def test_several_annotators_answer_by_name(learner):
    rows = pd.DataFrame({"c": [0, 0], "a": [1, 1], "b": [0, 1]})
    learner.update(learner.query(X.iloc[[100]]), rows, annotator=["anna", "bob"])
    assert learner.bucket.seen == 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ({"a": "yes"}, "a label is 0, 1, or NaN"),
        ({"a": 2}, "a label is 0, 1, or NaN"),
        (["yes", "no", "no"], "a label is 0, 1, or NaN"),
        ("yes", "y is 'yes'; pass one answer per label"),
        (1, "y is 1; pass one answer per label"),
    ],
)
def test_invalid_answers_raise_an_error_and_change_nothing(learner, y, message):
    query = learner.query(X.iloc[[100]])
    with pytest.raises(DataError, match=message):
        learner.update(query, y)
    assert learner.bucket.seen == 0
    learner.update(query, {"a": 1})


def test_a_row_of_a_frame_is_a_sample_by_its_names(learner):
    by_row, by_table = learner.query(X.iloc[100]), learner.query(X.iloc[[100]])
    np.testing.assert_array_equal(by_row.prediction, by_table.prediction)
    with pytest.warns(DataWarning, match="another order"):
        other_order = learner.query(X.iloc[100][::-1])
    np.testing.assert_array_equal(other_order.prediction, by_table.prediction)


@pytest.mark.parametrize("y", [{"a": 1, "d": 1}, pd.Series({"d": 1, "a": 1}), {"d": 1, "a": 1, "e": None}])
def test_an_answer_with_a_new_name_adds_that_label(learner, y):
    by_order = taught(copy.deepcopy(learner), [1, np.nan, np.nan, 1])
    query = learner.query(X.iloc[[100]])
    with pytest.warns(DataWarning, match="y answers d, which the model did not have; added as a label"):
        learner.update(query, y)
    assert list(learner.classifier.label_names_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(learner.decision_function(X[:10]), by_order)
    assert learner.ledger.labels_answered + learner.ledger.labels_volunteered == 2
    learner.update(learner.query(X.iloc[[101]]), {"d": 0})
    assert list(learner.classifier.label_names_) == ["a", "b", "c", "d"]


def test_new_labels_by_name_are_saved(learner, tmp_path):
    with pytest.warns(DataWarning, match="added as a label"):
        learner.update(learner.query(X.iloc[[100]]), {"d": 1})
    learner.save(tmp_path / "learner")
    assert list(ActiveLearner.load(tmp_path / "learner").classifier.label_names_) == ["a", "b", "c", "d"]


def test_labels_without_names_are_not_answered_by_names():
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:100], Y[:100].to_numpy()))
    query = learner.query(X.iloc[[100]])
    with pytest.raises(DataError, match="y answers 'leak', but the labels have no names; call name_columns"):
        learner.update(query, {"leak": 1})
    learner.update(query, {})
    assert learner.classifier.label_names_.size == 3


def test_a_dictionary_is_a_sample_by_its_names(learner):
    row = X.iloc[100]
    by_name, by_table = learner.query({"level": row["level"], **row.to_dict()}), learner.query(X.iloc[[100]])
    np.testing.assert_array_equal(by_name.prediction, by_table.prediction)
    missing = learner.query({"heat": row["heat"], "flow": None})
    np.testing.assert_array_equal(missing.x, [row["heat"], np.nan, np.nan, np.nan])
    with pytest.warns(DataWarning, match="x has features that the model does not use: colour; they are ignored"):
        extra = learner.query({**row.to_dict(), "colour": "red"})
    np.testing.assert_array_equal(extra.prediction, by_table.prediction)


def test_a_dictionary_is_read_by_order_names_where_features_have_none():
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:100].to_numpy(), Y[:100].to_numpy()))
    np.testing.assert_array_equal(learner.query({"x1": 2.0}).x, [np.nan, 2.0, np.nan, np.nan])


def test_texts_in_a_dictionary_are_texts_of_their_column():
    frame = X[:100].assign(machine=["M-01", "M-02"] * 50)
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(frame, Y[:100]))
    np.testing.assert_array_equal(learner.query({"heat": 1.0, "machine": "M-02"}).x[-2:], [0.0, 1.0])
    with pytest.warns(DataWarning, match="machine = M-99 was never seen"):
        query = learner.query({"heat": 1.0, "machine": "M-99"})
    assert query.unfamiliar == ("machine = M-99 was never seen",)
    row = frame.iloc[[0]].assign(machine="M-99")
    with pytest.warns(DataWarning, match="machine = M-99 was never seen"):
        assert learner.query(row).unfamiliar == learner.explain(row).unfamiliar == query.unfamiliar
    with pytest.raises(DataError, match="'heat' is 'hot'"):
        learner.query({"heat": "hot"})
    with pytest.raises(DataError, match="'heat' is \\[1\\]; pass a number or a text"):
        learner.query({"heat": [1]})


@pytest.mark.parametrize("x", [{}, {"heat": None}])
def test_nothing_is_asked_about_a_dictionary_without_any_feature(learner, x):
    query = learner.query(x)
    assert not query.asked
    assert np.isnan(query.x).all()


@pytest.mark.parametrize("x", ["hello", 3.0])
def test_invalid_samples_raise_an_error(learner, x):
    with pytest.raises(DataError, match="pass one sample, a number per feature"):
        learner.query(x)


def test_a_late_answer_is_given_to_the_question_not_to_its_number(learner):
    number = learner.mark_pending(learner.query(X.iloc[[100]]))
    with pytest.raises(DataTypeError, match=r"pending\[number\]"):
        learner.update(number, [1, 0, 0])
    learner.update(learner.pending[number], {"a": 1})
    assert not learner.pending

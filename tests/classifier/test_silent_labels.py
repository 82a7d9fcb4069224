"""A label that occurs and is never predicted is warned of once, with its positives and what to do."""

import re
import warnings

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.classifier.silent_labels import cost_of_f1
from evolabel.errors import DataWarning

pytestmark = pytest.mark.compiled

N = 1200


def plant(n=N):
    """A common label with a limit, and a rare one in a quarter of the rows with much vibration."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    seal = (X[:, 1] > 0.6) & (rng.random(n) < 0.14)
    return X, np.column_stack([X[:, 0] > 0.5, seal]).astype(float)


def warned(learn):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", DataWarning)
        learn()
    return [(str(each.message), each.filename) for each in found if "never predicted" in str(each.message)]


def rows_of(learn_some):
    def learn():
        for start in range(0, N, 100):
            learn_some(slice(start, start + 100))

    return learn


def test_it_is_given_once_with_the_positives_and_what_to_do():
    X, Y = plant()
    clf = EvolvingFuzzyClassifier().partial_fit(X[:80], Y[:80])
    ((text, file),) = warned(rows_of(lambda rows: clf.partial_fit(X[rows], Y[rows])))
    assert file == __file__
    positives = int(text.split("(")[1].split(" ")[0])
    assert text.startswith(f"never predicted: label1 ({positives} of the last ")
    assert positives >= 20
    assert re.search(r'; optimise="macro_f1" predicts rare labels, too \(so far PA .*\), or class_weight with', text)
    assert "label0" not in text


def row_by_row(X, Y):
    """A classifier that has learned the first 300 rows together, and all others one by one."""
    warnings.simplefilter("ignore", DataWarning)
    clf = EvolvingFuzzyClassifier().fit(X[:300], Y[:300])
    for i in range(300, len(X)):
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
    return clf


def test_it_has_both_figures_as_they_were_measured_before_each_row_was_learned():
    X, Y = plant(3000)

    def figures(optimise):
        found = EvolvingFuzzyClassifier(optimise=optimise).fit(X[:300], Y[:300]).answer_then_train(X[300:], Y[300:])
        D, T = found.decisions, Y[300:]
        return (D == T).mean(), (2 * (D * T).sum(axis=0) / np.maximum(D.sum(axis=0) + T.sum(axis=0), 1)).mean()

    clf = EvolvingFuzzyClassifier().fit(X[:300], Y[:300])
    ((text, _),) = warned(lambda: [clf.partial_fit(X[i : i + 300], Y[i : i + 300]) for i in range(300, 3000, 300)])
    assert "so far PA" in text
    assert cost_of_f1(row_by_row(X, Y).inner.model) == cost_of_f1(clf.inner.model)
    found = re.findall(r"0\.\d+", cost_of_f1(clf.inner.model))
    (then_pa, now_pa, then_f1, now_f1), pairs = map(float, found), [figures(o) for o in ("macro_f1", "accuracy")]
    np.testing.assert_allclose([then_pa, then_f1], pairs[0], atol=0.02)  # thresholds of the end, by bins
    np.testing.assert_allclose([now_pa, now_f1], pairs[1], atol=6e-4)


def test_figures_grow_with_labels_and_add_up_where_models_are_merged():
    X, Y = plant(600)
    one, other = (EvolvingFuzzyClassifier().fit(X[rows], Y[rows]) for rows in (slice(0, 300), slice(300, 600)))
    counts = [each.inner.model.plain_outputs.counts().seen.copy() for each in (one, other)]
    np.testing.assert_array_equal(one.merge(other).inner.model.plain_outputs.counts().seen, sum(counts))
    one.partial_fit(X[:50], np.column_stack([Y[:50], Y[:50, 0]]))
    assert one.inner.model.plain_outputs.counts().seen.shape[0] == 3
    assert cost_of_f1(one.inner.model)


@pytest.mark.parametrize("method", ["fit", "test_then_train", "partial_fit"])
def test_every_way_to_learn_warns(method):
    X, Y = plant()
    clf = EvolvingFuzzyClassifier()
    assert len(warned(lambda: getattr(clf, method)(X, Y))) == 1
    assert warned(lambda: clf.partial_fit(X[:1], Y[:1])) == []
    if method == "fit":
        assert len(warned(lambda: clf.fit(X, Y))) == 1  # another model


def test_row_by_row_warns_as_well():
    X, Y = plant(700)
    clf = EvolvingFuzzyClassifier().partial_fit(X[:80], Y[:80])
    found = warned(lambda: [clf.partial_fit(X[i : i + 1], Y[i : i + 1]) for i in range(80, 700)])
    assert len(found) <= 1
    assert len(found) == (Y[:500, 1].sum() >= 20)


@pytest.mark.parametrize(
    "parameters", [{"optimise": "macro_f1"}, {"class_weight": {"label1": 15}}, {"optimise": "balanced"}]
)
def test_decisions_that_weigh_labels_are_not_warned_of(parameters):
    X, Y = plant()
    clf = EvolvingFuzzyClassifier(**parameters)
    assert warned(lambda: clf.fit(X, Y)) == []
    assert clf.predict(X)[:, 1].any()


def test_a_warning_changes_nothing():
    X, Y = plant()
    warnings.simplefilter("ignore", DataWarning)
    clf = EvolvingFuzzyClassifier().fit(X[:600], Y[:600])
    other = EvolvingFuzzyClassifier(optimise="macro_f1").fit(X[:600], Y[:600])
    np.testing.assert_array_equal(clf.decision_function(X[600:]), other.decision_function(X[600:]))


def test_a_learner_warns_once_and_counts_the_answers_it_has():
    X, Y = plant()
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:200], Y[:200]), budget=0.5, per="labels")

    def ask(rows):
        for x, y in zip(X[rows], Y[rows], strict=True):
            query = learner.query(x)
            learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)

    found = warned(lambda: ask(slice(200, N)))
    assert len(found) == 1
    text, file = found[0]
    assert file == __file__
    positives, known = re.search(r"label1 \((\d+) of the ([\d,]+) of the last [\d,]+ samples in which", text).groups()
    assert 20 <= int(positives) < int(known)
    assert learner.classifier.inner.silent_labels == ["label1"]

"""Outputs of a learner are explained in parts that add up; one part is the correction by recent errors."""

import re

import numpy as np
import pytest
from choices import first_quick

from active.ordered_streams import ordered_stream, trained, walked
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, ParameterError, StateError
from evolabel.explain.prediction import FEEDBACK
from evolabel.streams import load_dataset

X, Y = ordered_stream()


def corrected(per="samples", **options):
    """A learner whose outputs are corrected by recent errors."""
    learner = walked(ActiveLearner(trained(X, Y), 0.3, per, **options), X[200:400], Y[200:400])
    assert learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback.mean_gain > 0.0
    return learner


@pytest.fixture(scope="module", params=["samples", "labels"])
def learner(request):
    return corrected(request.param)


def assert_adds_up(learner, x, first=None):
    why = learner.explain(x, first)
    outputs = learner.decision_function(x[None], first)[0]
    np.testing.assert_allclose(why.total, outputs, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(why.by_feature.sum(axis=0) + why.feedback, outputs, rtol=0.0, atol=1e-12)
    by_members = why.by_rule.sum(axis=0) + why.linear.sum(axis=0)
    np.testing.assert_allclose(by_members + why.feedback, outputs, rtol=0.0, atol=1e-12)
    assert why.predicted.tolist() == learner.predict(x[None], first)[0].astype(bool).tolist()
    return why


def test_parts_and_feedback_add_up_to_the_output_of_the_learner(learner):
    sizes = []
    for x in X[400:450]:
        why = assert_adds_up(learner, x)
        sizes.append(np.abs(why.feedback).max())
        np.testing.assert_allclose(learner.query(x).prediction, why.total, rtol=0.0, atol=1e-12)
        plain = learner.classifier.explain(x)
        np.testing.assert_array_equal(why.contributions, plain.contributions)
        assert plain.feedback is None
    assert min(sizes) > 0.0
    assert max(sizes) > 0.1


def test_rows_further_ahead_have_less_feedback(learner):
    near, far = (np.abs(assert_adds_up(learner, X[400], first).feedback) for first in (201, 2000))
    assert (far < near).all()


def test_missing_features_and_labels_that_appear_are_explained():
    learner = corrected()
    x = X[400].copy()
    x[1] = np.nan
    assert_adds_up(learner, x)
    query = learner.query(X[401])
    learner.update(query, np.append(Y[401], 1.0))
    why = assert_adds_up(learner, X[402])
    assert len(why.feedback) == 4


def test_a_loaded_learner_explains_the_same(learner, tmp_path):
    learner.save(tmp_path / "learner")
    assert ActiveLearner.load(tmp_path / "learner").explain(X[400]).to_dict() == learner.explain(X[400]).to_dict()


@pytest.mark.parametrize("way", ["feedback off", "shuffled"])
def test_without_feedback_it_is_the_explanation_of_the_classifier(way):
    order = np.random.default_rng(1).permutation(len(X)) if way == "shuffled" else np.arange(len(X))
    learner = ActiveLearner(trained(X[order], Y[order]), 0.3, error_feedback=way == "shuffled")
    walked(learner, X[order][200:300], Y[order][200:300])
    assert learner.strategy.context.urgency(learner.classifier.inner.any_model) == 1.0
    why, plain = learner.explain(X[400]), learner.classifier.explain(X[400])
    assert why.feedback is None
    assert why.to_dict() == plain.to_dict()
    assert (why.text, why.markdown(), why.html()) == (plain.text, plain.markdown(), plain.html())


def test_changes_that_would_turn_a_label_are_those_of_the_learner(learner):
    found = 0
    for x in X[400:430]:
        now = learner.predict(x[None])[0]
        for c, flip in enumerate(learner.explain(x).counterfactuals):
            if flip is None:
                continue
            found += 1
            changed = x.copy()
            changed[int(flip.feature[1:])] = flip.after
            assert learner.predict(changed[None])[0, c] != now[c]
            assert flip.turns_on == (now[c] == 0)
    assert found > 30


def test_texts_show_the_part_of_recent_errors(learner):
    why = learner.explain(X[400])
    for text in (why.text, why.markdown(), why.html()):
        assert text.count(FEEDBACK) == 3
    for line in why.text.split("\n")[:6:2]:
        output = float(re.search(r"output ([\d.-]+)", line)[1])
        parts = [float(part) for part in re.findall(r"(?<!\()[+-]\d+\.\d{3}", line.split(" = ")[1])]
        assert sum(parts) == pytest.approx(output, abs=0.004), "every part is rounded to 0.001"
    for c, label in enumerate(why.to_dict()["labels"]):
        assert np.sum(label["contributions"]) + np.sum(label["linear"]) + label["feedback"] == pytest.approx(
            label["output"], abs=1e-12
        )
        assert label["feedback"] == why.feedback[c]


def test_invalid_samples_raise_an_error(learner):
    with pytest.raises(DataError, match="explain takes one sample, got 2 rows"):
        learner.explain(X[:2])
    with pytest.raises(ParameterError, match="first=0"):
        learner.explain(X[0], first=0)
    young = ActiveLearner(EvolvingFuzzyClassifier(warm_up=40).partial_fit(X[:5], Y[:5]))
    with pytest.raises(StateError, match="5 annotated samples so far, and predictions are explained from 10 on"):
        young.explain(X[0])


@pytest.mark.data
@pytest.mark.parametrize("every", first_quick(15, 1))  # rows from one that is explained to the next
def test_water_quality_in_its_order_is_explained_to_the_last_row(every):
    data = load_dataset("water-quality")
    learner = ActiveLearner(trained(data.X, data.Y, 300), 0.1, "labels")
    apart = []
    for row, (x, y) in enumerate(zip(data.X[300:], data.Y[300:], strict=True), start=301):
        query = learner.query(x)
        if (len(data.X) - row) % every == 0:  # the last row is one of them
            why = learner.explain(x)
            np.testing.assert_allclose(why.total, learner.decision_function(x[None])[0], rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(why.total, query.prediction, rtol=0.0, atol=1e-12)
            apart.append(0.0 if why.feedback is None else np.abs(why.feedback).max())
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
    assert np.mean(np.array(apart) > 0.0) > 0.9, "what the classifier alone would explain differs"

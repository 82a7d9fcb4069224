"""`drift_` has the state of every label; `on_event` is called with every event, after the rows were learned."""

import copy
from dataclasses import FrozenInstanceError
from math import isnan
from threading import Thread

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.stages.drift.label_drift import LabelDrift
from evolabel.stages.rules.stage import EVENTS_KEPT

FLIP = 1000
ONLY_SLOW = {"slow": 1.0, "fast": 0.0, "linear": 0.0}


@pytest.fixture(scope="module")
def flipped():
    """Two labels, of which the second becomes its opposite at row `FLIP`."""
    X = np.random.default_rng(0).normal(size=(1600, 2))
    Y = (X > 0.0).astype(float)
    Y[FLIP:, 1] = 1.0 - Y[FLIP:, 1]
    return X, Y


@pytest.fixture(scope="module")
def before(flipped):
    X, Y = flipped
    return EvolvingFuzzyClassifier().partial_fit(X[:FLIP], Y[:FLIP])


def learned(before, flipped, end, **options):
    X, Y = flipped
    return copy.deepcopy(before).partial_fit(X[FLIP:end], Y[FLIP:end], **options)


def texts(events):
    return [str(event) for event in events]


# ---------------------------------------------------------------------- drift_


def test_labels_that_keep_their_meaning_are_calm(before):
    assert list(before.drift_) == ["label0", "label1"]
    for drift in before.drift_.values():
        assert (drift.state, drift.since) == ("calm", None)
        assert 0.0 < drift.calm_error < 0.2
        assert 0.0 < drift.error < 0.2
        assert sum(drift.weights.values()) == pytest.approx(1.0)


def test_the_end_of_a_drift_counts_the_rows_since_its_event():
    """Also where threshold rules have noticed it later than the members, and end it."""
    X = np.random.default_rng(1).normal(size=(3000, 3))
    Y = (X[:, :2] > 0.0).astype(float)
    turned = (np.arange(3000) // 1000) % 2 == 1
    Y[turned, 0] = 1.0 - Y[turned, 0]
    events = [e for e in EvolvingFuzzyClassifier().partial_fit(X, Y).events_ if e.label == "label0"]
    drifts = [e.sample for e in events if e.kind == "drift"]
    ends = [e for e in events if e.kind in ("recovered", "settled")]
    assert len(drifts) == len(ends) == 2
    assert [e.rows for e in ends] == [e.sample - since for e, since in zip(ends, drifts, strict=True)]


def test_one_wild_reading_costs_nothing():
    X = 20.0 + 5.0 * np.random.default_rng(5).normal(size=(4000, 6))
    Y = ((X - 20.0) @ np.random.default_rng(55).normal(size=(6, 3)) > 0.0).astype(float)
    wild = X.copy()
    wild[1500, 0] = 9999.0
    right = []
    for rows in (X, wild):
        clf = EvolvingFuzzyClassifier()
        outputs = clf.test_then_train(rows, Y)
        right.append(((outputs[1501:] >= 0.5) == (Y[1501:] > 0.5)).mean())
        assert "drift" not in [event.kind for event in clf.events_]
    assert right[1] > right[0] - 0.005


def test_an_explanation_names_labels_in_a_drift(before, flipped):
    x = flipped[0][:1]
    why = learned(before, flipped, FLIP + 40).explain(x)
    since = why.drifts["label1"]
    assert list(why.drifts) == ["label1"]
    assert f"label1 has been in a drift since row {since:,}: its answers are less certain than usual." in why.text
    assert [label["drift_since"] for label in why.to_dict()["labels"]] == [None, since]
    for calm in (before, learned(before, flipped, 1600)):
        assert calm.explain(x).drifts == {}
        assert "in a drift" not in calm.explain(x).text


def test_two_classes_that_drift_are_named_in_one_sentence(flipped):
    X, Y = flipped
    classes = np.where(Y[:, 1] > 0.5, "wet", "dry")
    why = EvolvingFuzzyClassifier().partial_fit(X[: FLIP + 30], classes[: FLIP + 30]).explain(X[:1])
    assert len(set(why.drifts.values())) == 1
    assert f"dry and wet have been in a drift since row {why.drifts['wet']:,}: their answers" in why.text
    assert why.text.count("in a drift") == 1


def test_without_members_drifts_are_those_that_threshold_rules_have_noticed():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 2))
    Y = (((X[:, :1] > 0.6) & (X[:, 1:] > 0.3)) | (X[:, 1:] > 0.9)).astype(float)
    Y[5000:] = 1.0 - Y[5000:]
    clf = EvolvingFuzzyClassifier(follow_drift=False).partial_fit(X, Y)
    last = [event for event in clf.events_ if event.kind in ("drift", "recovered", "settled")][-1]
    drift = clf.drift_["label0"]
    assert (drift.state, drift.since) == (last.kind, last.sample)
    assert drift.weights == ONLY_SLOW
    assert isnan(drift.error)


def test_without_members_both_classes_drift_with_the_tree_that_they_share():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2050, 2))
    wet = (X[:, 0] > 0.6) & (X[:, 1] > 0.3)
    wet[2000:] = ~wet[2000:]
    clf = EvolvingFuzzyClassifier(follow_drift=False).partial_fit(X, np.where(wet, "wet", "dry"))
    assert [clf.drift_[label].state for label in ("dry", "wet")] == ["drift", "drift"]
    assert "dry and wet have been in a drift" in clf.explain(X[0]).text


def test_a_flipped_label_drifts_and_recovers(before, flipped):
    clf = learned(before, flipped, FLIP + 40)
    drift = clf.drift_["label1"]
    event = next(event for event in clf.events_ if event.kind == "drift")
    assert (drift.state, drift.since) == ("drift", event.sample)
    assert drift.error > drift.calm_error + 0.05
    assert clf.drift_["label0"].state == "calm"
    clf.partial_fit(flipped[0][FLIP + 40 :], flipped[1][FLIP + 40 :])
    after = clf.drift_["label1"]
    assert after.state == "recovered"
    assert after.since == next(event.sample for event in clf.events_ if event.kind == "recovered")
    assert after.error < drift.error


def test_a_state_reads_as_one_line(before):
    assert str(before.drift_["label0"]).startswith("calm, error 0.0")
    words = str(LabelDrift("drift", 12, 0.25, 0.125, ONLY_SLOW))
    assert words == "drift since sample 12, error 0.250 (calm 0.125); slow 100%, fast 0%, linear 0%"


def test_a_state_cannot_be_changed(before):
    with pytest.raises(FrozenInstanceError):
        before.drift_["label0"].state = "drift"


def test_all_is_calm_during_the_warm_up(flipped):
    clf = EvolvingFuzzyClassifier().partial_fit(flipped[0][:9], flipped[1][:9])
    assert clf.drift_ == {"label0": LabelDrift(), "label1": LabelDrift()}
    assert clf.drift_["label0"].weights == ONLY_SLOW
    clf.partial_fit(flipped[0][9:20], flipped[1][9:20])
    found = clf.drift_["label0"]
    assert found.state == "calm"
    assert isnan(found.error)
    assert found.weights["linear"] > 0.0  # the first model has members, too
    assert sum(found.weights.values()) == pytest.approx(1.0)


def test_all_is_calm_if_nothing_watches_for_drift(flipped):
    clf = EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False).partial_fit(*flipped)
    assert all(drift == LabelDrift() for drift in clf.drift_.values())


def test_errors_are_unknown_right_after_the_initial_batch(flipped):
    clf = EvolvingFuzzyClassifier().fit(flipped[0][:200], flipped[1][:200])
    assert isnan(clf.drift_["label0"].error)
    assert isnan(clf.drift_["label0"].calm_error)


def test_classes_have_a_state_each(flipped):
    X, Y = flipped
    clf = EvolvingFuzzyClassifier().partial_fit(X[:300], np.where(Y[:300, 0] > 0.0, "yes", "no"))
    assert set(clf.drift_) == {"no", "yes"}


def test_a_saved_classifier_has_the_same_states(before, flipped, tmp_path):
    clf = learned(before, flipped, FLIP + 40)
    clf.save(tmp_path / "model.safetensors")
    assert EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors").drift_ == clf.drift_


# ---------------------------------------------------------------------- on_event


def test_every_event_is_reported_once_and_in_order(flipped):
    X, Y = flipped
    clf, reported = EvolvingFuzzyClassifier(), []
    for start in range(0, len(X), 90):
        clf.partial_fit(X[start : start + 90], Y[start : start + 90], on_event=reported.append)
    assert {"birth", "drift"} <= {event.kind for event in reported}
    assert reported == clf.events_


def test_the_function_changes_nothing_of_what_is_learned(before, flipped):
    plain, reported = learned(before, flipped, FLIP + 100), []
    assert learned(before, flipped, FLIP + 100, on_event=reported.append).events_ == plain.events_
    outputs = learned(before, flipped, FLIP + 100, on_event=reported.append).decision_function(flipped[0])
    assert np.array_equal(outputs, plain.decision_function(flipped[0]))


@pytest.mark.parametrize("method", ["test_then_train", "answer_then_train"])
def test_other_methods_report_the_same_events(method, before, flipped):
    X, Y = (part[FLIP : FLIP + 100] for part in flipped)
    reported, clf, plain = [], copy.deepcopy(before), copy.deepcopy(before)
    found, expected = getattr(clf, method)(X, Y, on_event=reported.append), getattr(plain, method)(X, Y)
    assert all(map(np.array_equal, found, expected))
    assert reported == clf.events_[len(before.events_) :]
    assert any(event.label == "label1" for event in reported)


def test_labels_are_named_as_in_events(flipped):
    pandas = pytest.importorskip("pandas")
    X, Y = (pandas.DataFrame(part[: FLIP + 60]) for part in flipped)
    X.columns, Y.columns = ["heat", "load"], ["fan", "pump"]
    reported = []
    EvolvingFuzzyClassifier().partial_fit(X, Y, on_event=reported.append)
    assert [event.label for event in reported if event.kind == "drift"] == ["pump"]


def test_the_function_may_use_the_classifier(before, flipped):
    clf, seen = copy.deepcopy(before), []

    def report(event):
        seen.append((clf.n_samples_seen_, clf.predict(flipped[0][:1]).shape, event.kind))
        clf.partial_fit(flipped[0][:1], flipped[1][:1])

    clf.partial_fit(flipped[0][FLIP : FLIP + 60], flipped[1][FLIP : FLIP + 60], on_event=report)
    assert seen[0] == (FLIP + 60, (1, 2), "drift")


def test_the_function_is_called_outside_the_lock(before, flipped):
    clf, answers = copy.deepcopy(before), []

    def report(event):
        other = Thread(target=lambda: answers.append(clf.predict(flipped[0][:1])), daemon=True)
        other.start()
        other.join(timeout=30)

    clf.partial_fit(flipped[0][FLIP : FLIP + 60], flipped[1][FLIP : FLIP + 60], on_event=report)
    assert answers


def test_an_error_of_the_function_is_raised_and_the_rows_are_learned(before, flipped):
    clf = copy.deepcopy(before)

    def fail(event):
        raise RuntimeError(event.kind)

    with pytest.raises(RuntimeError, match="drift"):
        clf.partial_fit(flipped[0][FLIP : FLIP + 100], flipped[1][FLIP : FLIP + 100], on_event=fail)
    plain = learned(before, flipped, FLIP + 100)
    assert clf.events_ == plain.events_
    assert np.array_equal(clf.decision_function(flipped[0]), plain.decision_function(flipped[0]))


def test_events_are_counted_where_old_ones_are_dropped(before, flipped):
    clf = copy.deepcopy(before)
    rules = clf.inner.trained_model.rules
    for _ in range(EVENTS_KEPT):
        rules.log("renamed", 1, None)
    reported = []
    clf.partial_fit(flipped[0][FLIP : FLIP + 60], flipped[1][FLIP : FLIP + 60], on_event=reported.append)
    assert len(clf.events_) == EVENTS_KEPT
    assert reported == clf.events_[-len(reported) :]
    assert reported[0].kind == "drift"
    assert texts(reported) == texts(learned(before, flipped, FLIP + 60).events_[-len(reported) :])


def test_bad_rows_report_nothing(before, flipped):
    reported = []
    with pytest.raises(ValueError, match="inf"):
        copy.deepcopy(before).partial_fit(np.full((1, 2), np.inf), flipped[1][:1], on_event=reported.append)
    assert reported == []


def test_on_event_is_no_metadata_of_scikit_learn():
    requests = EvolvingFuzzyClassifier().get_metadata_routing().partial_fit.requests
    assert set(requests) == {"classes", "sample_weight", "confidence"}


@pytest.mark.parametrize("method", ["partial_fit", "test_then_train", "answer_then_train"])
def test_what_is_no_function_is_refused_before_anything_is_learned(flipped, before, method):
    X, Y = flipped
    clf = copy.deepcopy(before)
    with pytest.raises(ParameterError, match="on_event=3 is not allowed; use a function"):
        getattr(clf, method)(X[FLIP : FLIP + 60], Y[FLIP : FLIP + 60], on_event=3)
    assert clf.n_samples_seen_ == before.n_samples_seen_

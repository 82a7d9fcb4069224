"""Stages of users: they answer, learn, grow, merge and are stored with the model; faults leave it as it was."""

import copy
import logging
import pickle
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.classifier.storage import classifier_to_arrays
from evolabel.errors import DataError, DataWarning, EvolabelError, ModelFileError, ParameterError, StageError
from evolabel.model.pipeline import refiners
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.persistence.model_file import write_model_file
from evolabel.stages import OwnStage, Schema, StagePart, array
from evolabel.streams import DriftingStream
from evolabel.typing import FloatArray

N = 200
X, Y = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=1).take(900)


class Errors(NamedTuple):
    mean: Annotated[FloatArray, array("label")]
    of_feature: Annotated[FloatArray, array("label", "feature")]
    last: Annotated[FloatArray, array("memory")]


class MeanError(OwnStage):
    """Adds the mean error of recent answers, and logs every hundredth row."""

    name, schema = "mean_error", Schema(Errors)

    def __init__(self, rate=0.05, memory=2):
        self.rate, self.sizes = rate, {"memory": memory}

    def answer(self, rows):
        rows.outputs += self.arrays.mean + np.nan_to_num(rows.read) @ self.arrays.of_feature.T

    def learn_row(self, row, log):
        error = self.rate * np.nan_to_num(row.Y[0] - row.outputs[0])
        self.arrays.mean[:] += error
        self.arrays.of_feature[:] += 1e-3 * np.outer(error, np.nan_to_num(row.read[0]))
        if log is not None and row.n_seen % 100 == 0:
            log.log("a hundred rows", label=1, before=0.5, after=float(self.arrays.mean[1]))

    def merge(self, other, labels):
        theirs = self.placed(other, labels)
        self.arrays.mean[:] += theirs.mean
        self.arrays.of_feature[:] += theirs.of_feature


class Second(MeanError):
    name = "second"


def fitted(*stages, **parameters):
    return EvolvingFuzzyClassifier(max_rules=5, stages=[*stages], **parameters).fit(X[:N], Y[:N])


def state(clf):
    """All arrays of the model of `clf`, copied, and all else about it."""
    arrays, facts = model_to_arrays(clf.inner.any_model)
    return {name: array.copy() for name, array in arrays.items()}, facts


def assert_same_state(one, other):
    assert one[1] == other[1]
    assert one[0].keys() == other[0].keys()
    for name, array_ in one[0].items():
        np.testing.assert_array_equal(array_, other[0][name], err_msg=name)


def outputs(clf, rows=X[-50:]):
    return clf.decision_function(rows)


# ---------------------------------------------------------------------- answering and learning


def test_a_stage_changes_the_outputs_and_its_part_is_explained():
    clf = fitted(MeanError(), Second(rate=0.1)).partial_fit(X[N:], Y[N:])
    why = clf.explain(X[0])
    assert list(why.own) == ["mean_error", "second"]
    assert np.abs(why.own["mean_error"]).min() > 0.0
    np.testing.assert_allclose(why.total, outputs(clf, X[:1])[0], atol=1e-12)
    assert "from mean_error" in why.text
    assert why.to_dict()["labels"][0]["own"] == {name: part[0] for name, part in why.own.items()}


class OwnParts(MeanError):
    """Returns, as its part, what `found` makes of what `answer` adds."""

    found = staticmethod(lambda part: part)

    def explain(self, rows):
        rows.outputs[:] = np.nan  # those of `answer` count
        return OwnParts.found(StagePart(np.nan_to_num(rows.read) @ self.arrays.of_feature.T + self.arrays.mean))


def test_the_explanation_of_a_stage_is_used(monkeypatch):
    clf, plain = (fitted(stage).partial_fit(X[N:], Y[N:]) for stage in (OwnParts(), MeanError()))
    asked = []
    monkeypatch.setattr(OwnParts, "found", lambda part: asked.append(part) or part)
    why = clf.explain(X[0])
    np.testing.assert_array_equal(why.own["mean_error"], asked[0].added[0])
    np.testing.assert_allclose(why.total, outputs(clf, X[:1])[0], atol=1e-12)
    np.testing.assert_allclose(why.own["mean_error"], plain.explain(X[0]).own["mean_error"], atol=1e-12)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (lambda part: StagePart(part.added + 1e-6), "explain returned .* for label 0, and answer adds"),
        (lambda part: StagePart(part.added[:, :1]), r"explain left outputs of shape \(1, 1\), expected \(1, 3\)"),
        (lambda part: StagePart(part.added * np.nan), "explain left nan"),
        (lambda part: None, "explain raised AttributeError"),
    ],
)
def test_an_explanation_that_does_not_add_up_to_the_output_is_an_error(found, message, monkeypatch):
    clf = fitted(OwnParts()).partial_fit(X[N:], Y[N:])
    before = state(clf)
    monkeypatch.setattr(OwnParts, "found", found)
    with pytest.raises(StageError, match=f"stage 'mean_error': {message}.*the model is unchanged"):
        clf.explain(X[0])
    assert_same_state(state(clf), before)


def test_stages_stand_between_trees_and_written_rules():
    clf = fitted(MeanError(), Second()).name_columns(["a", "b", "c", "d"], ["k", "l", "m"])
    clf.rulebook.add("IF a ABOVE 0 THEN k 90%")
    names = [stage.name for stage in refiners(clf.inner.any_model)]
    built_in = "threshold_rules", "first_tree", "last_answers", "written_rules"
    assert names == [*built_in[:2], "mean_error", "second", *built_in[2:]]


@settings(max_examples=examples(10), deadline=None)
@given(cuts=st.lists(st.integers(1, 250), max_size=4), warm=st.booleans())
def test_row_by_row_is_like_all_at_once(cuts, warm):
    """Arrays and events, whatever the batches, after `fit` or a warm-up."""

    def learned(ends):
        clf = EvolvingFuzzyClassifier(max_rules=5, stages=[MeanError()])
        if not warm:
            clf.fit(X[:N], Y[:N])
        start, found = N, []
        for end in [*ends, 460]:
            found.append(clf.test_then_train(X[start:end], Y[start:end]))
            start = end
        return np.concatenate(found), clf

    (f, at_once), (g, other) = learned([]), learned(sorted({N + cut for cut in cuts}))
    np.testing.assert_array_equal(f, g)
    assert_same_state(state(at_once), state(other))
    assert at_once.events_ == other.events_
    assert any(event.kind == "stage" for event in at_once.events_)


def test_events_have_the_name_of_the_stage():
    clf = fitted(MeanError()).partial_fit(X[N:420], Y[N:420]).name_columns(["a", "b", "c", "d"], ["k", "l", "m"])
    events = [event for event in clf.events_ if event.kind == "stage"]
    assert [event.sample for event in events] == [300, 400]
    assert str(events[0]).startswith("sample 300: mean_error: a hundred rows (label 'l', 0.5")


def test_a_stage_that_learns_many_rows_at_once_logs_too():
    class AtOnce(MeanError):
        def learn(self, rows, log):
            super().learn(rows, log)
            if log is not None:
                log.log("learned", rows=len(rows.X), feature=2)

    clf = fitted(AtOnce()).partial_fit(X[N:250], Y[N:250])
    (event,) = [event for event in clf.events_ if event.kind == "stage"]
    assert (event.sample, event.rows, event.note, event.feature) == (250, 50, "mean_error: learned", "x2")
    assert str(event) == "sample 250: mean_error: learned (feature 'x2')"


@pytest.mark.parametrize("about", [{"label": -1}, {"label": 0.5}, {"before": np.nan}, {"rows": -2}])
def test_an_event_that_no_file_can_hold_is_a_fault(about):
    class Logging(MeanError):
        def learn_row(self, row, log):
            if log is not None:
                log.log("odd", **about)

    clf = fitted(Logging())
    before = state(clf)
    with pytest.raises(StageError, match=r"learn_row of sample [0-9]+ raised DataError: an event has"):
        clf.partial_fit(X[N:250], Y[N:250])
    assert_same_state(state(clf), before)


def test_the_prototype_does_not_change():
    proto = MeanError()
    fitted(proto).partial_fit(X[N:300], Y[N:300])
    assert vars(proto) == {"rate": 0.05, "sizes": {"memory": 2}}


def test_without_stages_outputs_are_what_they_were():
    np.testing.assert_array_equal(outputs(fitted()), outputs(EvolvingFuzzyClassifier(max_rules=5).fit(X[:N], Y[:N])))
    silent = fitted(MeanError(rate=0.0)).partial_fit(X[N:], Y[N:])
    np.testing.assert_array_equal(outputs(silent), outputs(fitted().partial_fit(X[N:], Y[N:])))


def test_classes_are_learned_too():
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    clf = EvolvingFuzzyClassifier(stages=[MeanError()]).partial_fit(X[:400], y[:400], classes=["a", "b", "c"])
    assert clf.inner.any_model.own_stages[0].stage.is_exclusive
    assert set(clf.predict(X[400:])) <= {"a", "b", "c"}


# ---------------------------------------------------------------------- a parameter as scikit-learn has them


def test_it_is_a_parameter_of_the_estimator():
    proto = MeanError(rate=0.2)
    clf = EvolvingFuzzyClassifier(stages=(proto,))
    assert clf.get_params()["stages"] == (proto,)
    twin = clone(clf)
    assert twin.stages[0] is not proto
    assert twin.stages[0].rate == 0.2
    assert clf.set_params(stages=()).stages == ()
    assert "stages=[MeanError(rate=0.2)]" in repr(fitted(proto))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda clf: copy.deepcopy(ActiveLearner(clf, 0.2)).classifier])
def test_copies_are_independent(copied):
    clf = fitted(MeanError())
    before, twin = state(clf), copied(clf)
    twin.partial_fit(X[N:300], Y[N:300])
    assert_same_state(state(clf), before)
    assert_same_state(state(clf.partial_fit(X[N:300], Y[N:300])), state(twin))


class NoAxis(MeanError):
    class Hours(NamedTuple):
        of: Annotated[FloatArray, array("hour")]

    schema = Schema(Hours)


class NoName(MeanError):
    name = "mean error"


class NameTaken(MeanError):
    name = "written_rules"


class NoSchema(OwnStage):
    name = "bare"


class PlainSchema(MeanError):
    schema = Errors


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([MeanError(), MeanError()], "in place 1, and the one in place 0 is called 'mean_error', too; give each"),
        ([MeanError], r"in place 0; pass an object"),
        ([3], r"has 3 in place 0; pass an object"),
        (MeanError(), "is no list"),
        ("mean", "is no list"),
        ([NoAxis()], "axis 'hour' of 'of' has no length"),
        ([NoName()], "in place 0, whose name is 'mean error'; use letters, digits and _"),
        ([NameTaken()], "in place 0, and a built-in stage is called 'written_rules', too; give it another name"),
        ([NoSchema()], r"has NoSchema\(\) in place 0, which has no schema; write schema = Schema"),
        ([PlainSchema()], r"in place 0, whose schema is <class .*Errors.>; write schema = Schema"),
    ],
)
def test_what_is_no_stage_is_refused(stages, message):
    with pytest.raises(ParameterError, match=message):
        EvolvingFuzzyClassifier(stages=stages).fit(X[:N], Y[:N])
    clf = EvolvingFuzzyClassifier(stages=stages)
    with pytest.raises(ParameterError, match=message):
        clf.partial_fit(X[:N], Y[:N])
    assert not clf.__sklearn_is_fitted__()


# ---------------------------------------------------------------------- wider, merged, stored


def test_labels_and_features_that_come_later():
    clf = fitted(MeanError()).partial_fit(X[N:300], np.column_stack([Y[N:300], Y[N:300, 0]]))
    arrays = clf.inner.any_model.own_stages[0].arrays
    assert arrays.mean.shape == (4,)
    assert arrays.of_feature.shape == (4, 4)
    assert arrays.mean[3] != 0.0
    assert clf.explain(X[0]).own["mean_error"].shape == (4,)


def test_merging_merges_the_stages():
    clf = fitted(MeanError()).partial_fit(X[N:300], Y[N:300])
    other = clf.sibling().partial_fit(X[300:500], Y[300:500])
    before, theirs = state(clf)[0], state(other)[0]
    assert other.inner.any_model.own_stages[0].arrays.mean.any()
    clf.merge(other)
    after = state(clf)[0]
    np.testing.assert_allclose(
        after["stages.mean_error.mean"], before["stages.mean_error.mean"] + theirs["stages.mean_error.mean"]
    )
    np.testing.assert_array_equal(state(other)[0]["stages.mean_error.mean"], theirs["stages.mean_error.mean"])


def test_only_classifiers_of_the_same_stages_are_merged():
    clf, before = fitted(MeanError()), state(fitted(MeanError()))
    for other in (fitted(), fitted(MeanError(memory=3))):
        with pytest.raises(DataError, match="differ in stages"):
            clf.merge(other)
    assert_same_state(state(clf), before)


def test_a_file_has_the_arrays_and_load_is_given_the_stage(tmp_path):
    clf = fitted(MeanError()).partial_fit(X[N:450], Y[N:450])
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model", stages=[MeanError()])
    assert_same_state(state(loaded), state(clf))
    for each in (clf, loaded):
        each.partial_fit(X[450:], Y[450:])
    np.testing.assert_array_equal(outputs(loaded), outputs(clf))


def test_a_file_has_the_stages_of_the_model_whatever_the_parameter_is_by_now(tmp_path):
    clf = fitted(MeanError()).set_params(stages=[Second()])
    clf.save(tmp_path / "model")
    proto = MeanError()
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model", stages=[proto])
    assert loaded.stages == [proto]
    assert_same_state(state(loaded), state(clf))
    assert list(clf.fit(X[:N], Y[:N]).explain(X[0]).own) == ["second"]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "has the stages 'mean_error', and load was given none"),
        ([Second()], "has the stages 'mean_error', and load was given 'second'"),
        ([MeanError(memory=5)], "the arrays of stage 'mean_error' in it are .* those of the one given"),
    ],
)
@pytest.mark.parametrize("rows", [40, 300])
def test_load_names_the_stage_that_is_missing_or_another(tmp_path, stages, message, rows):
    clf = EvolvingFuzzyClassifier(stages=[MeanError()]).partial_fit(X[:rows], Y[:rows])
    clf.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        EvolvingFuzzyClassifier.load(tmp_path / "model", stages=stages)
    learner = ActiveLearner(clf, 0.2)
    learner.save(tmp_path / "learner")
    with pytest.raises(ModelFileError, match=message):
        ActiveLearner.load(tmp_path / "learner", stages=stages)


BROKEN_FACTS = [None, {}, [3], [[]], [{}], [{"name": []}], [{"name": "mean_error", "arrays": {"mean": ["float64", 3]}}]]


@pytest.mark.parametrize("facts", BROKEN_FACTS, ids=str)
def test_a_file_with_other_facts_about_stages_is_refused(tmp_path, facts):
    arrays, manifest = classifier_to_arrays(fitted(MeanError()))
    manifest["model"]["stages"] = facts
    write_model_file(tmp_path / "model", arrays, manifest)
    for stages in ([], [MeanError()]):
        with pytest.raises(ModelFileError):
            EvolvingFuzzyClassifier.load(tmp_path / "model", stages=stages)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_file_with_other_arrays_of_stages_is_refused(tmp_path, value):
    arrays, manifest = classifier_to_arrays(fitted(MeanError()))
    name = "stages.mean_error.mean"
    wrong = [np.full(3, value), np.zeros(4), np.zeros(3, np.int64), np.zeros((3, 1))]
    for other in [{**arrays, name: array_} for array_ in wrong] + [
        {key: array_ for key, array_ in arrays.items() if key != name},
        {**arrays, "stages.mean_error.more": np.zeros(3)},
        {**arrays, "stages.second.mean": np.zeros(3)},
    ]:
        write_model_file(tmp_path / "model", other, manifest)
        with pytest.raises(ModelFileError, match="stages"):
            EvolvingFuzzyClassifier.load(tmp_path / "model", stages=[MeanError()])


def test_a_file_without_stages_is_loaded_without_them(tmp_path):
    fitted().save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="has the stages none, and load was given 'mean_error'"):
        EvolvingFuzzyClassifier.load(tmp_path / "model", stages=[MeanError()])


def test_an_active_learner_asks_by_the_final_outputs_and_is_stored(tmp_path):
    learner = ActiveLearner(fitted(MeanError(rate=0.3), memory=None), budget=0.4)  # last answers count in no query
    for x, y in zip(X[N:320], Y[N:320], strict=True):
        query = learner.query(x)
        np.testing.assert_allclose(query.prediction, learner.decision_function(x[None])[0], atol=1e-12)
        learner.update(query, y if query.asked else None)
    assert learner.bucket.asked > 0
    learner.save(tmp_path / "learner")
    loaded = ActiveLearner.load(tmp_path / "learner", stages=[MeanError(rate=0.3)])
    again = ActiveLearner.from_bytes(learner.to_bytes(), stages=[MeanError(rate=0.3)])
    for x, y in zip(X[320:400], Y[320:400], strict=True):
        queries = [each.query(x) for each in (learner, loaded, again)]
        assert len({(query.asked, query.prediction.tobytes()) for query in queries}) == 1
        for each, query in zip((learner, loaded, again), queries, strict=True):
            each.update(query, y if query.asked else None)


# ---------------------------------------------------------------------- faults


class Faulty(MeanError):
    """Breaks a rule once it has learned `after` rows; `how` does it."""

    name = "faulty"

    def __init__(self, how, after, method="learn"):
        super().__init__()
        self.how, self.after, self.method = how, after, method

    def answer(self, rows):
        super().answer(rows)
        if self.method == "answer" and self.arrays.last[0] >= self.after:
            self.how(self, rows)

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.arrays.last[0] += 1.0
        if self.method == "learn" and self.arrays.last[0] > self.after:
            self.how(self, row)


def failing(stage, rows):
    raise KeyError("no such machine")


def wider(stage, rows):
    rows.outputs = np.column_stack([rows.outputs, rows.outputs])


def missing(stage, rows):
    rows.outputs[:, 1] = np.nan


def writing_rows(stage, rows):
    rows.X[:] = 0.0


def writing_rows_after_opening_them(stage, rows):
    rows.X.flags.writeable = True
    rows.X[:] = 0.0


def writing_outputs_after_opening_them(stage, rows):
    if rows.outputs.flags.writeable:
        raise KeyError("only learn_row cannot write them")
    rows.outputs.setflags(write=True)


def writing_labels(stage, rows):
    (rows.Y if rows.Y.size else rows.read)[:] = 1.0


def writing_calibration(stage, rows):
    OTHERS[0].calibration.arrays.theta[:] = 0.0


def writing_rules(stage, rows):
    OTHERS[0].rules.arrays.G[:] = 0.0


def writing_neighbour(stage, rows):
    OTHERS[0].own_stages[0].arrays.mean[:] = 9.0


def replacing_arrays(stage, rows):
    stage.arrays = stage.arrays._replace(mean=np.zeros(7))


WIDER = np.column_stack([Y, Y[:, 0]])  # a label that comes with the call that fails
OTHERS = [None]  # the model whose arrays a stage writes behind its back
IN_BOTH = [failing, missing, wider, writing_rows, writing_labels, writing_calibration, writing_rules, writing_neighbour]
IN_BOTH += [writing_rows_after_opening_them, writing_outputs_after_opening_them]
FAULTS = [(how, method) for how in IN_BOTH for method in ("answer", "learn") if (how, method) != (wider, "learn")]
FAULTS += [(replacing_arrays, "learn")]


@pytest.mark.parametrize(("how", "method"), FAULTS)
@pytest.mark.parametrize("rows", [1, 30, 120])
def test_a_fault_names_the_stage_and_leaves_the_model_as_it_was(how, method, rows):
    clf = fitted(MeanError(), Faulty(how, 500, method)).partial_fit(X[N : 500 - rows // 2], Y[N : 500 - rows // 2])
    start = 500 - rows // 2
    OTHERS[0] = clf.inner.any_model
    with pytest.raises(StageError, match=r"stage 'faulty': (learn|learn_row|answer)\b") as raised:  # noqa: PT012
        for first in range(start, start + 4):  # the first calls of one row do not reach the fault
            before, known = state(clf), clf.label_names_.tolist()
            clf.partial_fit(X[first : first + rows], WIDER[first : first + rows])
    assert isinstance(raised.value, EvolabelError)
    assert "the model is unchanged" in str(raised.value)
    assert_same_state(state(clf), before)
    assert clf.label_names_.tolist() == known


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_fault_in_the_first_rows_has_their_numbers_where_some_are_not_learned(kind):
    rows, labels = X[:N].copy(), Y[:N].copy()
    rows[3], labels[7] = np.nan, np.nan
    given = rows if kind == "array" else pd.DataFrame(rows, columns=list("abcd"))
    clf = EvolvingFuzzyClassifier(stages=[Faulty(failing, 20)], warm_up=60)
    with (
        pytest.warns(DataWarning, match="no feature"),
        pytest.raises(StageError, match=r"learn_row of row 21 of the initial batch raised"),
    ):
        clf.fit(given, labels)
    with (
        pytest.warns(DataWarning, match="no feature"),
        pytest.raises(StageError, match=r"learn_row of sample 22 raised .*nothing was learned"),
    ):
        clf.partial_fit(given, labels)


def test_a_fault_in_the_first_calls_leaves_no_model():
    clf = EvolvingFuzzyClassifier(stages=[Faulty(failing, 20)])
    message = "stage 'faulty': learn_row of row 20 of the initial batch raised KeyError: 'no such machine'; nothing was"
    with pytest.raises(StageError, match=message) as raised:
        clf.fit(X[:N], Y[:N])
    assert "unchanged" not in str(raised.value)
    assert not clf.__sklearn_is_fitted__()
    with pytest.raises(StageError, match=message.replace("row 20 of the initial batch", "sample 21")):
        clf.partial_fit(X[:N], Y[:N])
    assert not clf.__sklearn_is_fitted__()
    clf.set_params(stages=[]).partial_fit(X[:N, :3], Y[:N])
    assert clf.n_samples_seen_ == N


def test_a_fault_at_the_end_of_the_warm_up_leaves_its_rows():
    clf = EvolvingFuzzyClassifier(stages=[Faulty(failing, 20)]).partial_fit(X[:50], Y[:50])
    before = state(clf)
    with pytest.raises(StageError):
        clf.partial_fit(X[50:100], Y[50:100])
    assert_same_state(state(clf), before)


def test_a_fault_leaves_an_active_learner_as_it_was():
    learner = ActiveLearner(fitted(Faulty(failing, N + 5)), budget=1.0)
    with pytest.raises(StageError):  # noqa: PT012
        for x, y in zip(X[N:], Y[N:], strict=True):
            query = learner.query(x)
            before, checksum = state(learner.classifier), learner.checksum()
            learner.update(query, y if query.asked else None)
    assert_same_state(state(learner.classifier), before)
    assert learner.checksum() == checksum
    assert query.number is None
    assert learner.classifier.inner.any_model.rules.antecedent_rate == 1.0


def test_a_stage_that_learns_no_rows_at_once_ends_all_the_same():
    class Slow(MeanError):
        rows_at_once = 0

    f, g = (fitted(stage).test_then_train(X[N:230], Y[N:230]) for stage in (Slow(), MeanError()))
    np.testing.assert_array_equal(f, g)


def test_arrays_of_a_stage_cannot_be_written_while_it_answers():
    class Counting(MeanError):
        def answer(self, rows):
            super().answer(rows)
            self.arrays.last[:] += 1.0

    with pytest.raises(
        StageError, match=r"stage .mean_error.: answer of row 0 of the initial batch raised ValueError: .*read-only"
    ):
        fitted(Counting(), follow_drift=False).decision_function(X[:1])


def test_arrays_of_a_stage_cannot_be_written_while_it_answers_in_training():
    class Counting(MeanError):
        def answer(self, rows):
            super().answer(rows)
            self.arrays.last[:] += 1.0

    with pytest.raises(StageError, match=r"stage .mean_error.: answer .*raised ValueError: .*read-only"):
        fitted(Counting())


def test_outputs_cannot_be_written_while_a_row_is_learned():
    class Shifting(MeanError):
        def learn_row(self, row, log):
            super().learn_row(row, log)
            row.outputs[:] = 5.0

    clf = fitted(MeanError())
    before = state(clf)
    with pytest.raises(StageError, match=r"stage .mean_error.: learn_row .*raised ValueError: .*read-only"):
        fitted(Shifting())
    assert_same_state(state(clf), before)


def test_a_fault_while_answering_is_named():
    clf = fitted(Faulty(failing, N, "answer"))
    for call in (clf.predict, clf.predict_proba, clf.decision_function, clf.explain):
        with pytest.raises(StageError, match="stage 'faulty': answer raised KeyError"):
            call(X[:1])


class Choosy(MeanError):
    """Cannot answer rows of large values."""

    def answer(self, rows):
        super().answer(rows)
        if np.nanmax(rows.X) > 50.0:
            raise ValueError("too large")


@pytest.mark.filterwarnings("ignore:.* no feature at all")
@pytest.mark.parametrize("empty", [0, 3])
@pytest.mark.parametrize("n", [8, 9, 300, 5000])
def test_a_fault_while_many_rows_are_answered_names_the_first_row(n, empty):
    rows = np.tile(X, (6, 1))[:n].copy()
    rows[n - 1 : n // 2 - 1 : -2, 0] = 100.0
    rows[:empty] = np.nan
    first = np.flatnonzero(rows[:, 0] == 100.0)[0]
    clf = fitted(Choosy())
    for call in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(StageError, match=f"^row {first} of X: stage 'mean_error': answer raised ValueError: too l"):
            call(rows)


class OnlyAlone(MeanError):
    def answer(self, rows):
        super().answer(rows)
        if len(rows.X) > 1 and not len(rows.Y):
            raise ValueError("too many")


def test_a_fault_that_is_not_of_one_row_names_none():
    with pytest.raises(StageError, match=r"^stage 'mean_error': answer raised ValueError: too many"):
        fitted(OnlyAlone()).predict(X[:40])


def test_a_fault_in_merging_is_named_and_changes_nothing():
    class Unmerged(MeanError):
        def merge(self, other, labels):
            self.arrays.mean[:] = 7.0
            raise ValueError("no")

    clf = fitted(Unmerged())
    other, before = clf.sibling().partial_fit(X[N:300], Y[N:300]), state(clf)
    with pytest.raises(StageError, match="stage 'mean_error': merge raised ValueError: no"):
        clf.merge(other)
    assert_same_state(state(clf), before)


def test_a_stage_without_merge_says_so():
    class Alone(OwnStage):
        name, schema = "alone", Schema(Errors)
        sizes = {"memory": 1}  # noqa: RUF012

        def answer(self, rows):
            pass

        def learn_row(self, row, log):
            pass

    clf = fitted(Alone())
    with pytest.raises(StageError, match="write merge"):
        clf.merge(clf.sibling().partial_fit(X[N:300], Y[N:300]))


def test_after_a_fault_the_model_goes_on():
    clf, twin = (fitted(MeanError(), Faulty(failing, 10**9)) for _ in range(2))
    stage = clf.inner.any_model.own_stages[1].stage
    stage.after = 0
    with pytest.raises(StageError):
        clf.partial_fit(X[N:300], Y[N:300])
    stage.after = 10**9
    for each in (clf, twin):
        each.partial_fit(X[N:], Y[N:])
    assert_same_state(state(clf), state(twin))


class AssigningOutputs(MeanError):
    """Replaces the outputs instead of changing them in place."""

    def answer(self, rows):
        rows.outputs = rows.outputs + self.arrays.mean


class InPlace(MeanError):
    def answer(self, rows):
        rows.outputs += self.arrays.mean


def test_outputs_that_are_assigned_count_as_those_that_are_changed_in_place():
    assigned, in_place = fitted(AssigningOutputs()), fitted(InPlace())
    np.testing.assert_array_equal(
        assigned.test_then_train(X[N:400], Y[N:400]), in_place.test_then_train(X[N:400], Y[N:400])
    )


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_unpickled_classifier_goes_on_with_the_same_bits(protocol):
    clf = fitted(MeanError()).partial_fit(X[N:300], Y[N:300])
    twin = pickle.loads(pickle.dumps(clf, protocol))
    for one in (clf, twin):
        one.predict_proba(X[:5])
        one.partial_fit(X[300:400], Y[300:400])
    np.testing.assert_array_equal(twin.predict_proba(X[400:]), clf.predict_proba(X[400:]))


class Growing(MeanError):
    """Leaves the range that it has declared."""

    class Numbers(NamedTuple):
        n: Annotated[FloatArray, array("label", low=0.0, high=100.0)]

    schema = Schema(Numbers)

    def answer(self, rows):
        pass

    def learn_row(self, row, log):
        self.arrays.n[:] += 1.0


def test_an_array_that_no_file_can_hold_is_a_fault_of_the_call_that_wrote_it():
    clf = EvolvingFuzzyClassifier(stages=[Growing()]).fit(X[:90], Y[:90])
    before = state(clf)
    with pytest.raises(StageError, match=r"learn left what no file can hold: array n holds values from 1[0-9]+ to"):
        clf.partial_fit(X[90:200], Y[90:200])
    assert_same_state(state(clf), before)


class Raising(MeanError):
    def learn_row(self, row, log):
        if np.nanmax(row.X) > 50.0:
            raise ValueError("too large")
        super().learn_row(row, log)


def with_large(rows):
    large = X[:rows].copy()
    large[5, 0] = 100.0
    return large


def test_a_fault_leaves_a_sibling_with_its_scaling_and_labels():
    clf = fitted(Raising()).sibling()
    with pytest.raises(StageError, match="learn_row of sample 6 raised ValueError: too large"):
        clf.partial_fit(with_large(20), Y[:20])
    assert clf.n_samples_seen_ == 0
    assert clf.partial_fit(X[:20], Y[:20]).n_samples_seen_ == 20


def test_rows_of_weight_0_are_answered_and_not_learned():
    clf = fitted(MeanError())
    before = clf.inner.any_model.own_stages[0].arrays.mean.copy()
    clf.partial_fit(X[N:300], Y[N:300], sample_weight=np.zeros(100))
    np.testing.assert_array_equal(clf.inner.any_model.own_stages[0].arrays.mean, before)


class Numbering(MeanError):
    """Logs every four hundredth row by its number."""

    def learn_row(self, row, log):
        if log is not None and row.n_seen % 400 == 0:
            log.log("mark")


def test_rows_have_their_numbers_where_a_sensor_moves_in_the_same_batch():
    rows, labels = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=2).take(3000)
    rows[1500:, 0] += 12.0
    clf = EvolvingFuzzyClassifier(stages=[Numbering()], threshold_rules=False).fit(rows[:300], labels[:300])
    clf.partial_fit(rows[300:], labels[300:])
    assert any(event.kind == "sensor moved" for event in clf.events_)
    assert [event.sample for event in clf.events_ if event.kind == "stage"] == [400 * n for n in range(1, 8)]


class Kept(logging.Handler):
    """Keeps what was logged."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


class WithLogger(Raising):
    def __init__(self):
        super().__init__()
        self.logger = logging.getLogger("evolabel.test.stage")

    def learn_row(self, row, log):
        if np.nanmax(row.X) > 50.0:
            self.logger.error("a large row")
        super().learn_row(row, log)


def test_a_fault_leaves_what_was_logged():
    clf, handler = fitted(WithLogger()), Kept()
    logging.getLogger("evolabel.test.stage").addHandler(handler)
    try:
        with pytest.raises(StageError):
            clf.partial_fit(with_large(20), Y[:20])
    finally:
        logging.getLogger("evolabel.test.stage").removeHandler(handler)
    assert [record.getMessage() for record in handler.records] == ["a large row"]


def test_parameters_of_the_paper_are_named_with_their_classifier():
    with pytest.raises(TypeError, match=r"no parameter 'alpha'; evolabel.paper.PaperClassifier has"):
        EvolvingFuzzyClassifier(alpha=0.1)

"""What a model promises about stages of users: parameters, memory, interrupts, numbers of rows, schemas, copies."""

import contextlib
import copy
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.rollback import SavedState, arrays_behind
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, DataTypeError, ModelFileError, OutOfMemoryError, ParameterError, StageError
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.stages import OwnStage, Schema, array
from evolabel.streams import DriftingStream
from evolabel.typing import FloatArray

N = 200
GIB = 1 << 30
X, Y = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=1).take(900)


class Means(NamedTuple):
    mean: Annotated[FloatArray, array("label", "place")]


class MeanError(OwnStage):
    """Adds the mean error of recent answers."""

    name, schema = "mean_error", Schema(Means)

    def __init__(self, rate=0.05, names=("a", "b"), rule=np.nan_to_num, places=1, table=None):
        self.rate, self.names, self.rule, self.sizes, self.table = rate, names, rule, {"place": places}, table

    def answer(self, rows):
        rows.outputs += self.arrays.mean[:, 0]

    def learn_row(self, row, log):
        self.arrays.mean[:, 0] += self.rate * self.rule(row.Y[0] - row.outputs[0])

    def merge(self, other, labels):
        self.arrays.mean[:] += self.placed(other, labels).mean


def fitted(*stages):
    return EvolvingFuzzyClassifier(max_rules=5, stages=[*stages]).fit(X[:N], Y[:N])


def same_arrays(one, other):
    arrays, others = (model_to_arrays(clf.inner.any_model)[0] for clf in (one, other))
    return arrays.keys() == others.keys() and all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)


# ---------------------------------------------------------------------- parameters


OTHERS = [
    ({"rate": 0.1}, "'rate': '0.05'"),
    ({"names": ("a", "c")}, "names"),
    ({"table": np.arange(3)}, "table"),
    ({"table": np.arange(500)}, "characters of checksum"),
]


@pytest.mark.parametrize(("parameters", "message"), OTHERS, ids=str)
def test_a_stage_of_other_parameters_is_neither_loaded_nor_merged(tmp_path, parameters, message):
    clf = fitted(MeanError())
    clf.save(tmp_path / "model")
    ActiveLearner(clf, 0.2).save(tmp_path / "learner")
    for load, name in ((EvolvingFuzzyClassifier.load, "model"), (ActiveLearner.load, "learner")):
        with pytest.raises(ModelFileError, match=f"the parameters of stage 'mean_error' in it are .*{message}"):
            load(tmp_path / name, stages=[MeanError(**parameters)])
    with pytest.raises(DataError, match=f"differ in stages: the parameters of 'mean_error' are .*{message}"):
        clf.merge(fitted(MeanError(**parameters)))


def test_parameters_that_mean_the_same_are_the_same(tmp_path):
    given = {"rate": np.float64(0.05), "names": ["a", "b"], "table": np.arange(500.0)}
    clf = fitted(MeanError(table=np.arange(500.0), rule=lambda error: np.nan_to_num(error)))
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model", stages=[MeanError(**given)])
    assert same_arrays(clf, loaded)
    clf.merge(clf.sibling().partial_fit(X[N:300], Y[N:300]))


# ---------------------------------------------------------------------- interrupts


class Interrupted(MeanError):
    """Is interrupted as it learns its fifth row after the start."""

    armed = False

    def learn_row(self, row, log):
        super().learn_row(row, log)
        if Interrupted.armed and row.n_seen == N + 5:
            raise KeyboardInterrupt

    def merge(self, other, labels):
        self.arrays.mean[:] = 7.0
        raise KeyboardInterrupt


@pytest.mark.parametrize("wider", [False, True])
def test_an_interrupt_inside_a_stage_leaves_the_model_as_it_was(wider, monkeypatch):
    clf, twin = fitted(Interrupted()), fitted(Interrupted())
    labels = np.column_stack([Y, Y[:, 0]]) if wider else Y
    monkeypatch.setattr(Interrupted, "armed", True)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X[N:230], labels[N:230])
    assert same_arrays(clf, twin)
    assert clf.label_names_.tolist() == twin.label_names_.tolist()
    monkeypatch.setattr(Interrupted, "armed", False)
    assert same_arrays(clf.partial_fit(X[N:], labels[N:]), twin.partial_fit(X[N:], labels[N:]))


def test_an_interrupt_inside_a_stage_leaves_a_learner_and_its_query(monkeypatch):
    learner = ActiveLearner(fitted(Interrupted()), budget=1.0)
    monkeypatch.setattr(Interrupted, "armed", True)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        for x, y in zip(X[N:], Y[N:], strict=True):
            query, before = learner.query(x), learner.checksum()
            learner.update(query, y)
    assert learner.checksum() == before
    assert query.number is None


def test_an_interrupt_inside_a_merge_changes_nothing():
    clf, twin = fitted(Interrupted()), fitted(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        clf.merge(clf.sibling().partial_fit(X[N:300], Y[N:300]))
    assert same_arrays(clf, twin)


# ---------------------------------------------------------------------- memory, constants, copies


def test_memory_for_the_arrays_of_a_stage_is_checked_before_they_are_made(monkeypatch):
    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: GIB)
    large = MeanError(places=1 << 26)
    for call in (EvolvingFuzzyClassifier.fit, EvolvingFuzzyClassifier.partial_fit):
        clf = EvolvingFuzzyClassifier(stages=[large])
        with pytest.raises(OutOfMemoryError, match=r"4 features and 3 labels need 1\.5 GiB .*1\.5 GiB of them for"):
            call(clf, X[:N], Y[:N])
        assert not clf.__sklearn_is_fitted__()


def test_memory_for_later_labels_counts_the_stages_of_the_model(monkeypatch):
    clf = fitted(MeanError(places=1 << 16))
    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: GIB)
    with pytest.raises(OutOfMemoryError, match=r"4 features and 3000 labels need .* for its stages"):
        clf.set_params(stages=[]).partial_fit(X[:1], np.zeros((1, 3000)))
    assert clf.label_names_.size == 3


def test_a_call_that_learns_copies_the_arrays_of_a_stage_and_no_constants():
    table = {"rows": np.zeros(1 << 20)}
    model = fitted(MeanError(table=table)).inner.any_model
    saved = [found for found, _ in SavedState(model)._kept]
    (own,) = model.own_stages
    assert any(found is own.arrays.mean for found in saved)
    assert not any(isinstance(found, np.ndarray) and found.size == 1 << 20 for found in saved)


def test_a_shallow_copy_learns_alone():
    clf, twin = fitted(MeanError()), fitted(MeanError())
    shallow = copy.copy(clf)
    assert shallow.stages is clf.stages
    shallow.partial_fit(X[N:300], np.column_stack([Y, Y[:, 0]])[N:300])
    assert same_arrays(clf, twin)
    assert clf.label_names_.size == 3
    assert same_arrays(clf.partial_fit(X[N:], Y[N:]), twin.partial_fit(X[N:], Y[N:]))


# ---------------------------------------------------------------------- numbers of rows, schemas


class Numbers(MeanError):
    """Collects the numbers of the rows that it learns."""

    found: list[tuple[int, int]] = []  # noqa: RUF012

    def learn_row(self, row, log):
        self.found.append((row.n_seen, row.n_rows))


def test_rows_have_their_place_in_the_stream_where_a_sensor_moves_in_the_same_batch():
    rows, labels = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=2).take(3000)
    rows[1500:, 0] += 12.0
    clf = EvolvingFuzzyClassifier(stages=[Numbers()], threshold_rules=False).fit(rows[:300], labels[:300])
    Numbers.found.clear()
    clf.partial_fit(rows[300:], labels[300:])
    assert any(event.kind == "sensor moved" for event in clf.events_)
    assert [each for each in Numbers.found if each[0] != each[1]] == []
    assert len(Numbers.found) == 2700


class Undeclared(NamedTuple):
    mean: Annotated[FloatArray, array("label", "place")]
    n: FloatArray


class Incomplete(MeanError):
    schema = Schema(Undeclared)


def test_a_field_without_a_declaration_is_named_with_its_stage():
    with pytest.raises(ParameterError, match=r"Incomplete.* in place 0: field 'n' of its schema is not declared"):
        fitted(Incomplete())


class Untyped(NamedTuple):
    mean: Annotated[np.ndarray, array("label")]


def test_a_field_without_a_type_of_elements_is_named():
    with pytest.raises(DataTypeError, match=r"field 'mean' of Untyped is annotated with .*ndarray"):
        Schema(Untyped)


# ---------------------------------------------------------------------- arrays and calls that are not its own


class Trespassing(MeanError):
    """Does what `act` does, in the method called `when`."""

    act, when = None, ""

    def answer(self, rows):
        super().answer(rows)
        self.try_it("answer")

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.try_it("learn_row")

    def merge(self, other, labels):
        super().merge(other, labels)
        self.try_it("merge")

    def try_it(self, method):
        if Trespassing.when == method:
            Trespassing.act()


CALLS = {
    "answer": lambda clf: clf.predict_proba(X[300:310]),
    "learn_row": lambda clf: clf.partial_fit(X[300:310], Y[300:310]),
    "merge": lambda clf: clf.merge(clf.sibling().partial_fit(X[300:400], Y[300:400])),
}


@pytest.mark.parametrize("method", ["answer", "learn_row"])
def test_a_stage_can_write_no_array_behind_its_model(method, monkeypatch):
    clf = fitted(Trespassing()).partial_fit(X[N:300], Y[N:300])
    model, written, tried = clf.inner.any_model, [], []
    own = {id(each) for each in arrays_behind(model.own_stages)}
    foreign = [each for each in arrays_behind(model) if id(each) not in own and each.size]

    def write():
        for each in foreign:
            tried.append(each)
            with contextlib.suppress(ValueError):
                each.reshape(-1)[:1] = each.reshape(-1)[:1]
                written.append(each)

    monkeypatch.setattr(Trespassing, "when", method)
    monkeypatch.setattr(Trespassing, "act", write)
    CALLS[method](clf)
    assert len(tried) >= len(foreign) > 100
    assert not written


def test_a_write_into_foreign_arrays_is_an_error_that_names_the_stage(monkeypatch):
    clf, twin = (fitted(Trespassing()) for _ in range(2))
    scaler = clf.inner.any_model.scaler
    monkeypatch.setattr(Trespassing, "act", lambda: scaler.x.fill(0.0))
    for method in ("answer", "learn_row"):
        monkeypatch.setattr(Trespassing, "when", method)
        with pytest.raises(StageError, match=r"mean_error.*read-only"):
            CALLS[method](clf)
    assert same_arrays(clf, twin)


def test_a_stage_cannot_write_into_a_model_that_is_merged(monkeypatch):
    clf = fitted(Trespassing())
    other = clf.sibling().partial_fit(X[300:400], Y[300:400])
    before = model_to_arrays(other.inner.any_model)[0]
    monkeypatch.setattr(Trespassing, "when", "merge")
    monkeypatch.setattr(Trespassing, "act", lambda: other.inner.any_model.trees.arrays.gate.fill(1.0))
    with pytest.raises(StageError, match="read-only"):
        clf.merge(other)
    after = model_to_arrays(other.inner.any_model)[0]
    assert all(after[name].tobytes() == before[name].tobytes() for name in before)


OWN_TRAINING = {
    "fit": lambda clf, _: clf.fit(X[500:700], Y[500:700]),
    "partial_fit": lambda clf, _: clf.partial_fit(X[500:510], Y[500:510]),
    "more labels": lambda clf, _: clf.partial_fit(X[500:510], np.column_stack([Y, Y])[500:510]),
    "test_then_train": lambda clf, _: clf.test_then_train(X[500:510], Y[500:510], np.ones(10)),
    "merge": lambda clf, other: clf.merge(other),
    "merge into": lambda clf, other: other.merge(clf),
    "edit": lambda clf, _: clf.rulebook.add("IF x0 IS high THEN label0 LIKELY"),
}
METHODS = [("learn_row", change) for change in OWN_TRAINING] + [("answer", "partial_fit"), ("merge", "partial_fit")]


@pytest.mark.parametrize(("method", "change"), [*METHODS, ("merge", "merge into")])
def test_a_stage_cannot_train_or_edit_its_own_classifier(method, change, monkeypatch):
    clf, twin, other = (fitted(Trespassing()) for _ in range(3))
    given = clf.sibling().partial_fit(X[300:400], Y[300:400])
    monkeypatch.setattr(Trespassing, "when", method)
    monkeypatch.setattr(Trespassing, "act", lambda: OWN_TRAINING[change](clf, other))
    call = (lambda clf: clf.merge(given)) if method == "merge" else CALLS[method]
    with pytest.raises(StageError, match=f"stage 'mean_error': {method} .*a stage trains its own classifier"):
        call(clf)
    monkeypatch.setattr(Trespassing, "when", "")
    assert same_arrays(clf, twin)
    assert same_arrays(other, twin)
    assert clf.label_names_.tolist() == twin.label_names_.tolist()
    assert same_arrays(clf.partial_fit(X[300:310], Y[300:310]), twin.partial_fit(X[300:310], Y[300:310]))


@pytest.mark.parametrize(("method", "change"), [("learn_row", "fit"), ("answer", "partial_fit")])
@pytest.mark.parametrize("before", ["nothing", "a warm-up", "a model", "a model without the stage"])
def test_a_stage_cannot_train_its_classifier_as_the_batch_phase_runs(before, method, change, monkeypatch):
    clf, twin = (EvolvingFuzzyClassifier(max_rules=5, warm_up=80, stages=[Trespassing()]) for _ in range(2))
    for each in (clf, twin):
        if before == "a warm-up":
            each.partial_fit(X[:79], Y[:79])
        elif before != "nothing":
            stages = each.stages if before == "a model" else []
            each.set_params(stages=stages).fit(X[:N], Y[:N]).set_params(stages=[Trespassing()])
    monkeypatch.setattr(Trespassing, "when", method)
    monkeypatch.setattr(Trespassing, "act", lambda: OWN_TRAINING[change](clf, None))
    with pytest.raises(StageError, match=f"stage 'mean_error': {method} .*nothing was learned"):
        clf.partial_fit(X[79:90], Y[79:90]) if before == "a warm-up" else clf.fit(X[300:500], Y[300:500])
    monkeypatch.setattr(Trespassing, "when", "")
    assert clf.__sklearn_is_fitted__() == (before != "nothing")
    if before != "nothing":
        assert same_arrays(clf, twin)
    assert same_arrays(clf.partial_fit(X[300:390], Y[300:390]), twin.partial_fit(X[300:390], Y[300:390]))


def test_a_learner_inside_of_a_stage_cannot_train_its_classifier(monkeypatch):
    clf, twin = (fitted(Trespassing()) for _ in range(2))
    learner = ActiveLearner(clf, 1.0)
    query = learner.query(X[500])
    monkeypatch.setattr(Trespassing, "act", lambda: learner.update(query, Y[500]))
    monkeypatch.setattr(Trespassing, "when", "learn_row")
    with pytest.raises(StageError, match="a stage trains its own classifier"):
        clf.partial_fit(X[300:310], Y[300:310])
    assert same_arrays(clf, twin)


def test_a_refusal_that_a_stage_catches_changes_nothing(monkeypatch):
    clf, twin = (fitted(Trespassing()) for _ in range(2))

    def act():
        with contextlib.suppress(StageError):
            clf.partial_fit(X[500:510], Y[500:510])

    monkeypatch.setattr(Trespassing, "act", act)
    monkeypatch.setattr(Trespassing, "when", "learn_row")
    clf.partial_fit(X[300:310], Y[300:310])
    monkeypatch.setattr(Trespassing, "when", "")
    assert same_arrays(clf, twin.partial_fit(X[300:310], Y[300:310]))


def test_a_stage_can_train_another_classifier(monkeypatch):
    clf, other = fitted(Trespassing()), fitted()
    monkeypatch.setattr(Trespassing, "act", lambda: other.partial_fit(X[500:501], Y[500:501]))
    monkeypatch.setattr(Trespassing, "when", "learn_row")
    clf.partial_fit(X[300:310], Y[300:310])
    assert other.n_samples_seen_ == N + 10


def test_a_copy_made_inside_of_a_stage_learns_on(monkeypatch):
    clf, copies = fitted(Trespassing()), []
    monkeypatch.setattr(Trespassing, "when", "answer")
    monkeypatch.setattr(Trespassing, "act", lambda: copies.append(copy.deepcopy(clf)) if not copies else None)
    clf.predict_proba(X[300:301])
    monkeypatch.setattr(Trespassing, "when", "")
    assert copies[0].partial_fit(X[300:310], Y[300:310]).n_samples_seen_ == N + 10

"""Members come back from a file with the same bits, at any moment; arrays that cannot be theirs are refused by name."""

import numpy as np
import pytest
from following import bent_stream, classifier_of, flipped, state_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.errors import DataError, ModelFileError
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.stages.drift.arrays import BORN, CUT, NEVER, ROWS, SLOW_START, MemberArrays
from evolabel.stages.sensors.arrays import IS_ON, LEAST_VARIANCE, RUN_ENDED, RUNS, SINCE_SUSPECT, SensorArrays

pytestmark = pytest.mark.compiled


def stream():
    """A label turns round at row 700, a sensor moves at row 1,300."""
    X, Y = flipped(1900, 700, seed=2)
    X[1300:, 1] += 5.0 * X[:1300, 1].std()
    return X, Y


MOMENTS = {
    "before the fast member": (300, lambda m, _: m.clock[BORN] == NEVER),
    "within a block": (615, lambda m, _: m.clock[BORN] != NEVER),
    "during a drift": (730, lambda m, _: (m.episode != NEVER).any()),
    "after a renewal": (1100, lambda m, _: m.clock[SLOW_START] > 0),
    "while readings are collected": (1340, lambda _, s: (s.phase == 1).any()),
    "during a trial": (1450, lambda _, s: s.trial[IS_ON] == 1.0),
    "after a correction": (1800, lambda _, s: s.views[0].any()),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_stored_model_goes_on_with_the_same_bits(moment, tmp_path):
    rows, is_it = MOMENTS[moment]
    X, Y = stream()
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:rows], Y[80:rows])
    assert is_it(clf.inner.any_model.drift.arrays, clf.inner.any_model.sensors.arrays)
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert state_of(twin.inner.any_model) == state_of(clf.inner.any_model)
    np.testing.assert_array_equal(twin.decision_function(X[:50]), clf.decision_function(X[:50]))
    later = slice(rows, None)
    np.testing.assert_array_equal(twin.test_then_train(X[later], Y[later]), clf.test_then_train(X[later], Y[later]))
    assert state_of(twin.inner.any_model) == state_of(clf.inner.any_model)
    assert twin.events_ == clf.events_


@pytest.fixture(scope="module")
def stored():
    """Arrays and facts of a model in a trial, in which answers change the labels beside them."""
    X, Y = stream()
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:1450], Y[80:1450])
    clf.inner.any_model.drift.relate(np.random.default_rng(0).normal(0.0, 0.5, (60, Y.shape[1])))
    return model_to_arrays(clf.inner.any_model)


def changed(stored, name, change):
    arrays, facts = stored
    array = arrays[name].copy()
    return {**arrays, name: change(array)}, facts


def placed(place, value):
    def change(array):
        array[place] = value
        return array

    return change


GROUPS = {"members": MemberArrays._fields, "sensors": SensorArrays._fields}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
STORED = {name: f"{group}.{name}" for name, group in GROUP_OF.items()}
NAMES = [*STORED]
WRONG = {
    "shape": lambda array: array[:-1],
    "another axis": lambda array: array[None],
    "dtype": lambda array: array.astype(np.float32),
    "NaN": lambda array: np.where(np.ones(array.shape, bool), np.nan, array),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", WRONG)
def test_an_array_of_the_wrong_kind_is_refused_by_name(stored, name, wrong):
    with pytest.raises(DataError, match=rf"^{GROUP_OF[name]}: array {name} "):
        model_from_arrays(*changed(stored, STORED[name], WRONG[wrong]))


@pytest.mark.parametrize("name", [n for n in NAMES if n != "relatives"])
def test_an_array_that_is_missing_or_too_much_is_refused_by_name(stored, name):
    arrays, facts = stored
    with pytest.raises(DataError, match=f"{GROUP_OF[name]}: array {name} is missing"):
        model_from_arrays({key: array for key, array in arrays.items() if key != STORED[name]}, facts)
    with pytest.raises(DataError, match=f"{GROUP_OF[name]}: array {name}2 is not expected"):
        model_from_arrays({**arrays, f"{STORED[name]}2": arrays[STORED[name]]}, facts)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("clock", "episode", "held", "phase")])
def test_infinite_numbers_are_refused_by_name(stored, name):
    for value in (np.inf, -np.inf):
        with pytest.raises(DataError, match=f"{GROUP_OF[name]}: array {name} "):
            model_from_arrays(*changed(stored, STORED[name], lambda array, v=value: np.full(array.shape, v)))


OUT_OF_RANGE = {
    "a clock below 0": ("clock", ROWS, -1),
    "begun in the future": ("clock", BORN, 10**6),
    "cut before the stream": ("clock", CUT, -2),
    "a memory from before the stream": ("clock", SLOW_START, -(10**6)),
    "a memory of the future": ("clock", SLOW_START, 10**6),
    "a negative variance": ("variance", 0, -1.0),
    "fewer than no rows read": ("n_read", 0, -1.0),
    "a loss above 1": ("losses", (0, 0), 1.5),
    "a negative loss": ("losses", (0, 0), -0.5),
    "fewer than no answers": ("n_losses", 0, -1.0),
    "a share above 1": ("share", (0, 0), 1.5),
    "answers without end": ("share", (1, 0), 1e6),
    "an alarm of a loss above 1": ("alarms", (0, 0, 0), 2.0),
    "an alarm of negative rows": ("alarms", (0, 0, 4), -1.0),
    "a drift of the future": ("episode", 0, 10**6),
    "a drift before the stream": ("episode", 0, -5),
    "an error above 1": ("depth", (0, 0), 2.0),
    "odds without end": ("reversal", (0, 0), 1e13),
    "negative odds": ("reversal", (1, 0), -1.0),
    "fewer than no pairs": ("paired", 0, -1.0),
    "a negative variance of pairs": ("paired", 2, -1.0),
    "fewer than no independent pairs": ("paired", 3, -1.0),
    "covariances that differ": ("relatives", (0, 1), 0.9),
    "a variance of 0": ("relatives", (0, 0), 0.0),
    "time ahead of the rows": ("time", 0, -1.0),
    "time before the stream": ("time", 0, 1e6),
    "a row that stops time": ("time", 1, 0.0),
    "a row of more than one answer": ("time", 2, 1.5),
    "half an answer": ("persistence", (0, 0), 0.5),
    "a share of answers above 1": ("persistence", (0, 1), 1.5),
    "fewer than no changes": ("persistence", (0, 2), -1.0),
    "too many answers for a share": ("persistence", (0, 4), 1001.0),
    "half a run that ended": ("trial", RUN_ENDED, 0.5),
    "fewer than no runs": ("trial", RUNS, -1.0),
    "a phase that is none": ("phase", 0, 4),
    "half a trial on": ("trial", IS_ON, 0.5),
    "a negative variance of scores": ("readings", (1, 0), -1.0),
    "a negative usual variance": ("readings", (3, 0), -1.0),
    "a negative least variance": ("readings", (LEAST_VARIANCE, 0), -1.0),
    "a negative variance since it was suspect": ("readings", (SINCE_SUSPECT + 2, 0), -1.0),
    "a mean without end since it was suspect": ("readings", (SINCE_SUSPECT, 0), 1e300),
    "a negative calm variance": ("readings", (5, 0), -1.0),
    "negative squares": ("readings", (9, 0), -1.0),
    "a trial without readings": ("readings", (7, slice(None)), 0.0),
}


@pytest.mark.parametrize("case", OUT_OF_RANGE)
def test_values_out_of_range_are_refused_by_name(stored, case):
    name, place, value = OUT_OF_RANGE[case]
    model_from_arrays(*stored)
    with pytest.raises(DataError, match=f"^{GROUP_OF[name]}: array {name} "):
        model_from_arrays(*changed(stored, STORED[name], placed(place, value)))


FAST = {
    "fast_n_pending": (1, 500, "n_pending"),
    "fast_block": (1, -1, "fast_block"),
    "fast_H": ((1, 1, 0), 1e6, "H"),
    "fast_P": ((1, 1, 0), 1e6, "P"),
    "fast_G": ((1, 0, 0), np.nan, "fast_G"),
}


@pytest.mark.parametrize("name", FAST)
def test_sums_of_the_fast_member_that_cannot_be_are_refused(stored, name):
    place, value, told = FAST[name]
    with pytest.raises(DataError, match=rf"^rules: array \w*{told} "):
        model_from_arrays(*changed(stored, f"rules.{name}", placed(place, value)))


def test_members_of_a_model_that_does_not_follow_are_refused(stored, tmp_path):
    arrays, facts = stored
    X, Y = bent_stream(200)
    plain = classifier_of(X, Y, follow_drift=False)
    own, about = model_to_arrays(plain.inner.any_model)
    assert not any(name.partition(".")[0] in GROUPS for name in own)
    members = {name: array for name, array in arrays.items() if name.partition(".")[0] in GROUPS}
    with pytest.raises(DataError, match="members"):
        model_from_arrays({**own, **members}, about)
    with pytest.raises(DataError, match=r"members|fast_"):
        model_from_arrays(arrays, {**facts, "options": {**facts["options"], "follow_drift": False}})
    with pytest.raises(DataError, match=r"members|fast_"):
        model_from_arrays(own, {**about, "options": {**about["options"], "follow_drift": True}})
    plain.save(tmp_path / "model")
    contents, manifest = read_model_file(tmp_path / "model")
    write_model_file(tmp_path / "model", {**contents, **members}, manifest)
    with pytest.raises(ModelFileError, match="members"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("clock", "episode", "held", "phase", "relatives")])
def test_the_largest_numbers_that_are_read_leave_outputs_finite(stored, name):
    """A file that is accepted works: whatever its numbers are, answers are numbers, and learning goes on."""
    X, Y = stream()
    signs = np.where(np.arange(arrays_of(stored, name).size) % 2, -1.0, 1.0).reshape(arrays_of(stored, name).shape)
    accepted = 0
    for value in (0.0, 1.0, 1e30, 1e99, 1e300, 1.7e308):
        for sign in (1.0, -1.0, signs):
            try:
                model = model_from_arrays(
                    *changed(
                        stored,
                        STORED[name],
                        lambda array, v=value * sign: np.broadcast_to(v, array.shape).copy(),
                    )
                )
            except DataError:
                continue
            accepted += 1
            assert np.isfinite(model.outputs(X[:5])).all(), (name, value)
            assert np.isfinite(model.outputs(X[:40])).all(), (name, value)
            model.learn(Batch(X[:20], Y[:20]))
            assert np.isfinite(model.outputs(X[:5])).all(), (name, value, "learned")
    assert accepted


def arrays_of(stored, name):
    return stored[0][STORED[name]]

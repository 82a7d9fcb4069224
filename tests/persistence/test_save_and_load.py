"""A model comes back from its file with the same bits, and learns on with the same bits."""

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ModelFileError, ModelWriteError
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.paper import PaperClassifier


def assert_same_model(one, other):
    arrays, facts = model_to_arrays(one.inner.any_model)
    others, other_facts = model_to_arrays(other.inner.any_model)
    assert facts == other_facts
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], err_msg=name, strict=True)


@pytest.fixture
def reloaded(tmp_path):
    """Save a model, load it, and check that both are equal now."""

    def run(clf):
        clf.save(tmp_path / "model.safetensors")
        twin = EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors")
        assert_same_model(twin, clf)
        assert twin.get_params() == clf.get_params()
        assert twin.n_features_in_ == clf.n_features_in_
        assert twin.label_names_.tolist() == clf.label_names_.tolist()
        assert twin.n_samples_seen_ == clf.n_samples_seen_
        return twin

    return run


@pytest.mark.parametrize("stage", ["trained", "warming"])
def test_a_model_predicts_and_learns_on_with_the_same_bits(stage, request, reloaded, gappy_stream):
    X, Y = gappy_stream
    clf = request.getfixturevalue(stage)
    twin = reloaded(clf)
    np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(twin.test_then_train(X, Y), clf.test_then_train(X, Y))
    assert_same_model(twin, clf)


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 15, 16, 17, 31, 32, 33])
def test_rows_that_still_wait_for_their_block_are_kept(rows, trained, reloaded, stream):
    X, Y = stream
    clf = trained.sibling().partial_fit(X[:rows], Y[:rows])
    twin = reloaded(clf)
    for model in (clf, twin):
        model.partial_fit(X[rows:], Y[rows:])
    assert_same_model(twin, clf)


@pytest.mark.parametrize("scaling", ["quantile", "standard", "minmax", "none"])
def test_every_scaling_comes_back(scaling, reloaded, stream):
    X, Y = stream
    twin = reloaded(EvolvingFuzzyClassifier(scaling=scaling, max_rules=3).fit(X[:60], Y[:60]))
    assert twin.scaling == scaling


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["ash", "birch", "cedar"]),
        np.array(["äsch", "birke\n", "zeder"], dtype=object),
        np.array([-1, 4, 7], dtype=np.int8),
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        np.array([False, True]),
    ],
    ids=["strings", "objects", "integers", "floats", "booleans"],
)
def test_classes_come_back_with_their_type(classes, reloaded, blobs):
    X, y = blobs
    target = classes[y % len(classes)]
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], target[:60])
    twin = reloaded(clf)
    assert twin.classes_.dtype == clf.classes_.dtype
    assert np.array_equal(twin.predict(X), clf.predict(X))
    for model in (clf, twin):
        model.partial_fit(X[60:], target[60:])
    assert_same_model(twin, clf)


def test_announced_classes_come_back_during_the_warm_up(reloaded, blobs):
    clf = EvolvingFuzzyClassifier().partial_fit(blobs[0][:3], [None, None, None], classes=["ash", "birch"])
    assert reloaded(clf).classes_.tolist() == ["ash", "birch"]


def test_names_of_frames_come_back(reloaded, stream):
    X, Y = stream
    frames = pd.DataFrame(X, columns=["heat", "flow", "load", "äge"]), pd.DataFrame(Y, columns=["rain", "snow", "wind"])
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(*frames)
    twin = reloaded(clf)
    assert twin.feature_names_in_.tolist() == ["heat", "flow", "load", "äge"]
    assert [str(rule) for rule in twin.rules_] == [str(rule) for rule in clf.rules_]
    assert np.array_equal(twin.predict(frames[0]), clf.predict(frames[0]))


def test_no_names_come_back_if_there_were_none(reloaded, trained):
    assert not hasattr(reloaded(trained), "feature_names_in_")


def test_parameters_of_numpy_types_come_back(reloaded, stream):
    clf = EvolvingFuzzyClassifier(
        max_rules=np.int64(3), vigilance=np.float64(0.4), temperature=np.float32(0.5), prune_after=np.int32(40)
    )
    assert reloaded(clf.fit(*stream)).get_params() == clf.get_params()


def test_events_come_back(reloaded, trained):
    assert reloaded(trained).events_ == trained.events_


def test_an_empty_sibling_comes_back(reloaded, trained, stream):
    twin = reloaded(trained.sibling())
    assert twin.n_rules_ == 0
    assert twin.partial_fit(*stream).n_rules_ > 0


def test_a_model_that_grew_labels_comes_back(reloaded, trained, stream):
    X, Y = stream
    trained.partial_fit(X[:5], np.hstack([Y[:5], Y[:5, :1]]))
    assert reloaded(trained).predict(X).shape == (len(X), 4)


def test_saving_changes_nothing_in_the_model(trained, warming, tmp_path, state_of, assert_same_state):
    for clf in (trained, warming):
        before = state_of(clf)
        clf.save(tmp_path / "model")
        assert_same_state(state_of(clf), before)


def test_a_path_may_be_text(trained, tmp_path, stream):
    trained.save(str(tmp_path / "model"))
    twin = EvolvingFuzzyClassifier.load(str(tmp_path / "model"))
    assert np.array_equal(twin.predict(stream[0]), trained.predict(stream[0]))


def test_classes_that_no_file_can_hold_are_reported(blobs, tmp_path):
    X, y = blobs
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, days[y])
    with pytest.raises(ModelWriteError, match="neither text nor numbers"):
        clf.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_subclass_loads_as_itself(trained, tmp_path):
    class Named(EvolvingFuzzyClassifier):
        pass

    trained.save(tmp_path / "model")
    assert type(Named.load(tmp_path / "model")) is Named


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    clf = EvolvingFuzzyClassifier().fit(np.random.default_rng(0).normal(size=(30, 2)), np.eye(2)[np.arange(30) % 2])
    with pytest.raises(ModelWriteError, match=r"there is no folder .*absent"):
        clf.save(tmp_path / "absent" / "model")
    assert not (tmp_path / "absent").exists()


class Mine(EvolvingFuzzyClassifier):
    """A classifier of a user."""


def test_a_file_of_the_papers_classifier_is_loaded_as_one(stream, tmp_path):
    path = tmp_path / "paper"
    clf = PaperClassifier(max_rules=3, beta=0.5).fit(*stream)
    clf.save(path)
    for cls in (EvolvingFuzzyClassifier, PaperClassifier):
        twin = cls.load(path)
        assert type(twin) is PaperClassifier
        assert twin.get_params() == clf.get_params()
        np.testing.assert_array_equal(twin.decision_function(stream[0]), clf.decision_function(stream[0]))
    with pytest.raises(ModelFileError, match=r"holds a PaperClassifier, not a Mine; load it with"):
        Mine.load(path)


def test_a_file_of_the_default_classifier_is_not_loaded_as_one_of_the_paper(trained, tmp_path):
    trained.save(tmp_path / "default")
    assert type(Mine.load(tmp_path / "default")) is Mine
    with pytest.raises(ModelFileError, match=r"holds an EvolvingFuzzyClassifier, not a PaperClassifier; load it with"):
        PaperClassifier.load(tmp_path / "default")

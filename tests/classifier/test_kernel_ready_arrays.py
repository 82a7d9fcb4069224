"""Read-only data (memory maps, frames, other processes) must not make numba compile the learning loop once more.

Numba takes a read-only array for another type; compiling `learn_rows` anew halts a stream for a minute.
"""

import re
import sys

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.classifier.samples import read_confidence, read_sample_weight, read_samples
from evolabel.classifier.targets import read_targets


def read_only(array):
    array.setflags(write=False)
    return array


def test_read_only_labels_become_an_ordinary_array():
    Y, _ = read_targets(read_only(np.ones((3, 2))), 3, None)
    assert Y.flags.writeable
    assert Y.flags.c_contiguous


def test_read_only_weights_become_an_ordinary_array():
    assert read_sample_weight(read_only(np.ones(3)), 3).flags.writeable


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 2)])
def test_confidences_become_an_ordinary_array(shape):
    for array in (np.ones(shape), read_only(np.ones(shape))):
        checked = read_confidence(array, 3, 2)
        assert checked.shape == (3, 2)
        assert checked.flags.writeable
        assert checked.flags.c_contiguous


def signatures():
    """How many types of arguments each kernel was compiled for."""
    modules = [module for name, module in sys.modules.items() if re.match(r"evolabel\.(engine|.*\.loops)\.", name)]
    kernels = {(m.__name__, name): f for m in modules for name, f in vars(m).items() if hasattr(f, "signatures")}
    return {name: len(f.signatures) for name, f in kernels.items()}


def test_read_only_samples_become_an_ordinary_array(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    for X in (read_only(np.ones((3, 2))), np.load(tmp_path / "X.npy", mmap_mode="r")):
        rows = read_samples(EvolvingFuzzyClassifier(), X, reset=True)
        assert type(rows) is np.ndarray
        assert rows.flags.carray
        np.testing.assert_array_equal(rows, X)


def test_samples_that_can_be_written_are_not_copied():
    X = np.ones((3, 2))
    assert read_samples(EvolvingFuzzyClassifier(), X, reset=True) is X


def test_read_only_data_compiles_no_kernel_anew(stream):
    def use(X, Y):
        clf = EvolvingFuzzyClassifier(max_rules=3).fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
        for rows in (X, X[:1]):
            clf.partial_fit(rows, Y[: len(rows)])
            clf.predict(rows)
            clf.memberships(rows)
        clf.explain(X[0])
        learner = ActiveLearner(clf, 0.5)
        for x, y in zip(X[:20], Y[:20], strict=True):
            query = learner.query(x)
            learner.update(query, y if query.asked else None)
        learner.next_query(X)
        learner.predict(X)

    X, Y = (array.copy() for array in stream)
    use(X, Y)
    before = signatures()
    use(read_only(X), read_only(Y))
    assert signatures() == before

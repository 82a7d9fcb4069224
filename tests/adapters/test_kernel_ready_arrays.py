"""Read-only data (memory maps, frames, other processes) must not make numba compile the learning loop once more.

Numba takes a read-only array for another type; compiling `learn_rows` anew halts a stream for half a minute.
"""

import numpy as np
import pytest

from evolabel.adapters.targets import read_targets
from evolabel.adapters.weights import read_confidence, read_sample_weight


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

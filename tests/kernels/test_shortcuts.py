"""numba compiles kernels with three of its functions replaced, and other functions as before."""

import numba
import numpy as np
import pytest
from numba.core import event, types
from numba.core.errors import NumbaError
from numba.core.event import RecordingListener, register, unregister

from evolabel.kernels.compile import kernel
from evolabel.kernels.shortcuts import shortcuts


def functions_of_numba():
    return types.BaseFunction.get_call_type, event.start_event, event.end_event


@kernel
def largest(a, bound):
    """The largest entry of a, at least the bound."""
    for i in range(a.shape[0]):
        bound = max(bound, a[i] * a[i])
    return bound


@kernel
def nonsense(a):
    """Call a function that no number has."""
    return a.no_such_function()


@pytest.mark.compiled
def test_functions_of_numba_are_put_back():
    before = functions_of_numba()
    assert largest(np.array([1.0, 3.0]), 2.0) == 9.0
    with pytest.raises(NumbaError):
        nonsense(1.0)
    assert functions_of_numba() == before


@pytest.mark.compiled
def test_types_are_those_that_numba_finds_itself():
    plain = numba.njit(largest.py_func)
    for a, bound in ((np.array([2.0]), 1.0), (np.array([2]), 1), (np.array([2], dtype=np.int32), 1.0)):
        assert largest(a, bound) == plain(a, bound) == 4
    assert [o.signature for o in largest.overloads.values()] == [o.signature for o in plain.overloads.values()]


def test_calls_of_llvm_send_no_events():
    recorded = {kind: RecordingListener() for kind in ("numba:llvm_lock", "numba:run_pass")}
    for kind, listener in recorded.items():
        register(kind, listener)
    try:
        with shortcuts():
            for kind in recorded:
                event.start_event(kind)
                event.end_event(kind, data={"n": 1})
    finally:
        for kind, listener in recorded.items():
            unregister(kind, listener)
    assert not recorded["numba:llvm_lock"].buffer
    assert [sent.data for _, sent in recorded["numba:run_pass"].buffer] == [None, {"n": 1}]

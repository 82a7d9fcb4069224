"""numba compiles kernels with six of its functions replaced, and other functions as before."""

import re

import numba
import numpy as np
import pytest
from numba.core import event, types
from numba.core.base import BaseContext
from numba.core.errors import NumbaError
from numba.core.event import RecordingListener, register, unregister
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target

from evolabel.engine.compile import kernel
from evolabel.engine.shortcuts import shortcuts

OWN_NAMES = r"_ZN\S*walk\S*?(?=[\s(,\"])|v\d+|pickledata\.\d+"  # of the function, its number, addresses of constants


def functions_of_numba():
    of_types = types.BaseFunction.get_call_type, BaseContext.get_function, BaseContext.get_abi_sizeof
    return *of_types, PostProcessor.run, event.start_event, event.end_event


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


@kernel
def walk(a, steps):
    """Views, slices, branches and a loop that ends early: variables with many ends of their use."""
    total = 0.0
    for i in range(steps):
        row = a[i % a.shape[0]]
        part = row[1:] if row[0] > 0.0 else row
        if total > 50.0:
            break
        for j in range(part.shape[0]):
            total += part[j] if part[j] == part[j] else 1.0
        row[0] = total
    return total


@pytest.mark.compiled
def test_code_is_that_which_numba_makes_itself():
    def lines():
        compiled = numba.njit(error_model="numpy")(walk.py_func)
        compiled.compile((types.float64[:, ::1], types.int64))
        (code,) = compiled.inspect_llvm().values()
        return [re.sub(OWN_NAMES, "", line) for line in code.splitlines() if line[:1] != ";"]

    with shortcuts():
        quick = lines()
    assert quick == lines()
    assert len(quick) > 100


@pytest.mark.compiled
def test_what_is_missing_is_refused_again():
    context, signature = cpu_target.target_context, types.none(types.float64)
    with shortcuts():
        for _ in range(2):
            with pytest.raises(NotImplementedError):
                context.get_function("a name of nothing", signature)


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

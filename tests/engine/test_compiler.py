"""Kernels that are called by kernels are linked into them, without machine code of their own."""

import gc

import numpy as np
import pytest
from images import run

from evolabel.engine.compile import inner, interpreted, kernel
from evolabel.engine.compiler import QuickFlags


@inner
def doubled(a, i):
    """Twice the entry i of a."""
    return 2.0 * a[i]


@kernel
def sum_of_doubled(a):
    """The sum of the doubled entries of a."""
    total = 0.0
    for i in range(a.shape[0]):
        total += doubled(a, i)
    return total


@kernel
def one_more(a):
    """One more than that sum."""
    return 1.0 + sum_of_doubled(a)


@pytest.mark.compiled
def test_only_kernels_that_python_calls_have_machine_code():
    assert one_more(np.arange(4.0)) == 13.0
    assert one_more.overloads
    assert not sum_of_doubled.overloads
    assert sum_of_doubled(np.arange(4.0)) == 12.0


def test_an_interpreted_kernel_interprets_the_kernels_that_it_calls():
    assert interpreted(one_more)(np.arange(4.0)) == 13.0


@pytest.mark.compiled
def test_garbage_is_collected_after_a_compilation():
    assert gc.isenabled()
    one_more(np.arange(4, dtype=np.float32))
    assert gc.isenabled()


def test_flags_with_other_options_differ():
    flags = QuickFlags()
    flags.nrt = True
    assert flags == QuickFlags(flags)
    assert hash(flags) == hash(QuickFlags(flags))
    assert flags != QuickFlags()


@pytest.mark.compiled
def test_a_numba_without_an_internal_that_is_replaced_compiles_in_its_own_way(tmp_path):
    code = """
import numpy as np
from numba.core import typed_passes
del typed_passes.DumpParforDiagnostics
from evolabel.paper.rules.loops.rotated import substitute
print(substitute(np.eye(2), np.ones(2), 0, 2, 0.0, 9.0, np.ones(2)))
"""
    done = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.stdout, done.stderr) == ("2.0\n", "")

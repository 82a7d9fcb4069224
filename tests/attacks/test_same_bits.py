"""The same calls give the same bits on one machine: whatever runs beside them, was loaded before or lies in a cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attacks import bits
from choices import first_quick
from threadpoolctl import threadpool_limits

pytestmark = pytest.mark.compiled


def in_a_process(order, **environment):
    """Hashes of a process that makes all models, forward or backward."""
    command = [sys.executable, str(Path(bits.__file__)), order]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here():
    """Hashes of this process, with one BLAS thread."""
    with threadpool_limits(1):
        return bits.hashes(bits.MODELS)


def assert_same(one, other):
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.slow
def test_there_are_enough_outputs(here):
    assert len(here) >= 300


@pytest.mark.parametrize("model", first_quick(*bits.WIDE), ids=str)
def test_blas_threads_change_nothing_where_blas_uses_them(model):
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(bits.hashes([model]))
    assert_same(*found)


@pytest.mark.slow
def test_blas_threads_change_nothing(here):
    with threadpool_limits(2):
        assert_same(here, bits.hashes(bits.MODELS))


@pytest.mark.slow
def test_what_was_loaded_before_changes_nothing(here):
    """The other process runs the models in another order, so that kernels are loaded in another order, too."""
    assert_same(here, in_a_process("backward"))


@pytest.mark.slow
def test_fresh_and_cached_machine_code_agree(here, tmp_path):
    fresh = in_a_process("backward", NUMBA_CACHE_DIR=str(tmp_path))
    assert_same(here, fresh)
    assert_same(here, in_a_process("forward", NUMBA_CACHE_DIR=str(tmp_path)))

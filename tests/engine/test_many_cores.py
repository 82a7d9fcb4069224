"""Kernels are compiled ahead by processes, which end with an error, with Ctrl-C and with the process that waits."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

from evolabel.engine.calls import RECORD, size_of_code, with_recorded_calls
from evolabel.engine.compile import all_caches
from evolabel.engine.many_cores import compile_ahead
from evolabel.engine.values import first_bad_label, first_bad_sample
from evolabel.errors import StateError

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
LABELS = np.zeros((3, 2))


def started():
    """Processes of this one that go on, but for those that scikit-learn keeps."""
    return [process for process in active_children() if "Loky" not in type(process).__name__]


def call_two_kernels():
    first_bad_sample(LABELS)
    first_bad_label(LABELS)
    first_bad_label(LABELS)


def fail():
    raise ValueError("no rows\nand more")


def end_the_process():
    os._exit(7)


@with_recorded_calls
def no_kernel(x):
    return x


def call_what_is_no_kernel():
    no_kernel(1.0)


@with_recorded_calls
def deadly(x):
    return x


def call_what_ends_its_compiler():
    deadly(1.0)


if os.environ.get(RECORD) != "1":  # in the process that compiles
    deadly = SimpleNamespace(compile=lambda types: os._exit(9))


def never_end():
    first_bad_label(LABELS)
    Path(os.environ["NUMBA_CACHE_DIR"], "recording").touch()
    time.sleep(600)


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@compiled
def test_what_a_program_calls_is_in_the_cache_afterwards(empty_cache):
    compile_ahead(call_two_kernels, cores=2)
    assert sorted(file.name.split("-")[0] for file in all_caches().rglob("*.nbi")) == [
        "values.first_bad_label",
        "values.first_bad_sample",
    ]
    assert not started()


@compiled
def test_one_core_needs_no_further_process(empty_cache):
    compile_ahead(fail, cores=1)
    assert not list(empty_cache.iterdir())


@compiled
@pytest.mark.parametrize(
    ("program", "words"),
    [
        (fail, "the kernels to compile were not found: ValueError: no rows$"),
        (end_the_process, "a process that compiles kernels has ended with code 7; if there was not enough memory"),
        (call_what_is_no_kernel, "test_many_cores.no_kernel cannot be compiled: AttributeError: "),
        (call_what_ends_its_compiler, "a process that compiles kernels has ended with code 9; if there was not"),
    ],
)
def test_a_process_that_fails_ends_in_one_error(empty_cache, program, words):
    with pytest.raises(StateError, match=words):
        compile_ahead(program, cores=2)
    assert not started()


@compiled
@pytest.mark.skipif(sys.platform == "win32", reason="no groups of processes")
def test_ctrl_c_ends_all_processes_with_one_traceback(empty_cache):
    """A terminal sends Ctrl-C to the whole group, so the group is sent SIGINT here."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_many_cores import compile_ahead, never_end
if __name__ == "__main__":
    compile_ahead(never_end, cores=2)
"""
    script = empty_cache / "script.py"
    script.write_text(code)
    running = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: (empty_cache / "recording").exists())
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode != 0
    assert errors.count("Traceback") == 1
    until(lambda: not exists(running.pid))


def until(is_so):
    """Wait for at most a minute."""
    end = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def exists(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_code_of_a_kernel_is_that_of_all_it_calls():
    assert size_of_code(deepest) < size_of_code(middle) == size_of_code(deepest) + len(middle.__code__.co_code)
    assert size_of_code(outer) == size_of_code(middle) + len(outer.__code__.co_code)


def deepest(x):
    return x + 1.0


def middle(x):
    return deepest(x) * deepest(x + np.pi)


def outer(x):
    return middle(x) - deepest(x)

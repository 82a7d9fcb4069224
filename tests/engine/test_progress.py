"""The line that is shown while kernels are compiled for more than two seconds."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from numba import config, njit
from numba.core import event

from evolabel.engine import progress
from evolabel.engine.progress import CompilationProgress, register_progress, silenced


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Standard error is a terminal; gives what was written to it."""
    stream = Terminal()
    monkeypatch.delenv("EVOLABEL_QUIET", raising=False)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, __stderr__=stream))
    return stream


class Compiler:
    """Sends compile events to a listener, with a clock of its own."""

    def __init__(self):
        self.now = 100.0
        self.listener = CompilationProgress(lambda: self.now)

    def send(self, status, module="evolabel.model.pipeline"):
        dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
        self.listener.notify(event.Event("numba:compile", status, {"dispatcher": dispatcher}))

    def start(self, *module):
        self.send(event.EventStatus.START, *module)

    def end(self, *module):
        self.send(event.EventStatus.END, *module)

    def compile(self, seconds, *module):
        self.start(*module)
        self.now += seconds
        self.end(*module)


def shown(stream):
    return [part.strip() for part in stream.getvalue().split("\r") if part.strip()]


def test_two_seconds_of_compiling_print_nothing(terminal):
    compiler = Compiler()
    for _ in range(20):
        compiler.compile(0.1)
        compiler.now += 10.0  # of other work
    assert terminal.getvalue() == ""


def test_the_kernels_are_counted_and_the_line_is_erased_at_the_end(terminal):
    compiler = Compiler()
    compiler.compile(1.5)
    compiler.start()
    for _ in range(2):
        compiler.compile(0.4)  # inside the kernel that was started
    line = "evolabel: compiling for this machine, once; 20 to 60 s of CPU"
    assert shown(terminal) == [f"{line}: 3 of about 210"]
    compiler.end()
    assert terminal.getvalue().endswith(f"3 of about 210\r{' ' * 79}\r")
    compiler.start()
    assert shown(terminal)[-1] == f"{line}: 4 of about 210"


def test_the_line_fits_into_eighty_columns(terminal):
    compiler = Compiler()
    for _ in range(999):
        compiler.compile(0.1)
    assert max(map(len, shown(terminal))) <= 79
    assert shown(terminal)[-1].endswith(": 998 kernels")


def test_kernels_of_other_libraries_do_not_count(terminal):
    compiler = Compiler()
    for _ in range(3):
        compiler.compile(5.0, "stumpy.core")
    compiler.listener.notify(event.Event("numba:compile", event.EventStatus.START, {"dispatcher": object()}))
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("how", ["EVOLABEL_QUIET=1", "silenced", "worker", "no stream"])
def test_the_line_can_be_switched_off(terminal, monkeypatch, how):
    compiler = Compiler()
    if how == "EVOLABEL_QUIET=1":
        monkeypatch.setenv("EVOLABEL_QUIET", "1")
    elif how == "silenced":
        compiler.listener.line.silent = True
    elif how == "worker":
        monkeypatch.setattr(progress, "current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
    else:
        progress.sys.stderr = None
    for _ in range(3):
        compiler.compile(5.0)
    assert terminal.getvalue() == ""


PLAIN = "evolabel: compiling for this machine, once; 20 to 60 s of CPU (EVOLABEL_QUIET=1 hides this line)\n"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])  # a file or a pipe; a terminal that a notebook has replaced
def test_where_no_line_can_be_erased_it_is_printed_once(terminal, stream):
    progress.sys.stderr = stream()
    compiler = Compiler()
    for _ in range(4):
        compiler.compile(3.0)
    assert progress.sys.stderr.getvalue() == PLAIN
    assert terminal.getvalue() == ""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_script_whose_errors_go_to_a_file_gets_the_one_line(tmp_path):
    """Two kernels are compiled, each of which would print; standard output stays empty."""
    code = """
import evolabel.model.pipeline
from evolabel.engine import progress
from numba import njit
progress._PATIENCE_SECONDS = -1.0
for function in (lambda x: 2 * x, lambda x: 3 * x):
    function.__module__ = "evolabel.example"
    njit(function)(2)
"""
    environment = {name: value for name, value in os.environ.items() if name != "EVOLABEL_QUIET"}
    with (tmp_path / "errors").open("w+") as errors:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=errors, env=environment, check=True
        )
    assert (done.stdout, (tmp_path / "errors").read_text()) == (b"", PLAIN)


def test_a_closed_stream_does_not_stop_the_compilation(terminal):
    terminal.close()
    compiler = Compiler()
    compiler.compile(3.0)
    compiler.compile(3.0)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_events_of_numba_reach_the_listener(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", -1.0)

    def twice(x):
        return 2 * x

    twice.__module__ = "evolabel.example"
    assert register_progress() is register_progress()
    with silenced():
        assert njit(twice)(2) == 4
    assert terminal.getvalue() == ""
    assert njit(twice)(2) == 4
    assert "compiling for this machine" in terminal.getvalue()

"""Kernels are compiled before a run starts its clock."""

import subprocess
import sys

import pytest
from numba import config

RUN = """
import importlib, pkgutil, sys
import evolabel
from numba.core.dispatcher import Dispatcher
from evolabel.cli.budgets import BudgetOptions, compiling_learners, with_budgets
from evolabel.cli.learners import chosen_learners
from evolabel.cli.ready import compile_kernels
from evolabel.evaluate import prequential
from evolabel.streams import DriftingStream

def loaded():
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(
        evolabel.__path__, "evolabel.") if ".loops." in found.name or ".engine." in found.name]
    kernels = {name: kernel for module in modules for name, kernel in vars(module).items()
               if isinstance(kernel, Dispatcher)}
    return {(name, signature) for name, kernel in kernels.items() for signature in kernel.overloads}

def run(per, selection):
    options, trained = BudgetOptions("0.1", per, selection=selection), chosen_learners("evolabel", "", None)
    compile_kernels(compiling_learners(trained, options), quiet=True)
    before = loaded()
    learners = {name: make(0) for name, make in with_budgets(trained, options, 0.2).items()}
    prequential(learners, DriftingStream(seed=1), samples=2500, initial=0.2, every=80)
    print(*sorted({name for name, _ in loaded() - before}))

run("samples", None)
run("labels", "tokens")
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_no_kernel_of_a_learner_that_asks_is_loaded_while_the_clock_runs():
    """In a process of its own: in this one they have been loaded long since."""
    told = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []

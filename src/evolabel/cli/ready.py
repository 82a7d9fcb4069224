"""`evolabel ready` compiles the kernels now; commands call `compile_kernels` before their clock starts."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.cli.output import print_message
from evolabel.engine.cache_state import kernel_cache
from evolabel.engine.installed_code import BASELINES, package_folder, this_machine, write_contents
from evolabel.engine.many_cores import compile_ahead, n_cores
from evolabel.engine.progress import silenced
from evolabel.errors import EvolabelError, ParameterError
from evolabel.evaluate import Learner, prequential
from evolabel.streams import DriftingStream

_ROWS = 400  # enough for every rare event (rules removed, errors that repeat) to happen once
_INTERPRETED_ROWS = 100  # enough for all kernels that take long to compile to be called
_EVENT = 20  # rows


def ready(*, into_package: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Compile the kernels of all learners, questions and the service, so that no later call waits for it.

    Takes about 1.5 minutes of processor time, once, and 7 MB in the cache folder of the user, or in NUMBA_CACHE_DIR.
    What is there is not compiled again.

    Example: `evolabel ready`

    Parameters
    ----------
    into_package
        Write the machine code into the folder of the installed package, for every processor of this family, instead.
        For images of containers and for wheels: nothing has to be compiled where they are installed.
    """
    if into_package:
        _write_into_package()
    else:
        compile_ahead(partial(_call_everything, _INTERPRETED_ROWS), n_cores())
        _call_everything()
        found = kernel_cache()
        print_message(f"Kernels are ready: {found.megabytes:.1f} MB in {found.folder}")


def _write_into_package() -> None:
    """Compile everything for the oldest processors of this family, in a process of its own, and keep it in the package.

    Raises ParameterError for a family that has no baseline.
    """
    family, folder = this_machine().family, package_folder()
    if family not in BASELINES:
        raise ParameterError(
            f"no baseline for processors of {family}; there are {', '.join(BASELINES)}; use `evolabel ready`"
        )
    with tempfile.TemporaryDirectory() as cache:
        code = {"NUMBA_CPU_NAME": BASELINES[family].name, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
        subprocess.run([sys.executable, "-m", "evolabel", "ready"], env={**os.environ, **code}, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(Path(cache, "evolabel", "kernels"), folder)
    contents = write_contents(folder)
    print_message(f"{len(contents.files)} files for {contents.processor}, numba {contents.numba} are in {folder}")


def _call_everything(samples: int = _ROWS) -> None:
    """Call the kernels of the classifier, of the paper's, of questions, and of the service if it is installed.

    `samples`: rows that the learners are trained with.
    """
    compile_kernels(
        {
            "paper": EvolvingFuzzyClassifier.paper(),
            "axis-parallel": EvolvingFuzzyClassifier.paper(covariance="diag"),
            "samples": BudgetedLearner(),
            "labels": BudgetedLearner(per="labels"),
        },
        samples=samples,
    )
    if find_spec("sqlalchemy") is not None:
        from evolabel.server.ops.demo import warm_up

        with tempfile.TemporaryDirectory() as folder:
            warm_up(Path(folder))


def compile_kernels(
    learners: Mapping[str, Learner] | None = None, *, quiet: bool = False, samples: int = _ROWS
) -> None:
    """Train and answer a few rows, so that compiling, on first use, does not count as learning time.

    `learners` by name are trained too, with as many `samples`: those of the run with kernels of their own, such as
    those that ask for labels.
    Compiling for more than two seconds is reported by a line on standard error, unless `quiet`.
    """
    X, Y = DriftingStream(n_features=2, n_labels=2).take(60)
    with silenced(quiet):
        learner = EvolvingFuzzyClassifier().fit(X[:40], Y[:40])
        learner.test_then_train(X[40:], Y[40:])
        learner.decision_function(X)
        learner.predict_set(X)
        if learners:
            X, Y = DriftingStream(n_features=2, n_labels=2).take(samples)
            Y = np.repeat(Y[::_EVENT], _EVENT, axis=0)  # so that errors repeat, and error feedback is used
            with suppress(EvolabelError):  # a learner that fails on these rows may do well on those of the run
                prequential(learners, (X, Y), every=samples)

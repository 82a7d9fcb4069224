"""Compile all kernels a command needs before its clock starts; `python -m evolabel.cli.ready` does it alone."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.engine.progress import silenced
from evolabel.errors import EvolabelError
from evolabel.evaluate import Learner, prequential
from evolabel.streams import DriftingStream

_ROWS = 400  # enough for every rare event (rules removed, errors that repeat) to happen once
_EVENT = 20  # rows


def compile_kernels(learners: Mapping[str, Learner] | None = None, *, quiet: bool = False) -> None:
    """Train and answer a few rows, so that compiling, on first use, does not count as learning time.

    `learners` by name are trained too: those of the run with kernels of their own, such as those that ask for labels.
    Compiling for more than two seconds is reported by a line on standard error, unless `quiet`.
    """
    X, Y = DriftingStream(n_features=2, n_labels=2).take(60)
    with silenced(quiet):
        learner = EvolvingFuzzyClassifier().fit(X[:40], Y[:40])
        learner.test_then_train(X[40:], Y[40:])
        learner.decision_function(X)
        learner.predict_set(X)
        if learners:
            X, Y = DriftingStream(n_features=2, n_labels=2).take(_ROWS)
            Y = np.repeat(Y[::_EVENT], _EVENT, axis=0)  # so that errors repeat, and error feedback is used
            with suppress(EvolabelError):  # a learner that fails on these rows may do well on those of the run
                prequential(learners, (X, Y), every=_ROWS)


if __name__ == "__main__":
    compile_kernels()

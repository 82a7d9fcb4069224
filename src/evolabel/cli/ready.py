"""What a command makes sure of before it starts: a folder that can be written, kernels that are compiled."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from rich.console import Console

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.optional import load
from evolabel._utils.text import one_line
from evolabel.errors import EvolabelError, ParameterError
from evolabel.evaluate import Learner, prequential
from evolabel.streams import DriftingStream
from evolabel.typing import FloatArray

FIGURES = {"matplotlib": "plots"}
REPORT = {**FIGURES, "jinja2": "report"}
NOBODY_ELSE: Mapping[str, Learner] = {}
REHEARSAL = 400  # rows: enough for all that happens rarely to happen once
EVENT = 20  # rows


def ready_folder(out: Path, packages: dict[str, str] = REPORT, purpose: str = "a report") -> None:
    """Better to fail now than after the run: the folder can be written, and the report can be drawn."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise ParameterError(f"cannot write into {out} ({error.strerror or error}); choose another folder") from None
    for package, extra in packages.items():
        load(package, extra, purpose)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """What the system says against a file is told as one line about that file."""
    try:
        yield
    except OSError as error:
        raise ParameterError(f"cannot write {out} ({error.strerror or error}); choose another file") from None


def compile_kernels(learners: Mapping[str, Learner] = NOBODY_ELSE, *, quiet: bool = False) -> None:
    """Learn and answer a few rows: the first time on a machine this compiles, and must not count as learning time.

    `learners` do so as well: those of the run that need kernels of their own, as those who ask for labels do.
    """
    X, Y = DriftingStream(n_features=2, n_labels=2).take(60)
    console = Console(stderr=True)
    with (
        console.status("compiling kernels (about a minute of processor time, the first time only)")
        if not quiet
        else console
    ):
        learner = EvolvingFuzzyClassifier().fit(X[:40], Y[:40])
        learner.test_then_train(X[40:], Y[40:])
        learner.decision_function(X)
        if learners:
            with suppress(EvolabelError):  # who cannot cope with these rows may well cope with those of the run
                prequential(learners, _course_of_events(), every=REHEARSAL)


def _course_of_events() -> tuple[FloatArray, FloatArray]:
    """Rows whose labels last for a while, whatever the features are: errors repeat, so that they are echoed."""
    X, Y = DriftingStream(n_features=2, n_labels=2).take(REHEARSAL)
    return X, np.repeat(Y[::EVENT], EVENT, axis=0)


def tell(message: str) -> None:
    """A line for the person who watches; standard output stays free for results."""
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False).print(one_line(message))


if __name__ == "__main__":
    compile_kernels()

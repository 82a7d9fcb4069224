"""What a command makes sure of before it starts: a folder that can be written, kernels that are compiled."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.extras import load
from evolabel.streams import DriftingStream

FIGURES = {"matplotlib": "plots"}
REPORT = {**FIGURES, "jinja2": "report"}


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


def compile_kernels(*, quiet: bool = False) -> None:
    """Learn and answer a few rows: the first time on a machine this compiles, and must not count as learning time."""
    X, Y = DriftingStream(n_features=2, n_labels=2).take(60)
    console = Console(stderr=True)
    with console.status("compiling kernels (about half a minute, the first time only)") if not quiet else console:
        learner = EvolvingFuzzyClassifier().fit(X[:40], Y[:40])
        learner.test_then_train(X[40:], Y[40:])
        learner.decision_function(X)


def tell(message: str) -> None:
    """A line for the person who watches; standard output stays free for results."""
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False).print(message)


if __name__ == "__main__":
    compile_kernels()

"""What a search starts from: an estimator, values and an initial batch, checked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evolabel.errors import ParameterError
from evolabel.kernels.state import FloatArray
from evolabel.ranges import check_number

if TYPE_CHECKING:
    from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier


def read_estimator(given: object, *, paper: bool) -> "EvolvingFuzzyClassifier":
    """The estimator given, or the paper's profile or the default in its place."""
    from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier

    if given is None:
        return EvolvingFuzzyClassifier.paper() if paper else EvolvingFuzzyClassifier()
    if not isinstance(given, EvolvingFuzzyClassifier):
        raise ParameterError(f"estimator is a {type(given).__name__}; pass an EvolvingFuzzyClassifier")
    return given


def read_batch(estimator: "EvolvingFuzzyClassifier", X: object, Y: object) -> tuple[FloatArray, FloatArray]:
    """Checked tables, as the estimator would read them."""
    from sklearn.base import clone

    from evolabel.adapters.samples import read_samples
    from evolabel.adapters.targets import LabelMatrix, read_targets

    rows = read_samples(clone(estimator), X, reset=True)
    labels, targets = read_targets(Y, len(rows), None)
    if not isinstance(targets, LabelMatrix):
        raise ParameterError("the search takes a label matrix; give Y one column per label")
    return rows, labels


def check_search(cv: object, seed: object, n_jobs: object) -> None:
    """How the search is to run."""
    check_number("cv", cv, 2, whole=True)
    check_number("seed", seed, 0, whole=True)
    if n_jobs != -1:
        check_number("n_jobs", n_jobs, 1, whole=True, also=", or -1 for all cores")


def check_values(estimator: "EvolvingFuzzyClassifier", values: Mapping[str, Sequence[Any]]) -> None:
    """Every value is one the estimator takes."""
    from sklearn.base import clone

    known = estimator.get_params()
    for name, given in values.items():
        if name not in known:
            raise ParameterError(f"{name!r} is no parameter of the classifier; use some of {', '.join(known)}")
        for value in given:
            clone(estimator).set_params(**{name: value})._options()

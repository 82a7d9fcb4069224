"""What a search starts from: an estimator and an initial batch, checked."""

from typing import TYPE_CHECKING

from evolabel.errors import ParameterError
from evolabel.kernels.state import FloatArray

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

"""Checks of what a search is given: the estimator, the values to try, the initial batch."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

from sklearn.base import clone

from evolabel._utils.text import with_article
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.samples import read_samples
from evolabel.classifier.targets import LabelMatrix, read_targets
from evolabel.errors import ParameterError
from evolabel.paper.classifier import PaperClassifier
from evolabel.typing import AnyArray, FloatArray

# Parameters without any effect on the outputs after `fit`: a search could not compare their values.
_NO_EFFECT = ("warm_up",)
_ONLY_ON_DECISIONS = ("threshold", "optimise")  # no effect either, unless the score is computed from predicted labels


@runtime_checkable
class Tunable(Protocol):
    """A learner of label matrices with scikit-learn's parameter methods: the classifier, or one of its rivals."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; with `deep` also those of an inner estimator, as `base__vigilance`."""

    def set_params(self, **params: Any) -> Self:
        """Change the parameters named in `params`."""

    def fit(self, X: FloatArray, Y: FloatArray, /) -> Self:
        """Train on the initial batch `X` (rows, features), `Y` (rows, labels)."""

    def decision_function(self, X: FloatArray, /) -> FloatArray:
        """Return the outputs (rows, labels) for `X`."""

    def predict(self, X: FloatArray, /) -> AnyArray:
        """Return the labels (rows, labels) of `X` as 0 and 1."""


def read_tunable(given: object) -> Tunable:
    """Return `given` if it can be tuned, or the paper's profile if it is None; else raise ParameterError."""
    if given is None:
        return PaperClassifier()
    if isinstance(given, type) or not isinstance(given, Tunable):
        raise ParameterError(
            f"estimator is {with_article(type(given).__name__)}; pass an EvolvingFuzzyClassifier, or a learner that "
            "contains one"
        )
    return given


def read_batch(estimator: Tunable, X: object, y: object) -> tuple[FloatArray, FloatArray]:
    """Return samples `X` and labels `y` as checked arrays, read as `estimator` reads them."""
    rows = read_samples(clone(estimator), X, reset=True)
    labels, targets = read_targets(y, len(rows), None)
    if not isinstance(targets, LabelMatrix):
        raise ParameterError("the search takes a label matrix; give y one column per label")
    return rows, labels


def check_values(estimator: Tunable, values: Mapping[str, Sequence[Any]], *, decided: bool) -> None:
    """Raise ParameterError if a value is one that `estimator`, or a classifier inside it, does not take.

    `values` has a sequence per parameter. `decided`: the score is computed from predicted labels.
    """
    known, unseen = estimator.get_params(), _NO_EFFECT if decided else (*_NO_EFFECT, *_ONLY_ON_DECISIONS)
    everywhere = {name: given[0] for name, given in values.items() if len(given) == 1 and name in known}
    for name, given in values.items():
        if name not in known:
            raise ParameterError(f"{name!r} is no parameter of the estimator; use some of {', '.join(known)}")
        if name in unseen and isinstance(estimator, EvolvingFuzzyClassifier):
            raise ParameterError(f"{name} changes no output after fit, by which points are compared; leave it out")
        for value in given:
            changed = clone(estimator).set_params(**{**everywhere, name: value})
            for part in (changed, *changed.get_params().values()):
                if isinstance(part, EvolvingFuzzyClassifier):
                    part.inner.options()

"""What a search starts from: an estimator, values and an initial batch, checked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from evolabel._utils.text import with_article
from evolabel._utils.validation import check_number
from evolabel.errors import ParameterError
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier


# Parameters of the classifier that a search cannot judge: outputs after `fit` are the same for all their values.
WITHOUT_SAY = ("warm_up",)
ONLY_DECIDING = ("threshold", "optimise")  # the same, unless decisions are judged


@runtime_checkable
class Tunable(Protocol):
    """A learner of label matrices with parameters, as scikit-learn knows them: the classifier, or one of its rivals."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; those of an estimator inside as `base__vigilance`."""

    def set_params(self, **params: Any) -> Self:
        """Change parameters."""

    def fit(self, X: FloatArray, Y: FloatArray, /) -> Self:
        """Learn an initial batch."""

    def decision_function(self, X: FloatArray, /) -> FloatArray:
        """Outputs (rows, labels)."""


def read_estimator(given: object, *, paper: bool) -> "EvolvingFuzzyClassifier":
    """The classifier given, or the paper's profile or the default in its place."""
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

    if given is None:
        return EvolvingFuzzyClassifier.paper() if paper else EvolvingFuzzyClassifier()
    if not isinstance(given, EvolvingFuzzyClassifier):
        raise ParameterError(f"estimator is {with_article(type(given).__name__)}; pass an EvolvingFuzzyClassifier")
    return given


def read_tunable(given: object) -> Tunable:
    """The estimator given, or the paper's profile in its place."""
    if given is None:
        return read_estimator(None, paper=True)
    if isinstance(given, type) or not isinstance(given, Tunable):
        raise ParameterError(
            f"estimator is {with_article(type(given).__name__)}; pass an EvolvingFuzzyClassifier, or a learner made of "
            "some"
        )
    return given


def read_batch(estimator: Tunable, X: object, y: object) -> tuple[FloatArray, FloatArray]:
    """Checked tables, as the estimator would read them."""
    from sklearn.base import clone

    from evolabel.classifier.samples import read_samples
    from evolabel.classifier.targets import LabelMatrix, read_targets

    rows = read_samples(clone(estimator), X, reset=True)
    labels, targets = read_targets(y, len(rows), None)
    if not isinstance(targets, LabelMatrix):
        raise ParameterError("the search takes a label matrix; give y one column per label")
    return rows, labels


def check_search(cv: object, seed: object, n_jobs: object) -> None:
    """How the search is to run."""
    check_number("cv", cv, 2, whole=True)
    check_number("seed", seed, 0, whole=True)
    if n_jobs != -1:
        check_number("n_jobs", n_jobs, 1, whole=True, also=", or -1 for all cores")


def check_values(estimator: Tunable, values: Mapping[str, Sequence[Any]], *, decided: bool) -> None:
    """Every value is one the estimator takes, or the classifier inside it; `decided`: points differ by decisions."""
    from sklearn.base import clone

    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

    known, unseen = estimator.get_params(), WITHOUT_SAY if decided else (*WITHOUT_SAY, *ONLY_DECIDING)
    for name, given in values.items():
        if name not in known:
            raise ParameterError(f"{name!r} is no parameter of the estimator; use some of {', '.join(known)}")
        if name in unseen and isinstance(estimator, EvolvingFuzzyClassifier):
            raise ParameterError(f"{name} changes no output after fit, by which points are compared; leave it out")
        for value in given:
            changed = clone(estimator).set_params(**{name: value})
            for part in (changed, *changed.get_params().values()):
                if isinstance(part, EvolvingFuzzyClassifier):
                    part._options()

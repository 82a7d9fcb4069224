"""`ClassLearner`: a classifier of classes that exclude each other, trained on one 0/1 column per class."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.estimator import StreamAnswers
from evolabel.classifier.targets import LabelMatrix, check_weighted_names
from evolabel.cli.learners import Factory
from evolabel.evaluate import Learner
from evolabel.typing import AnyArray, FloatArray, IntArray

OnEvent = Callable[[Any], object] | None


class ClassLearner:
    """The learner of an evaluation around a `classifier` that is trained on the class of each row, one of `names`.

    Classes share one gate of the threshold rules and one calibration, and one of them is predicted. A row is learned if
    its class is known. A class that has not come yet has the output 0.
    """

    decides_rows = True  # by `predict`, not label by label

    def __init__(self, classifier: EvolvingFuzzyClassifier, names: Sequence[str]) -> None:
        self.classifier, self._names = classifier, np.array(names, dtype=object)

    @property
    def n_rules_(self) -> int:
        """Number of rules."""
        return self.classifier.n_rules_

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Train on the initial batch `X`, `Y`."""
        self.classifier.fit(X, self._classes(Y))
        return self

    def partial_fit(self, X: FloatArray, Y: FloatArray, *, on_event: OnEvent = None) -> Self:
        """Train on further rows `X`, `Y`; `on_event` is that of the classifier."""
        classes = None if self.classifier.inner.is_fitted else self._names
        self.classifier.partial_fit(X, self._classes(Y), classes, on_event=on_event)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the outputs of all classes for `X`, (n, K)."""
        return self._placed(self.classifier.inner.any_model.outputs(X))

    def predict(self, X: FloatArray) -> AnyArray:
        """Return 1 in the column of the class that is predicted for each row of `X`."""
        return np.asarray(self.classifier.predict(X)[:, None] == self._names, np.int64)

    def test_then_train(self, X: FloatArray, Y: FloatArray, *, on_event: OnEvent = None) -> FloatArray:
        """Return the outputs of each row of `X` from before it was learned with `Y`; `on_event` as in `partial_fit`."""
        return self._placed(self.classifier.test_then_train(X, self._classes(Y), on_event=on_event))

    def answer_then_train(self, X: FloatArray, Y: FloatArray, *, on_event: OnEvent = None) -> StreamAnswers:
        """Return all answers for each row of `X` from before it was learned with `Y`; sets as those of labels."""
        outputs, P, sets, decided = self.classifier.answer_then_train(X, self._classes(Y), on_event=on_event)
        held = self._placed(sets) > 0.0
        other = held.sum(axis=1, keepdims=True) > held
        return StreamAnswers(
            self._placed(outputs),
            self._placed(P),
            np.stack([other, held], -1),
            self._placed(decided) > 0.0,
        )

    def _classes(self, Y: FloatArray) -> AnyArray:
        return classes_of(Y, self._names)

    def _placed(self, table: AnyArray) -> FloatArray:
        """Return `table`, a column per class so far, with the columns of all classes; 0 where it has none."""
        placed = np.zeros((len(table), len(self._names)))
        placed[:, self._places[: table.shape[1]]] = table
        return placed

    @property
    def _places(self) -> IntArray:
        """Column of each class so far, in the order of the classifier."""
        place = {name: column for column, name in enumerate(self._names.tolist())}
        return np.array([place[name] for name in self.classifier.classes_.tolist()], np.int64)


def classes_of(Y: FloatArray, names: Sequence[str] | AnyArray) -> AnyArray:
    """Return the class of each row of `Y`, one of `names`, which has a 0/1 column per class; None if not known."""
    classes: AnyArray = np.array(names, dtype=object)[np.nan_to_num(Y).argmax(axis=1)]
    classes[~(Y == 1.0).any(axis=1)] = None
    return classes


def learning_classes(learners: dict[str, Factory], names: Sequence[str]) -> dict[str, Factory]:
    """Return `learners`, of which fuzzy classifiers are trained on classes with these `names`; others stay."""
    return {name: partial(_of_classes, make, names) for name, make in learners.items()}


def _of_classes(make: Factory, names: Sequence[str], seed: int) -> Learner:
    learner = make(seed)
    if not isinstance(learner, EvolvingFuzzyClassifier):
        return learner
    check_weighted_names(learner.class_weight, LabelMatrix(list(names)))
    return ClassLearner(learner, names)


def classifier_inside(learner: Learner) -> Learner:
    """Return the classifier that `learner` trains on classes, or `learner` itself if it is another."""
    return learner.classifier if isinstance(learner, ClassLearner) else learner

"""Read-only properties of a trained classifier, and how its model is read."""

from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from evolabel.classifier.safe_calls import exclusive
from evolabel.classifier.samples import (
    is_checked_shape,
    note_empty,
    read_encoded,
    read_samples,
    rows_without_features,
)
from evolabel.classifier.state import ClassifierState
from evolabel.classifier.targets import ClassCodes
from evolabel.core.events import Event
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.label_drift import LabelDrift, label_drifts
from evolabel.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from evolabel.classifier.estimator import EvolvingFuzzyClassifier
    from evolabel.classifier.inner import ClassifierInner
    from evolabel.classifier.rule_book import RuleBook
    from evolabel.explain.answer_parts import AnswerParts
    from evolabel.explain.rules import RuleSet
    from evolabel.stages.rules.relevance import Relevance


class Properties:
    """Read-only properties of `EvolvingFuzzyClassifier`; nothing here changes the model."""

    threshold: float
    n_features_in_: int
    _state: ClassifierState

    @property
    def rules_(self) -> "RuleSet":
        """The rules, in words by `str`; empty during the warm-up."""
        return cast("EvolvingFuzzyClassifier", self).describe()

    @property
    @exclusive
    def relevance_(self) -> "Relevance":
        """Share of each label that every feature explains alone."""
        from evolabel.stages.rules.relevance import feature_relevance

        return feature_relevance(self._state.trained_model(), self.inner.feature_names, self._state.targets.names)

    @property
    @exclusive
    def events_(self) -> list[Event]:
        """Births, merges and deaths of rules, edits by people, and shifts of the stream, oldest first."""
        return self.inner.events_since(None)

    @property
    @exclusive
    def drift_(self) -> dict[str, LabelDrift]:
        """State of each label in the stream, by name: calm, drifting, recovered or settled, its errors, the members.

        With `follow_drift=False` the slow member has weight 1, there are no errors, and drifts are those that threshold
        rules have noticed. During the warm-up every label is calm, with the weights of the first model; before its ten
        rows, weight 1 for the slow member.

        Examples
        --------
        >>> import numpy as np
        >>> from evolabel import EvolvingFuzzyClassifier
        >>> X = np.random.default_rng(0).normal(size=(1050, 2))
        >>> Y = (X > 0.0).astype(float)
        >>> Y[1000:, 1] = 1.0 - Y[1000:, 1]
        >>> clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
        >>> {label: drift.state for label, drift in clf.drift_.items()}
        {'label0': 'calm', 'label1': 'drift'}
        """
        fitted, names = self._state.fitted_model(), self._state.targets.names
        model = fitted.answering() or fitted
        return dict(zip(names, label_drifts(model.rules, len(names), model.thresholds), strict=True))

    @property
    @exclusive
    def parts_(self) -> "dict[str, AnswerParts]":
        """Which part answers each label now, by name: shares of rules, linear part, threshold and written rules.

        During the warm-up they are those of the first model; before its ten rows they are 0, and the shares of the
        labels so far answer. `str` of an entry is the shares in words.

        Examples
        --------
        >>> import numpy as np
        >>> from evolabel import EvolvingFuzzyClassifier
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> clf = EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False).fit(X, X[:, 0] > 0.0)
        >>> print(clf.parts_["True"])
        rules 100 %
        """
        from evolabel.explain.answer_parts import answer_parts

        fitted, names = self._state.fitted_model(), self._state.targets.names
        return dict(zip(names, answer_parts(fitted.answering(), len(names)), strict=True))

    @property
    def rulebook(self) -> "RuleBook":
        """Edits of rules by a person: add, edit, rename, lock, merge, delete, undo."""
        from evolabel.classifier.rule_book import RuleBook

        return RuleBook(cast("EvolvingFuzzyClassifier", self))

    @property
    def inner(self) -> "ClassifierInner":
        """What other packages of the library use of a classifier besides its public methods."""
        from evolabel.classifier.inner import ClassifierInner

        return ClassifierInner(cast("EvolvingFuzzyClassifier", self), self._state)

    @property
    def n_rules_(self) -> int:
        """Rules there are now."""
        rules = self._state.fitted_model().rules
        return 0 if rules is None else rules.n_rules

    @property
    def n_samples_seen_(self) -> int:
        """Samples seen so far."""
        return self._state.fitted_model().n_seen

    @property
    def ridge_(self) -> float:
        """The unit of the ridges; NaN during the warm-up."""
        return self._state.fitted_model().ridge

    @property
    def local_ridge_(self) -> float:
        """Ridge of the rules in units of `ridge_`, as given or chosen; NaN during the warm-up."""
        return self._state.fitted_model().local_ridge

    @property
    @exclusive
    def thresholds_(self) -> FloatArray:
        """Outputs of at least this much are predicted as 1, label by label; for a 1-D target the largest wins."""
        return self._state.thresholds(self.threshold)

    @property
    @exclusive
    def label_names_(self) -> AnyArray:
        """Names of the labels, or the classes as text."""
        self._state.fitted_model()
        return np.array(self._state.targets.names, dtype=object)

    @property
    @exclusive
    def classes_(self) -> AnyArray:
        """The classes of a 1-D target; for a label matrix one row [0, 1] per label."""
        self._state.fitted_model()
        if isinstance(self._state.targets, ClassCodes):
            return self._state.targets.classes
        return np.tile(np.array([0, 1]), (self._state.targets.size, 1))

    # ------------------------------------------------------------------ inner workings

    @property
    def _lock(self) -> Any:
        return self._state.lock

    def _read(self, X: object) -> FloatArray:
        self._state.fitted_model()
        return read_samples(cast("BaseEstimator", self), X, reset=False)

    def _outputs(self, X: object) -> FloatArray:
        """The outputs for `X`; rows without any feature get the base rates."""
        return self._outputs_and_empty(X)[0]

    def _answers(self, X: object) -> tuple[FloatArray, FloatArray]:
        """The outputs and the probabilities for `X`; rows without any feature get the base rates."""
        outputs, empty = self._outputs_and_empty(X)
        model = self._state.fitted_model()
        P = model.calibrator().probabilities(outputs)
        if empty is not None:
            P[empty] = base_probabilities(model)
        return outputs, P

    def _outputs_and_empty(self, X: object) -> tuple[FloatArray, BoolArray | None]:
        """The outputs for `X`, and where its rows have no feature; None if all have some."""
        model = self._state.fitted_model()
        rows = X if self._has_plain_shape(X) else read_encoded(cast("BaseEstimator", self), X, reset=False).rows
        empty = rows_without_features(rows)
        if empty is None:
            return model.outputs(rows), None
        note_empty(empty, "the output is the base rates of the labels")
        outputs = np.tile(model.base_rates(), (len(rows), 1))
        if not empty.all():
            outputs[~empty] = model.outputs(rows[~empty])
        return outputs, empty

    def _has_plain_shape(self, X: object) -> TypeGuard[FloatArray]:
        """Whether `X` is an array as the kernels need it, for a model whose features have no names."""
        return "_columns" not in self.__dict__ and is_checked_shape(X, self.n_features_in_)

    def _n_events(self) -> int:
        """Events that were logged so far; 0 while there are no rules."""
        return self._state.model.n_events if self._state.is_fitted else 0

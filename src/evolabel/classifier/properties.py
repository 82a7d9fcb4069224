"""Read-only properties of a trained classifier, and how its model is read."""

from collections.abc import Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from evolabel import errors
from evolabel._utils.validation import check_number, whole_number
from evolabel.classifier.deciding import RowDecisions, as_thresholds, named_weights
from evolabel.classifier.safe_calls import WithLock, exclusive
from evolabel.classifier.samples import (
    is_checked_shape,
    note_empty,
    read_encoded,
    read_samples,
    rows_without_features,
)
from evolabel.classifier.targets import ClassCodes, Targets
from evolabel.core.decisions.class_weights import decide_weighted, weighted_thresholds
from evolabel.core.decisions.known_sets import KnownSets
from evolabel.core.empty_rows import base_probabilities
from evolabel.core.members.label_drift import LabelDrift, label_drifts
from evolabel.core.members.mixture import corrected
from evolabel.core.model import StreamModel
from evolabel.core.rules.events import THRESHOLD_CHANGES, Event
from evolabel.errors import DataError, StateError
from evolabel.streams.tabular.column_coding import ColumnCoding, Unseen
from evolabel.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from evolabel.classifier.estimator import EvolvingFuzzyClassifier
    from evolabel.classifier.inner import ClassifierInner
    from evolabel.classifier.rule_book import RuleBook
    from evolabel.explain.explain_sample import Correct
    from evolabel.explain.prediction import Explanation
    from evolabel.explain.relevance import Relevance
    from evolabel.explain.rules import RuleSet


class Properties(WithLock):
    """Read-only properties of `EvolvingFuzzyClassifier`; nothing here changes the model."""

    threshold: float
    n_features_in_: int
    _targets: Targets
    _model: StreamModel
    _columns: ColumnCoding

    @property
    def rules_(self) -> "RuleSet":
        """The rules, in words by `str`; empty during the warm-up."""
        return cast("EvolvingFuzzyClassifier", self).describe()

    @property
    @exclusive
    def relevance_(self) -> "Relevance":
        """Share of each label that every feature explains alone."""
        from evolabel.explain.relevance import feature_relevance

        return feature_relevance(self._trained(), self._feature_names(), self._targets.names)

    @property
    @exclusive
    def events_(self) -> list[Event]:
        """Births, merges and deaths of rules, edits by people, and shifts of the stream, oldest first."""
        return self._events_since(None)

    @property
    @exclusive
    def drift_(self) -> dict[str, LabelDrift]:
        """State of each label in the stream, by name: calm, drifting, recovered or settled, its errors, the members.

        During the warm-up and with `follow_drift=False` every label is calm, with weight 1 for the slow member.

        Examples
        --------
        >>> import numpy as np
        >>> from evolabel import EvolvingFuzzyClassifier
        >>> X = np.random.default_rng(0).normal(size=(1100, 2))
        >>> Y = (X > 0.0).astype(float)
        >>> Y[1000:, 1] = 1.0 - Y[1000:, 1]
        >>> clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
        >>> {label: drift.state for label, drift in clf.drift_.items()}
        {'label0': 'calm', 'label1': 'drift'}
        """
        model, names = self._fitted_model(), self._targets.names
        return dict(zip(names, label_drifts(model.rules, len(names), model.thresholds), strict=True))

    @property
    def rulebook(self) -> "RuleBook":
        """Edits of rules by a person: add, edit, rename, lock, merge, delete, undo."""
        from evolabel.classifier.rule_book import RuleBook

        return RuleBook(cast("EvolvingFuzzyClassifier", self))

    @property
    def inner(self) -> "ClassifierInner":
        """What other packages of the library use of a classifier besides its public methods."""
        from evolabel.classifier.inner import ClassifierInner

        return ClassifierInner(cast("EvolvingFuzzyClassifier", self))

    @property
    def n_rules_(self) -> int:
        """Rules there are now."""
        rules = self._fitted_model().rules
        return 0 if rules is None else rules.n_rules

    @property
    def n_samples_seen_(self) -> int:
        """Samples seen so far."""
        return self._fitted_model().n_seen

    @property
    def ridge_(self) -> float:
        """The unit of the ridges; NaN during the warm-up."""
        return self._fitted_model().ridge

    @property
    def local_ridge_(self) -> float:
        """Ridge of the rules in units of `ridge_`, as given or chosen; NaN during the warm-up."""
        return self._fitted_model().local_ridge

    @property
    @exclusive
    def thresholds_(self) -> FloatArray:
        """Outputs of at least this much are predicted as 1, label by label; for a 1-D target the largest wins."""
        return self._thresholds()

    def _thresholds(self) -> FloatArray:
        model = self._fitted_model()
        if model.decisions is not None:
            return model.decisions.thresholds(model.calibrator())
        weights = named_weights(model.options.class_weight, self._targets.names[: model.n_labels])
        if weights is not None:
            return weighted_thresholds(weights, model.calibrator())
        check_number("threshold", self.threshold, 0, 1)
        return np.full(self._targets.size, float(self.threshold))

    @property
    @exclusive
    def label_names_(self) -> AnyArray:
        """Names of the labels, or the classes as text."""
        self._fitted_model()
        return np.array(self._targets.names, dtype=object)

    @property
    @exclusive
    def classes_(self) -> AnyArray:
        """The classes of a 1-D target; for a label matrix one row [0, 1] per label."""
        self._fitted_model()
        if isinstance(self._targets, ClassCodes):
            return self._targets.classes
        return np.tile(np.array([0, 1]), (self._targets.size, 1))

    # ------------------------------------------------------------------ inner workings

    def _fitted_model(self) -> StreamModel:
        model: StreamModel | None = self.__dict__.get("_model")
        if model is None:
            raise errors.NotTrainedError(
                "this EvolvingFuzzyClassifier instance is not fitted yet; call fit or partial_fit first"
            )
        return model

    def _trained(self) -> StreamModel:
        model = self._fitted_model()
        if model.warm_up is not None:
            raise StateError(
                f"the warm-up is not over ({model.warm_up.filled} of {len(model.warm_up.X)} annotated samples); "
                "call fit, or partial_fit with more samples, first"
            )
        return model

    def _decision_threshold(self) -> FloatArray | None:
        """Outputs of at least this much are on, label by label; None where the largest output decides."""
        return None if isinstance(self._targets, ClassCodes) else self._thresholds()

    def _decided(self, outputs: FloatArray, P: FloatArray | None = None) -> BoolArray:
        """The labels that are on by `outputs`, (n, K), and their probabilities `P`, if known; of classes one is."""
        model, is_classes = self._fitted_model(), isinstance(self._targets, ClassCodes)
        if model.decisions is not None:
            return model.decisions.decide(outputs, model.calibrator())
        weights = named_weights(model.options.class_weight, self._targets.names[: outputs.shape[1]])
        if weights is not None:
            P = model.calibrator().probabilities(outputs) if P is None else P
            return decide_weighted(P, weights, exclusive=is_classes)
        if is_classes:
            return np.asarray(outputs.argmax(axis=1)[:, None] == np.arange(outputs.shape[1]))
        return np.asarray(outputs >= self._thresholds())

    def _read(self, X: object) -> FloatArray:
        self._fitted_model()
        return read_samples(cast("BaseEstimator", self), X, reset=False)

    def _explained(
        self,
        rows: FloatArray,
        correct: "Correct | None" = None,
        unseen: tuple[Unseen, ...] = (),
        turns: int = 1,
    ) -> "Explanation":
        """The explanation of one checked row, (1, n_features), its outputs corrected by `correct`.

        `unseen` are its texts that no feature stands for, `turns` the most changes that turn a label. A row without
        any feature is explained by the base rates.
        """
        from evolabel.explain.empty_sample import explain_empty
        from evolabel.explain.explain_sample import explain_sample
        from evolabel.explain.unfamiliar import describe_unfamiliar

        if len(rows) != 1:
            raise DataError(f"explain takes one sample, got {len(rows)} rows; pass one row at a time")
        turns, names = whole_number("turns", turns, 1), (self._feature_names(), self._targets.names)
        model = self._fitted_model().answering() or self._trained()
        if rows_without_features(rows) is not None:
            return explain_empty(model, rows[0], *names, **self._row_decisions(model.base_rates()[None]))
        read = rows if model.rules is None else corrected(model.rules, rows)  # a sensor that has moved is no news
        unfamiliar = describe_unfamiliar(read[0], model.ranges, self.__dict__.get("_columns"), unseen)
        outputs, correction = model.outputs(rows), None if correct is None else correct(rows)
        decided = self._row_decisions(outputs if correction is None else correction.of(outputs))
        return explain_sample(model, rows, *names, correct=correct, unfamiliar=unfamiliar, turns=turns, **decided)

    def _row_decisions(self, outputs: FloatArray) -> RowDecisions:
        """How the labels of a row with `outputs`, (1, K), are decided: by thresholds, or together."""
        from evolabel.explain.prediction import BY_SETS, BY_WEIGHTS

        model = self._fitted_model()
        weighted = model.options.is_balanced or model.options.class_weight is not None
        by_sets = isinstance(model.decisions, KnownSets) and model.decisions.in_use
        if not (by_sets or (weighted and isinstance(self._targets, ClassCodes))):
            return {"threshold": self._decision_threshold(), "together": ""}
        together = BY_SETS if by_sets else BY_WEIGHTS
        return {"threshold": as_thresholds(self._decided(outputs)[0]), "together": together}

    def _outputs(self, X: object) -> FloatArray:
        """The outputs for `X`; rows without any feature get the base rates."""
        return self._outputs_and_empty(X)[0]

    def _answers(self, X: object) -> tuple[FloatArray, FloatArray]:
        """The outputs and the probabilities for `X`; rows without any feature get the base rates."""
        outputs, empty = self._outputs_and_empty(X)
        model = self._fitted_model()
        P = model.calibrator().probabilities(outputs)
        if empty is not None:
            P[empty] = base_probabilities(model)
        return outputs, P

    def _outputs_and_empty(self, X: object) -> tuple[FloatArray, BoolArray | None]:
        """The outputs for `X`, and where its rows have no feature; None if all have some."""
        model = self._fitted_model()
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
        return self._model.n_events if "_model" in self.__dict__ else 0

    def _events_since(self, n_events: int | None) -> list[Event]:
        """The events after the first `n_events`, or all that are kept (None), with names of labels and features."""
        rules, names = self._fitted_model().rules, (self._feature_names(), self._targets.names)
        if rules is None:
            return []
        kept = len(rules.events)  # older ones are dropped
        new = kept if n_events is None else max(min(rules.n_events - n_events, kept), 0)
        events: Sequence[Event] = [*islice(rules.events, kept - new, None)]
        if any(event.kind in THRESHOLD_CHANGES for event in events):
            from evolabel.explain.event_words import with_rule_words
            from evolabel.explain.read_thresholds import tree_reader

            events = with_rule_words(list(rules.events), tree_reader(self._fitted_model(), *names), kept - new)
        return [event.named(*names) for event in events]

    def _feature_names(self) -> list[str]:
        coding: ColumnCoding | None = self.__dict__.get("_columns")
        return [f"x{j}" for j in range(self.n_features_in_)] if coding is None else copy(coding.feature_names)

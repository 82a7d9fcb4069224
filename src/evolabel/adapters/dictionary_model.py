"""`DictionaryModel`: a model that learns one dictionary at a time; features and labels may be added or missing."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils.rollback import put_back_on_error
from evolabel._utils.validation import whole_number
from evolabel.adapters.dictionaries import (
    ClassColumns,
    FeatureColumns,
    LabelColumns,
    Values,
    WaitingFeatures,
    has_features,
)
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.samples import read_sample_weight
from evolabel.core.rows import FOLLOWS_NOTHING, NOT_GIVEN, Batch, Rows
from evolabel.errors import ParameterError
from evolabel.model.growth import grow_features, keep_features
from evolabel.model.protocols import Model
from evolabel.model.warm_up import WarmUp
from evolabel.stages.last_answers.stage import near_rows
from evolabel.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.rule_book import RuleBook


class DictionaryModel:
    """The model of an `EvolvingFuzzyClassifier` with a column for each name in the dictionaries.

    Parameters
    ----------
    labels : LabelColumns or ClassColumns
        How targets are read: several labels, or one class.
    parameters : dict
        Parameters of `EvolvingFuzzyClassifier`.
    follows : int or None
        How many rows after the last learned one those come that are predicted; None: this is not known, or not used, as
        1 is not with `memory=None`.
    """

    def __init__(
        self, labels: LabelColumns | ClassColumns, parameters: dict[str, Any], follows: int | None = None
    ) -> None:
        self.parameters = parameters
        self.estimator = EvolvingFuzzyClassifier(**parameters)
        self.follows = follows if follows is None else whole_number("follows", follows, 1)
        if self.estimator.memory is None and self.follows is not None:
            if self.follows > 1:
                raise ParameterError(f'follows={follows} needs memory="answers"; without it leave follows out')
            self.follows = None
        self._ages = FOLLOWS_NOTHING if self.follows is None else near_rows(self.follows)[:1]
        self._inner = self.estimator.inner
        self._features = FeatureColumns()
        self._labels = labels
        self._waiting = WaitingFeatures()

    @property
    def rulebook(self) -> "RuleBook":
        """Edits of rules by hand: add, edit, rename, lock, merge, delete, undo."""
        return self.estimator.rulebook

    @property
    def _lock(self) -> Any:
        return self._inner.lock

    @property
    def _model(self) -> Model | None:
        return vars(self._inner.state).get("model")

    @property
    def _values_needed(self) -> int:
        """Number of values a feature must have shown before it is scaled and used."""
        return (int(self.estimator.warm_up) + 1) // 2

    def _create_model(self) -> Model:
        """Create a model without features and labels; both are added as they appear."""
        model = self._inner.new_model(0, 0, exclusive=isinstance(self._labels, ClassColumns))
        self._inner.replace_model(model)
        self._name_columns()
        return model

    def _learn_sample(self, x: Values, y: object, w: float) -> None:
        """Learn one sample, features `x` and target `y`, with weight `w`; an error changes nothing."""
        sample, features = self._features.read(x)
        targets, labels = self._labels.read(y)
        weights = np.empty(0) if w == 1.0 else read_sample_weight(w, 1)
        self._check_growth(features, len(labels))
        model = self._model or self._create_model()
        with put_back_on_error(self) if model.users_stages else nullcontext():
            sample = self._grow(model, sample, features, labels)
            if has_features(sample):
                self._learn(model, sample, targets, weights)

    def _grow(
        self, model: Model, sample: FloatArray, features: FeatureColumns, labels: LabelColumns | ClassColumns
    ) -> FloatArray:
        """Add the labels and features that are new to `model`; return the `sample` with the features it then has."""
        if len(labels) > len(self._labels):
            model.grow_labels(len(labels), absent=isinstance(labels, ClassColumns))
            self._labels = labels
            self._name_columns()
        if features is not self._features:
            sample = self._add_features(model, features, sample)
        return sample

    def _check_growth(self, features: FeatureColumns, n_labels: int) -> None:
        """Raise OutOfMemoryError if the model with the new `features` that get a column, and `n_labels`, does not fit.

        The number of features that get one after the warm-up is an upper bound: some may be constant and wait.
        """
        known = len(self._features)
        if len(features) == known and n_labels == len(self._labels):
            return
        new, needed, model = features.names[known:], self._values_needed, self._model
        if model is not None and model.warm_up is None:
            new = [name for name in new if self._waiting.is_almost_ready(name, needed)]
        self._inner.check_memory(known + len(new), n_labels)

    def _probabilities(self, x: Values) -> list[float]:
        """The probability of each label for the features `x`."""
        outputs, plain = self._outputs(x)
        return self._inner.state.probabilities_after(outputs, plain)[0].tolist() if outputs.size else []

    def _decided(self, x: Values) -> BoolArray:
        """Whether each label is predicted for the features `x`; of classes one is."""
        outputs, plain = self._outputs(x)
        if not outputs.size:
            return np.empty(0, bool)
        return np.asarray(self._inner.state.decide_all(outputs, plain, self.estimator.threshold)[0])

    def _outputs(self, x: Values) -> tuple[FloatArray, FloatArray]:
        """Continuous outputs of eq. (2) for the features `x`, (1, K), and those without the last answers.

        They are those of the stream's mean if no feature is used.
        """
        sample, model = self._features.read(x)[0][:, : len(self._features)], self._model
        if model is None:
            return NOT_GIVEN, NOT_GIVEN
        if len(self._ages) and model.warm_up is None and has_features(sample):
            few = model.answer_few(sample, follows=self._ages)
            return few.outputs, few.plain
        plain = self._plain_outputs(model, sample)
        return plain, plain

    @staticmethod
    def _plain_outputs(model: Model, sample: FloatArray) -> FloatArray:
        """Outputs of `model` for the `sample`, (1, p), without the last answers."""
        if model.warm_up is None and not has_features(sample):
            rows, rules = Rows(sample), model.trained()
            rows.Z = rules.arrays.c[:1, : model.n_features].copy()
            rules.answer(rows)
            model.drift.answer(rows)
            return rows.outputs
        return model.outputs(sample)

    def _learn(self, model: Model, sample: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
        warm_up = model.warm_up
        if warm_up is not None:
            _extend_warm_up(warm_up, sample)
        model.learn(Batch(sample, targets, weights))
        if warm_up is not None and model.warm_up is None:
            self._remove_features(model, warm_up.X)

    def _add_features(self, model: Model, features: FeatureColumns, sample: FloatArray) -> FloatArray:
        """Give new features a column, during the warm-up at once, later when they have shown enough values.

        Returns the sample without the features that still wait.
        """
        known, ready = list(range(len(self._features))), list(range(len(self._features), len(features)))
        if model.warm_up is None:
            values = sample[0].tolist()
            ready = [j for j in ready if self._waiting.add(features.names[j], [values[j]], self._values_needed)]
        self._features = features.only(known + ready)
        if ready:
            grow_features(model, [np.array(self._waiting.shown.pop(features.names[j], [])) for j in ready])
            self._name_columns()
        self._waiting.drop_oldest()
        return sample.take(known + ready, axis=1)

    def _remove_features(self, model: Model, X: FloatArray) -> None:
        """Remove the columns of features that have shown too few values in the initial batch `X`; they wait."""
        names = self._features.names
        ready = [self._waiting.add(n, v.tolist(), self._values_needed) for n, v in zip(names, X.T, strict=True)]
        kept = np.flatnonzero(ready if any(ready) else _varies(X))
        for j in kept:
            del self._waiting.shown[names[j]]
        if len(kept) < len(names):
            keep_features(model, kept)
            self._features = self._features.only(kept)
            self._name_columns()

    def _name_columns(self) -> None:
        """Pass the names of features and labels to the estimator, for its rules."""
        self._inner.name_columns([str(name) for name in self._features.names], self._labels.coding)


def _extend_warm_up(warm_up: WarmUp, sample: FloatArray) -> None:
    """Drop the earlier half of a full warm-up if no feature has varied yet, because none could be scaled."""
    is_last = warm_up.filled == len(warm_up.X) - 1
    if is_last and not _varies(np.vstack([warm_up.X[:-1], sample])).any():
        warm_up.forget_oldest((len(warm_up.X) + 1) // 2)


def _varies(X: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each feature of `X` has two different values."""
    seen = ~np.isnan(X)
    low, high = np.min(X, axis=0, initial=np.inf, where=seen), np.max(X, axis=0, initial=-np.inf, where=seen)
    return np.asarray(low < high)

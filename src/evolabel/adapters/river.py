"""`RiverEvolvingFuzzyClassifier`: the model as a river classifier; `RiverDriftAlarm`: the alarm as a drift detector."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils import optional
from evolabel._utils.validation import check_number
from evolabel.adapters.dictionaries import FeatureColumns, LabelColumns, Values, WaitingFeatures
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.inner import ClassifierInner
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.samples import read_sample_weight
from evolabel.core.batch import Batch
from evolabel.core.feature_growth import grow_features, keep_features
from evolabel.core.initial.cold_start import WarmUp
from evolabel.core.members.alarm import DriftAlarm
from evolabel.core.members.mixture import mixed_answers
from evolabel.core.protocols import Model
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.rule_book import RuleBook

base = optional.load("river.base", "river", "the river adapter")


class RiverEvolvingFuzzyClassifier(base.Classifier, base.MultiLabelClassifier):  # type: ignore[misc, name-defined]
    """Evolving multi-label fuzzy classifier (EFC-ML) for river; labels and features may be added or missing.

    It is the model of `EvolvingFuzzyClassifier`, trained on one dictionary at a time.

    Parameters
    ----------
    **parameters
        Parameters of `EvolvingFuzzyClassifier`.

    Attributes
    ----------
    estimator : EvolvingFuzzyClassifier
        The trained model, for reading (`rules_`, `events_`, `save`). Train it by `learn_one` only.
    rulebook : RuleBook
        Adds, edits, renames, locks, merges and deletes rules by hand.

    Notes
    -----
    A feature that is absent or None is missing; a label that is absent or None was not annotated. Text is a category:
    {"colour": "red"} is the feature "colour=red" of value 1, and value 0 for the other colours seen so far. A bag of
    words leaves out its zeros: add them, else an absent word counts as missing.

    The first `warm_up` samples are collected for the batch phase; until then predictions are the label priors, and from
    the tenth sample on those of a model of the samples so far. Afterwards a feature is used once it has shown at least
    `warm_up / 2` values, not all equal, so that it can be scaled; until then it counts as missing. A sample without any
    used feature is not learned, and its prediction is that of the stream's mean. Memory grows with the square of the
    number of used features. river's metrics need a prediction for every label of a sample: they fail where a new label
    appears.

    Examples
    --------
    >>> from evolabel.adapters.river import RiverEvolvingFuzzyClassifier
    >>> from river import evaluate, metrics
    >>> from river.datasets import synth
    >>> model = RiverEvolvingFuzzyClassifier()
    >>> metric = metrics.multioutput.MicroAverage(metrics.Jaccard())
    >>> evaluate.progressive_val_score(synth.Logical(n_tiles=100, seed=42), model, metric)
    MicroAverage(Jaccard): 98.35%
    >>> model.predict_one({"A": 1, "B": 1})
    {'OR': True, 'XOR': False, 'AND': True}
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters
        self.estimator = EvolvingFuzzyClassifier(**parameters)
        self._inner = ClassifierInner(self.estimator)
        self._features = FeatureColumns()
        self._labels = LabelColumns()
        self._waiting = WaitingFeatures()

    @uninterrupted
    def learn_one(self, x: Values, y: Values, w: float = 1.0) -> None:
        """Learn one sample; input that raises an error changes nothing.

        Parameters
        ----------
        x : dict
            Features by name: numbers, text (a category), or None (missing).
        y : dict
            Labels by name: True, False, 1, 0, or None (not annotated).
        w : float
            Weight of the sample.
        """
        sample, features = self._features.read(x)
        targets, labels = self._labels.read(y)
        weights = np.empty(0) if w == 1.0 else read_sample_weight(w, 1)
        model = self._model or self._create_model()
        if len(labels) > len(self._labels):
            model.grow_labels(len(labels))
            self._labels = labels
            self._name_columns()
        if features is not self._features:
            sample = self._add_features(model, features, sample)
        if not np.isnan(sample).all():
            self._learn(model, sample, targets, weights)

    @exclusive
    def predict_proba_one(self, x: Values) -> dict[Hashable, dict[bool, float]]:
        """The probabilities of False and True for the features `x`, for every label seen so far."""
        outputs, model = self._outputs(x)[None], self._model
        chances = [] if model is None else model.calibrator().probabilities(outputs)[0].tolist()
        return {name: {False: 1.0 - on, True: on} for name, on in zip(self._labels.names, chances, strict=True)}

    @exclusive
    def predict_one(self, x: Values) -> dict[Hashable, bool]:
        """Whether the output for the features `x` reaches the threshold, eq. (4), for every label seen so far."""
        outputs = self._outputs(x)
        decided = outputs >= self.estimator.thresholds_ if len(outputs) else outputs
        return dict(zip(self._labels.names, decided.tolist(), strict=True))

    @property
    def rulebook(self) -> "RuleBook":
        """Edits of rules by hand: add, edit, rename, lock, merge, delete, undo."""
        return self.estimator.rulebook

    @property
    def _lock(self) -> Any:
        return self._inner.lock

    @property
    def _model(self) -> Model | None:
        return self._inner.model if self._inner.is_fitted else None

    @property
    def _values_needed(self) -> int:
        """Number of values a feature must have shown before it is scaled and used."""
        return (int(self.estimator.warm_up) + 1) // 2

    def _create_model(self) -> Model:
        """Create a model without features and labels; both are added as they appear."""
        model = self._inner.new_model(0, 0)
        self._inner.replace_model(model)
        self._name_columns()
        return model

    def _outputs(self, x: Values) -> FloatArray:
        """Continuous outputs of eq. (2) for the features `x`; those of the stream's mean if none is used."""
        sample, model = self._features.read(x)[0][:, : len(self._features)], self._model
        if model is None:
            return np.empty(0)
        if model.warm_up is None and np.isnan(sample).all():
            rules = model.trained()
            return mixed_answers(rules, rules.arrays.c[:1, : model.n_features].copy(), sample).outputs.ravel()
        return model.outputs(sample).ravel()

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
        features, labels = ([str(name) for name in columns.names] for columns in (self._features, self._labels))
        self._inner.name_columns(features, labels)


class RiverDriftAlarm(base.DriftAndWarningDetector):  # type: ignore[misc, name-defined]
    """`DriftAlarm` of one output as a drift detector of river.

    Parameters
    ----------
    share : float
        Share of the samples with the label, from 0 to 1; the losses of a rare label are averaged over more samples.

    Attributes
    ----------
    alarm : DriftAlarm
        The alarm, for reading (`recent_losses`, `calm_losses`, `is_raised`).

    Notes
    -----
    Values are losses from 0 to 1, such as the error of a prediction, or None where it is not known. After a drift the
    alarm stays raised until the loss is back, or for 2,000 samples; `clone` makes a detector without a past.

    Examples
    --------
    >>> import random
    >>> from evolabel.adapters.river import RiverDriftAlarm
    >>> rng = random.Random(1)
    >>> losses = [rng.random() < 0.1 for _ in range(1000)] + [rng.random() < 0.6 for _ in range(1000)]
    >>> detector = RiverDriftAlarm()
    >>> for number, loss in enumerate(losses):
    ...     detector.update(loss)
    ...     if detector.drift_detected:
    ...         print(f"drift at sample {number}")
    drift at sample 1023
    """

    def __init__(self, share: float = 0.5) -> None:
        super().__init__()
        self.share = check_number("share", share, 0, 1)
        self.alarm = DriftAlarm()

    def update(self, x: float | None) -> None:
        """Watch the loss `x` of the next sample; None or NaN: it is not known."""
        finding = self.alarm.update(x, shares=self.share)
        self._drift_detected, self._warning_detected = finding == "drift", finding == "warning"

    def _reset(self) -> None:
        """Remove all that was learned."""
        super()._reset()
        self.alarm = DriftAlarm()


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

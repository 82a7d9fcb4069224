"""`RiverEvolvingFuzzyClassifier`: the model as a river classifier, dictionaries in and out."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils import optional
from evolabel.adapters.dictionaries import FeatureColumns, LabelColumns, Values
from evolabel.adapters.waiting_features import WaitingFeatures
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.targets import LabelMatrix
from evolabel.classifier.weights import read_sample_weight
from evolabel.core.batch import Batch
from evolabel.core.feature_growth import grow_features, keep_features
from evolabel.core.initial.cold_start import WarmUp
from evolabel.core.protocols import Model
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.rule_book import RuleBook

base = optional.load("river.base", "river", "RiverEvolvingFuzzyClassifier")


class RiverEvolvingFuzzyClassifier(base.Classifier, base.MultiLabelClassifier):  # type: ignore[misc, name-defined]
    """Evolving multi-label fuzzy classifier (EFC-ML) for river: labels and features may appear and vanish.

    The model of `EvolvingFuzzyClassifier`, fed one dictionary at a time.

    Parameters
    ----------
    **parameters
        Those of `EvolvingFuzzyClassifier`.

    Attributes
    ----------
    estimator : EvolvingFuzzyClassifier
        What has been learned, to be read: `rules_`, `events_`, `save`. It learns through this class only.
    rulebook : RuleBook
        To add, edit, rename, lock, merge and delete rules by hand.

    Notes
    -----
    A feature that is absent or None is missing; a label that is absent or None was not annotated. Text is a category:
    {"colour": "red"} is the feature "colour=red" of value 1, and value 0 for the other colours known so far. A bag of
    words leaves out its zeros: write them, else a word that is not there counts as missing.

    The first `warm_up` samples are collected for the batch phase; label priors answer meanwhile. From then on a feature
    takes part if it has shown at least half as many values, not all the same, so that it can be scaled; until then it
    counts as missing. A sample without any feature that takes part teaches nothing and is answered like the mean of the
    stream. Memory grows with the square of the number of features that take part. river's metrics want an answer for
    every label of a sample: they fail where a new label appears.

    Examples
    --------
    >>> from evolabel.adapters.river import RiverEvolvingFuzzyClassifier
    >>> from river import evaluate, metrics
    >>> from river.datasets import synth
    >>> model = RiverEvolvingFuzzyClassifier()
    >>> metric = metrics.multioutput.MicroAverage(metrics.Jaccard())
    >>> evaluate.progressive_val_score(synth.Logical(n_tiles=100, seed=42), model, metric)
    MicroAverage(Jaccard): 86.93%
    >>> model.predict_one({"A": 1, "B": 1})
    {'OR': True, 'XOR': False, 'AND': True}
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters
        self.estimator = EvolvingFuzzyClassifier(**parameters)
        self._features = FeatureColumns()
        self._labels = LabelColumns()
        self._waiting = WaitingFeatures()

    @uninterrupted
    def learn_one(self, x: Values, y: Values, w: float = 1.0) -> None:
        """Learn a sample: features x, labels y, weight w. Bad input changes nothing."""
        sample, features = self._features.read(x)
        targets, labels = self._labels.read(y)
        weights = np.empty(0) if w == 1.0 else read_sample_weight(w, 1)
        model = self._model or self._begin()
        if len(labels) > len(self._labels):
            self._take_labels(model, labels)
        if features is not self._features:
            sample = self._take_features(model, features, sample)
        if not np.isnan(sample).all():
            self._learn(model, sample, targets, weights)

    @exclusive
    def predict_proba_one(self, x: Values) -> dict[Hashable, dict[bool, float]]:
        """The probabilities of False and True for every label known so far."""
        shares = np.clip(self._outputs(x), 0.0, 1.0).tolist()
        return {name: {False: 1.0 - share, True: share} for name, share in zip(self._labels.names, shares, strict=True)}

    @exclusive
    def predict_one(self, x: Values) -> dict[Hashable, bool]:
        """Whether the output reaches the threshold, eq. (4), for every label known so far."""
        outputs = self._outputs(x)
        decided = outputs >= self.estimator.thresholds_ if len(outputs) else outputs
        return dict(zip(self._labels.names, decided.tolist(), strict=True))

    @property
    def rulebook(self) -> "RuleBook":
        """The rules in the hands of a person: add, edit, rename, lock, merge, delete, undo."""
        return self.estimator.rulebook

    @property
    def _lock(self) -> Any:
        return self.estimator._lock

    @property
    def _model(self) -> Model | None:
        model: Model | None = self.estimator.__dict__.get("_model")
        return model

    @property
    def _needed(self) -> int:
        """Values by which a feature can be scaled."""
        return (int(self.estimator.warm_up) + 1) // 2

    def _begin(self) -> Model:
        """A model without features and labels: both appear."""
        model = self.estimator._new_model(0, 0)
        self.estimator._model = model
        self._pass_names_on()
        return model

    def _outputs(self, x: Values) -> FloatArray:
        """Continuous outputs of eq. (2); those of the stream's mean if no feature is known."""
        sample, model = self._features.read(x)[0][:, : len(self._features)], self._model
        if model is None:
            return np.empty(0)
        if model.warm_up is None and np.isnan(sample).all():
            rules = model.trained()
            return rules.outputs(rules.arrays.c[:1, : model.n_features].copy()).ravel()
        return model.outputs(sample).ravel()

    def _learn(self, model: Model, sample: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
        warm_up = model.warm_up
        if warm_up is not None:
            _prolong(warm_up, sample)
        model.learn(Batch(sample, targets, weights))
        if warm_up is not None and model.warm_up is None:
            self._send_back(model, warm_up.X)

    def _take_labels(self, model: Model, labels: LabelColumns) -> None:
        model.grow_labels(len(labels))
        self._labels = labels
        self._pass_names_on()

    def _take_features(self, model: Model, features: FeatureColumns, sample: FloatArray) -> FloatArray:
        """New features get a column, at once during the warm-up, later when they have shown enough; the others wait.

        Returns the sample without those that wait.
        """
        known, ready = list(range(len(self._features))), list(range(len(self._features), len(features)))
        if model.warm_up is None:
            values = sample[0].tolist()
            ready = [j for j in ready if self._waiting.note(features.names[j], [values[j]], self._needed)]
        self._features = features.only(known + ready)
        if ready:
            grow_features(model, [np.array(self._waiting.shown.pop(features.names[j], [])) for j in ready])
            self._pass_names_on()
        self._waiting.make_room()
        return sample.take(known + ready, axis=1)

    def _send_back(self, model: Model, X: FloatArray) -> None:
        """After the batch phase on X: features that have not shown enough give their column back, and wait."""
        names = self._features.names
        ready = [self._waiting.note(n, v.tolist(), self._needed) for n, v in zip(names, X.T, strict=True)]
        kept = np.flatnonzero(ready if any(ready) else _varies(X))
        for j in kept:
            del self._waiting.shown[names[j]]
        if len(kept) < len(names):
            keep_features(model, kept)
            self._features = self._features.only(kept)
            self._pass_names_on()

    def _pass_names_on(self) -> None:
        """The estimator shows its rules under the names of features and labels."""
        self.estimator.n_features_in_ = len(self._features)
        self.estimator.feature_names_in_ = np.array([str(name) for name in self._features.names], dtype=object)
        self.estimator._targets = LabelMatrix([str(name) for name in self._labels.names])


def _prolong(warm_up: WarmUp, sample: FloatArray) -> None:
    """The warm-up goes on with its later half if no feature has varied yet: there is nothing to scale by."""
    is_last = warm_up.filled == len(warm_up.X) - 1
    if is_last and not _varies(np.vstack([warm_up.X[:-1], sample])).any():
        warm_up.forget_oldest((len(warm_up.X) + 1) // 2)


def _varies(X: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which features have shown two different values."""
    seen = ~np.isnan(X)
    low, high = np.min(X, axis=0, initial=np.inf, where=seen), np.max(X, axis=0, initial=-np.inf, where=seen)
    return np.asarray(low < high)

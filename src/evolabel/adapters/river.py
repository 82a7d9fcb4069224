"""The model as a river classifier of several labels or of one class, and the alarm as a drift detector of river."""

from collections.abc import Hashable
from typing import Any

from evolabel._utils import optional
from evolabel._utils.interrupts import exclusive, uninterrupted
from evolabel._utils.validation import check_number
from evolabel.adapters.dictionaries import ClassColumns, LabelColumns, Values
from evolabel.adapters.dictionary_model import DictionaryModel
from evolabel.stages.drift.alarm import DriftAlarm

base = optional.load("river.base", "river", "the river adapter")


class LabelAnswers(dict[Hashable, bool]):
    """Decisions by label; a label that was not seen yet is off."""

    def __missing__(self, name: Hashable) -> bool:
        """Return False for every `name`."""
        return False


class LabelChances(dict[Hashable, dict[bool, float]]):
    """Probabilities of False and True by label; for a label that was not seen yet both are 0.5."""

    def __missing__(self, name: Hashable) -> dict[bool, float]:
        """Return equal probabilities for every `name`."""
        return {False: 0.5, True: 0.5}


class RiverEvolvingFuzzyClassifier(DictionaryModel, base.Classifier, base.MultiLabelClassifier):  # type: ignore[misc, name-defined]
    """Evolving multi-label fuzzy classifier (EFC-ML) for river; labels and features may be added or missing.

    It is the model of `EvolvingFuzzyClassifier`, trained on one dictionary at a time.

    Parameters
    ----------
    follows : int or None, default=1
        How many samples after the last learned one those come that are predicted; the last answers then count as
        `memory` does. 1: every sample is learned right after its prediction. None where answers come late: predictions
        are then as without the last answers, as they are with `memory=None`.
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
    number of used features.

    Predictions have the labels seen so far. A label that river's metrics look up before it was seen is False, with
    probability 0.5.

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

    def __init__(self, *, follows: int | None = 1, **parameters: Any) -> None:
        super().__init__(LabelColumns(), parameters, follows)

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
        self._learn_sample(x, y, w)

    @exclusive
    def predict_proba_one(self, x: Values) -> dict[Hashable, dict[bool, float]]:
        """The probabilities of False and True for the features `x`, for every label seen so far."""
        chances = zip(self._labels.names, self._probabilities(x), strict=True)
        return LabelChances({name: {False: 1.0 - on, True: on} for name, on in chances})

    @exclusive
    def predict_one(self, x: Values) -> dict[Hashable, bool]:
        """Whether each label seen so far is predicted for the features `x`, eq. (4)."""
        return LabelAnswers(zip(self._labels.names, self._decided(x).tolist(), strict=True))


class RiverSingleLabelClassifier(DictionaryModel, base.Classifier):  # type: ignore[misc, name-defined]
    """Evolving fuzzy classifier for river streams in which every sample has one class.

    It is the model that `EvolvingFuzzyClassifier` is for a 1-D target. Features are read as by
    `RiverEvolvingFuzzyClassifier`; classes may appear mid-stream.

    Parameters
    ----------
    follows : int or None, default=1
        How many samples after the last learned one those come that are predicted; the last answers then count as
        `memory` does. 1: every sample is learned right after its prediction. None where answers come late: predictions
        are then as without the last answers, as they are with `memory=None`.
    **parameters
        Parameters of `EvolvingFuzzyClassifier`.

    Attributes
    ----------
    estimator : EvolvingFuzzyClassifier
        The trained model, for reading (`rules_`, `events_`, `save`). Train it by `learn_one` only.
    rulebook : RuleBook
        Adds, edits, renames, locks, merges and deletes rules by hand.

    Examples
    --------
    >>> from evolabel.adapters.river import RiverSingleLabelClassifier
    >>> from river import evaluate, metrics
    >>> from river.datasets import synth
    >>> model = RiverSingleLabelClassifier()
    >>> evaluate.progressive_val_score(synth.SEA(seed=1).take(1000), model, metrics.Accuracy())
    Accuracy: 96.50%
    """

    def __init__(self, *, follows: int | None = 1, **parameters: Any) -> None:
        super().__init__(ClassColumns(), parameters, follows)

    @uninterrupted
    def learn_one(self, x: Values, y: object, w: float = 1.0) -> None:
        """Learn one sample; input that raises an error changes nothing.

        Parameters
        ----------
        x : dict
            Features by name: numbers, text (a category), or None (missing).
        y : bool, int or str
            The class of the sample, or None (not annotated).
        w : float
            Weight of the sample.
        """
        self._learn_sample(x, y, w)

    @exclusive
    def predict_proba_one(self, x: Values) -> dict[Hashable, float]:
        """The probability of every class seen so far, for the features `x`; they sum to 1."""
        return dict(zip(self._labels.names, self._probabilities(x), strict=True))

    @exclusive
    def predict_one(self, x: Values) -> Hashable | None:
        """The class with the largest output for the features `x`; None before a class was seen."""
        outputs = self._outputs(x)[0]
        return self._labels.names[int(outputs.argmax())] if outputs.size else None

    @property
    def _multiclass(self) -> bool:
        return True


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

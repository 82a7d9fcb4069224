"""`EvolvingFuzzyClassifier`: the model as a scikit-learn estimator.

Methods that learn check their input, read it into a `Batch` and learn it; input that is refused leaves no trace.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from evolabel._utils.interrupts import exclusive, held, unchanged_on_error, uninterrupted
from evolabel._utils.lazy import deferred
from evolabel._utils.validation import check_function, check_number
from evolabel.classifier.inner import ClassifierInner
from evolabel.classifier.kinds import refuse_parameters
from evolabel.classifier.samples import (
    are_usable_rows,
    as_array,
    as_one_row,
    checked_labels,
    is_checked_shape,
    note_empty,
    read_confidence,
    read_encoded,
    read_sample_weight,
    read_samples,
    rows_without_features,
    usable_values,
    without_unsure,
)
from evolabel.classifier.silent_labels import SilentLabels
from evolabel.classifier.state import ClassifierState
from evolabel.classifier.targets import (
    ClassCodes,
    LabelMatrix,
    Targets,
    announced,
    check_weighted_names,
    joined,
    places,
    read_targets,
)
from evolabel.core.events import Event
from evolabel.core.options import Options
from evolabel.core.rows import FOLLOWS_NOTHING, NOT_GIVEN, Batch
from evolabel.core.stage import IN_USE, in_use
from evolabel.errors import DataError, DataTypeError, StageError
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.label_states import label_drifts
from evolabel.model.merge import empty_like, merge
from evolabel.model.stream_model import CHUNK, StreamModel
from evolabel.stages.calibration.loops import LEAST_SHARE
from evolabel.stages.calibration.stage import DEFAULT_COVERAGE, check_coverage
from evolabel.stages.drift.label_drift import LabelDrift
from evolabel.stages.own.stage import fault_of_row, naming_rows
from evolabel.streams.columns import ONLY_NUMBERS, ColumnKinds
from evolabel.typing import AnyArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.classifier.rule_book import RuleBook
    from evolabel.explain.answer_parts import AnswerParts
    from evolabel.explain.figures.figure_data import FigureData
    from evolabel.explain.prediction import Explanation
    from evolabel.explain.rule_set import RuleSet
    from evolabel.paper import PaperClassifier
    from evolabel.stages.rules.relevance import Relevance

with deferred("pandas", "scipy.stats"):  # scikit-learn imports them, half of its import, and uses neither here
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.metadata_routing import UNUSED

T = TypeVar("T")
_SKIPPED = "not learned"  # what happens to rows without features
OnEvent = Callable[[Event], object]
"""Function that is called with each new event."""


class StreamAnswers(NamedTuple):
    """Outputs, probabilities, prediction sets and decisions of rows, each from before its row was learned."""

    outputs: FloatArray
    probabilities: FloatArray
    sets: BoolArray
    decisions: BoolArray


class Answered(NamedTuple):
    """Outputs of rows, where the rows have no feature (None: all have one), and which the last answers count in.

    `plain` has the outputs of the rows `near` without them.
    """

    outputs: FloatArray
    empty: BoolArray | None
    near: IntArray = FOLLOWS_NOTHING
    plain: FloatArray = NOT_GIVEN


class WithState:
    """An object with a `ClassifierState`, also of a subclass whose `__init__` calls no other.

    It is a class of its own because a signature is that of `__new__` where the same class has an `__init__`.
    """

    n_features_in_: int
    _state: ClassifierState

    def __new__(cls, *_: object, **parameters: object) -> Self:
        """An object that has learned nothing; TypeError for parameters of another kind of classifier."""
        if unknown := parameters.keys() - signature(cls.__init__).parameters.keys():
            refuse_parameters(cls, unknown)
        made = super().__new__(cls)
        made.__dict__["_state"] = ClassifierState()
        return made


@dataclass(kw_only=True, eq=False, repr=False)
class EvolvingFuzzyClassifier(WithState, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Evolving multi-label fuzzy classifier (EFC-ML): one readable rule base, learned in a single pass.

    A rule is a region of the feature space (a Gaussian) with one linear model per label. The output for a sample is the
    mean of the outputs of the rules around it, weighted by membership. `fit` learns an initial batch: the scaling, the
    ridges, the rules. `partial_fit` then learns one sample after the other: it moves the nearest rule, updates the
    linear models in closed form, starts rules where samples are unlike all others, and merges the closest pair where
    `max_rules` is reached. Nothing is stored but statistics, so memory is constant. `rules_` shows the rules in words,
    `explain` a prediction, and `rulebook` lets a person edit rules. Not suited to images or raw text.

    Parameters
    ----------
    max_rules : int, default=30
        Most rules at a time. Where all are in use, the closest pair is merged before a new one starts.
    vigilance : float, default=0.5
        Mean squared distance to the nearest rule above which a sample starts a rule, while there is space.
        Smaller values give more rules, earlier.
    scaling : {"quantile", "standard", "minmax", "none"}, default="quantile"
        How features are scaled, learned from the initial batch. To normal scores, to standard scores, to [0,
        1], or not at all (values are then cut at -1e6 and 1e6).
    ridge : float, "press" or "condition", default="press"
        Unit of `global_ridge` and `local_ridge`. "press" chooses it by leave-one-out on the initial batch, up
        to half a decade more where errors of neighbouring rows agree; "condition" makes it just large enough
        for the arithmetic.
    temperature : float, "sqrt" or str, default="0.1p"
        T of the memberships exp(-d²/2T). 1 is the paper's, "sqrt" is sqrt(p), text such as "0.1p" a multiple of
        the number p of features. Small values make rules share less.
    follow_drift : bool, default=True
        Whether the model follows labels that change their meaning. A fast and a linear member then answer
        beside the rules, and alarms watch the errors of each label.
    threshold_rules : bool or "counters", default=True
        Whether thresholds and conjunctions that separate a label are found and used; counters: also of features that
        only rise or only fall. They answer for a label only where they are better than the rules
        beyond doubt; for the first 232 rows a small tree answers beside them.
    memory : {"answers", None}, default="answers"
        Whether the last answers count in answers to the rows right after them. Where labels persist, or errors repeat,
        they predict more than the features. They count in `test_then_train`, in `answer_then_train`, and where
        `follows` is how many rows after the last learned one a row comes; never in a plain `predict`. None: never.
    prune_after : int or None, default=None
        Samples without a win after which a rule below `min_support` is removed. None never removes one.
    warm_up : int, default=80
        Samples `partial_fit` collects for the batch phase if `fit` was never called. Until then outputs are
        running label frequencies, and from the tenth sample on those of a model of the samples so far.
    optimise : {"accuracy", "balanced", "macro_f1", "micro_f1", "subset_accuracy"}, default="accuracy"
        Measure that predicted labels are best at. Outputs and probabilities do not depend on it. "accuracy": outputs
        are cut at `threshold`. "macro_f1": a threshold per label, "micro_f1": one for all, learned on the stream.
        "balanced": labels are predicted where their probability is at least their share so far. "subset_accuracy":
        the most likely of the label sets that occurred. Classes: the largest output, but for "balanced".
    class_weight : dict, "balanced" or None, default=None
        Weight of a label, or of a class, in decisions. {"leak": 20}: a missed leak costs as much as 20 false alarms,
        so that leak is predicted where 20 p >= 1 - p; of classes the one with the largest weight times p is.
        "balanced" is `optimise="balanced"`. Nothing else depends on it: probabilities stay those of the stream.
    threshold : float, default=0.5
        Outputs of at least this much are predicted as 1. Used for a label matrix with `optimise="accuracy"`,
        and read when the model predicts.
    novel_z : float, default=6.0
        Standard deviations above the recent mean distance at which a sample starts a rule in a full rule base.
        The closest pair of rules is merged to make space for it.
    prior_count : float or str, default=31.0
        Samples that the prior spread of a rule counts for. "2p" is twice the number of features.
    min_activation : float, default=0.03
        Membership below which a rule neither answers nor learns.
    global_ridge : float, default=1.5
        Ridge of the global model, in units of `ridge`.
    local_ridge : float or "loo", default="loo"
        Ridge of each rule towards the global model, in units of `ridge`. "loo" chooses it, up to 0.2, by leave-
        one-out of the whole rule base on the initial batch.
    intercept_ridge : float, default=0.01
        Share of the ridge put on the intercept.
    min_support : float, default=3.0
        Support below which `prune_after` removes a rule.
    stages : list or tuple of OwnStage, default=()
        Stages of your own behind the threshold rules, in their order. Training copies them. They answer and learn every
        row; what is wrong in one ends in StageError, and the model stays as it was (docs/how-to/own-stages.md).

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had any. A column of texts counts once; inside it is one 0/1 feature per text.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, or the classes as text.
    classes_ : ndarray
        The classes of a 1-D target; one row [0, 1] per label for a label matrix.
    n_rules_, n_samples_seen_ : int
        Rules there are now, and samples seen so far.
    ridge_, local_ridge_ : float
        The unit of the ridges, and the ridge of the rules in this unit.
    thresholds_ : ndarray of shape (n_labels,)
        Outputs of at least this much are predicted as 1.
    rules_ : RuleSet
        The rules, read-only; `str` writes them in words.
    relevance_ : Relevance
        Share of each label that every feature explains alone.
    events_ : list of Event
        Births, merges and deaths of rules, edits by people, and shifts of the stream: labels that have drifted or
        recovered, sensors that have moved (the last 10,000).
    drift_ : dict of str to LabelDrift
        Whether each label has drifted, its error now and in calm times, and the weights of the members.
    rulebook : RuleBook
        To add, edit, rename, lock, merge and delete rules by hand.

    Notes
    -----
    Inference is eqs. (1)-(4) of the paper, learning Algorithms 1 and 2 in the closed form that they have without L1 and
    without a coupling of labels; `evolabel.paper.PaperClassifier` has the literal formulas. NaN in X is a missing
    feature, NaN in Y a label that was not annotated. Parameters are read when training starts, `threshold` when it
    predicts.

    Threads: all methods can be called at any time from any thread; one waits for the other, and every answer is that of
    the model before or after a whole call. `fit` runs beside the others and replaces the model at its end. Not guarded:
    `copy`, `deepcopy` and `pickle` (use `save`), and what `figure_data`, `rules_` and `figures` read later. Ctrl-C
    waits until the model is whole: at most for 4,096 rows of `partial_fit`, of which those before are learned.

    References
    ----------
    E. Lughofer, Evolving multi-label fuzzy classifier, Information Sciences 597 (2022).

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
    >>> scores = clf.test_then_train(X[200:], Y[200:])
    >>> print(f"{partial_accuracy(Y[200:], scores):.2f}")
    0.84
    """

    max_rules: int = 30
    vigilance: float = 0.5
    scaling: str = "quantile"
    ridge: float | str = "press"
    temperature: float | str = "0.1p"
    follow_drift: bool = True
    threshold_rules: bool | str = True
    memory: str | None = "answers"
    prune_after: int | None = None
    warm_up: int = 80
    optimise: str = "accuracy"
    class_weight: dict[Any, float] | str | None = None
    threshold: float = 0.5
    novel_z: float = 6.0
    prior_count: float | str = 31.0
    min_activation: float = 0.03
    global_ridge: float = 1.5
    local_ridge: float | str = "loo"
    intercept_ridge: float = 0.01
    min_support: float = 3.0
    stages: Sequence[Any] = ()

    _options_class: ClassVar[type[Options]] = Options
    _model_class: ClassVar[type[StreamModel]] = StreamModel

    __metadata_request__partial_fit = {"on_event": UNUSED}  # noqa: RUF012 (as scikit-learn reads it; no metadata)
    __metadata_request__decision_function = {"follows": UNUSED}  # noqa: RUF012
    __metadata_request__predict_proba = {"follows": UNUSED}  # noqa: RUF012
    __metadata_request__predict_log_proba = {"follows": UNUSED}  # noqa: RUF012
    __metadata_request__predict = {"follows": UNUSED}  # noqa: RUF012

    @staticmethod
    def paper(**changes: Any) -> "PaperClassifier":
        """Return a `PaperClassifier`: the paper's own profile, but for the parameters in `changes`.

        Product space, rotated rules, L1, label coupling, rules that merge when they touch. Its mathematical errors stay
        mended (docs/explanations/where-we-leave-the-paper.md).

        Parameters
        ----------
        **changes
            Single parameters that differ; `vigilance` (fac), `alpha` and `beta` are meant to be tuned.
        """
        from evolabel import paper

        return paper.PaperClassifier(**changes)

    # ------------------------------------------------------------------ learning

    def fit(self, X: object, y: object = None, sample_weight: object = None, confidence: object = None) -> Self:
        """Learn an initial batch (batch phase); what was learned before is dropped.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features; NaN: missing. Columns of texts or categories of a frame become one 0/1 feature per text that this
            call, the first one, has. Later frames are read by column names: other columns are ignored, and a text that
            is new is none of the known ones; a DataWarning reports both.
        y : array or frame of shape (n_samples, n_labels), or of shape (n_samples,)
            Labels of 0, 1, NaN (not annotated), or one class per sample, or one list of labels by name per sample.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample in the statistics of the rules. Samples of weight 0 are left out; the scaling and the
            ridges chosen by leave-one-out count all others alike. A sample of weight 2 is one event, not the same as
            the sample twice: the second one would meet rules that the first has changed.
        confidence : array in [0, 1] of shape (n_samples, n_labels) or (n_samples,), optional
            Confidence of the annotator; 0 counts as not annotated.

        Returns
        -------
        EvolvingFuzzyClassifier
            The classifier itself.
        """
        self._state.check_unused()
        self.inner.options()
        fitted = object.__new__(type(self))  # takes the columns of X, which count at the end
        fitted.__dict__.update(self.__dict__)
        batch, targets = _read_batch(fitted, X, y, None, (sample_weight, confidence), streaming=False)
        check_weighted_names(self.class_weight, targets)
        model = self.inner.new_model(batch.X.shape[1], targets.size, exclusive=isinstance(targets, ClassCodes))
        with in_use(self._state), naming_rows("row {} of the initial batch", partial(_rows_learned, fitted, X)):
            model.fit(batch)
        with self._state.lock, held():  # until here an error or Ctrl-C leaves what was learned before
            self._state.replace(model, targets)
            self.__dict__ = {**fitted.__dict__, "_state": self._state}
            self._state.silent = SilentLabels()
        self._state.note_silent_labels(self.threshold, 0)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: object = None,
        sample_weight: object = None,
        confidence: object = None,
        *,
        on_event: OnEvent | None = None,
    ) -> Self:
        """Learn rows one after the other, in a single pass (incremental phase). May be the very first call.

        A wider y, new column names or new classes make the model grow.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        classes : list, optional
            Classes of a 1-D target that are known ahead of time.
        on_event : function, optional
            Called with each new event of `events_` (births and merges of rules, labels that have drifted, sensors that
            have moved), in their order, after all rows were learned. It may use the classifier; what it raises is
            raised here, and the rows stay learned.

        Returns
        -------
        EvolvingFuzzyClassifier
            The classifier itself.
        """
        if on_event is not None:
            return self._learn_and_report(on_event, lambda: self.partial_fit(X, y, classes, sample_weight, confidence))
        if classes is None and sample_weight is None and confidence is None and self._learn_arrays(X, y) is not None:
            return self
        return self._partial_fit(X, y, classes, sample_weight, confidence)

    @uninterrupted
    def _partial_fit(self, X: object, y: object, *others: object) -> Self:
        """`partial_fit` of anything: frames, weights, new labels, a warm-up."""
        self._state.learn(self._prepare(X, y, *others))
        self._state.note_silent_labels(self.threshold)
        return self

    def test_then_train(
        self,
        X: Any,
        y: Any,
        sample_weight: object = None,
        confidence: object = None,
        *,
        on_event: OnEvent | None = None,
    ) -> FloatArray:
        """Return the output for every row from before the row was learned, eq. (2), and learn all rows.

        The same as calling `decision_function` with `follows=1` and `partial_fit` row by row, in one pass and at nearly
        the price of learning alone.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        on_event : function, optional
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For a 1-D target the columns are the classes; 0 for one that had not been seen yet.
        """
        if on_event is not None:
            return self._learn_and_report(on_event, lambda: self.test_then_train(X, y, sample_weight, confidence))
        outputs = self._learn_arrays(X, y) if sample_weight is None and confidence is None else None
        return outputs if outputs is not None else self._test_then_train(X, y, sample_weight, confidence)

    @uninterrupted
    def _test_then_train(self, X: object, y: object, *weights: object) -> FloatArray:
        """`test_then_train` of anything: frames, weights, new labels, a warm-up."""
        batch = self._prepare(X, y, None, *weights)
        batch = batch._replace(outputs=np.zeros((len(batch.X), self._state.targets.size)))
        self._state.learn(batch)
        self._state.note_silent_labels(self.threshold)
        return batch.outputs

    def answer_then_train(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        confidence: object = None,
        *,
        coverage: float = DEFAULT_COVERAGE,
        on_event: OnEvent | None = None,
    ) -> StreamAnswers:
        """Return all answers for every row from before the row was learned, and learn all rows.

        The same as `decision_function`, `predict_proba`, `predict_set`, `predict`, each with `follows=1`, and
        `partial_fit` row by row; with `memory=None` without it.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        coverage : float, default=0.9
            As in `predict_set`.
        on_event : function, optional
            As in `partial_fit`.

        Returns
        -------
        StreamAnswers
            Tuple of `outputs`, as `test_then_train` returns them, `probabilities`, `sets` and `decisions`, bool (n, K),
            for a 1-D target one class per row. A label that had not been seen yet has the probability 0.5 and both
            values in its set; a class, a probability of 1e-6, and no set has it.
        """
        level = check_coverage(coverage)
        if on_event is not None:
            weights = sample_weight, confidence
            return self._learn_and_report(on_event, lambda: self._answer_then_train(X, y, level, *weights))
        return self._answer_then_train(X, y, level, sample_weight, confidence)

    @uninterrupted
    def _answer_then_train(self, X: object, y: object, coverage: float, *weights: object) -> StreamAnswers:
        """`answer_then_train` after the check of its `coverage`."""
        check_number("threshold", self.threshold, 0, 1)
        batch = self._prepare(X, y, None, *weights)
        shape, is_classes = (len(batch.X), self._state.targets.size), isinstance(self._state.targets, ClassCodes)
        batch = batch._replace(
            outputs=np.zeros(shape),
            decisions=np.zeros(shape),
            probabilities=np.full(shape, LEAST_SHARE if is_classes else 0.5),
            coverages=np.full(len(batch.X), coverage),
            set_limits=np.full(shape, 0.0 if is_classes else 1.0),
        )
        self._state.learn(batch)
        P = batch.probabilities
        if is_classes:
            P /= P.sum(axis=1, keepdims=True)
        learned = self._state.model.decisions is not None
        decisions = batch.decisions > 0.0 if learned else self._state.decide(batch.outputs, self.threshold, P)
        return StreamAnswers(batch.outputs, P, self._state.model.calibration.sets(P, batch.set_limits), decisions)

    def merge(self, other: "EvolvingFuzzyClassifier") -> Self:
        """Add the rules and statistics of a classifier trained apart on the same features.

        Exact if both share their scaling (see `sibling`); otherwise `other` is translated feature by feature, and
        refused where the two scalings differ too much. Rules beyond `max_rules` are merged, closest pairs first. The
        ridges of this classifier are kept. A label that only one of the two has answers to counts as not annotated in
        the other's samples, which leave its weights as they are; samples without a class are known not to be of it.

        Parameters
        ----------
        other : EvolvingFuzzyClassifier
            Is not changed.

        Returns
        -------
        EvolvingFuzzyClassifier
            The classifier itself.
        """
        if not isinstance(other, EvolvingFuzzyClassifier):
            raise DataTypeError(f"merge takes a classifier, got {type(other).__name__}; load a file first")
        first, second = (self, other) if id(self) < id(other) else (other, self)
        with first.inner.lock, second.inner.lock:  # always in this order, else two merges could wait for each other
            for state in (self._state, other.inner.state):
                state.check_unused()
            mine, theirs = self._state.trained_model(), other.inner.trained_model
            self.inner.check_mergeable(other)
            targets = other.inner.targets
            coding = joined(self._state.targets, targets)
            at, classes = places(targets, coding), isinstance(coding, ClassCodes)
            with in_use(self._state, other.inner.state):
                merged = merge(mine, theirs, coding.size, at, exclusive=classes)
            self._state.replace(merged, coding)
        return self

    @exclusive
    def sibling(self) -> "EvolvingFuzzyClassifier":
        """Return a classifier without samples but with this one's scaling, ridges and labels, to be merged later."""
        twin = copy.deepcopy(self)
        twin.inner.replace_model(empty_like(self._state.trained_model()))
        return twin

    @uninterrupted
    def name_columns(self, features: Sequence[str], labels: Sequence[str], kinds: ColumnKinds = ONLY_NUMBERS) -> Self:
        """Name the `features` and the `labels` that came as plain arrays; rules and explanations use the names.

        Features of 0 and 1 named `site=north` and `site=south` are the texts of one column, `site`, of later frames.
        `kinds`, those of a `Dataset`, are which columns had texts, true and false, or timestamps.
        """
        self.inner.name_arrays([*map(str, features)], [*map(str, labels)], kinds)
        return self

    # ------------------------------------------------------------------ answering

    def decision_function(self, X: object, *, follows: int | None = None) -> FloatArray:
        """Return the continuous outputs of eq. (2).

        Many rows at a time are answered faster than one by one; the outputs are the same up to rounding.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        follows : int, optional
            The first row of `X` comes so many rows after the last learned one, 1: right after it, and the others
            follow it. Then the last answers count in the outputs, if `memory` is "answers": in those of rows at most 4
            rows after them.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For two classes their difference, (n_samples,).
        """
        with self._state.lock:
            outputs, targets = self._answered(X, follows).outputs, self._state.targets
        if isinstance(targets, ClassCodes) and targets.size <= 2:
            return np.asarray(outputs[:, -1] - (outputs[:, 0] if targets.size == 2 else 0.0))
        return outputs

    def predict_proba(self, X: object, *, follows: int | None = None) -> FloatArray:
        """Return the probability of each label of `X`, (n_samples, n_labels); for a 1-D target rows sum to 1.

        Outputs are calibrated along the stream (docs/explanations/trust.md). A probability is never 0, and 1
        only where a 1-D target has shown a single class. `predict` cuts outputs, not probabilities. `follows` is as in
        `decision_function`.
        """
        with self._state.lock:
            return self._probabilities(self._answered(X, follows))

    def predict_log_proba(self, X: object, *, follows: int | None = None) -> FloatArray:
        """Return the logarithm of `predict_proba` of `X` and `follows`, which is always finite."""
        return np.asarray(np.log(self.predict_proba(X, follows=follows)))

    @exclusive
    def predict_set(self, X: object, coverage: float = DEFAULT_COVERAGE, *, follows: int | None = None) -> BoolArray:
        """Return what may be true of each sample, wide enough to hold the truth in a share `coverage` of the samples.

        Thresholds follow the stream label by label, also where it drifts (docs/explanations/trust.md).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            From 0.5 to 0.99.
        follows : int, optional
            As in `decision_function`.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels, 2)
            Whether each label may be off, and may be on; at least one of them. For a 1-D target (n_samples, n_classes):
            the classes that may be true, at least one.
        """
        level = check_coverage(coverage)
        found = self._answered(X, follows)
        P, calibrator = self._probabilities(found), self._state.model.calibrator()
        limits, near = calibrator.limits(level), found.near
        if len(near):
            assert self._state.model.following is not None
            of_near = self._state.model.following.limits(found.outputs[near], found.plain, level, limits)
            limits = np.tile(limits, (len(P), 1))
            limits[near] = of_near
        return calibrator.sets(P, limits)

    def predict(self, X: object, *, follows: int | None = None) -> AnyArray:
        """Return the labels of `X` as 0/1, eq. (4), (n_samples, n_labels); for a 1-D target the class of each row.

        `follows` is as in `decision_function`.
        """
        state = self._state
        with state.lock:
            found, weighted = self._answered(X, follows), state.fitted_model().options.class_weight is not None
            P = self._probabilities(found) if weighted else None
            decided, targets = state.decide(found.outputs, self.threshold, P), state.targets
            if len(found.near):
                decided[found.near] = state.decide_after(found.outputs[found.near], found.plain, decided[found.near])
            return targets.decode(decided) if isinstance(targets, ClassCodes) else decided.astype(np.int64)

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of the samples that are predicted without an error.

        For full labels this is scikit-learn's `accuracy_score`: of a label matrix the subset accuracy.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array or frame of shape (n_samples, n_labels), or of shape (n_samples,)
            Labels of 0, 1 and NaN, or one class per sample. What is NaN does not count; a sample without any label or
            class is left out.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample.
        """
        predicted = self.predict(X)
        targets = self._state.targets
        truth, _ = read_targets(y, len(predicted), targets)
        answers = np.zeros(truth.shape)  # a label or class that was never learned is not predicted
        answers[:, : targets.size] = targets.read(predicted)[0]
        known = ~np.isnan(truth)
        counted = known.any(axis=1)
        given = read_sample_weight(sample_weight, len(truth))
        weights = np.where(counted, given if len(given) else 1.0, 0.0)
        if not weights.any():
            raise DataError("no sample of y has a known label and a weight above 0; pass labels to compare with")
        right = ((answers == truth) | ~known).all(axis=1)
        return float(right @ weights / weights.sum())

    # ------------------------------------------------------------------ reading

    @exclusive
    def memberships(self, X: object) -> FloatArray:
        """Return the membership of each row of `X` in each rule, (n_samples, n_rules); rows sum to 1."""
        rows = self._read(X)
        model = self._state.trained_model()
        return model.trained().memberships(model.scale(rows))[0]

    @exclusive
    def explain(self, x: object, *, changes: int = 1, follows: int | None = None) -> "Explanation":
        """Return one prediction in parts: the rules that fired for the sample `x`, and the share of each feature.

        `changes` is the most changes per label, each of another feature, that are offered because they would turn it.
        With `follows`, as in `decision_function`, the last answers are a part.
        """
        self._state.fitted_model()
        rows, unseen = read_encoded(self, as_one_row(x), reset=False)
        return self.inner.explain_row(usable_values(rows), unseen=tuple(unseen), changes=changes, follows=follows)

    @exclusive
    def describe(self, X: object = None, *, fidelity: float = 0.95) -> "RuleSet":
        """Return the rules in words, each with the fewest features that keep `fidelity`, after `parts_` in words.

        Parameters
        ----------
        X : array or frame, optional
            Rows on which fidelity and activity are measured; without them on rows drawn from the rules' statistics.
        fidelity : float
            Of the labels that whole rules predict as the model does, the share that shortened rules must predict so.
        """
        from evolabel.explain.read_rules import read_rules

        check_number("fidelity", fidelity, 0, 1)
        model, rows = self._state.fitted_model(), None if X is None else self._read(X)
        names, decide = self.inner.feature_names, self._state.decider(self.threshold)
        return read_rules(model, names, self._state.targets.names, rows=rows, fidelity=fidelity, decide=decide)

    @exclusive
    def figure_data(self) -> "FigureData":
        """Return what `evolabel.explain.figures` read: the trained model, and names of its features and labels."""
        from evolabel.explain.figures.figure_data import FigureData

        state = self._state
        model, thresholds = state.trained_model(), state.own_thresholds(self.threshold)
        return FigureData(model, self.inner.feature_names, state.targets.names, thresholds)

    # ------------------------------------------------------------------ properties

    @property
    def rules_(self) -> "RuleSet":
        """The rules, in words by `str`; empty during the warm-up."""
        return self.describe()

    @property
    @exclusive
    def relevance_(self) -> "Relevance":
        """Share of each label that every feature explains alone."""
        from evolabel.stages.rules.relevance import feature_relevance

        return feature_relevance(
            self._state.trained_model().trained(), self.inner.feature_names, self._state.targets.names
        )

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
        return dict(zip(names, label_drifts(model), strict=True))

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

        return RuleBook(self)

    @property
    def inner(self) -> ClassifierInner:
        """What other packages of the library use of a classifier besides its public methods."""
        return ClassifierInner(self, self._state, self._options_class, self._model_class)

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

    # ------------------------------------------------------------------ files

    @exclusive
    def save(self, path: "str | PathLike[str]") -> None:
        """Write the model to one file at `path` (safetensors, no pickle), atomically."""
        from evolabel.classifier.storage import save_classifier

        self._state.fitted_model()
        self.inner.options()
        save_classifier(self, path)

    @classmethod
    def load(cls, path: "str | PathLike[str]", *, stages: Sequence[Any] = ()) -> Self:
        """Return the model that `save` wrote to `path`: same predictions and further training, bit for bit.

        Files hold no code: if the model has stages of your own, pass them as the parameter `stages` was.
        """
        from evolabel.classifier.storage import load_classifier

        return load_classifier(cls, path, stages)

    # ------------------------------------------------------------------ inner workings

    def _learn_and_report(self, on_event: OnEvent, learn: Callable[[], T]) -> T:
        """Return what `learn` returns, after `on_event` was called with every event that it has logged."""
        check_function("on_event", on_event)
        with self._state.lock:  # events of other threads do not come in between
            before = self._n_events()
            found = learn()
            events = self.inner.events_since(before)
        for event in events:
            on_event(event)
        return found

    def _prepare(self, X: object, y: object, classes: object, sample_weight: object, confidence: object) -> Batch:
        """Return a checked batch; only when all of it is checked, make the first model or add labels."""
        self._state.check_unused()
        first = not self._state.is_fitted
        if classes is None and sample_weight is None and confidence is None and self._is_plain(X, y):
            note_empty(rows_without_features(X), _SKIPPED)  # type: ignore[arg-type]
            return Batch(X, checked_labels(y))  # type: ignore[arg-type]
        if first:
            self.inner.options()
        with unchanged_on_error(self):
            known: Targets | None = None if first else self._state.targets
            if classes is not None and as_array(y, "the target").ndim == 1:
                known = announced(known, classes)
            batch, targets = _read_batch(self, X, y, known, (sample_weight, confidence), streaming=True)
            if first:
                n_labels, exclusive = targets.steps(batch.Y, 0)[0][1], isinstance(targets, ClassCodes)
                self._state.model = self.inner.new_model(batch.X.shape[1], n_labels, exclusive=exclusive)
            elif targets.size > self._state.model.n_labels:
                self.inner.check_memory(batch.X.shape[1], targets.size, self._state.model.options)
        self._state.targets = targets
        return batch

    def _learn_arrays(self, X: Any, y: Any) -> FloatArray | None:
        """Return the outputs from before each row, and learn the rows.

        None is returned, and nothing is done, where they are no such arrays, or where there is more to do.
        """
        state = self._state
        with state.lock:
            if not self._is_plain(X, y):
                return None
            model = state.model
            if model.warm_up or model.own_stages or IN_USE.things or len(X) > CHUNK or not are_usable_rows(X, y):
                return None
            outputs = np.empty(y.shape)
            model.learn_rows(Batch(X, y, outputs=outputs))
            state.note_silent_labels(self.threshold)
            return outputs

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Whether these are arrays as the loops need them, with the known labels; only values are left to check."""
        targets = self._state.__dict__.get("targets")
        return (
            type(targets) is LabelMatrix
            and "feature_names_in_" not in self.__dict__  # scikit-learn warns of arrays where names were known
            and is_checked_shape(X, self.n_features_in_)
            and is_checked_shape(y, len(targets.names))
            and len(X) == len(y)
        )

    @property
    def _lock(self) -> Any:
        return self._state.lock

    def _read(self, X: object) -> FloatArray:
        self._state.fitted_model()
        return read_samples(self, X, reset=False)

    def _probabilities(self, found: Answered) -> FloatArray:
        """The probabilities of what was `found`; rows without any feature get the base rates."""
        if len(found.near) == len(found.outputs):
            return self._state.probabilities_after(found.outputs, found.plain)
        model = self._state.model
        P = model.calibrator().probabilities(found.outputs)
        if found.empty is not None:
            P[found.empty] = base_probabilities(model)
        if len(found.near):
            P[found.near] = self._state.probabilities_after(found.outputs[found.near], found.plain)
        return P

    def _answered(self, X: object, follows: int | None) -> Answered:
        """The outputs for `X`; rows without any feature get the base rates."""
        model = self._state.fitted_model()
        ages = None if follows is None else self._state.ages(follows)
        is_plain = "_columns" not in self.__dict__ and is_checked_shape(X, self.n_features_in_)
        rows: Any = X if is_plain else read_encoded(self, X, reset=False).rows
        empty = rows_without_features(rows)
        if empty is None:
            if ages is not None and len(ages) >= len(rows) and model.warm_up is None and not model.own_stages:
                few = model.answer_few(rows, follows=ages[: len(rows)])  # both kinds of outputs from one call
                return Answered(few.outputs, None, np.arange(len(rows)), few.plain)
            outputs = _outputs(model, rows)
        else:
            note_empty(empty, "the output is the base rates of the labels")
            outputs = np.tile(model.base_rates(), (len(rows), 1))
            if not empty.all():
                outputs[~empty] = _outputs(model, rows, ~empty)
        found = Answered(outputs, empty)
        return found if ages is None else _followed(model, rows, found, ages[: len(rows)])

    def _n_events(self) -> int:
        """Events that were logged so far; 0 while there are no rules."""
        return self._state.model.n_events if self._state.is_fitted else 0

    def __copy__(self) -> Self:
        """A copy with the same parameters, and a copy of the model, so that each of them learns alone."""
        made = object.__new__(type(self))
        with self._lock:
            made.__dict__.update(self.__dict__, _state=copy.deepcopy(self._state))
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return self._state.is_fitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _rows_learned(estimator: EvolvingFuzzyClassifier, X: object) -> IntArray:
    """Return the numbers of the rows of `X`, from 0 on, that are learned in an initial batch: those with a feature."""
    rows = read_encoded(estimator, X, reset=False).rows
    return np.flatnonzero(~np.isnan(rows).all(axis=1))


def _outputs(model: StreamModel, rows: FloatArray, filled: BoolArray | None = None) -> FloatArray:
    """Return the outputs of `model` for those of `rows` that are `filled`, all by default.

    StageError names the first row that a stage of a user cannot answer.
    """
    used = rows if filled is None else rows[filled]
    try:
        return model.outputs(used)
    except StageError as error:
        raise fault_of_row(error, model.outputs, used, filled) from error.__cause__


def _followed(model: StreamModel, rows: FloatArray, found: Answered, ages: IntArray) -> Answered:
    """Return what was `found` for `rows`, with outputs that follow the last answers where the rows come right after.

    `ages` has, for the first rows, how many rows after the last learned one they come.
    """
    if model.warm_up is not None or not len(ages):
        return found
    near = np.flatnonzero(~found.empty[: len(ages)]) if found.empty is not None else np.arange(len(ages))
    if not len(near):
        return found
    close = np.ascontiguousarray(rows[near])
    few = model.answer_few(close, follows=ages[near])
    found.outputs[near] = few.outputs
    return found._replace(near=near, plain=few.plain)


def _read_batch(
    estimator: EvolvingFuzzyClassifier,
    X: object,
    y: object,
    known: Targets | None,
    weights: tuple[object, object],
    *,
    streaming: bool,
) -> tuple[Batch, Targets]:
    """Return a checked batch, and the coding of its target; `known` is the coding so far.

    `weights` are the sample weights and the confidences, `streaming` is False for an initial batch. Names and number of
    features are set in `estimator` by its first batch.
    """
    reset = not streaming or not estimator.inner.is_fitted
    rows = read_encoded(estimator, X, reset=reset).rows
    empty = rows_without_features(rows)
    labels, targets = read_targets(y, len(rows), known, streaming=streaming)
    if targets.size == 0:
        hint = "pass `classes`, or annotate some rows of y" if streaming else "annotate some rows of y"
        raise DataError(f"no sample has a class{' yet' if streaming else ''}; {hint}")
    sample_weight = read_sample_weight(weights[0], len(rows))
    confidences = read_confidence(weights[1], len(rows), targets.size)
    batch = Batch(rows, without_unsure(labels, confidences), sample_weight, confidences)
    note_empty(empty, _SKIPPED)
    if streaming or empty is None:
        return batch, targets
    if empty.all():
        raise DataError("no row of X has a feature (only NaN); pass some rows with values")
    return batch.rows(~empty), targets

"""`EvolvingFuzzyClassifier`: the model as a scikit-learn estimator."""

import copy
from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from evolabel._utils.validation import check_number
from evolabel.classifier.growing import learn_growing
from evolabel.classifier.properties import Readable
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.samples import as_array, checked_values, is_checked_shape, read_samples
from evolabel.classifier.targets import (
    ClassCodes,
    LabelMatrix,
    Targets,
    announced,
    checked_labels,
    joined,
    places,
    read_targets,
)
from evolabel.classifier.weights import read_confidence, read_sample_weight, without_unsure
from evolabel.core.merge_models import sibling, unite
from evolabel.core.model import CHUNK, StreamModel
from evolabel.core.options import PAPER_PROFILE, Options, option_names
from evolabel.core.rules.rule_base import NO_ROWS, NOTHING
from evolabel.errors import DataError, DataTypeError
from evolabel.kernels.thresholds import UNDECIDED
from evolabel.typing import AnyArray, BoolArray, FloatArray


class EvolvingFuzzyClassifier(Readable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Evolving multi-label fuzzy classifier (EFC-ML): one readable rule base, learned in a single pass.

    Every rule covers a region of the feature space with a Gaussian and holds one linear model per label; an answer is
    the mean of the active rules' answers, weighted by membership. Rules are seeded early, follow their samples, and
    are merged to make room for what is new. Not the right tool for images, raw text or a handful of samples.

    Parameters
    ----------
    max_rules : int, default=30
        Most rules at a time. Where all are in use, the closest pair is merged before a new one starts.
    vigilance : float, default=0.5
        Mean squared distance to the nearest rule above which a sample starts a rule, while there is space.
        Smaller values give more rules, earlier. With `novelty="paper"` it is the factor fac of eq. (5).
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
    forgetting : float, default=1.0
        Factor by which a rule's past fades per sample's worth of new evidence. 1 never forgets.
    prune_after : int or None, default=None
        Samples without a win after which a rule below `min_support` is removed. None never removes one.
    warm_up : int, default=80
        Samples `partial_fit` collects for the batch phase if `fit` was never called. Until then outputs are
        running label frequencies.
    optimise : {"accuracy", "macro_f1", "micro_f1"}, default="accuracy"
        Measure that predicted labels are best at. At "accuracy" outputs are cut at `threshold`; for "macro_f1"
        every label has a threshold of its own, for "micro_f1" all labels share one, learned on the stream.
        Outputs do not change (label matrix only).
    threshold : float, default=0.5
        Outputs of at least this much are predicted as 1. Used for a label matrix with `optimise="accuracy"`,
        and read when the model predicts.
    n_knots : int, default=16
        Quantiles per feature that the quantile scaling keeps.
    novel_z : float, default=6.0
        Standard deviations above the recent mean distance at which a sample starts a rule in a full rule base.
        The closest pair of rules is merged to make space for it.
    prior_count : float or str, default=31.0
        Samples that the prior spread of a rule counts for. "2p" is twice the number of features.
    prior_variance : float, default=1.0
        Squared spread that a rule starts with, in units of a scaled feature's variance.
    min_activation : float, default=0.03
        Membership below which a rule neither answers nor learns.
    global_ridge : float, default=1.5
        Ridge of the global model, in units of `ridge`.
    local_ridge : float or "loo", default="loo"
        Ridge of each rule towards the global model, in units of `ridge`. "loo" chooses it, up to 0.2, by leave-
        one-out of the whole rule base on the initial batch; without a global parent it is 0.2 then.
    intercept_ridge : float, default=0.01
        Share of the ridge put on the intercept.
    min_support : float, default=3.0
        Support below which `prune_after` removes a rule.
    merging : {"room", "touching"}, default="room"
        Whether rules are merged only to make space, or also when they touch and agree. "room": only to make
        space.
    consistency : {"output", "angle"}, default="output"
        How agreement of merged consequents is measured, eq. (29).
    feature_weights : {"equal", "relevance"}, default="equal"
        Weights of the features in squared distances. All the same, or by the share of the labels that each
        feature explains alone, which follows the stream; 1 on average, see `feature_weights_`.
    alpha : float, default=0.0
        L1 penalty on the weights, intercepts spared. Above 0, weights are iterated (Algorithms 1 and 2).
    beta : float, default=0.0
        Strength of the label coupling, intercepts spared. Above 0, weights are iterated (Algorithms 1 and 2).
    coupling : {"signed_laplacian", "shifted", "ridge", "none", "paper"}, default="signed_laplacian"
        Matrix of the label coupling, from the correlations inside a rule. "paper" is the printed matrix, which
        is indefinite and may end in DivergenceError.
    prox_steps : int, default=1
        Proximal gradient steps per sample. 0 leaves recursive least squares alone.
    rls : bool, default=True
        Whether a recursive least squares step comes first.
    lipschitz : {"safe", "paper"}, default="safe"
        Step length of the proximal gradient. "paper" is the printed one, which may end in DivergenceError.
    parent : {"global", "nearest", "none"}, default="global"
        Model that a new rule starts from. The global model, towards which its ridge pulls; the nearest rule
        (eq. 28); zero.
    covariance : {"diag", "full"}, default="diag"
        Axis-parallel or rotated rules.
    space : {"input", "product"}, default="input"
        Space in which rules are born and moved: features, or features and labels.
    label_weight : float, default=1.0
        Length of a label in the product space, in units of a scaled feature. It counts as long as the prior
        does, because a spread that is learned cancels it.
    novelty : {"deviation", "paper"}, default="deviation"
        Criterion by which a sample starts a rule. By `vigilance` and `novel_z`, or by the radius of eq. (5)
        with fac = `vigilance`.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,), if X had column names
    label_names_ : ndarray of shape (n_labels,)
    classes_ : ndarray of the classes for a 1-D target; one row [0, 1] per label for a label matrix
    n_rules_ : int
    n_samples_seen_ : int
    ridge_ : float, the unit of the ridges
    local_ridge_ : float, the ridge of the rules in this unit
    feature_weights_ : ndarray of shape (n_features,), what the features count in squared distances, 1 on average
    thresholds_ : ndarray of shape (n_labels,), outputs of at least this much are predicted as 1
    rules_ : RuleSet, a sequence of Rule: read-only views, in words by `str`
    relevance_ : Relevance, how much of each label every feature explains
    events_ : list of Event: births, merges, deaths and adoptions of rules, and acts of people (the last 10,000)
    rulebook : RuleBook, to add, edit, rename, lock, merge and delete rules by hand

    Notes
    -----
    Inference is eqs. (1)-(4) of the paper, learning Algorithms 1 and 2, in closed form at alpha = beta = 0. NaN in X
    is a missing feature, NaN in Y a label nobody annotated. Parameters are read when training starts,
    `threshold` when it predicts.

    Threads: all methods can be called at any time from any thread; one waits for the other, and every answer is that of
    the model before or after a whole call. `fit` takes its time beside the others and replaces the model at its end.
    Not guarded: `copy`, `deepcopy` and `pickle` (use `save`), and what `anatomy`, `rules_` and `figures` read later.
    Ctrl-C waits until the model is whole: at most for 4,096 rows of `partial_fit`, of which those before are learned.

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

    def __init__(
        self,
        *,
        max_rules: int = 30,
        vigilance: float = 0.5,
        scaling: str = "quantile",
        ridge: float | str = "press",
        temperature: float | str = "0.1p",
        forgetting: float = 1.0,
        prune_after: int | None = None,
        warm_up: int = 80,
        optimise: str = "accuracy",
        threshold: float = 0.5,
        n_knots: int = 16,
        novel_z: float = 6.0,
        prior_count: float | str = 31.0,
        prior_variance: float = 1.0,
        min_activation: float = 0.03,
        global_ridge: float = 1.5,
        local_ridge: float | str = "loo",
        intercept_ridge: float = 0.01,
        min_support: float = 3.0,
        merging: str = "room",
        consistency: str = "output",
        feature_weights: str = "equal",
        alpha: float = 0.0,
        beta: float = 0.0,
        coupling: str = "signed_laplacian",
        prox_steps: int = 1,
        rls: bool = True,
        lipschitz: str = "safe",
        parent: str = "global",
        covariance: str = "diag",
        space: str = "input",
        label_weight: float = 1.0,
        novelty: str = "deviation",
    ) -> None:
        self.max_rules = max_rules
        self.vigilance = vigilance
        self.scaling = scaling
        self.ridge = ridge
        self.temperature = temperature
        self.forgetting = forgetting
        self.prune_after = prune_after
        self.warm_up = warm_up
        self.optimise = optimise
        self.threshold = threshold
        self.n_knots = n_knots
        self.novel_z = novel_z
        self.prior_count = prior_count
        self.prior_variance = prior_variance
        self.min_activation = min_activation
        self.global_ridge = global_ridge
        self.local_ridge = local_ridge
        self.intercept_ridge = intercept_ridge
        self.min_support = min_support
        self.merging = merging
        self.consistency = consistency
        self.feature_weights = feature_weights
        self.alpha = alpha
        self.beta = beta
        self.coupling = coupling
        self.prox_steps = prox_steps
        self.rls = rls
        self.lipschitz = lipschitz
        self.parent = parent
        self.covariance = covariance
        self.space = space
        self.label_weight = label_weight
        self.novelty = novelty

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """The paper's own profile: product space, rotated rules, L1, label coupling, rules that merge when they touch.

        Its mathematical errors stay mended (docs/where-we-leave-the-paper.md). `changes` replace single parameters;
        `vigilance` (fac), `alpha` and `beta` are meant to be tuned.
        """
        return cls(**{**PAPER_PROFILE, **changes})

    # ------------------------------------------------------------------ learning

    def fit(self, X: object, y: object = None, sample_weight: object = None, confidence: object = None) -> Self:
        """Batch phase: forget everything and learn an initial batch.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features); NaN: feature missing
        y : array or frame of shape (n_samples, n_labels) of 0, 1, NaN (not annotated), or one class per sample
        sample_weight : array of shape (n_samples,), optional
            How much each sample counts in the statistics of the rules. Samples of weight 0 are left out; the scaling
            and the ridges chosen by leave-one-out count all others alike.
        confidence : array in [0, 1] of shape (n_samples, n_labels) or (n_samples,), optional
            How sure the annotator was; 0 counts as not annotated.
        """
        options, fitted = self._options(), copy.copy(self)
        rows = read_samples(fitted, X, reset=True)
        labels, targets = read_targets(y, len(rows), None, streaming=False)
        weights = read_sample_weight(sample_weight, len(rows))
        if targets.size == 0:
            raise DataError("no sample has a class; annotate some rows of y")
        confidences = read_confidence(confidence, len(rows), targets.size)
        labels = without_unsure(labels, confidences)
        model = StreamModel(rows.shape[1], targets.size, options)
        model.fit(rows, labels, weights, confidences)
        with self._lock:
            fitted.__dict__.update(_model=model, _targets=targets)
            self.__dict__ = fitted.__dict__  # one step: until here an error or Ctrl-C leaves what was learned before
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: object = None,
        sample_weight: object = None,
        confidence: object = None,
    ) -> Self:
        """Incremental phase: learn rows one after the other, in a single pass. May be the very first call.

        A wider y, new column names or new classes make the model grow. `classes` may announce the classes of a 1-D
        target ahead of time. The other arguments are those of `fit`.
        """
        if classes is None and sample_weight is None and confidence is None:
            with self._lock:
                if self._is_quick(X, y):
                    self._model.learn_rows(checked_values(X), checked_labels(y))
                    return self
        return self._partial_fit(X, y, classes, sample_weight, confidence)

    @uninterrupted
    def _partial_fit(self, X: object, y: object, classes: object, sample_weight: object, confidence: object) -> Self:
        """`partial_fit` of anything: frames, weights, new labels, a warm-up."""
        rows, labels, weights, confidences = self._prepare(X, y, classes, sample_weight, confidence)
        self._learn(rows, labels, weights, confidences, NO_ROWS)
        return self

    def test_then_train(self, X: Any, y: Any, sample_weight: object = None, confidence: object = None) -> FloatArray:
        """Answer every row, then learn it: the outputs of eq. (2), each from before its row was learned.

        The same as calling `decision_function` and `partial_fit` row by row, in one pass and at nearly the price of
        learning alone. For a 1-D target the columns are the classes; one that nobody had seen yet answers 0.
        """
        if sample_weight is None and confidence is None:
            with self._lock:
                if self._is_quick(X, y):
                    out = np.zeros(y.shape)
                    self._model.learn_rows(checked_values(X), checked_labels(y), out=out)
                    return out
        return self._test_then_train(X, y, sample_weight, confidence)

    @uninterrupted
    def _test_then_train(self, X: object, y: object, sample_weight: object, confidence: object) -> FloatArray:
        """`test_then_train` of anything: frames, weights, new labels, a warm-up."""
        rows, labels, weights, confidences = self._prepare(X, y, None, sample_weight, confidence)
        out = np.zeros((len(rows), self._targets.size))
        self._learn(rows, labels, weights, confidences, out)
        return out

    @uninterrupted
    def decide_then_train(
        self, X: object, y: object, sample_weight: object = None, confidence: object = None
    ) -> tuple[FloatArray, BoolArray]:
        """`test_then_train` with decisions: the outputs, and where `predict` would have said 1, before each row.

        Only for a label matrix. A label that nobody had seen yet is not predicted.
        """
        if np.ndim(y) == 1:  # type: ignore[arg-type]
            raise DataError("decide_then_train takes a label matrix, got a 1-D target; use test_then_train")
        check_number("threshold", self.threshold, 0, 1)
        rows, labels, weights, confidences = self._prepare(X, y, None, sample_weight, confidence)
        out = np.zeros((len(rows), self._targets.size))
        limits = NO_ROWS if self._model.counts is None else np.full(out.shape, UNDECIDED)
        self._learn(rows, labels, weights, confidences, out, limits)
        return out, out >= (limits if len(limits) else self.threshold)

    def merge(self, other: "EvolvingFuzzyClassifier") -> Self:
        """Unite with a classifier trained apart on the same features: its rules and statistics are added to this one's.

        Exact if both share their scaling (see `sibling`); otherwise `other` is translated feature by feature, and
        refused where the two scalings differ too much. Rules beyond `max_rules` are merged, closest pairs first. The
        ridges are this one's. A label that only one of the two has answers to counts as not annotated in the other's
        samples, which leave its weights as they are; samples without a class are known not to be of it.
        """
        if not isinstance(other, EvolvingFuzzyClassifier):
            raise DataTypeError(f"merge takes a classifier, got {type(other).__name__}; load a file first")
        first, second = (self, other) if id(self) < id(other) else (other, self)
        with first._lock, second._lock:  # always in this order, else two merges could wait for each other
            mine, theirs = self._trained(), other._trained()
            self._check_same_features(other)
            coding = joined(self._targets, other._targets)
            at, classes = places(other._targets, coding), isinstance(coding, ClassCodes)
            united = unite(mine, theirs, coding.size, at, exclusive=classes)
            self.__dict__.update(_model=united, _targets=coding)  # one step
        return self

    @exclusive
    def sibling(self) -> "EvolvingFuzzyClassifier":
        """A classifier without samples but with this one's scaling, ridges and labels: train it apart, then `merge`."""
        twin = copy.deepcopy(self)
        twin._model = sibling(self._trained())
        return twin

    # ------------------------------------------------------------------ answering

    def decision_function(self, X: object) -> FloatArray:
        """Continuous outputs of eq. (2), (n_samples, n_labels); for two classes their difference, (n_samples,).

        Many rows at a time are answered faster than one by one; the outputs are the same up to rounding.
        """
        with self._lock:
            outputs, targets = self._outputs(X), self._targets
        if isinstance(targets, ClassCodes) and targets.size <= 2:
            return np.asarray(outputs[:, -1] - (outputs[:, 0] if targets.size == 2 else 0.0))
        return outputs

    def predict_proba(self, X: object) -> FloatArray:
        """Outputs clipped to [0, 1], (n_samples, n_labels); for a 1-D target they are made to sum to 1."""
        with self._lock:
            outputs, targets = self._outputs(X), self._targets
        shares = np.clip(outputs, 0.0, 1.0)
        if isinstance(targets, LabelMatrix):
            return shares
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), 1.0 / targets.size)

    def predict(self, X: object) -> AnyArray:
        """Labels as 0/1, eq. (4), (n_samples, n_labels); the class with the largest output for a 1-D target."""
        with self._lock:
            outputs, targets = self._outputs(X), self._targets
            if isinstance(targets, ClassCodes):
                return targets.decode(outputs)
            return np.asarray(outputs >= self._thresholds(), dtype=np.int64)

    @uninterrupted
    def name_columns(self, features: Sequence[str], labels: Sequence[str]) -> Self:
        """Give names to features and labels that came as plain arrays; rules and explanations then speak of them."""
        model = self._fitted_model()
        for kind, names, width in (("features", features, model.n_features), ("labels", labels, self._targets.size)):
            if len(names) != width or len(set(map(str, names))) != width:
                raise DataError(f"{len(names)} names were given for {width} {kind}; give one name each, all different")
        if not isinstance(self._targets, LabelMatrix):
            raise DataError("the labels are classes and have names already; name the columns of a label matrix only")
        self.feature_names_in_ = np.array([str(name) for name in features], dtype=object)
        self._targets = LabelMatrix([str(name) for name in labels])
        return self

    # ------------------------------------------------------------------ files

    @exclusive
    def save(self, path: "str | PathLike[str]") -> None:
        """Write the model to one file (safetensors, no pickle), atomically."""
        from evolabel.classifier.storage import save_classifier

        self._fitted_model()
        self._options()
        save_classifier(self, path)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> Self:
        """Read a model written by `save`: the same predictions and the same further training, bit for bit."""
        from evolabel.classifier.storage import load_classifier

        return load_classifier(cls, path)

    # ------------------------------------------------------------------ inner workings

    def _options(self) -> Options:
        return Options(**{name: getattr(self, name) for name in option_names()}).check()

    def _prepare(
        self, X: object, y: object, classes: object, sample_weight: object, confidence: object
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Check everything about a batch, and only then let the model be born or grow."""
        first = "_model" not in self.__dict__
        if classes is None and sample_weight is None and confidence is None and self._is_plain(X, y):
            return checked_values(X), checked_labels(y), NOTHING, NO_ROWS  # type: ignore[arg-type]
        options = self._options() if first else None
        with _unchanged_on_error(self):
            rows = read_samples(self, X, reset=first)
            known: Targets | None = None if first else self._targets
            if classes is not None and as_array(y, "the target").ndim == 1:
                known = announced(known, classes)
            labels, targets = read_targets(y, len(rows), known, streaming=True)
            if targets.size == 0:
                raise DataError("no sample has a class yet; pass `classes`, or annotate some rows of y")
            weights = read_sample_weight(sample_weight, len(rows))
            confidences = read_confidence(confidence, len(rows), targets.size)
            labels = without_unsure(labels, confidences)
            if options is not None:
                self._model = StreamModel(rows.shape[1], targets.steps(labels, 0)[0][1], options)
        self._targets = targets
        return rows, labels, weights, confidences

    def _is_quick(self, X: Any, y: Any) -> bool:
        """Whether the rows can be learned in steps that each leave a whole model, without holding Ctrl-C back."""
        return self._is_plain(X, y) and self._model.is_plain and self._model.warm_up is None and len(X) <= CHUNK

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Are these arrays as the kernels want them, with the known labels? Then only values are left to check."""
        known = self.__dict__
        return (
            "_model" in known
            and type(self._targets) is LabelMatrix
            and "feature_names_in_" not in known  # scikit-learn warns of arrays where names were known
            and is_checked_shape(X, self.n_features_in_)
            and is_checked_shape(y, len(self._targets.names))
            and len(X) == len(y)
        )

    def _learn(
        self,
        rows: FloatArray,
        labels: FloatArray,
        weights: FloatArray,
        confidences: FloatArray,
        out: FloatArray,
        limits: FloatArray = NO_ROWS,
    ) -> None:
        """Learn a checked batch; where new labels come in, the model grows first.

        `out` receives the answers, `limits` the learned thresholds of that moment.
        """
        batch = rows, labels, weights, confidences, out, limits
        if self._targets.size == self._model.n_labels:
            self._model.learn(*batch)
            return
        try:
            learn_growing(self._model, self._targets, *batch)
        except BaseException:
            self._targets = self._targets.first(self._model.n_labels)  # those after them have not come yet
            raise

    def _check_same_features(self, other: "EvolvingFuzzyClassifier") -> None:
        mine, theirs = self._feature_names(), other._feature_names()
        if mine != theirs:
            raise DataError(
                f"the classifiers know different features ({len(mine)}: {mine[:3]}..., {len(theirs)}: "
                f"{theirs[:3]}...); only classifiers of the same features can be merged"
            )

    def __getstate__(self) -> dict[str, Any]:
        """All attributes; the lock belongs to this object alone."""
        return dict(self.__dict__)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


class _unchanged_on_error:
    """Put back an estimator's attributes if the block raises: bad input must leave no trace."""

    def __init__(self, estimator: EvolvingFuzzyClassifier) -> None:
        self.estimator = estimator
        self.before = dict(estimator.__dict__)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.estimator.__dict__ = self.before

"""`EvolvingFuzzyClassifier`: the model as a scikit-learn estimator."""

import copy
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evolabel._utils.lazy import deferred
from evolabel._utils.validation import check_number
from evolabel.classifier.learning import Learning
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.samples import as_one_row, read_encoded, usable_values
from evolabel.classifier.scoring import share_right
from evolabel.classifier.targets import ClassCodes, joined, places
from evolabel.core.options import PAPER_PROFILE
from evolabel.errors import DataTypeError
from evolabel.model.merge import empty_like, merge
from evolabel.stages.calibration.stage import DEFAULT_COVERAGE, check_coverage
from evolabel.streams.column_kinds import ONLY_NUMBERS, ColumnKinds
from evolabel.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from evolabel.explain.figures.figure_data import FigureData
    from evolabel.explain.prediction import Explanation
    from evolabel.explain.rules import RuleSet

with deferred("pandas", "scipy.stats"):  # scikit-learn imports them, half of its import, and uses neither here
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.metadata_routing import UNUSED


class EvolvingFuzzyClassifier(Learning, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    follow_drift : bool, default=True
        Whether the model follows labels that change their meaning. A fast and a linear member then answer
        beside the rules, and alarms watch the errors of each label. Not with `alpha` or `beta` above 0 or with
        a `parent` other than "global".
    threshold_rules : bool, default=True
        Whether thresholds and conjunctions that separate a label are found and used. They answer for a label only
        where they are better than the rules beyond doubt.
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
        Whether rules are merged only to make space, or also when they touch and agree. "room": only for space.
    consistency : {"output", "angle"}, default="output"
        How agreement of merged consequents is measured, eq. (29).
    alpha : float, default=0.0
        L1 penalty on the weights, intercepts spared. Above 0, weights are iterated (Algorithms 1 and 2).
    beta : float, default=0.0
        Strength of the label coupling, intercepts spared. Above 0, weights are iterated (Algorithms 1 and 2).
    coupling : {"signed_laplacian", "shifted", "ridge", "none", "paper"}, default="signed_laplacian"
        Matrix of the label coupling, from the correlations inside a rule. "paper": as printed; it may diverge.
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
    Inference is eqs. (1)-(4) of the paper, learning Algorithms 1 and 2, in closed form at alpha = beta = 0. NaN in X
    is a missing feature, NaN in Y a label that was not annotated. Parameters are read when training starts,
    `threshold` when it predicts.

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

    __metadata_request__partial_fit = {"on_event": UNUSED}  # noqa: RUF012 (as scikit-learn reads it; no metadata)
    score = share_right  # instead of scikit-learn's, which takes no NaN

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return a classifier with the paper's own profile (`core.options.PAPER_PROFILE`).

        Product space, rotated rules, L1, label coupling, rules that merge when they touch. Its mathematical errors stay
        mended (docs/explanations/where-we-leave-the-paper.md).

        Parameters
        ----------
        **changes
            Single parameters that differ; `vigilance` (fac), `alpha` and `beta` are meant to be tuned.
        """
        return cls(**{**PAPER_PROFILE, **changes})

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
            mine, theirs = self._state.trained_model(), other.inner.trained_model
            self.inner.check_mergeable(other)
            targets = other.inner.targets
            coding = joined(self._state.targets, targets)
            at, classes = places(targets, coding), isinstance(coding, ClassCodes)
            merged = merge(mine, theirs, coding.size, at, exclusive=classes)
            self._state.replace(merged, coding)
        return self

    @exclusive
    def sibling(self) -> "EvolvingFuzzyClassifier":
        """Return a classifier without samples but with this one's scaling, ridges and labels, to be merged later."""
        twin = copy.deepcopy(self)
        twin.inner.replace_model(empty_like(self._state.trained_model()))
        return twin

    # ------------------------------------------------------------------ answering

    def decision_function(self, X: object) -> FloatArray:
        """Return the continuous outputs of eq. (2).

        Many rows at a time are answered faster than one by one; the outputs are the same up to rounding.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For two classes their difference, (n_samples,).
        """
        with self._state.lock:
            outputs, targets = self._outputs(X), self._state.targets
        if isinstance(targets, ClassCodes) and targets.size <= 2:
            return np.asarray(outputs[:, -1] - (outputs[:, 0] if targets.size == 2 else 0.0))
        return outputs

    @exclusive
    def predict_proba(self, X: object) -> FloatArray:
        """Return the probability of each label of `X`, (n_samples, n_labels); for a 1-D target rows sum to 1.

        Outputs are calibrated along the stream (docs/explanations/trust.md). A probability is never 0, and 1
        only where a 1-D target has shown a single class. `predict` cuts outputs, not probabilities.
        """
        return self._answers(X)[1]

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return the logarithm of `predict_proba` of `X`, which is always finite."""
        return np.asarray(np.log(self.predict_proba(X)))

    @exclusive
    def predict_set(self, X: object, coverage: float = DEFAULT_COVERAGE) -> BoolArray:
        """Return what may be true of each sample, wide enough to hold the truth in a share `coverage` of the samples.

        Thresholds follow the stream label by label, also where it drifts (docs/explanations/trust.md).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            From 0.5 to 0.99.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels, 2)
            Whether each label may be off, and may be on; at least one of them. For a 1-D target (n_samples, n_classes):
            the classes that may be true, at least one.
        """
        level = check_coverage(coverage)
        P, calibrator = self._answers(X)[1], self._state.model.calibrator()
        return calibrator.sets(P, calibrator.limits(level))

    def predict(self, X: object) -> AnyArray:
        """Return the labels of `X` as 0/1, eq. (4), (n_samples, n_labels); for a 1-D target the class of each row."""
        state = self._state
        with state.lock:
            weighted = state.fitted_model().options.class_weight is not None
            outputs, P = self._answers(X) if weighted else (self._outputs(X), None)
            decided, targets = state.decide(outputs, self.threshold, P), state.targets
            return targets.decode(decided) if isinstance(targets, ClassCodes) else decided.astype(np.int64)

    # ------------------------------------------------------------------ reading

    @exclusive
    def memberships(self, X: object) -> FloatArray:
        """Return the membership of each row of `X` in each rule, (n_samples, n_rules); rows sum to 1."""
        rows = self._read(X)
        model = self._state.trained_model()
        return model.trained().memberships(model.scale(rows))[0]

    @exclusive
    def explain(self, x: object, *, turns: int = 1) -> "Explanation":
        """Return one prediction in parts: the rules that fired for the sample `x`, and the share of each feature.

        `turns` is the most changes per label, each of another feature, that are offered because they would turn it.
        """
        self._state.fitted_model()
        rows, unseen = read_encoded(self, as_one_row(x), reset=False)
        return self.inner.explain_row(usable_values(rows), unseen=tuple(unseen), turns=turns)

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

    @uninterrupted
    def name_columns(self, features: Sequence[str], labels: Sequence[str], kinds: ColumnKinds = ONLY_NUMBERS) -> Self:
        """Name the `features` and the `labels` that came as plain arrays; rules and explanations use the names.

        Features of 0 and 1 named `site=north` and `site=south` are the texts of one column, `site`, of later frames.
        `kinds`, those of a `Dataset`, say which columns held texts, true and false, or timestamps.
        """
        self.inner.name_arrays([*map(str, features)], [*map(str, labels)], kinds)
        return self

    @exclusive
    def save(self, path: "str | PathLike[str]") -> None:
        """Write the model to one file at `path` (safetensors, no pickle), atomically."""
        from evolabel.classifier.storage import save_classifier

        self._state.fitted_model()
        self.inner.options()
        save_classifier(self, path)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> Self:
        """Return the model that `save` wrote to `path`: same predictions and further training, bit for bit."""
        from evolabel.classifier.storage import load_classifier

        return load_classifier(cls, path)

    # ------------------------------------------------------------------ inner workings

    def __copy__(self) -> Self:
        """A copy with the same model, and a lock of its own."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _state=copy.copy(self._state))
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

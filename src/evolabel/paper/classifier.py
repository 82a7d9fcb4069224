"""`PaperClassifier`: the method with the formulas that the paper prints, as a scikit-learn estimator."""

from dataclasses import dataclass
from typing import ClassVar

from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.model.stream_model import StreamModel
from evolabel.paper.model import PaperModel
from evolabel.paper.options import PaperOptions

_FEW_SAMPLES = 2.0


@dataclass(kw_only=True, eq=False, repr=False)
class PaperClassifier(EvolvingFuzzyClassifier):
    """EFC-ML as the paper describes it, with its errors mended; single parameters bring the printed formulas back.

    It is for research: to compare with the paper, to try its formulas one by one, and as a rival of
    `EvolvingFuzzyClassifier`, which is more accurate and needs less tuning. Everything that is not named here works as
    there: learning, predictions, rules, explanations, files. The stages that the paper does not have are absent: no
    member follows drift, and there are no threshold rules.

    As printed:

    - inference, eqs. (1)-(4), by rotated rules that are born and moved in the joint space of features and labels;
    - a rule starts where the joint distance to all others exceeds the radius of eq. (5), with fac = `vigilance`, at the
      weights of the nearest rule, eq. (28);
    - weights by recursive least squares and proximal steps for L1 and label coupling (Algorithms 1 and 2);
    - a rule that a sample has moved is merged with the nearest one if they touch and agree (section 3.2).

    Mended, because the printed form diverges, or cannot give what it is meant to give: the step length of eq. (14), the
    label matrix of eq. (10), penalties on intercepts, the ridge of the recursions, the weight of the prior spread, the
    pooling of merged rules. docs/explanations/where-we-leave-the-paper.md has each printed formula, why it fails, and
    the parameter that restores it: `lipschitz="paper"`, `coupling="paper"`, `consistency="angle"`. Those of the first
    two may end in DivergenceError.

    Parameters
    ----------
    max_rules : int, default=100000
        Most rules at a time. The paper has no limit, and the default leaves it to the memory available. Where all are
        in use, the closest pair is merged before a new one starts.
    vigilance : float, default=0.4
        Factor fac of eq. (5): the larger, the farther a new rule is from others. The paper tunes it. With
        `novelty="deviation"` the mean squared distance of `EvolvingFuzzyClassifier`.
    scaling : {"quantile", "standard", "minmax", "none"}, default="standard"
        How features are scaled, learned from the initial batch. As in `EvolvingFuzzyClassifier`.
    ridge : float, "press" or "condition", default="condition"
        Unit of `global_ridge` and `local_ridge`. "condition", eq. (18), makes it just large enough for the
        arithmetic; "press" chooses it by leave-one-out on the initial batch.
    temperature : float, "sqrt" or str, default=1.0
        T of the memberships exp(-d²/2T). 1 is eq. (3); others as in `EvolvingFuzzyClassifier`.
    prune_after : int or None, default=None
        Samples without a win after which a rule below `min_support` is removed. None never removes one.
    warm_up : int, default=80
        Samples `partial_fit` collects for the batch phase if `fit` was never called. Until then outputs are
        running label frequencies.
    optimise : {"accuracy", "balanced", "macro_f1", "micro_f1", "subset_accuracy"}, default="accuracy"
        Measure that predicted labels are best at. As in `EvolvingFuzzyClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weight of a label, or of a class, in decisions. As in `EvolvingFuzzyClassifier`.
    threshold : float, default=0.5
        Outputs of at least this much are predicted as 1. Eq. (4).
    novel_z : float, default=6.0
        Standard deviations above the recent mean distance at which a sample starts a rule in a full rule base.
        With `novelty="deviation"` only.
    prior_count : float or str, default="2p"
        Samples that the prior spread of a rule counts for. "2p" is twice the number of features.
    min_activation : float, default=0.0
        Membership below which a rule neither answers nor learns.
    global_ridge : float, default=1.5
        Ridge of the global model, in units of `ridge`.
    local_ridge : float or "loo", default=1.0
        Ridge of each rule towards the global model, in units of `ridge`. "loo" chooses it, up to 0.2, by leave-
        one-out on the initial batch; without a global parent it is 0.2 then.
    intercept_ridge : float, default=0.01
        Share of the ridge put on the intercept.
    min_support : float, default=3.0
        Support below which `prune_after` removes a rule.
    alpha : float, default=0.1
        L1 penalty on the weights, intercepts spared. The paper tunes it. At alpha = beta = 0 weights have a closed
        form, unless they start at those of the nearest rule.
    beta : float, default=1.0
        Strength of the label coupling, intercepts spared. The paper tunes it.
    coupling : {"signed_laplacian", "shifted", "ridge", "none", "paper"}, default="shifted"
        Matrix of the label coupling, from the correlations inside a rule. "paper" is A = 1 - corr as printed, which
        is indefinite; "shifted" is A made positive semidefinite.
    prox_steps : int, default=1
        Proximal gradient steps per sample. 0 leaves recursive least squares alone.
    rls : bool, default=True
        Whether a recursive least squares step comes first.
    lipschitz : {"safe", "paper"}, default="safe"
        Step length of the proximal gradient. "paper" is that of eq. (14).
    parent : {"global", "nearest", "none"}, default="nearest"
        Model that a new rule starts from. The nearest rule (eq. 28); the global model, towards which its ridge pulls;
        zero.
    covariance : {"diag", "full"}, default="full"
        Axis-parallel or rotated rules.
    space : {"input", "product"}, default="product"
        Space in which rules are born and moved: features, or features and labels.
    label_weight : float, default=1.0
        Length of a label in the product space, in units of a scaled feature. It counts as long as the prior
        does, because a spread that is learned cancels it.
    novelty : {"deviation", "paper"}, default="paper"
        Criterion by which a sample starts a rule. By the radius of eq. (5), or by `vigilance` and `novel_z` as in
        `EvolvingFuzzyClassifier`.
    merging : {"room", "touching"}, default="touching"
        Whether rules are merged only to make space, or also when they touch and agree. "room": only for space.
    consistency : {"output", "angle"}, default="output"
        How agreement of merged consequents is measured, eq. (29). "angle" is the printed one, which ignores
        intercepts.

    See Also
    --------
    EvolvingFuzzyClassifier : the classifier for use, with the attributes and methods of this one.
    evolabel.paper.PaperGridSearch : `vigilance`, `alpha` and `beta` by cross-validation, as the paper tunes them.

    References
    ----------
    E. Lughofer, Evolving multi-label fuzzy classifier, Information Sciences 597 (2022).

    Examples
    --------
    The step length of eq. (14) is too long, and the weights diverge in the batch phase; the mended one learns.

    >>> from evolabel.errors import DivergenceError
    >>> from evolabel.paper import PaperClassifier
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(200)
    >>> clf = PaperClassifier(vigilance=0.6).fit(X[:100], Y[:100])
    >>> clf.test_then_train(X[100:], Y[100:]).shape
    (100, 5)
    >>> try:
    ...     PaperClassifier(vigilance=0.6, lipschitz="paper").fit(X[:100], Y[:100])
    ... except DivergenceError:
    ...     print("diverged")
    diverged
    """

    # Stages that are not in the paper: never part of this model, so no parameters.
    follow_drift: ClassVar[bool] = False  # type: ignore[misc]
    threshold_rules: ClassVar[bool] = False  # type: ignore[misc]
    memory: ClassVar[None] = None  # type: ignore[misc]
    stages: ClassVar[tuple[()]] = ()  # type: ignore[misc]

    max_rules: int = 100_000
    vigilance: float = 0.4
    scaling: str = "standard"
    ridge: float | str = "condition"
    temperature: float | str = 1.0
    prior_count: float | str = "2p"
    min_activation: float = 0.0
    local_ridge: float | str = 1.0
    alpha: float = 0.1
    beta: float = 1.0
    coupling: str = "shifted"
    prox_steps: int = 1
    rls: bool = True
    lipschitz: str = "safe"
    parent: str = "nearest"
    covariance: str = "full"
    space: str = "product"
    label_weight: float = 1.0
    novelty: str = "paper"
    merging: str = "touching"
    consistency: str = "output"

    _options_class: ClassVar[type[Options]] = PaperOptions
    _model_class: ClassVar[type[StreamModel]] = PaperModel

    @property
    def n_small_rules_(self) -> int:
        """Number of rules that hold at most two samples. The paper removes none; `prune_after` does."""
        rules = self._state.fitted_model().rules
        return 0 if rules is None else int((rules.arrays.k[1 : rules.n_rules + 1] <= _FEW_SAMPLES).sum())

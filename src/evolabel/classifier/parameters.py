"""The parameters of `EvolvingFuzzyClassifier`, as scikit-learn needs them: a signature and one attribute each."""

from evolabel.core.options import Options, option_names


class Parameters:
    """Holds the parameters, which `core.options.Options` declares and the docstring of the estimator explains."""

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

    def _options(self) -> Options:
        """Return the parameters, checked; ParameterError for the first that is not allowed."""
        return Options(**{name: getattr(self, name) for name in option_names()}).check()

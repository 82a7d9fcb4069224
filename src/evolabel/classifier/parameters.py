"""The parameters of `EvolvingFuzzyClassifier`, as scikit-learn needs them: a signature and one attribute each."""

from dataclasses import dataclass
from typing import Any, Self

from evolabel.classifier.state import ClassifierState


class WithState:
    """An object with a `ClassifierState`, also of a subclass whose `__init__` calls no other.

    It is a class of its own because a signature is that of `__new__` where the same class has an `__init__`.
    """

    def __new__(cls, *_: object, **__: object) -> Self:
        """An object that has learned nothing."""
        made = super().__new__(cls)
        made.__dict__["_state"] = ClassifierState()
        return made


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(WithState):
    """Holds the parameters, which `core.options.Options` declares and the docstring of the estimator explains."""

    max_rules: int = 30
    vigilance: float = 0.5
    scaling: str = "quantile"
    ridge: float | str = "press"
    temperature: float | str = "0.1p"
    follow_drift: bool = True
    threshold_rules: bool = True
    prune_after: int | None = None
    warm_up: int = 80
    optimise: str = "accuracy"
    class_weight: dict[Any, float] | str | None = None
    threshold: float = 0.5
    n_knots: int = 16
    novel_z: float = 6.0
    prior_count: float | str = 31.0
    prior_variance: float = 1.0
    min_activation: float = 0.03
    global_ridge: float = 1.5
    local_ridge: float | str = "loo"
    intercept_ridge: float = 0.01
    min_support: float = 3.0
    merging: str = "room"
    consistency: str = "output"
    alpha: float = 0.0
    beta: float = 0.0
    coupling: str = "signed_laplacian"
    prox_steps: int = 1
    rls: bool = True
    lipschitz: str = "safe"
    parent: str = "global"
    covariance: str = "diag"
    space: str = "input"
    label_weight: float = 1.0
    novelty: str = "deviation"


Parameters.__init__.__qualname__ = "EvolvingFuzzyClassifier.__init__"  # the name in errors about unknown parameters

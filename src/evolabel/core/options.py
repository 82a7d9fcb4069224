"""The parameters of the method, as the core reads them: checked once, frozen, with plain names."""

from dataclasses import dataclass, fields
from math import inf, sqrt
from typing import Any

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.core.rules.scaling import KINDS
from evolabel.errors import ParameterError

# Best of the constants on the five data sets (docs/experiments.md), and the most that "loo" may choose.
STRONGEST_LOCAL_RIDGE = 0.2

LONGEST = 10**15  # samples to wait: kernels count in 64 bits

# Of numbers that are divided by and multiplied with each other: products of some of them neither over- nor underflow.
SMALLEST, GREATEST = 1e-30, 1e30


@dataclass(frozen=True)
class Options:
    """All parameters of the method; `docs/parameters.md` says where each default comes from."""

    scaling: str = "quantile"
    n_knots: int = 16
    max_rules: int = 30
    vigilance: float = 0.5
    novel_z: float = 6.0
    prior_count: float | str = 31.0
    temperature: float | str = "0.1p"
    min_activation: float = 0.03
    ridge: float | str = "press"
    global_ridge: float = 1.5
    local_ridge: float | str = "loo"
    intercept_ridge: float = 0.01
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
    novelty_tail: float = 1e-3
    prior_variance: float = 1.0
    feature_weights: str = "equal"
    merging: str = "room"
    consistency: str = "output"
    forgetting: float = 1.0
    prune_after: int | None = None
    min_support: float = 3.0
    warm_up: int = 80
    optimise: str = "accuracy"

    def check(self) -> "Options":
        """Raise ParameterError for the first value outside its range; returns itself."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r} is unknown; use one of {', '.join(allowed)}")
        if not isinstance(self.rls, bool | np.bool_):
            raise ParameterError(f"rls={self.rls!r} is not allowed; use True or False")
        for name, (low, high, open_low, whole) in RANGES.items():
            check_number(name, getattr(self, name), low, high, open_low=open_low, whole=whole)
        if self.prune_after is not None:
            check_number("prune_after", self.prune_after, 1, LONGEST, whole=True)
        if self.ridge not in ("press", "condition"):
            check_number("ridge", self.ridge, SMALLEST, GREATEST, also=', "press" or "condition"')
        if self.local_ridge != "loo":
            check_number("local_ridge", self.local_ridge, SMALLEST, GREATEST, also=' or "loo"')
        self.temperature_for(1)
        self.prior_count_for(1)
        return self

    @property
    def iterated(self) -> bool:
        """Are weights iterated (Algorithm 2)? Else they follow from the statistics in closed form."""
        return self.alpha > 0.0 or self.beta > 0.0 or self.parent == "nearest"

    @property
    def chooses_local_ridge(self) -> bool:
        """Is the ridge of the rules to be chosen? Only one that pulls towards the global model can be."""
        return self.local_ridge == "loo" and self.parent == "global"

    @property
    def first_local_ridge(self) -> float:
        """The number given; for "loo" the one that holds until another is chosen."""
        return STRONGEST_LOCAL_RIDGE if self.local_ridge == "loo" else float(self.local_ridge)

    def temperature_for(self, p: int) -> float:
        """T for p features: a number (1 is the paper), "sqrt" for sqrt(p), or a multiple of p such as "0.1p"."""
        return sqrt(p) if self.temperature == "sqrt" else _multiple("temperature", self.temperature, p, ', "sqrt"')

    def prior_count_for(self, d: int) -> float:
        """nu0 in d dimensions: a number, or a multiple of d such as "2p"."""
        return _multiple("prior_count", self.prior_count, d, "")


def _multiple(name: str, value: object, p: int, also: str) -> float:
    """A number > 0, or text such as "0.1p" for that many times p."""
    hint = f'{also}, or a multiple of the number of features such as "2p"'
    if isinstance(value, str) and value.endswith("p"):
        try:
            factor = float(value[:-1])
        except ValueError:
            raise ParameterError(f"{name}={value!r} is unknown; use a number > 0{hint}") from None
        return p * check_number(name, factor, SMALLEST, GREATEST, also=hint)
    return check_number(name, value, SMALLEST, GREATEST, also=hint)


# The paper's own profile, as far as it is printed; vigilance (fac), alpha and beta are tuned there.
PAPER_PROFILE: dict[str, Any] = {
    "scaling": "standard",
    "space": "product",
    "covariance": "full",
    "prior_count": "2p",
    "novelty": "paper",
    "vigilance": 0.4,
    "temperature": 1.0,
    "min_activation": 0.0,
    "parent": "nearest",
    "ridge": "condition",
    "local_ridge": 1.0,
    "alpha": 0.1,
    "beta": 1.0,
    "coupling": "shifted",
    "merging": "touching",
}

CHOICES = {
    "scaling": KINDS,
    "coupling": ("none", "ridge", "shifted", "signed_laplacian", "paper"),
    "lipschitz": ("safe", "paper"),
    "parent": ("global", "nearest", "none"),
    "covariance": ("diag", "full"),
    "space": ("input", "product"),
    "novelty": ("deviation", "paper", "chi2"),
    "feature_weights": ("equal", "relevance"),
    "merging": ("room", "touching"),
    "consistency": ("output", "angle"),
    "optimise": ("accuracy", "macro_f1", "micro_f1"),
}

# name: lowest, highest, lowest itself excluded, whole numbers only
RANGES: dict[str, tuple[float, float, bool, bool]] = {
    "n_knots": (2, 10_000, False, True),
    "max_rules": (1, 100_000, False, True),
    "vigilance": (0, inf, False, False),
    "novel_z": (0, inf, True, False),
    "min_activation": (0, 1, False, False),
    "global_ridge": (SMALLEST, GREATEST, False, False),
    "intercept_ridge": (SMALLEST, GREATEST, False, False),
    "alpha": (0, inf, False, False),
    "beta": (0, inf, False, False),
    "prox_steps": (0, 10_000, False, True),
    "label_weight": (SMALLEST, GREATEST, False, False),
    "novelty_tail": (0, 1, True, False),
    "prior_variance": (SMALLEST, GREATEST, False, False),
    "forgetting": (0, 1, True, False),
    "min_support": (0, inf, False, False),
    "warm_up": (2, 1_000_000, False, True),
}


def option_names() -> tuple[str, ...]:
    """Names of all parameters, in the order of their declaration."""
    return tuple(field.name for field in fields(Options))

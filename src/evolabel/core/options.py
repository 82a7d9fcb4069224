"""The parameters of the method, as the core reads them: checked once, frozen, with plain names."""

from dataclasses import dataclass, fields
from math import inf, sqrt
from numbers import Real

from evolabel.core.scaling import KINDS
from evolabel.errors import ParameterError


@dataclass(frozen=True)
class Options:
    """All parameters of the method; `docs/parameters.md` says where each default comes from."""

    scaling: str = "quantile"
    n_knots: int = 16
    max_rules: int = 30
    vigilance: float = 0.5
    novel_z: float = 6.0
    prior_count: float = 31.0
    temperature: float | str = "0.1p"
    min_activation: float = 0.03
    ridge: float | str = "press"
    global_ridge: float = 1.5
    local_ridge: float = 0.2
    intercept_ridge: float = 0.01
    alpha: float = 0.0
    beta: float = 0.0
    forgetting: float = 1.0
    prune_after: int | None = None
    min_support: float = 3.0
    warm_up: int = 80

    def check(self) -> "Options":
        """Raise ParameterError for the first value outside its range; returns itself."""
        if self.scaling not in KINDS:
            raise ParameterError(f"scaling={self.scaling!r} is unknown; use one of {', '.join(KINDS)}")
        for name, (low, high, open_low, whole) in RANGES.items():
            check_number(name, getattr(self, name), low, high, open_low, whole)
        if self.prune_after is not None:
            check_number("prune_after", self.prune_after, 1, inf, False, True)
        if self.ridge != "press":
            check_number("ridge", self.ridge, 0, inf, True, False, ' or "press"')
        self.temperature_for(1)
        return self

    def temperature_for(self, p: int) -> float:
        """T for p features: a number (1 is the paper), "sqrt" for sqrt(p), or a multiple of p such as "0.1p"."""
        hint = ', "sqrt", or a multiple of the number of features such as "0.1p"'
        if self.temperature == "sqrt":
            return sqrt(p)
        if isinstance(self.temperature, str) and self.temperature.endswith("p"):
            try:
                factor = float(self.temperature[:-1])
            except ValueError:
                raise ParameterError(f"temperature={self.temperature!r} is unknown; use a number > 0{hint}") from None
            check_number("temperature", factor, 0, inf, True, False, hint)
            return factor * p
        check_number("temperature", self.temperature, 0, inf, True, False, hint)
        return float(self.temperature)


# name: lowest, highest, lowest itself excluded, whole numbers only
RANGES: dict[str, tuple[float, float, bool, bool]] = {
    "n_knots": (2, 10_000, False, True),
    "max_rules": (1, 100_000, False, True),
    "vigilance": (0, inf, False, False),
    "novel_z": (0, inf, True, False),
    "prior_count": (0, inf, True, False),
    "min_activation": (0, 1, False, False),
    "global_ridge": (0, inf, True, False),
    "local_ridge": (0, inf, True, False),
    "intercept_ridge": (0, inf, True, False),
    "alpha": (0, 0, False, False),
    "beta": (0, 0, False, False),
    "forgetting": (0, 1, True, False),
    "min_support": (0, inf, False, False),
    "warm_up": (2, 1_000_000, False, True),
}


def option_names() -> tuple[str, ...]:
    """Names of all parameters, in the order of their declaration."""
    return tuple(field.name for field in fields(Options))


def check_number(
    name: str, value: object, low: float, high: float, open_low: bool, whole: bool, also: str = ""
) -> None:
    """Raise ParameterError unless `value` is a number of the range."""
    kind = "a whole number" if whole else "a number"
    bounds = f"{'>' if open_low else '>='} {low:g}" + ("" if high == inf else f" and <= {high:g}")
    ok = isinstance(value, Real) and not isinstance(value, bool)
    if ok:
        number = float(value)  # type: ignore[arg-type]
        ok = (low < number if open_low else low <= number) and number <= high and number < inf
        ok = ok and (not whole or number == int(number))
    if not ok:
        raise ParameterError(f"{name}={value!r} is not allowed; use {kind} {bounds}{also}")

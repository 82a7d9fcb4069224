"""What the arrays of a model will take, compared with the memory available before anything is allocated."""

from collections.abc import Callable
from typing import Any

from evolabel._utils.memory import GIB, memory_available
from evolabel.core.options import Options
from evolabel.errors import OutOfMemoryError
from evolabel.stages.rules.stage import FIRST_CAPACITY

Need = Callable[[int, int, Any, int], int]
"""Returns the bytes that a rule base takes, as `RuleKind.memory_need`."""

_ALWAYS_FITS = GIB // 4  # bytes; smaller models are not compared, because reading the memory available takes time


def check_memory(n_features: int, n_labels: int, options: Options, need_of: Need, of_stages: int = 0) -> None:
    """Raise OutOfMemoryError if the first arrays of a model of `n_features`, `n_labels` and `options` do not fit.

    These have slots for `max_rules` rules, for 32 if it is larger, and take what `need_of` returns; arrays of stages of
    a user take the bytes `of_stages`. Nothing is raised where the system does not show the memory available.
    """
    if n_features == 0 or n_labels == 0:
        return

    def need_for(rules: int) -> int:
        return of_stages + need_of(n_features, n_labels, options, rules)

    rules = min(FIRST_CAPACITY, int(options.max_rules))
    need = need_for(rules)
    available = memory_available() if need > _ALWAYS_FITS else None
    if available is None or need <= available:
        return
    fits = (r for r in range(rules - 1, 0, -1) if need_for(r) <= available)
    fitting = next(fits, None)
    way = "fewer features" if fitting is None else f"max_rules={fitting} or fewer features"
    per_rule = need - need_for(rules - 1)
    own = f", {of_stages / GIB:.3g} GiB of them for its stages" if of_stages else ""
    raise OutOfMemoryError(
        f"{n_features} features and {n_labels} labels need {need / GIB:.3g} GiB for {rules} rules "
        f"(max_rules={options.max_rules}, {per_rule / GIB:.3g} GiB per rule){own}, "
        f"{available / GIB:.3g} GiB are available; use {way}"
    )

"""Selectors decide which rows are asked about; the token bucket keeps the budget."""

from evolabel.active.selection.quantile import QuantileSelector
from evolabel.active.selection.random import RandomSelector
from evolabel.active.selection.selector import Selector
from evolabel.active.selection.tokens import TokenSelector
from evolabel.active.selection.variable import FirstCome, VariableThresholds
from evolabel.errors import ParameterError

__all__ = [
    "SELECTORS",
    "FirstCome",
    "QuantileSelector",
    "RandomSelector",
    "Selector",
    "TokenSelector",
    "VariableThresholds",
    "read_selector",
]

SELECTORS: dict[str, type[Selector]] = {
    kind.name: kind for kind in (QuantileSelector, TokenSelector, FirstCome, VariableThresholds, RandomSelector)
}
"""Selectors by name."""

_TAUS = {"labels": 5.0, "samples": 10.0}  # samples; measured to be best for a quantile selector


def read_selector(selection: str | Selector | None, per: str) -> Selector:
    """The selector given by `selection`, a name or an object; by default the one measured to be best for `per`."""
    if isinstance(selection, Selector):
        return selection
    if selection is None:
        return QuantileSelector(_TAUS[per])
    if not isinstance(selection, str) or selection not in SELECTORS:
        raise ParameterError(f"selection={selection!r} is unknown; use one of {', '.join(SELECTORS)}, or a Selector")
    return SELECTORS[selection]()

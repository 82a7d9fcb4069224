"""Filters: which of the samples that are worth a question is asked about, given what can be paid."""

from evolabel.active.selection.quantile import QuantileFilter
from evolabel.active.selection.random import RandomFilter
from evolabel.active.selection.selector import Filter, Purse
from evolabel.active.selection.thresholds import FirstCome, VariableThresholds
from evolabel.active.selection.tokens import TokenFilter
from evolabel.errors import ParameterError

__all__ = [
    "FILTERS",
    "Filter",
    "FirstCome",
    "Purse",
    "QuantileFilter",
    "RandomFilter",
    "TokenFilter",
    "VariableThresholds",
    "read_filter",
]

FILTERS: dict[str, type[Filter]] = {
    kind.name: kind for kind in (QuantileFilter, TokenFilter, FirstCome, VariableThresholds, RandomFilter)
}
"""Filters that go by a name."""

TAUS = {"labels": 5.0, "samples": 10.0}
"""What was measured to be best: a quantile filter, more patient where questions are fewer."""


def read_filter(selection: str | Filter | None, per: str) -> Filter:
    """A filter by name, as an object, or the measured one."""
    if isinstance(selection, Filter):
        return selection
    if selection is None:
        return QuantileFilter(TAUS[per])
    if not isinstance(selection, str) or selection not in FILTERS:
        raise ParameterError(f"selection={selection!r} is unknown; use one of {', '.join(FILTERS)}, or a Filter")
    return FILTERS[selection]()

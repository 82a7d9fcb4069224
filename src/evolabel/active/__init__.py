"""Online active learning: ask a person only where it helps, never beyond the budget."""

from typing import TYPE_CHECKING

from evolabel.lazy import loader

if TYPE_CHECKING:
    from evolabel.active.annotators import AnnotatorPool
    from evolabel.active.budget import TokenBucket
    from evolabel.active.criteria import (
        CRITERIA,
        Ambiguity,
        Criterion,
        Instability,
        Leverage,
        Novelty,
        SoftCount,
        Uncertainty,
        VarianceReduction,
        register,
    )
    from evolabel.active.filters import (
        FILTERS,
        Filter,
        FirstCome,
        QuantileFilter,
        RandomFilter,
        TokenFilter,
        VariableThresholds,
    )
    from evolabel.active.learner import ActiveLearner
    from evolabel.active.ledger import Ledger
    from evolabel.active.query import Query
    from evolabel.active.simulated_annotator import SimulatedAnnotator
    from evolabel.active.simulation import BudgetedLearner, RandomSelection

__all__ = [
    "CRITERIA",
    "FILTERS",
    "ActiveLearner",
    "Ambiguity",
    "AnnotatorPool",
    "BudgetedLearner",
    "Criterion",
    "Filter",
    "FirstCome",
    "Instability",
    "Ledger",
    "Leverage",
    "Novelty",
    "QuantileFilter",
    "Query",
    "RandomFilter",
    "RandomSelection",
    "SimulatedAnnotator",
    "SoftCount",
    "TokenBucket",
    "TokenFilter",
    "Uncertainty",
    "VariableThresholds",
    "VarianceReduction",
    "register",
]

_CRITERIA = (
    "CRITERIA",
    "Ambiguity",
    "Criterion",
    "Instability",
    "Leverage",
    "Novelty",
    "SoftCount",
    "Uncertainty",
    "VarianceReduction",
    "register",
)
_FILTERS = ("FILTERS", "Filter", "FirstCome", "QuantileFilter", "RandomFilter", "TokenFilter", "VariableThresholds")
_HOMES = {
    **dict.fromkeys(_CRITERIA, "evolabel.active.criteria"),
    **dict.fromkeys(_FILTERS, "evolabel.active.filters"),
    "ActiveLearner": "evolabel.active.learner",
    "AnnotatorPool": "evolabel.active.annotators",
    "BudgetedLearner": "evolabel.active.simulation",
    "Ledger": "evolabel.active.ledger",
    "Query": "evolabel.active.query",
    "RandomSelection": "evolabel.active.simulation",
    "SimulatedAnnotator": "evolabel.active.simulated_annotator",
    "TokenBucket": "evolabel.active.budget",
}

__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

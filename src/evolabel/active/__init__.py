"""Online active learning: ask a person only where it helps, never beyond the budget."""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.active.answers.annotators import AnnotatorPool
    from evolabel.active.answers.ledger import Ledger
    from evolabel.active.learner import ActiveLearner
    from evolabel.active.query import Query
    from evolabel.active.scoring.criteria import (
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
    from evolabel.active.selection import (
        FILTERS,
        Filter,
        FirstCome,
        QuantileFilter,
        RandomFilter,
        TokenFilter,
        VariableThresholds,
    )
    from evolabel.active.selection.token_bucket import TokenBucket
    from evolabel.active.simulation.annotator import SimulatedAnnotator
    from evolabel.active.simulation.budgeted_learner import BudgetedLearner, RandomSelection

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
    **dict.fromkeys(_CRITERIA, "evolabel.active.scoring.criteria"),
    **dict.fromkeys(_FILTERS, "evolabel.active.selection"),
    "ActiveLearner": "evolabel.active.learner",
    "AnnotatorPool": "evolabel.active.answers.annotators",
    "BudgetedLearner": "evolabel.active.simulation.budgeted_learner",
    "Ledger": "evolabel.active.answers.ledger",
    "Query": "evolabel.active.query",
    "RandomSelection": "evolabel.active.simulation.budgeted_learner",
    "SimulatedAnnotator": "evolabel.active.simulation.annotator",
    "TokenBucket": "evolabel.active.selection.token_bucket",
}

__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

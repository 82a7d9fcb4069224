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
        SELECTORS,
        FirstCome,
        QuantileSelector,
        RandomSelector,
        Selector,
        TokenSelector,
        VariableThresholds,
    )
    from evolabel.active.selection.token_bucket import TokenBucket
    from evolabel.active.simulation.annotator import SimulatedAnnotator
    from evolabel.active.simulation.budgeted_learner import BudgetedLearner, RandomSelection

__all__ = [
    "CRITERIA",
    "SELECTORS",
    "ActiveLearner",
    "Ambiguity",
    "AnnotatorPool",
    "BudgetedLearner",
    "Criterion",
    "FirstCome",
    "Instability",
    "Ledger",
    "Leverage",
    "Novelty",
    "QuantileSelector",
    "Query",
    "RandomSelection",
    "RandomSelector",
    "Selector",
    "SimulatedAnnotator",
    "SoftCount",
    "TokenBucket",
    "TokenSelector",
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
_SELECTORS = (
    "SELECTORS",
    "Selector",
    "FirstCome",
    "QuantileSelector",
    "RandomSelector",
    "TokenSelector",
    "VariableThresholds",
)
_HOMES = {
    **dict.fromkeys(_CRITERIA, "evolabel.active.scoring.criteria"),
    **dict.fromkeys(_SELECTORS, "evolabel.active.selection"),
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

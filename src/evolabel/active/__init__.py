"""Online active learning: ask a person only where it helps, never beyond the budget."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "answers": ["AnnotatorPool", "Ledger"],
        "learner": ["ActiveLearner"],
        "query": ["Query"],
        "scoring.criteria": [
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
        ],
        "selection": [
            "SELECTORS",
            "Selector",
            "FirstCome",
            "QuantileSelector",
            "RandomSelector",
            "TokenSelector",
            "VariableThresholds",
        ],
        "selection.token_bucket": ["TokenBucket"],
        "simulation.annotator": ["SimulatedAnnotator"],
        "simulation.budgeted_learner": ["BudgetedLearner", "RandomSelection"],
    },
)

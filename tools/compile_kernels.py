"""Compile what tests need: kernels of the paper's profile, of full covariances, of steps, of active learning."""

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.cli.ready import compile_kernels

compile_kernels(
    {
        "paper": EvolvingFuzzyClassifier.paper(),
        "full": EvolvingFuzzyClassifier(covariance="full"),
        "steps": EvolvingFuzzyClassifier(alpha=0.5, follow_drift=False),
        "budget": BudgetedLearner(),
    }
)

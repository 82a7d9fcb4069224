"""Compile what tests need: kernels of the paper's profile, of its axis-parallel rules, of active learning."""

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.cli.ready import compile_kernels

compile_kernels(
    {
        "paper": EvolvingFuzzyClassifier.paper(),
        "axis-parallel": EvolvingFuzzyClassifier.paper(covariance="diag"),
        "budget": BudgetedLearner(),
    }
)

"""Rivals: what a user would try instead, and what the paper compares with, in the same harness.

Each is a scikit-learn estimator of label matrices: `fit` an initial batch, then `test_then_train` or `partial_fit`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolabel.baselines.base import StreamLearner
    from evolabel.baselines.chain import EvolvingChain
    from evolabel.baselines.forest import RefittedForest
    from evolabel.baselines.global_rls import GlobalRLS
    from evolabel.baselines.one_vs_rest import EvolvingOneVsRest
    from evolabel.baselines.registry import LEARNERS, make_learner
    from evolabel.baselines.river_learner import RiverLearner, river_model
    from evolabel.baselines.running_prior import RunningPrior
    from evolabel.baselines.sliding_knn import SlidingKNN
    from evolabel.baselines.static import StaticClassifier

__all__ = [
    "LEARNERS",
    "EvolvingChain",
    "EvolvingOneVsRest",
    "GlobalRLS",
    "RefittedForest",
    "RiverLearner",
    "RunningPrior",
    "SlidingKNN",
    "StaticClassifier",
    "StreamLearner",
    "make_learner",
    "river_model",
]

_HOMES = {
    "LEARNERS": "registry",
    "EvolvingChain": "chain",
    "EvolvingOneVsRest": "one_vs_rest",
    "GlobalRLS": "global_rls",
    "RefittedForest": "forest",
    "RiverLearner": "river_learner",
    "RunningPrior": "running_prior",
    "SlidingKNN": "sliding_knn",
    "StaticClassifier": "static",
    "StreamLearner": "base",
    "make_learner": "registry",
    "river_model": "river_learner",
}


def __getattr__(name: str) -> Any:
    """Load a rival on first use: listing their names needs no scikit-learn."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evolabel.baselines' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"evolabel.baselines.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

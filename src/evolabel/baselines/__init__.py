"""Rivals: other learners for comparison, those of the paper included, with the same interface.

Each is a scikit-learn estimator of label matrices: `fit` an initial batch, then `test_then_train` or `partial_fit`.
"""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.baselines.base import StreamLearner
    from evolabel.baselines.chain import EvolvingChain
    from evolabel.baselines.feedback_classifier import FeedbackClassifier
    from evolabel.baselines.forest import RefittedForest
    from evolabel.baselines.global_rls import GlobalRLS
    from evolabel.baselines.one_vs_rest import EvolvingOneVsRest
    from evolabel.baselines.registry import LEARNERS, make_learner
    from evolabel.baselines.river_learner import RiverLearner, river_model
    from evolabel.baselines.running_prior import RunningPrior
    from evolabel.baselines.sliding_knn import SlidingKNN
    from evolabel.baselines.wrapper import StaticClassifier

__all__ = [
    "LEARNERS",
    "EvolvingChain",
    "EvolvingOneVsRest",
    "FeedbackClassifier",
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
    "LEARNERS": "evolabel.baselines.registry",
    "EvolvingChain": "evolabel.baselines.chain",
    "EvolvingOneVsRest": "evolabel.baselines.one_vs_rest",
    "FeedbackClassifier": "evolabel.baselines.feedback_classifier",
    "GlobalRLS": "evolabel.baselines.global_rls",
    "RefittedForest": "evolabel.baselines.forest",
    "RiverLearner": "evolabel.baselines.river_learner",
    "RunningPrior": "evolabel.baselines.running_prior",
    "SlidingKNN": "evolabel.baselines.sliding_knn",
    "StaticClassifier": "evolabel.baselines.wrapper",
    "StreamLearner": "evolabel.baselines.base",
    "make_learner": "evolabel.baselines.registry",
    "river_model": "evolabel.baselines.river_learner",
}


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

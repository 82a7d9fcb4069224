"""Rivals: what a user would try instead, and what the paper compares with, in the same harness.

Each is a scikit-learn estimator of label matrices: `fit` an initial batch, then `test_then_train` or `partial_fit`.
"""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": ["StreamLearner"],
        "chain": ["EvolvingChain"],
        "feedback_classifier": ["EchoingClassifier"],
        "forest": ["RefittedForest"],
        "global_rls": ["GlobalRLS"],
        "one_vs_rest": ["EvolvingOneVsRest"],
        "registry": ["LEARNERS", "make_learner"],
        "river_learner": ["RiverLearner", "river_model"],
        "running_prior": ["RunningPrior"],
        "sliding_knn": ["SlidingKNN"],
        "static": ["StaticClassifier"],
    },
)

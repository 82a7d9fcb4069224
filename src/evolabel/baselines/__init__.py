"""Rivals: other learners for comparison, those of the paper included, with the same interface.

Each is a scikit-learn estimator of label matrices: `fit` an initial batch, then `test_then_train` or `partial_fit`.
"""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": ["StreamLearner"],
        "chain": ["EvolvingChain"],
        "forest": ["RefittedForest"],
        "global_rls": ["GlobalRLS"],
        "one_vs_rest": ["EvolvingOneVsRest"],
        "registry": ["LEARNERS", "make_learner"],
        "river_learner": ["RiverLearner", "river_model"],
        "running_prior": ["RunningPrior"],
        "sliding_knn": ["SlidingKNN"],
        "wrapper": ["FeedbackClassifier", "StaticClassifier"],
    },
)

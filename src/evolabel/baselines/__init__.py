"""Rivals: other learners for comparison, with the same interface.

Each is a scikit-learn estimator of label matrices: `fit` an initial batch, then `test_then_train` or `partial_fit`.
"""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": ["StreamLearner"],
        "forest": ["RefittedForest"],
        "global_rls": ["GlobalRLS"],
        "river_learner": ["RiverLearner", "river_model"],
        "sliding_knn": ["SlidingKNN"],
        "without_features": ["NoChange", "RunningPrior"],
        "wrapper": ["FeedbackClassifier", "StaticClassifier"],
    },
)

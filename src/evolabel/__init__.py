"""evolabel: an evolving multi-label fuzzy classifier for streams, with one rule base that a person can read."""

from evolabel._utils.lazy import attach

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = attach(
    __name__, {"classifier.estimator": ["EvolvingFuzzyClassifier"], "stages.drift.alarm": ["DriftAlarm"]}
)
__all__ += ["__version__"]

"""evolabel: an evolving multi-label fuzzy classifier for streams, with one rule base that a person can read."""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

__version__ = "0.1.0"
__all__ = ["EvolvingFuzzyClassifier", "__version__"]

_HOMES = {"EvolvingFuzzyClassifier": "evolabel.classifier.estimator"}


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

"""evolabel: an evolving multi-label fuzzy classifier for streams, with one rule base that a person can read."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier

__version__ = "0.1.0"
__all__ = ["EvolvingFuzzyClassifier", "__version__"]

_HOMES = {"EvolvingFuzzyClassifier": "evolabel.adapters.scikit_learn"}


def __getattr__(name: str) -> Any:
    """Load public names on first use (PEP 562): importing evolabel stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evolabel' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

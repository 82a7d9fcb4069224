"""Files of schema 2, in which every classifier had the parameters of both kinds: each becomes one of them."""

import re
from typing import Any

from evolabel.errors import DataError
from evolabel.typing import Arrays

_KNOTS = 16  # the parameter `n_knots` of schema 2, a constant since
PAPER_PARAMETERS: dict[str, object] = {
    "merging": "room",
    "consistency": "output",
    "alpha": 0.0,
    "beta": 0.0,
    "coupling": "signed_laplacian",
    "prox_steps": 1,
    "rls": True,
    "lipschitz": "safe",
    "parent": "global",
    "covariance": "diag",
    "space": "input",
    "label_weight": 1.0,
    "novelty": "deviation",
}
"""Parameters that every classifier had in schema 2, with their defaults there."""
_PAPER_ARRAYS = re.compile(r"(rules|change\.\d+)\.(F|ybar|Q|mass|top|compared)")
"""Arrays that every model had in schema 2, and only those of the paper's formulas have since."""


def to_third(arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Make a classifier with other than the default formulas a `PaperClassifier`; DataError if there is none like it.

    A trained model keeps its knots, whatever the parameter `n_knots` was.
    """
    is_learner = manifest.get("kind") == "ActiveLearner"
    classifier = manifest["classifier"] if is_learner else manifest
    if not is_learner and manifest.get("kind") != "EvolvingFuzzyClassifier":
        return
    values = classifier["parameters"], classifier["model"]["options"]
    literal = [f"{n}={v[n]!r}" for v in values for n, d in PAPER_PARAMETERS.items() if n in v and v[n] != d]
    added = [f"{n}=True" for v in values for n in ("follow_drift", "threshold_rules") if v.get(n)]
    if literal and added:
        raise DataError(f"it has {literal[0]} with {added[0]}, and PaperClassifier has no {added[0].split('=')[0]}")
    for each in values:
        if each.pop("prior_variance", 1.0) != 1.0:
            raise DataError("it has another prior_variance than 1.0, which is a constant now")
        if each.pop("n_knots", _KNOTS) != _KNOTS and "warm_up" in classifier["model"]:
            raise DataError(f"it is not trained yet and has another n_knots than {_KNOTS}, which is a constant now")
        for name in ("follow_drift", "threshold_rules") if literal else PAPER_PARAMETERS:
            each.pop(name, None)
    classifier["kind"] = "PaperClassifier" if literal else "EvolvingFuzzyClassifier"
    for name in [] if literal else [name for name in arrays if _PAPER_ARRAYS.fullmatch(name)]:
        del arrays[name]

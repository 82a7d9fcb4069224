"""Room for a rule base: zeroed arrays of the right shapes."""

from typing import Any

import numpy as np

from evolabel.kernels.paper.coupling import NONE
from evolabel.kernels.state import RuleArrays, Settings


def block_length(q: int) -> int:
    """Samples whose outer products wait for each other; they are applied eight at a time."""
    return 8 if q < 128 else 16


def rule_arrays(
    rules: int, n_features: int, n_labels: int, settings: Settings, *, hold_weights: bool = False
) -> RuleArrays:
    """Zeroed arrays for so many rules; those this profile does not need have no elements.

    `hold_weights`: some rule is locked, so that there must be a W in closed form, too.
    """
    s, q, K = rules + 1, n_features + 1, n_labels
    d = n_features + (K if settings.product else 0)
    f = d if settings.rotated else 0
    w, g = (K, q) if settings.iterated or hold_weights else (0, 0)
    b = 1 if settings.iterated else block_length(q)
    k = K if settings.coupling > NONE else 0
    floats = {
        "c": (s, d), "M": (s, d), "n": (s, d), "k": (s,), "inv": (s, d), "F": (s, f, f), "H": (s, q, q),
        "G": (s, K, q), "P": (s, q, q), "late_H": (s, b, q), "late_P": (s, b, q), "fresh": (s,), "W": (s, w, g),
        "ybar": (s, k), "Q": (s, k, k), "mass": (s, 2 if k else 0), "top": (s, 2 if settings.iterated else 0),
        "compared": (s,), "strange": (3,),
    }  # fmt: skip
    whole = {"late": s, "age": s, "identity": s, "born": s, "won": s, "locked": s, "tally": 3}
    made: dict[str, Any] = {name: np.zeros(shape) for name, shape in floats.items()}
    made |= {name: np.zeros(size, np.int64) for name, size in whole.items()}
    return RuleArrays(**made)
